"""Read keys from the terminal, one at a time, without blocking."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ACTIONS = {
    " ": "pause",
    "n": "next",
    "\x1b[C": "next",
    "+": "faster",
    "\x1b[A": "faster",
    "-": "slower",
    "\x1b[B": "slower",
    "q": "quit",
}
"""Action of each key, by the characters that a terminal sends."""

HELP = "keys: space pause, n or → next message, + or ↑ faster, - or ↓ slower, q quit"


@contextmanager
def key_actions() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the next key's action, or "" if there is none.

    There are no keys if standard input is not a terminal or the process runs in the background.
    """
    if not _in_foreground():
        yield lambda: ""
        return
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    typed = ""

    def next_action() -> str:
        nonlocal typed
        if not typed and select.select([0], [], [], 0)[0]:
            typed = os.read(0, 64).decode(errors="ignore")
        for sent, action in ACTIONS.items():
            if typed.startswith(sent):
                typed = typed.removeprefix(sent)
                return action
        typed = typed[1:]
        return ""

    try:
        yield next_action
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _in_foreground() -> bool:
    """Return whether standard input is a terminal with this process in the foreground."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # this process has another controlling terminal
        return False
