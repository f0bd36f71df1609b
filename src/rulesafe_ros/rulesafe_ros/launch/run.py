"""Run the steps of a launch: start and monitor processes, forward signals, and stop all processes.

There is one thread with one selector, since the kernel's parent-death signal is sent when the
thread that started a child ends.
"""

from __future__ import annotations

import heapq
import itertools
import math
import os
import selectors
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import IO

from rulesafe_core.signals import STOPPING
from rulesafe_ros.launch.guard import ProcessGuard, hang_up_with_parent, signal_group
from rulesafe_ros.launch.log import Log
from rulesafe_ros.launch.model import Process, Shutdown, Step

_WAITING_PERIOD = 2.0  # s between two messages about processes that have not ended yet
_INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)  # exit codes after a SIGINT
_LEFTOVER_GRACE = 1.0  # s until the rest of a finished process's group is killed
_POLL = 0.05  # s between checks of such process groups


@dataclass(eq=False)
class _Child:
    process: Process
    popen: subprocess.Popen[bytes]
    pending: dict[str, bytes] = field(default_factory=lambda: {"stdout": b"", "stderr": b""})
    last_error: str = ""  # last line on stderr that is not information
    exited: bool = False  # the process itself has ended
    group_exited: bool = False  # all processes of its group have ended

    @property
    def group(self) -> int:
        return self.popen.pid

    @property
    def pipes(self) -> dict[str, IO[bytes]]:
        assert self.popen.stdout is not None and self.popen.stderr is not None
        return {"stdout": self.popen.stdout, "stderr": self.popen.stderr}


REFUSED = 2
"""Exit status of a launch file that shuts itself down, as robot.launch.xml does for arguments that
are not valid together."""


def run(steps: Iterable[Step]) -> int:
    """Execute the steps, wait until all processes have ended, and return the exit status.

    Returns:
        The exit status of the first process that failed before the shutdown (128 + n after signal
        n), REFUSED if the file itself ended the launch, 128 + n if signal n stopped it, else 0.
    """
    log = Log()
    guard = ProcessGuard()
    try:
        with _wakeups() as wakeup:
            return _Launch(log, guard, wakeup).run(steps)
    finally:
        guard.close()
        log.close()


@contextmanager
def _wakeups() -> Iterator[socket.socket]:
    """Yield a socket that receives the number of every handled signal."""
    receiver, sender = socket.socketpair()
    receiver.setblocking(False)
    sender.setblocking(False)
    numbers = (*STOPPING, signal.SIGCHLD)
    before = [signal.signal(number, lambda *_: None) for number in numbers]
    before_fd = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    try:
        yield receiver
    finally:
        signal.set_wakeup_fd(before_fd)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        receiver.close()
        sender.close()


class _Launch:
    def __init__(self, log: Log, guard: ProcessGuard, wakeup: socket.socket) -> None:
        self.log = log
        self.guard = guard
        self.wakeup = wakeup
        self.selector = selectors.DefaultSelector()
        self.selector.register(wakeup, selectors.EVENT_READ, self._signals)
        self.children: list[_Child] = []
        self.due: list[tuple[float, int, Callable[[], None]]] = []  # (time, tie-breaker, action)
        self.order = itertools.count()
        self.stopping = False
        self.interrupts = 0
        self.failure: int | None = None  # status of the first failure before the shutdown
        self.reason = ""  # what failed first, and why
        self.interrupted: int | None = None

    def run(self, steps: Iterable[Step]) -> int:
        self._execute(steps)
        while not all(child.group_exited for child in self.children):
            self._process_events()
        self.selector.close()
        if self.reason:  # again, since the messages of the shutdown follow the process's own
            self.log.message("launch", self.reason, "ERROR")
        if self.failure is not None:
            return self.failure
        return 0 if self.interrupted is None else 128 + self.interrupted

    def _process_events(self) -> None:
        timeout = max(0.0, self.due[0][0] - time.monotonic()) if self.due else None
        for key, _ in self.selector.select(timeout):
            key.data()
        while self.due and self.due[0][0] <= time.monotonic():
            heapq.heappop(self.due)[2]()

    def _schedule(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self.due, (time.monotonic() + seconds, next(self.order), action))

    # Starting

    def _execute(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if self.stopping:
                return
            match step:
                case Process():
                    self._start(step)
                case Shutdown(reason=reason):
                    self.log.message("launch", f"shutting down: {reason}")
                    self.failure = self.failure or REFUSED
                    self._stop()

    def _start(self, process: Process) -> None:
        try:
            popen = subprocess.Popen(
                process.command,
                env=process.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=hang_up_with_parent(),
            )
        except OSError as error:
            self.log.message(process.name, f"cannot be started: {error}", "ERROR")
            self._handle_end(process, 127, str(error))
            return
        self.guard.add(popen.pid, process.time_limit)
        child = _Child(process, popen)
        self.children.append(child)
        self.log.message(process.name, f"process started with pid [{popen.pid}]")
        for stream, pipe in child.pipes.items():
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ, partial(self._read, child, stream))

    # Watching

    def _read(self, child: _Child, stream: str) -> None:
        pipe = child.pipes[stream]
        while not pipe.closed:
            try:
                data = os.read(pipe.fileno(), 65536)
            except BlockingIOError:
                return
            *lines, child.pending[stream] = (child.pending[stream] + data).split(b"\n")
            for line in lines:
                self._print(child, stream, line)
            if not data:
                self._close(child, stream)

    def _print(self, child: _Child, stream: str, line: bytes) -> None:
        text = line.decode(errors="replace")
        if stream == "stderr" and text.strip() and "[INFO]" not in text:
            child.last_error = text
        self.log.line(child.process.name, stream, child.process.output, text)

    def _close(self, child: _Child, stream: str) -> None:
        if child.pending[stream]:
            self._print(child, stream, child.pending[stream])
        self.selector.unregister(child.pipes[stream])
        child.pipes[stream].close()

    def _signals(self) -> None:
        for number in self.wakeup.recv(4096):
            if number in STOPPING:
                self._interrupt(number)
        for child in self.children:
            if not child.exited and child.popen.poll() is not None:
                self._exited(child)

    def _exited(self, child: _Child) -> None:
        child.exited = True
        for stream in child.pipes:
            self._read(child, stream)
        name, pid, code = child.process.name, child.popen.pid, child.popen.returncode
        if code == 0:
            self.log.message(name, f"process has finished cleanly [pid {pid}]")
        elif self.stopping and code in _INTERRUPTED:
            self.log.message(name, f"process has ended after SIGINT [pid {pid}, exit code {code}]")
        else:
            command = command_line(child.process)
            message = f"process has ended with exit code {code} [pid {pid}, cmd '{command}']"
            if code < 0 or code > 128:  # by a signal; a failed episode has exit code 1
                message = f"process has died [pid {pid}, exit code {code}, cmd '{command}']."
            self.log.message(name, message, "ERROR")
        signal_group(child.group, signal.SIGTERM)
        grace = _LEFTOVER_GRACE if child.process.time_limit < math.inf else math.inf
        self._end_group(child, time.monotonic() + grace)
        self._handle_end(child.process, code if code >= 0 else 128 - code, child.last_error)

    def _end_group(self, child: _Child, deadline: float) -> None:
        """Wait until the group of a finished process is empty; kill it after the deadline."""
        if signal_group(child.group, 0):
            if time.monotonic() < deadline:
                self._schedule(_POLL, partial(self._end_group, child, deadline))
                return
            signal_group(child.group, signal.SIGKILL)
        child.group_exited = True
        self.guard.remove(child.group)
        for stream, pipe in child.pipes.items():
            self._read(child, stream)
            if not pipe.closed:  # a process outside the group has it open
                self._close(child, stream)

    def _handle_end(self, process: Process, status: int, error: str) -> None:
        """Store status and error of an ended process, and shut down if the process is required."""
        if status != 0 and not self.stopping and self.failure is None:
            self.failure = status
            self.reason = f"{process.name} failed first, with status {status}"
            self.reason += f": {error}" if error else ""
        if process.on_exit == "shutdown" and not self.stopping:
            message = f"process[{process.name}] was required: shutting down launched system"
            self.log.message("launch", message)
            self._stop()

    # Stopping

    def _interrupt(self, number: int) -> None:
        """Forward a signal to all processes: the first as SIGINT, then SIGTERM, then SIGKILL.

        SIGHUP has no effect after the first signal, since a closed terminal may cause several.
        """
        if number == signal.SIGHUP and self.stopping:
            return
        name = signal.Signals(number).name
        self.interrupts += 1
        self.log.message("launch", f"user interrupted with {name}", "WARNING")
        if not self.stopping:
            self.interrupted = number
            self._stop()
        elif self.interrupts > 1:
            for child in self.children:
                kill = self.interrupts > 2 and child.process.time_limit < math.inf
                self._signal(child, signal.SIGKILL if kill else signal.SIGTERM)

    def _stop(self) -> None:
        self.stopping = True
        self.interrupts = max(self.interrupts, 1)  # SIGINT is sent now; a signal sends SIGTERM
        self._schedule(_WAITING_PERIOD, self._report_waiting)
        for child in self.children:
            self._signal(child, signal.SIGINT)
            waits = (child.process.sigterm_timeout, child.process.time_limit)
            for wait, number in zip(waits, (signal.SIGTERM, signal.SIGKILL), strict=True):
                if wait < math.inf:
                    self._schedule(wait, partial(self._escalate, child, wait, number))

    def _report_waiting(self) -> None:
        waiting = [child.process for child in self.children if not child.group_exited]
        if waiting:
            names = [p.name + " (never killed)" * (p.time_limit == math.inf) for p in waiting]
            message = f"waiting for {', '.join(names)}"
            if any(process.time_limit < math.inf for process in waiting):
                message += f"; another Ctrl-C sends SIG{'TERM' if self.interrupts < 2 else 'KILL'}"
            self.log.message("launch", message, "WARNING")
            self._schedule(_WAITING_PERIOD, self._report_waiting)

    def _escalate(self, child: _Child, waited: float, number: signal.Signals) -> None:
        if not child.exited:
            message = f"process[{child.process.name}] has not ended {waited:g} s after SIGINT"
            self.log.message(child.process.name, f"{message}, escalating to {number.name}", "ERROR")
            self._signal(child, number)

    def _signal(self, child: _Child, number: signal.Signals) -> None:
        if not child.exited:
            message = f"sending signal '{number.name}' to process[{child.process.name}]"
            self.log.message(child.process.name, message)
            signal_group(child.group, number)


def command_line(process: Process) -> str:
    """Return the command as it is typed in a shell."""
    return shlex.join(process.command)
