"""A task program in the sandbox's own process: each call of the planner travels to the parent.

Imports nothing heavy. `sandbox.run_task` is the other side.
"""

import sys
from collections.abc import Callable
from typing import Any, Protocol

from rulesafe_design.guards import Forbidden, Given, namespace, no_attempt
from rulesafe_design.restricted import PROGRAM, compile_task
from rulesafe_design.wire import decode, encode


class Messages(Protocol):
    """What goes to the parent and comes from it."""

    def send(self, message: dict[str, Any]) -> None: ...
    def receive(self) -> Any: ...


class Timer(Protocol):
    """The limit of the stretches between calls."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


class Handle:
    """Stands for an object of the planner's. A program can keep it and give it back."""

    __slots__ = ("number",)

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return "an object of the planner"


class Planner(Given):
    """What a task program gets as planner."""

    __slots__ = ("_clock", "_wire")

    def __init__(self, wire: Messages, clock: Timer):
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
        no_attempt()
        message = {
            "call": name,
            "arguments": encode(list(arguments), _number),
            "named": encode(named, _number),
            "line": _line(),
        }
        self._clock.stop()
        self._wire.send(message)
        answer = decode(self._wire.receive()["answer"], Handle)
        self._clock.start()
        return answer


def _number(value: Any) -> int:
    if type(value) is Handle:
        return value.number
    raise TypeError(
        f"the planner takes no {type(value).__name__}; valid: None, bool, int, float, str, list, "
        "tuple, dict, and what the planner returned"
    )


def _line() -> int:
    frame = sys._getframe()
    while frame.f_code.co_filename != PROGRAM and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_lineno


def run_task(source: str, wire: Messages, clock: Timer) -> None:
    """Runs the program to its end. Refusal or what it raises."""
    code = compile_task(source)
    clock.start()
    exec(code, namespace({"planner": Planner(wire, clock)}))
    clock.stop()
    no_attempt()
