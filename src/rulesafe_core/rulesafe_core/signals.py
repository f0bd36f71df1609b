"""Collect termination signals, for loops that shut down in order."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def collected_signals(numbers: Sequence[int] = STOPPING) -> Iterator[list[int]]:
    """Collect received signals in a list instead of ending the process."""
    received: list[int] = []
    before = {n: signal.signal(n, lambda number, frame: received.append(number)) for n in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(received: Sequence[int]) -> int:
    """Return 0 after SIGINT or no signal, else 128 + the first signal, which means a failure."""
    return 128 + received[0] if received and received[0] != signal.SIGINT else 0
