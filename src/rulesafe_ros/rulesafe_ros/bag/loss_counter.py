"""Count the lost messages of a topic by the sequence numbers of its publishers.

A message does not identify its publisher. Each gap in the numbers starts a new run. If there are
more runs than publishers, a run continues an older one, and the numbers between the two are of lost
messages. The count is exact for one publisher and a lower bound for several.
"""

from dataclasses import dataclass, field


@dataclass
class _Run:
    """Consecutive sequence numbers without a gap."""

    first: int
    last: int
    updated: int  # count of the topic's messages when the run was last extended


@dataclass
class LossCounter:
    """The losses of one topic.

    Attributes:
        fresh: whether the topic had no publisher before it was recorded, so that the first sequence
            number counts the messages sent before discovery; false for latched topics.
        early: messages sent before the publisher was discovered; no recorder can receive them.
        missed: lost messages according to gaps in the sequence numbers.
        events: lost messages according to the middleware's events.
        overruns: messages that were received but not written, since the disk was too slow.
    """

    fresh: bool = False
    early: int = 0
    missed: int = 0
    events: int = 0
    overruns: int = 0
    _received: int = 0
    _runs: list[_Run] = field(default_factory=list)  # runs in the order of their starts

    @property
    def total(self) -> int:
        """Number of lost messages; a gap and an event may belong to the same message."""
        return max(self.missed, self.events) + self.overruns

    def received(self, number: int | None) -> None:
        """Add the sequence number of a message; None if it has none."""
        if number is None:
            return
        self._received += 1
        for run in self._runs:
            if run.last == number - 1:
                run.last, run.updated = number, self._received
                return
        if self.fresh and not self._runs:
            self.early += number - 1
        self._runs.append(_Run(number, number, self._received))

    def settle(self, publishers: int) -> None:
        """Count the gaps, given the largest number of publishers at the same time."""
        publishers = max(publishers, 1)
        while len(self._runs) > publishers:
            older, new = self._runs[:publishers], self._runs.pop(publishers)
            before = [run for run in older if run.last < new.first]
            if before:
                old = max(before, key=lambda run: run.last)
                self.missed += new.first - 1 - old.last
                old.last, old.updated = new.last, new.updated
                continue
            # A publisher was restarted: the run that was not extended for longest has ended.
            self._runs.remove(min(older, key=lambda run: run.updated))
            self._runs.insert(publishers - 1, new)
            if self.fresh:
                self.early += new.first - 1
