"""Collect termination signals, for loops that shut down in order."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def collected_signals(
    numbers: Sequence[int] = STOPPING, *, once: bool = False
) -> Iterator[list[int]]:
    """Collect received signals in a list instead of ending the process.

    Threads other than the main thread, which Python does not interrupt, collect none.

    Args:
        numbers: the signals.
        once: a second signal has its usual effect, and ignored signals remain ignored.
    """
    received: list[int] = []
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def receive(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if once:
            restore()

    if threading.current_thread() is threading.main_thread():
        for number in numbers:
            if not once or signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, receive)
    try:
        yield received
    finally:
        restore()


def exit_code(received: Sequence[int]) -> int:
    """Return 0 after SIGINT or no signal, else 128 + the first signal, which means a failure."""
    return 128 + received[0] if received and received[0] != signal.SIGINT else 0
