"""The time of a bag that is played: its rate and its pauses.

`wall` is the reading of a monotonic clock in s; times of the bag are in ns.
"""

import math
from dataclasses import dataclass

from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

FASTER = 1.1
"""Factor of a key on the rate."""

RATES = (0.01, 100.0)
"""Lowest and highest rate."""


@dataclass
class PlaybackClock:
    """Bag time as a function of wall time.

    Args:
        start: bag time at the start.
        wall: wall time at the start.
        rate: bag seconds per second.
        paused: whether it starts paused.

    Raises:
        RuleSafeError: the rate is outside of RATES.
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
        """Return the bag's time."""
        if self.paused:
            return self.start
        return self.start + round((wall - self.wall) * self.rate * SECOND)

    def wait(self, when: int, wall: float) -> float:
        """Return the s until this time of the bag; 0 if it has passed, inf while paused."""
        left = (when - self.now(wall)) / SECOND / self.rate
        if left <= 0:
            return 0.0
        return math.inf if self.paused else left

    def lag(self, when: int, wall: float) -> float:
        """Return the s of wall time since this time of the bag."""
        return max(0.0, (self.now(wall) - when) / SECOND / self.rate)

    def toggle(self, wall: float) -> None:
        """Pause, or resume."""
        self._restart(wall)
        self.paused = not self.paused

    def jump(self, when: int, wall: float) -> None:
        """Continue from this time of the bag."""
        self.start, self.wall = when, wall

    def scale(self, factor: float, wall: float) -> None:
        """Change the rate, within RATES."""
        self._restart(wall)
        self.rate = min(max(self.rate * factor, RATES[0]), RATES[1])

    def _restart(self, wall: float) -> None:
        self.start, self.wall = self.now(wall), wall
