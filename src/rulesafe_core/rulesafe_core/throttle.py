"""Limit the rate of repeated log messages by their reason."""

import re

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")


class Throttle:
    """Lets each reason pass at most once per interval.

    The reason of a message is its text without numbers, which differ from one message to the next.

    Args:
        interval: shortest time between two messages of the same reason, s.
        most: number of reasons that may pass per interval.
    """

    def __init__(self, interval: float, most: int = 20) -> None:
        self._interval, self._most = interval, most
        self._passed: dict[str, float] = {}  # reason -> time, the oldest first

    def passes(self, text: str, now: float) -> bool:
        """Return whether a message may be logged at `now` (s)."""
        while self._passed:
            oldest = next(iter(self._passed))
            if now - self._passed[oldest] < self._interval:
                break
            del self._passed[oldest]
        reason = _NUMBER.sub("#", text)
        if reason in self._passed or len(self._passed) >= self._most:
            return False
        self._passed[reason] = now
        return True
