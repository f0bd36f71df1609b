"""When the next 2 ms are due, and their stamp: simulated time that keeps up with the world's.

A process that was off the processor for a moment catches up without losing anything; one that is
too slow for long loses whole tenths of a second, so that stamps of frames stay multiples of them.
Times are in ns; no clock is read here.
"""

from rulesafe_core.chunks import PERIOD, SECOND

BEHIND = SECOND // 2
"""What is further behind than this is lost."""


class StepClock:
    """Steps of `tick` ns, beginning at `clock` (a steady clock) with the first stamp at or after
    `wall` (the system's clock) that is a multiple of 0.1 s.

    `stamp` is that of the last step; `lost` what the world was ahead by in all.
    """

    def __init__(self, tick: int, clock: int, wall: int) -> None:
        self._tick, self._due = tick, clock + tick
        self.stamp = -(-wall // PERIOD) * PERIOD
        self.lost = 0

    def wait(self, clock: int) -> int:
        """ns until the next step is due; 0 where it is."""
        return max(0, self._due - clock)

    def behind(self, clock: int) -> int:
        """ns that the next step is overdue by; 0 where it is not."""
        return max(0, clock - self._due)

    def step(self, clock: int) -> int:
        """Begins the next step; its stamp."""
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
        """Whether the last step ended at a frame, a multiple of 0.1 s."""
        return self.stamp % PERIOD == 0
