"""The options of `rulesafe view`."""

import ipaddress
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting

CAMERA_TOPICS = {
    name: (f"/film/{name}/compressed", f"/camera/{name}/image_raw") for name in ("head", "front")
}
"""Image topics of each camera, in order of preference."""


@dataclass(frozen=True)
class ViewOptions(Settings):
    """The arguments of the command; see `rulesafe_ros.view.commands.view`.

    Raises:
        RuleSafeError: a port is out of range, or the token is not valid in an HTTP header.
    """

    host: str = "127.0.0.1"
    port: int = setting(8080, "", 0, 65535)
    token: str = ""
    head_image: str = ""
    front_image: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.token.isascii() and self.token.isprintable()) or " " in self.token:
            raise RuleSafeError("--token must consist of printable ASCII characters without spaces")

    @property
    def exposed(self) -> bool:
        """Whether other machines can reach the page."""
        return not is_loopback(self.host)

    def camera_topics(self, camera: str) -> tuple[str, ...]:
        """Return the image topics of "head" or "front", in order of preference."""
        topic: str = getattr(self, f"{camera}_image")
        return (topic,) if topic else CAMERA_TOPICS[camera]


def is_loopback(host: str) -> bool:
    """Return whether an address or host name, without port, is this machine's loopback."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
