"""The options of `rulesafe view`."""

import ipaddress
from dataclasses import dataclass
from functools import cached_property

from rulesafe_core.cameras import CameraSet, load_cameras
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting


@dataclass(frozen=True)
class ViewOptions(Settings):
    """The arguments of the command; see `rulesafe_ros.view.commands.view`.

    Raises:
        RuleSafeError: a port is out of range, or the token is not valid in an HTTP header.
    """

    host: str = "127.0.0.1"
    port: int = setting(8080, "", 0, 65535)
    token: str = ""
    camera_file: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.token.isascii() and self.token.isprintable()) or " " in self.token:
            raise RuleSafeError("--token must consist of printable ASCII characters without spaces")

    @property
    def exposed(self) -> bool:
        """Whether other machines can reach the page."""
        return not is_loopback(self.host)

    @cached_property
    def cameras(self) -> CameraSet:
        """The cameras. Raises RuleSafeError if their file is not valid."""
        return load_cameras(self.camera_file)


def is_loopback(host: str) -> bool:
    """Return whether an address or host name, without port, is this machine's loopback."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
