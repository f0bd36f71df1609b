"""Whose time the messages of a bag get. No ROS here."""

import struct
import time
from collections.abc import Callable
from typing import Any

from rulesafe_core.chunks import SECOND


class WallClock:
    """A message's time is that of its arrival on this machine."""

    TOPICS: tuple[str, ...] = ()

    def times(self, topic: str, raw: bytes, info: dict[str, Any]) -> int | None:
        """When a message came, ns; None: not known yet."""
        return int(info.get("received_timestamp") or 0) or time.time_ns()


class SimClock:
    """A message's time is that of /clock, as `ros2 bag record --use-sim-time` has it: a bag of a
    simulation that waits for its policy has no pauses then. Before the first /clock there is none.
    """

    TOPICS = ("/clock",)

    def __init__(self) -> None:
        self._now: int | None = None

    def times(self, topic: str, raw: bytes, info: dict[str, Any]) -> int | None:
        """See `WallClock`."""
        if topic == "/clock":
            seconds, nanoseconds = struct.unpack_from("<iI" if raw[1] & 1 else ">iI", raw, 4)
            self._now = seconds * SECOND + nanoseconds
        return self._now


CLOCKS: dict[str, Callable[[], WallClock | SimClock]] = {"wall": WallClock, "sim": SimClock}
"""Whose time messages get, by name."""
