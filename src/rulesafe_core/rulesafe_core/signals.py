"""Collect termination signals, for loops that shut down in order."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that stop a program: by Ctrl-C, a supervising program, a closed terminal, and Ctrl-\\."""


@contextmanager
def collected_signals(
    numbers: Sequence[int] = STOPPING, *, once: bool = False
) -> Iterator[list[int]]:
    """Collect received signals in a list instead of ending the process.

    Threads other than the main thread, which Python does not interrupt, collect none. SIGHUP is
    collected once, and another signal replaces it: at the end of a terminal the kernel, the shell
    and the launcher send it repeatedly and together with other signals, so that it must not count
    as a second request to stop.

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
        if number == signal.SIGHUP and received:
            return
        if received == [signal.SIGHUP]:
            received.clear()
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


def uninterruptible(frame: FrameType | None) -> bool:
    """Return whether a KeyboardInterrupt must not be raised in a frame.

    During an import it can abort the process: native code of a library, such as torch's, may call
    Python and catch no exception. In a destructor Python prints and ignores it. In rclpy.task it
    leaves a task without the attributes that the task's destructor reads.
    """
    if frame is not None and frame.f_globals.get("__name__") == "rclpy.task":
        return True
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def exit_code(received: Sequence[int]) -> int:
    """Return 0 after SIGINT or no signal, else 128 + the first signal, which means a failure."""
    return 128 + received[0] if received and received[0] != signal.SIGINT else 0
