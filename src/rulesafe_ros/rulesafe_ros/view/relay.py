"""Where messages go besides the page, and where the links are. No ROS here: messages are bytes in
the encoding that ROS 2 gave them."""

from collections.abc import Iterable
from typing import Protocol

from rulesafe_ros.view.frames import Frame
from rulesafe_ros.view.options import ViewOptions


class Relay(Protocol):
    """Where messages go besides the page.

    Attributes:
        port: where a server listens; None where there is none.
    """

    port: int | None

    def message(self, topic: str, kind: str, raw: bytes, latched: bool) -> None:
        """Takes a message; the last of a latched topic is for who comes late, too."""

    def frames(self, frames: Iterable[Frame]) -> None:
        """Takes the links' poses."""

    def close(self) -> None:
        """Ends the server."""


class Nowhere:
    """No server."""

    port: int | None = None

    def message(self, topic: str, kind: str, raw: bytes, latched: bool) -> None:
        """Lets it go."""

    def frames(self, frames: Iterable[Frame]) -> None:
        """Lets them go, uncomputed."""

    def close(self) -> None:
        """Nothing is open."""


def make_relay(options: ViewOptions) -> Relay:
    """Foxglove's server where a port is wanted. Errors: RuleSafeError for a port that cannot be
    had."""
    if options.foxglove_port is None:
        return Nowhere()
    from rulesafe_ros.view.foxglove_relay import ToFoxglove

    return ToFoxglove(options.host, options.foxglove_port)
