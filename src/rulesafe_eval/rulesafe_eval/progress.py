"""Progress lines of an evaluation while an episode runs. No ROS here."""

import time
from collections.abc import Callable

from rulesafe_sim.episode import TaskSnapshot

SIMULATED = 10.0
"""Minimum simulated time between two lines, s."""

WALL = 10.0
"""Minimum wall time between two lines, s, for simulations faster than real time."""


class EpisodeProgress:
    """Progress of one episode, from its start; `clock` returns the wall time, s."""

    def __init__(self, time_limit: float, clock: Callable[[], float] = time.monotonic):
        self._limit, self._clock = time_limit, clock
        self._printed_at, self._simulated = clock(), 0.0  # at the last line

    def line(self, now: TaskSnapshot) -> str | None:
        """Return the progress line of a snapshot if one is due, else None."""
        wall = self._clock()
        if wall - self._printed_at < WALL or now.time - self._simulated < SIMULATED:
            return None
        self._printed_at, self._simulated = wall, now.time
        step = min(now.steps_done + 1, len(now.plan))
        return (
            f"{now.title}: {now.time:.1f} s of {self._limit:g} s simulated, "
            f"step {step}/{len(now.plan)}"
        )
