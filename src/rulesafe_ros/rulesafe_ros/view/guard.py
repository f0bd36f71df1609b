"""Who may look at the page and who may press its buttons. No web framework here.

A browser sends requests for any page that its user has open, to loopback too. So a request must be
addressed to the page's own host (or a stranger's name could be pointed at loopback), a page that
asks must be ours, and where others than this machine can reach the server, a command must carry the
token.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from rulesafe_ros.view.options import ViewOptions, is_loopback


@dataclass(frozen=True)
class Guard:
    """Answers with a reason to refuse, or with None.

    Attributes:
        exposed: others than this machine's users can reach the server.
        token: what a command must carry then.
    """

    exposed: bool
    token: str

    def refuse(self, headers: Mapping[str, str]) -> str | None:
        """Why a request with these headers is not answered at all."""
        host = headers.get("Host", "")
        if not self.exposed and not is_loopback(_name(host)):
            return (
                f"this page is for this machine alone and not for {host!r}: open it as localhost, "
                "or start it with --host"
            )
        origin = headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != host:
            return f"a page of {origin} may not use this one"
        return None

    def refuse_command(self, headers: Mapping[str, str]) -> str | None:
        """Why a command with these headers is not obeyed."""
        if not self.exposed:
            return None
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        told = given.encode("utf-8", "surrogateescape")
        if scheme == "Bearer" and hmac.compare_digest(told, self.token.encode()):
            return None
        return "this command needs the token that `rulesafe view` printed when it started"


def _name(host: str) -> str:
    """Of a Host header, without its port; nothing where it is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def make_guard(options: ViewOptions) -> Guard:
    """The guard of a server; an exposed one without a token gets a new one."""
    return Guard(options.exposed, options.token or secrets.token_urlsafe(16))
