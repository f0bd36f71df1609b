"""The sandbox's own process: confines itself, then reads one program and runs it.

`sandbox` starts it. Descriptor 0 brings JSON lines, descriptor 1 takes them: first what confines
the process, then the answer. It imports nothing of the simulation, so that it starts fast.
"""

import json
import os
import signal
import sys
import time
import unicodedata  # noqa: F401  "\\N{...}" in a program imports it, and by then nothing can
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from rulesafe_design.confine import confine
from rulesafe_design.guards import Forbidden
from rulesafe_design.lock_worker import Explorer
from rulesafe_design.restricted import PROGRAM, Refusal
from rulesafe_design.task_worker import run_task

READ_BYTES = 65_536
MESSAGE = 500
"""Characters of an error's text that are told."""

GRACE = 0.25
"""s of CPU time after the limit of a call, for telling where it was; then the kernel ends it."""


class Wire:
    """JSON lines on descriptors 0 and 1."""

    def __init__(self) -> None:
        self._unread = b""

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]

    def receive(self) -> Any:
        while b"\n" not in self._unread:
            more = os.read(0, READ_BYTES)
            if not more:
                os._exit(0)  # nobody is there any more
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)


class Clock:
    """The limit of a stretch of the program. First a handler tells the line, by wall clock; where
    it cannot run, or the program has swallowed what it raised, the kernel ends the process. A
    program cannot sleep: where it had less than half of the time, the machine was busy elsewhere,
    and it gets its time again."""

    def __init__(self, wire: Wire, seconds: float):
        self._wire, self._seconds = wire, seconds
        self._began = 0.0  # s of CPU time
        self.where: Callable[[], str] = str
        signal.signal(signal.SIGALRM, self._late)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)

    def run(self, function: Callable[[], Any]) -> Any:
        """What the function returns, in time."""
        self.start()
        try:
            return function()
        finally:
            self.stop()

    def start(self) -> None:
        self._began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self._seconds + GRACE)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _late(self, number: int, frame: FrameType | None) -> None:
        if time.process_time() - self._began < self._seconds / 2:
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
            return
        while frame is not None and frame.f_code.co_filename != PROGRAM:
            frame = frame.f_back
        line = f"line {frame.f_lineno}: " if frame else ""
        self._wire.send(
            {
                "refused": "time",
                "message": f"{line}still running after {self._seconds:g} s{_words(self.where)}",
            }
        )
        os._exit(0)


def _words(where: Callable[[], str]) -> str:
    words = where()
    return f" ({words})" if words else ""


def fault(error: BaseException, where: str) -> dict[str, str]:
    """The message on a program that ended with an error."""
    if isinstance(error, Refusal):
        return {"refused": error.kind, "message": str(error)}
    line = _line(error.__traceback__)
    at = f"line {line}: " if line else ""
    name = type(error).__name__
    if isinstance(error, MemoryError):
        return {"refused": "memory", "message": f"{at}no memory left{where}"}
    if isinstance(error, Forbidden):
        return {"refused": "forbidden", "message": f"{at}{_text(error)}{where}"}
    return {"refused": "error", "message": f"{at}{name}: {_text(error)}{where}"}


def _text(error: BaseException) -> str:
    if isinstance(error, OSError):  # whose text may hold paths of this machine
        return "nothing of the system is there for a program"
    try:
        return str(error)[:MESSAGE]
    except Exception:
        return "(its text cannot be shown)"


def _line(trace: TracebackType | None) -> int | None:
    """The line of the program, the innermost, that an error came from."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def main() -> None:
    """Runs the program that descriptor 0 brings; the limits stand in the first argument."""
    setup = json.loads(sys.argv[1])
    wire = Wire()
    walls = confine(setup["memory_mb"], setup["cpu_s"], setup["parent"])
    wire.send({"walls": walls})
    job = wire.receive()
    clock = Clock(wire, setup["call_s"])
    try:
        if job["kind"] == "lock":
            explorer = Explorer(job["source"], clock.run, setup["states"], setup["events"])
            clock.where = explorer.trail
            answer: dict[str, Any] = {"graph": explorer.explore()}
        else:
            run_task(job["source"], wire, clock)
            answer = {"done": True}
    except BaseException as error:
        clock.stop()
        answer = {**fault(error, _words(clock.where))}
    wire.send(answer)
    os._exit(0)
