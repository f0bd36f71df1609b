"""Signals that end a recorder or a player in order."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def until_stopped() -> Iterator[list[int]]:
    """The numbers of the signals that came and would have ended the process."""
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {n: signal.signal(n, lambda number, frame: came.append(number)) for n in numbers}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(came: list[int]) -> int:
    """0, or 128 + n after a signal other than Ctrl-C's, so that a launch whose node somebody
    stopped does not pass for a success."""
    return 128 + came[0] if came and came[0] != signal.SIGINT else 0
