"""Kill all child processes when the launcher ends, even if the launcher is killed with SIGKILL.

Two mechanisms: the kernel kills each direct child when the launcher dies, and a small shell outside
the launcher's process group kills the process groups of the children.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_prctl = ctypes.CDLL(None).prctl

# Each input line lists the present process groups; the input ends when the launcher does.
_SHELL = """trap '' INT TERM HUP
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group"; done"""


def die_with_parent() -> Callable[[], None]:
    """Return a function that a child calls before exec, so that it is killed with its parent."""
    parent = os.getpid()

    def prepare() -> None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the call above
            os._exit(1)

    return prepare


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; return False if the group is empty."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


class ProcessGuard:
    """Kills the registered process groups when this process ends, for whatever reason."""

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", _SHELL],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def add(self, group: int) -> None:
        self.groups.add(group)
        self._send()

    def remove(self, group: int) -> None:
        self.groups.discard(group)
        self._send()

    def close(self) -> None:
        """End the guard; groups that are still registered are killed."""
        assert self.shell.stdin is not None
        with suppress(BrokenPipeError):
            self.shell.stdin.close()
        self.shell.wait()

    def _send(self) -> None:
        assert self.shell.stdin is not None
        with suppress(BrokenPipeError):  # the shell was killed; the kernel's signal remains
            self.shell.stdin.write(" ".join(map(str, self.groups)).encode() + b"\n")
            self.shell.stdin.flush()
