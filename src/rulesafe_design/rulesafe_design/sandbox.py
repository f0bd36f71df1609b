"""Run untrusted programs in a separate process that can only compute.

The process restricts itself before it reads the program (`confine`). Only that process parses,
checks (`restricted`) and runs (`worker`) the program. The parent checks all messages of the process
(`processes`). docs/programs.md lists the guarantees and limitations. `exploring` explores lock
programs.
"""

from collections.abc import Callable
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.processes import Worker, bounded_text, malformed_message
from rulesafe_design.verdicts import KINDS, SANDBOX_KINDS, ProgramLimits, Refused
from rulesafe_design.wire import decode, encode

__all__ = ["KINDS", "SANDBOX_KINDS", "ProgramLimits", "Refused", "restrictions", "run_task"]

Answer = Callable[[str, list[Any], dict[str, Any]], Any]


def restrictions() -> dict[str, bool]:
    """Return, for each restriction of the sandbox process, whether it is active on this machine."""
    with Worker("lock", "", ProgramLimits()) as worker:
        return worker.restrictions


def run_task(source: str, answer: Answer, limits: ProgramLimits = ProgramLimits()) -> None:
    """Run a task program in the sandbox; its planner calls are executed in this process.

    Values of the types None, bool, int, float, str, list, tuple and dict are sent. Any other value
    stays in this process, and the program receives a handle that it can only pass to later calls.

    Args:
        source: The program.
        answer: Called as `answer("NAME", [*args], {**kw})` for each `planner.NAME(*args, **kw)`;
            returns the result. Name and arguments are untrusted, so `answer` must validate them.
        limits: The limits of the program.

    Raises:
        Refused: The sandbox refuses the program; kind "planner" if `answer` raised a RuleSafeError.
            Other exceptions of `answer` are propagated.
    """
    objects: list[Any] = []

    def handle_of(value: Any) -> int:
        objects.append(value)
        return len(objects) - 1

    calls = 0
    with Worker("task", source, limits) as worker:
        while (message := worker.receive()).get("done") is not True:
            calls += 1
            if calls > limits.calls:
                raise Refused("output", f"the program made more than {limits.calls} planner calls")
            name, arguments, named, line = _call(message, objects)
            try:
                value = answer(name, arguments, named)
            except RuleSafeError as error:
                raise Refused("planner", bounded_text(f"line {line}: {name}: {error}")) from error
            worker.restart_deadline()
            worker.send({"answer": encode(value, handle_of)})


def _call(
    message: dict[str, Any], objects: list[Any]
) -> tuple[str, list[Any], dict[str, Any], int]:
    """Return the name, arguments, keyword arguments and line of a planner call in a message."""

    def lookup(number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(objects):
            raise ValueError("unknown handle")
        return objects[number]

    try:
        name, line = message["call"], message["line"]
        arguments = decode(message["arguments"], lookup)
        named = decode(message["named"], lookup)
    except (KeyError, ValueError, TypeError, RecursionError):
        raise malformed_message() from None
    checks = (
        *(type(name) is str and name.isidentifier() and not name.startswith("_"),),
        *(type(line) is int, type(arguments) is list, type(named) is dict),
    )
    if not all(checks) or not all(type(key) is str for key in named):
        raise malformed_message()
    return name, arguments, named, line
