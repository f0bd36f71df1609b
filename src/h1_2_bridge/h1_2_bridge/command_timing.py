"""Times of the bridge's commands: the time for which each is computed, and gaps between them.

A command is computed for the time since the last one was sent, if it is sent with the usual delay.
A command with a shorter delay waits, so that the robot never receives a larger change than is
allowed for the time since the last command. With longer delays the arm and the weight change more
slowly.
"""

from h1_2_bridge.config import BridgeConfig
from rulesafe_core.chunks import SECOND

DELAYED = SECOND // 20
"""Delay (ns) of sending a command after which the arm counts as at rest."""

DELAY_CHANGE = 20_000
"""Largest change of the usual delay of sending, ns per command."""

SHORTEST_WAIT = 50_000
"""Shortest time to wait, ns: the system wakes a process too late by about as much."""

PUBLICATION = 200_000
"""Usual duration of a publication, ns; if it takes longer, its end is the time of sending."""


class CommandTiming:
    """Measures ticks and commands. All times are integer ns of a steady clock."""

    def __init__(self, config: BridgeConfig) -> None:
        self._period = 1 / config.rate  # s
        self._gap = round(config.gap_timeout * SECOND)
        self._tick: int | None = None  # the last one
        self._begin: int | None = None  # of the time of the next command
        self._usual_delay = self._next_delay = 0  # between a tick and the sending of its command
        self._largest_delay = SECOND // round(2 * config.rate)
        self._sending = 0
        self._computed: int | None = None  # time of the last command; None: nothing is sent
        self._send_by = 0  # latest time at which the last command may be sent
        self._overdue = False  # a command was not sent in time

    def restart(self) -> None:
        """Begin with one period at the next tick, even if that tick is late."""
        self._begin = None

    def elapsed(self, now: int) -> float:
        """Return the time (s) for which the command of this tick is computed."""
        begin, self._begin, self._tick = self._begin, now, now
        return self._period if begin is None or now <= begin else (now - begin) / SECOND

    def gap(self, now: int) -> float:
        """Return the time (s) since the last command if no command may follow it, else 0."""
        last, overdue = self._computed, self._overdue
        self._overdue = False
        if last is None or not (overdue or now - last > self._gap):
            return 0.0
        self._computed = None
        return (now - last) / SECOND

    def computed(self, now: int) -> None:
        """Record that the tick has a command."""
        self._send_by = (now if self._computed is None else self._computed) + self._gap
        self._computed = now

    def silent(self) -> None:
        """Record that no command is to be sent."""
        self._computed = None

    def early(self, now: int) -> int:
        """Return the time to wait before the command is sent, 0 or at least SHORTEST_WAIT."""
        assert self._tick is not None
        more = now - self._tick - self._usual_delay
        change = max(-DELAY_CHANGE, min(DELAY_CHANGE, more))
        self._next_delay = min(self._usual_delay + change, self._largest_delay)
        return -more if -more >= SHORTEST_WAIT else 0

    def in_time(self, now: int) -> bool:
        """Return whether the command of the last tick may still be sent at `now`."""
        self._sending = now
        self._overdue = self._overdue or now > self._send_by
        return not self._overdue

    def sent(self, now: int) -> bool:
        """Record that the command was on its way at `now`. Return whether it was delayed so much
        that the arm counts as at rest."""
        assert self._tick is not None
        begun = self._sending
        self.in_time(now)
        sent = begun if now - begun < PUBLICATION else now
        self._usual_delay = self._next_delay
        self._begin = sent - self._usual_delay
        return sent - self._tick > DELAYED
