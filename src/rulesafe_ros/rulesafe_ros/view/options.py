"""What `rulesafe view` was asked for. No ROS here."""

import ipaddress
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting

CAMERA_TOPICS = {
    name: (f"/film/{name}/compressed", f"/camera/{name}/image_raw") for name in ("head", "front")
}
"""Where a camera's pictures are sought, the better ones first."""


@dataclass(frozen=True)
class ViewOptions(Settings):
    """As the command's arguments of the same names; see `rulesafe_ros.view.commands.view`.

    Errors: RuleSafeError for a port that is none, or a token that a header cannot carry.
    """

    host: str = "127.0.0.1"
    port: int = setting(8080, "", 0, 65535)
    foxglove_port: int | None = setting(8765, "", 0, 65535)
    token: str = ""
    head_image: str = ""
    front_image: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.token.isascii() and self.token.isprintable()) or " " in self.token:
            raise RuleSafeError("--token takes letters, digits and signs without blanks")

    @property
    def exposed(self) -> bool:
        """Whether others than this machine's users can reach the page."""
        return not is_loopback(self.host)

    def camera_topics(self, camera: str) -> tuple[str, ...]:
        """Where the pictures of "head" or "front" are sought, the better ones first."""
        own: str = getattr(self, f"{camera}_image")
        return (own,) if own else CAMERA_TOPICS[camera]


def is_loopback(host: str) -> bool:
    """Whether an address or a name, without its port, is this machine's own loopback."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
