"""Authorize HTTP requests and commands.

Any website that is open in the browser can send requests, also to loopback and to other machines of
the network. A request must therefore name the server's own host, since any other name may resolve
to its address (DNS rebinding), and come from the view's page. If other machines can reach the
server, a command must also contain the token.
"""

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from rulesafe_ros.view.options import ViewOptions, is_loopback


@dataclass(frozen=True)
class RequestGuard:
    """Checks requests, and returns the reason for a rejection or None.

    Attributes:
        exposed: whether other machines can reach the server.
        token: the token that a command must then contain.
        host: a name of the server that is valid besides its addresses and the machine's name.
    """

    exposed: bool
    token: str
    host: str = ""

    def refuse(self, headers: Mapping[str, str]) -> str | None:
        """Return why a request with these headers is rejected, or None."""
        host = headers.get("Host", "")
        name = _name(host)
        if not (is_loopback(name) or (self.exposed and self._is_own(name))):
            return (
                f"the page is not available as {host!r}: open it as localhost, or start the view "
                "with --host and open it by the address or the name of this machine"
            )
        origin = headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != host:
            return f"requests from pages of {origin} are not allowed"
        return None

    def _is_own(self, name: str) -> bool:
        machine = socket.gethostname().lower()
        if name in (self.host.lower(), machine, machine.partition(".")[0], f"{machine}.local"):
            return bool(name)
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def refuse_command(self, headers: Mapping[str, str]) -> str | None:
        """Return why a command with these headers is rejected, or None."""
        if not self.exposed:
            return None
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        token = given.encode("utf-8", "surrogateescape")
        if scheme == "Bearer" and hmac.compare_digest(token, self.token.encode()):
            return None
        return "this command requires the token that `rulesafe view` printed at its start"


def _name(host: str) -> str:
    """Return the host name in a Host header, or "" if the header is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def make_guard(options: ViewOptions) -> RequestGuard:
    """Return the guard of a server, with a random token if the options have none."""
    return RequestGuard(options.exposed, options.token or secrets.token_urlsafe(16), options.host)
