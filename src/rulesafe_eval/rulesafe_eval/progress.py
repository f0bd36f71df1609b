"""What an evaluation says while an episode runs: a line now and then. No ROS here."""

import time
from collections.abc import Callable

from rulesafe_sim.episode import TaskSnapshot

SIMULATED = 10.0
"""s of simulated time between two lines at least."""

WALL = 10.0
"""s of wall time between two lines at least: a fast simulation is soon over."""


class EpisodeProgress:
    """Of one episode, from its start on; `clock` gives the wall time, s."""

    def __init__(self, time_limit: float, clock: Callable[[], float] = time.monotonic):
        self._limit, self._clock = time_limit, clock
        self._told, self._simulated = clock(), 0.0  # at the last line

    def line(self, now: TaskSnapshot) -> str | None:
        """The line that is due with the facts of an instant; None if none is."""
        wall = self._clock()
        if wall - self._told < WALL or now.time - self._simulated < SIMULATED:
            return None
        self._told, self._simulated = wall, now.time
        step = min(now.steps_done + 1, len(now.plan))
        return (
            f"{now.title}: {now.time:.1f} s of {self._limit:g} s simulated, "
            f"step {step}/{len(now.plan)}"
        )
