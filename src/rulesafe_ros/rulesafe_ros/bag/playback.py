"""Compute the time of a bag during playback, with its rate and pauses.

`wall` is the time of a monotonic clock, s; bag times are in ns.
"""

import math
from dataclasses import dataclass

from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

FASTER = 1.1
"""Factor of the rate for each key press."""

RATES = (0.01, 100.0)
"""Minimum and maximum rate."""


@dataclass
class PlaybackClock:
    """Bag time as a function of wall time.

    Args:
        start: bag time at the start.
        wall: wall time at the start.
        rate: bag seconds per second.
        paused: whether the playback starts paused.

    Raises:
        RuleSafeError: the rate is outside of RATES.
    """

    start: int
    wall: float
    rate: float = 1.0
    paused: bool = False

    def __post_init__(self) -> None:
        if not RATES[0] <= self.rate <= RATES[1]:
            raise RuleSafeError(f"the rate is {self.rate:g}; valid: {RATES[0]:g} to {RATES[1]:g}")

    def now(self, wall: float) -> int:
        """Return the bag time, ns."""
        if self.paused:
            return self.start
        return self.start + round((wall - self.wall) * self.rate * SECOND)

    def wait(self, when: int, wall: float) -> float:
        """Return the time until `when`, s; 0 if it has passed, inf while paused."""
        left = (when - self.now(wall)) / SECOND / self.rate
        if left <= 0:
            return 0.0
        return math.inf if self.paused else left

    def lag(self, when: int, wall: float) -> float:
        """Return the wall time since `when`, s."""
        return max(0.0, (self.now(wall) - when) / SECOND / self.rate)

    def toggle(self, wall: float) -> None:
        """Pause or resume."""
        self._restart(wall)
        self.paused = not self.paused

    def jump(self, when: int, wall: float) -> None:
        """Continue at this bag time (ns)."""
        self.start, self.wall = when, wall

    def scale(self, factor: float, wall: float) -> None:
        """Multiply the rate by a factor, within RATES."""
        self._restart(wall)
        self.rate = min(max(self.rate * factor, RATES[0]), RATES[1])

    def _restart(self, wall: float) -> None:
        self.start, self.wall = self.now(wall), wall
