"""Main module of the sandbox process: restrict the process, then read and run one program.

`processes` starts it. It reads JSON lines from descriptor 0 and writes JSON lines to descriptor 1:
first the active restrictions, then the planner calls of a task program, then the result. It does
not import the simulation, so that it starts fast.
"""

import json
import os
import signal
import sys
import time
import unicodedata  # noqa: F401  needed for "\\N{...}"; it cannot be imported after confine()
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
"""Maximum number of characters of an error text that are sent."""

GRACE = 0.25
"""CPU time in s, after the time limit of a call, for reporting the line before SIGPROF ends the
process."""


class Wire:
    """Receive and send JSON lines on descriptors 0 and 1."""

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

    When the wall-clock limit is reached, a signal handler reports the current line. If the handler
    cannot run, the kernel ends the process. A program cannot sleep: if it used less than half of
    the limit as CPU time, the machine was busy, and the limit is extended.
    """

    def __init__(self, wire: Wire, seconds: float):
        self._wire, self._seconds = wire, seconds
        self._start_time = 0.0  # CPU time in s
        self.trail: Callable[[], str] = str
        signal.signal(signal.SIGALRM, self._on_timeout)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)

    def run(self, function: Callable[[], Any]) -> Any:
        """Call the function within the time limit and return its result."""
        self.start()
        try:
            return function()
        finally:
            self.stop()

    def start(self) -> None:
        self._start_time = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self._seconds + GRACE)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _on_timeout(self, number: int, frame: FrameType | None) -> None:
        if time.process_time() - self._start_time < self._seconds / 2:
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
            return
        text = f"still running after the time limit of {self._seconds:g} s"
        self._wire.send(refusal("time", line_of(frame), text, self.trail()))
        os._exit(0)


class ObjectHandle:
    """Handle of an object of the planner, which a program can store and pass to later calls."""

    __slots__ = ("number",)

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return "an object of the planner"


class Planner(Provided):
    """Planner proxy of a task program: sends each call to the parent (`sandbox.run_task`)."""

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
        f"a planner call cannot take a {type(value).__name__}; valid: None, bool, int, float, str, "
        "list, tuple, dict, and values that the planner returned"
    )


def run_task(source: str, wire: Wire, clock: Clock) -> None:
    """Run a task program. Raises Refusal, or the exception of the program."""
    code = compile_task(source)
    clock.start()
    exec(code, namespace({"planner": Planner(wire, clock)}))
    clock.stop()
    raise_first_attempt()


def line_of(frame: FrameType | None) -> int | None:
    """Return the line of the program at which a frame is, or from which it was called."""
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    return frame.f_lineno if frame else None


def refusal(kind: str, line: int | None, text: str, trail: str) -> dict[str, str]:
    """Return the message for a refused program; `trail` describes the moves before the call."""
    at, after = f"line {line}: " if line else "", f" ({trail})" if trail else ""
    return {"refused": kind, "message": f"{at}{text}{after}"}


def failure(error: BaseException, trail: str) -> dict[str, str]:
    """Return the message for a program that ended with an exception."""
    if isinstance(error, Refusal):
        return refusal(error.kind, None, str(error), "")
    line = _line_of_error(error.__traceback__)
    if isinstance(error, MemoryError):
        return refusal("memory", line, "out of memory", trail)
    if isinstance(error, Forbidden):
        return refusal("forbidden", line, _text(error), trail)
    return refusal("error", line, f"{type(error).__name__}: {_text(error)}", trail)


def _text(error: BaseException) -> str:
    if isinstance(error, OSError):  # the text of an OSError may contain paths of this machine
        return "a program has no access to the operating system"
    try:
        return str(error)[:MESSAGE]
    except Exception:
        return "(the error has no printable text)"


def _line_of_error(trace: TracebackType | None) -> int | None:
    """Return the innermost line of the program in a traceback."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def main() -> None:
    """Run the program received on descriptor 0 with the limits in the first argument."""
    setup = json.loads(sys.argv[1])
    wire = Wire()
    restrictions = confine(setup["memory_mb"], setup["cpu_s"], setup["parent"])
    wire.send({"restrictions": restrictions})
    job = wire.receive()
    clock = Clock(wire, setup["call_s"])
    try:
        if job["kind"] == "lock":
            explorer = Explorer(job["source"], clock.run, setup["states"], setup["events"])
            clock.trail = explorer.trail
            answer: dict[str, Any] = {"graph": explorer.explore()}
        else:
            run_task(job["source"], wire, clock)
            answer = {"done": True}
    except BaseException as error:
        refused = error  # its text, of objects of the program, can take long to compute
        answer = clock.run(lambda: {**failure(refused, clock.trail())})
    wire.send(answer)
    os._exit(0)
