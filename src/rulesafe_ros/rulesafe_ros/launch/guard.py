"""End all child processes when the launcher ends, even if the launcher is killed with SIGKILL.

They receive SIGHUP, as after the end of a terminal, so that they can release a robot or close a
file, and SIGKILL at their time limit. Two mechanisms: the kernel sends SIGHUP to each direct child
when the launcher dies, and a small shell outside the launcher's process group sends both signals to
the process groups of the children.
"""

from __future__ import annotations

import ctypes
import math
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_prctl = ctypes.CDLL(None).prctl

# Each input line lists the present process groups as GROUP:LIMIT, by ascending time limit (s); an
# empty LIMIT is infinite. The input ends when the launcher does.
_SHELL = """trap '' INT TERM HUP QUIT
while read -r line; do groups=$line; done
for entry in $groups; do kill -s HUP -- "-${entry%:*}"; done
waited=0
for entry in $groups; do
  group=${entry%:*} limit=${entry#*:}
  [ -n "$limit" ] || break
  while [ "$waited" -lt "$limit" ] && kill -s 0 -- "-$group"; do
    sleep 1
    waited=$((waited + 1))
  done
  kill -s KILL -- "-$group"
done"""


def hang_up_with_parent() -> Callable[[], None]:
    """Return a function that a child calls before exec, so that it receives SIGHUP when its parent
    dies."""
    parent = os.getpid()

    def prepare() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # not the parent's handler
        _prctl(_PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)
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
    """Ends the registered process groups when this process ends, for whatever reason."""

    def __init__(self) -> None:
        self.groups: dict[int, float] = {}  # time limit (s) of each group
        self.shell = subprocess.Popen(
            ["/bin/sh", "-c", _SHELL],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def add(self, group: int, limit: float) -> None:
        """Register a group that is killed `limit` s after SIGHUP; inf: it is not killed."""
        self.groups[group] = limit
        self._send()

    def remove(self, group: int) -> None:
        self.groups.pop(group, None)
        self._send()

    def close(self) -> None:
        """End the guard, after the groups that are still registered."""
        assert self.shell.stdin is not None
        with suppress(BrokenPipeError):
            self.shell.stdin.close()
        self.shell.wait()

    def _send(self) -> None:
        assert self.shell.stdin is not None
        ascending = sorted(self.groups.items(), key=lambda item: item[1])
        entries = (f"{g}:{math.ceil(min(s, 1e9)) if s < math.inf else ''}" for g, s in ascending)
        with suppress(BrokenPipeError):  # the shell was killed; the kernel's signal remains
            self.shell.stdin.write(" ".join(entries).encode() + b"\n")
            self.shell.stdin.flush()
