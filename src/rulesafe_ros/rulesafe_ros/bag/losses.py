"""How many messages of a topic never arrived, told by the numbers that their writers give them.

A message does not say who wrote it. Each gap begins a run of numbers; where there are more runs
than writers, a run goes on an older one, and what lies between them was missed. Exact where one
node writes a topic; where several do, it is the least that explains the numbers.
"""

from dataclasses import dataclass, field


@dataclass
class _Run:
    """Numbers without a gap."""

    first: int
    last: int
    heard: int  # how many messages of the topic had been heard when it went on


@dataclass
class Losses:
    """What is known of one topic.

    Attributes:
        fresh: nobody wrote the topic before it was recorded, so that numbers tell how much a
            writer sent before it was discovered. Not so where late readers get that too.
        early: sent before the writer was discovered; nobody could have heard it.
        missed: by the gaps in the numbers.
        events: by the middleware's own events, where messages carry no numbers.
        overruns: heard, but not written: the disk was too slow.
    """

    fresh: bool = False
    early: int = 0
    missed: int = 0
    events: int = 0
    overruns: int = 0
    _heard: int = 0
    _runs: list[_Run] = field(default_factory=list)  # in the order in which they began

    @property
    def total(self) -> int:
        """What should have been recorded and was not; a gap and an event may tell of the same."""
        return max(self.missed, self.events) + self.overruns

    def heard(self, number: int | None) -> None:
        """A message with this number (None: it has none) arrived."""
        if number is None:
            return
        self._heard += 1
        for run in self._runs:
            if run.last == number - 1:
                run.last, run.heard = number, self._heard
                return
        if self.fresh and not self._runs:
            self.early += number - 1
        self._runs.append(_Run(number, number, self._heard))

    def settle(self, writers: int) -> None:
        """At most so many nodes wrote at the same time: counts the gaps."""
        writers = max(writers, 1)
        while len(self._runs) > writers:
            older, new = self._runs[:writers], self._runs.pop(writers)
            before = [run for run in older if run.last < new.first]
            if before:
                old = max(before, key=lambda run: run.last)
                self.missed += new.first - 1 - old.last
                old.last, old.heard = new.last, new.heard
                continue
            # A writer that was started anew, in the place of the one that is silent the longest.
            self._runs.remove(min(older, key=lambda run: run.heard))
            self._runs.insert(writers - 1, new)
            if self.fresh:
                self.early += new.first - 1
