"""Schedule and stamp simulation steps so that simulated time follows real time.

After a short delay the steps catch up. After a long one, simulated time skips a multiple of 0.1 s,
so that stamps of frames remain multiples of 0.1 s. Times are in ns and passed in as arguments.
"""

from rulesafe_core.chunks import PERIOD, SECOND

BEHIND = SECOND // 2
"""Largest delay, ns, that is caught up; a longer delay is skipped."""


class StepClock:
    """Schedules steps of `tick` ns that begin at `clock` (steady clock). The first stamp is the
    first multiple of 0.1 s at or after `wall` (system clock).

    Attributes:
        stamp: stamp of the last step, ns.
        lost: total time skipped, ns.
    """

    def __init__(self, tick: int, clock: int, wall: int) -> None:
        self._tick, self._due = tick, clock + tick
        self.stamp = -(-wall // PERIOD) * PERIOD
        self.lost = 0

    def wait(self, clock: int) -> int:
        """Return ns until the next step is due; 0 if it is due."""
        return max(0, self._due - clock)

    def behind(self, clock: int) -> int:
        """Return by how many ns the next step is overdue; 0 if it is not."""
        return max(0, clock - self._due)

    def step(self, clock: int) -> int:
        """Begin the next step and return its stamp."""
        if clock - self._due > BEHIND:
            lost = (clock - self._due) // PERIOD * PERIOD
            self._due += lost
            self.stamp += lost
            self.lost += lost
        self._due += self._tick
        self.stamp += self._tick
        return self.stamp

    @property
    def frame(self) -> bool:
        """Whether the stamp of the last step is a multiple of 0.1 s."""
        return self.stamp % PERIOD == 0
