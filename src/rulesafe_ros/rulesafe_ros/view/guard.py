"""Which requests are answered, and which commands are executed.

A browser sends requests for any page that its user has open, to loopback too. So a request must be
addressed to the server's own host (another name could be resolved to loopback) and come from our
page, and where other machines can reach the server, a command must carry the token.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from rulesafe_ros.view.options import ViewOptions, is_loopback


@dataclass(frozen=True)
class RequestGuard:
    """Returns why a request is refused, or None.

    Attributes:
        exposed: whether other machines can reach the server.
        token: what a command must carry then.
    """

    exposed: bool
    token: str

    def refuse(self, headers: Mapping[str, str]) -> str | None:
        """Return why a request with these headers is not answered."""
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
        """Return why a command with these headers is not executed."""
        if not self.exposed:
            return None
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        token = given.encode("utf-8", "surrogateescape")
        if scheme == "Bearer" and hmac.compare_digest(token, self.token.encode()):
            return None
        return "this command needs the token that `rulesafe view` printed when it started"


def _name(host: str) -> str:
    """Return the host name in a Host header; "" if it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def make_guard(options: ViewOptions) -> RequestGuard:
    """Return the guard of a server; an exposed one without a token gets a new token."""
    return RequestGuard(options.exposed, options.token or secrets.token_urlsafe(16))
