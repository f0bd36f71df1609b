"""Read keys from the terminal, one at a time, without blocking."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def key_actions(actions: Mapping[str, str]) -> Iterator[Callable[[], str]]:
    """Yield a function that returns the next key's action, or "" if there is none.

    There are no keys if standard input is not a terminal or the process runs in the background.

    Args:
        actions: action of each key, by the characters that a terminal sends for it.
    """
    if not in_foreground():
        yield lambda: ""
        return
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    typed = ""

    def next_action() -> str:
        nonlocal typed
        if not typed and select.select([0], [], [], 0)[0]:
            typed = os.read(0, 64).decode(errors="ignore")
        for sent, action in actions.items():
            if typed.startswith(sent):
                typed = typed.removeprefix(sent)
                return action
        typed = typed[1:]
        return ""

    try:
        yield next_action
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def in_foreground() -> bool:
    """Return whether standard input is a terminal with this process in the foreground."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # this process has another controlling terminal
        return False
