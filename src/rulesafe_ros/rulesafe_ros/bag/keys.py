"""Keys of the terminal, one at a time and without waiting. No ROS here."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NAMES = {
    " ": "pause",
    "n": "next",
    "\x1b[C": "next",
    "+": "faster",
    "\x1b[A": "faster",
    "-": "slower",
    "\x1b[B": "slower",
    "q": "quit",
}
"""What a key means, by what a terminal sends."""

HELP = "keys: space pause, n or → next message, + or ↑ faster, - or ↓ slower, q quit"


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """A function that gives the next key's meaning (a value of NAMES), or "" where there is none.
    Where standard input is no terminal, or one that other processes have, there never is."""
    if not _is_ours():
        yield lambda: ""
        return
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    try:
        yield _Terminal().pressed
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _is_ours() -> bool:
    """Whether standard input is a terminal whose keys are for this process."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # a terminal, but not the one that controls this process
        return False


class _Terminal:
    """What was typed and not looked at yet."""

    def __init__(self) -> None:
        self._typed = ""

    def pressed(self) -> str:
        """The next key's meaning; "" where there is none, or it means nothing."""
        if not self._typed and select.select([0], [], [], 0)[0]:
            self._typed = os.read(0, 64).decode(errors="ignore")
        for sent, meaning in NAMES.items():
            if self._typed.startswith(sent):
                self._typed = self._typed.removeprefix(sent)
                return meaning
        self._typed = self._typed[1:]
        return ""
