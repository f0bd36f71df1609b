"""The sandbox's own process: confines itself, then reads one program and runs it.

`processes` starts it. It reads JSON lines from descriptor 0 and writes JSON lines to descriptor 1:
first what confines the process, then the calls of a task program, then the result. It imports
nothing of the simulation, so that it starts fast.
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
from rulesafe_design.guards import Forbidden, Provided, namespace, raise_first_attempt
from rulesafe_design.lock_worker import Explorer
from rulesafe_design.restricted import PROGRAM, Refusal, compile_task
from rulesafe_design.wire import decode, encode

READ_BYTES = 65_536
MESSAGE = 500
"""Characters of an error's text that are sent."""

GRACE = 0.25
"""s of CPU time after the limit of a call, to report the line; then the kernel ends the process."""


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
                os._exit(0)  # the parent has ended
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)


class Clock:
    """The time limit of a call of the program.

    A signal handler reports the line after the limit, by wall clock. If the handler cannot run, the
    kernel ends the process. A program cannot sleep: if it had less than half of the time as CPU
    time, the machine was busy, and the program gets the time once more.
    """

    def __init__(self, wire: Wire, seconds: float):
        self._wire, self._seconds = wire, seconds
        self._began = 0.0  # s of CPU time
        self.where: Callable[[], str] = str
        signal.signal(signal.SIGALRM, self._late)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)

    def run(self, function: Callable[[], Any]) -> Any:
        """Return the result of the function, within the limit."""
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
        text = f"still running after {self._seconds:g} s"
        self._wire.send(refusal("time", line_of(frame), text, self.where()))
        os._exit(0)


class ObjectHandle:
    """Stands for an object of the planner. A program can keep it and pass it to later calls."""

    __slots__ = ("number",)

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return "an object of the planner"


class Planner(Provided):
    """The planner of a task program: each call is sent to the parent (`sandbox.run_task`)."""

    __slots__ = ("_clock", "_wire")

    def __init__(self, wire: Wire, clock: Clock):
        self._wire, self._clock = wire, clock

    def __repr__(self) -> str:
        return "planner"

    def read(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise Forbidden(f"planner has no call {name}")

        def call(*arguments: Any, **named: Any) -> Any:
            return self._call(name, arguments, named)

        return call

    def _call(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        raise_first_attempt()
        message = {
            "call": name,
            "arguments": encode(list(arguments), _number),
            "named": encode(named, _number),
            "line": line_of(sys._getframe()),
        }
        self._clock.stop()
        self._wire.send(message)
        answer = decode(self._wire.receive()["answer"], ObjectHandle)
        self._clock.start()
        return answer


def _number(value: Any) -> int:
    if type(value) is ObjectHandle:
        return value.number
    raise TypeError(
        f"the planner takes no {type(value).__name__}; valid: None, bool, int, float, str, list, "
        "tuple, dict, and what the planner returned"
    )


def run_task(source: str, wire: Wire, clock: Clock) -> None:
    """Run a task program to its end. Raises Refusal, or the error of the program."""
    code = compile_task(source)
    clock.start()
    exec(code, namespace({"planner": Planner(wire, clock)}))
    clock.stop()
    raise_first_attempt()


def line_of(frame: FrameType | None) -> int | None:
    """Return the line of the program that a frame is in, or was called from."""
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    return frame.f_lineno if frame else None


def refusal(kind: str, line: int | None, text: str, where: str) -> dict[str, str]:
    """Return the message that ends a program; `where`: the moves before the call, if any."""
    at, after = f"line {line}: " if line else "", f" ({where})" if where else ""
    return {"refused": kind, "message": f"{at}{text}{after}"}


def fault(error: BaseException, where: str) -> dict[str, str]:
    """Return the message for a program that ended with an error."""
    if isinstance(error, Refusal):
        return refusal(error.kind, None, str(error), "")
    line = _line_of_error(error.__traceback__)
    if isinstance(error, MemoryError):
        return refusal("memory", line, "no memory left", where)
    if isinstance(error, Forbidden):
        return refusal("forbidden", line, _text(error), where)
    return refusal("error", line, f"{type(error).__name__}: {_text(error)}", where)


def _text(error: BaseException) -> str:
    if isinstance(error, OSError):  # whose text may hold paths of this machine
        return "nothing of the system is there for a program"
    try:
        return str(error)[:MESSAGE]
    except Exception:
        return "(its text cannot be shown)"


def _line_of_error(trace: TracebackType | None) -> int | None:
    """Return the innermost line of the program that an error came from."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def main() -> None:
    """Run the program from descriptor 0, under the limits in the first argument."""
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
        answer = {**fault(error, clock.where())}
    wire.send(answer)
    os._exit(0)
