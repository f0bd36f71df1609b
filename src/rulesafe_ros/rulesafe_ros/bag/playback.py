"""The time of a bag that is played: how fast it goes, and where it stands still. No ROS here.

`wall` is a clock's reading in s that only grows; times of the bag are ns.
"""

import math
from dataclasses import dataclass

from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

FASTER = 1.1
"""What a key changes the rate by."""

RATES = (0.01, 100.0)
"""Least and greatest rate."""


@dataclass
class Playback:
    """Bag time as a function of wall time.

    Args:
        start: bag time at which it begins.
        wall: wall time then.
        rate: bag seconds per second.
        paused: it begins when somebody says so.

    Errors: RuleSafeError for a rate outside of RATES.
    """

    start: int
    wall: float
    rate: float = 1.0
    paused: bool = False

    def __post_init__(self) -> None:
        if not RATES[0] <= self.rate <= RATES[1]:
            raise RuleSafeError(
                f"the rate must lie within {RATES[0]:g} and {RATES[1]:g}, not {self.rate:g}"
            )

    def now(self, wall: float) -> int:
        """The bag's time."""
        if self.paused:
            return self.start
        return self.start + round((wall - self.wall) * self.rate * SECOND)

    def wait(self, when: int, wall: float) -> float:
        """s until this time of the bag; 0 if it is there, inf while paused."""
        left = (when - self.now(wall)) / SECOND / self.rate
        if left <= 0:
            return 0.0
        return math.inf if self.paused else left

    def lag(self, when: int, wall: float) -> float:
        """s of wall time by which this time of the bag has passed already."""
        return max(0.0, (self.now(wall) - when) / SECOND / self.rate)

    def toggle(self, wall: float) -> None:
        """Pauses, or goes on."""
        self._anchor(wall)
        self.paused = not self.paused

    def jump(self, when: int, wall: float) -> None:
        """Goes on from this time of the bag."""
        self.start, self.wall = when, wall

    def scale(self, factor: float, wall: float) -> None:
        """Changes the rate, within RATES."""
        self._anchor(wall)
        self.rate = min(max(self.rate * factor, RATES[0]), RATES[1])

    def _anchor(self, wall: float) -> None:
        self.start, self.wall = self.now(wall), wall
