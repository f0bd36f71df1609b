"""Run untrusted programs in a separate process that can only compute.

The process confines itself before it reads the program (`confine`). The program is parsed, checked
against a subset of Python (`restricted`) and run (`worker`) in that process only. The parent checks
all messages of the process (`processes`). docs/sandbox.md has the guarantees and their limits.
`exploring` explores lock programs.
"""

from collections.abc import Callable
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.processes import Worker, malformed_message, printable
from rulesafe_design.verdicts import KINDS, SANDBOX_KINDS, ProgramLimits, Refused
from rulesafe_design.wire import decode, encode

__all__ = ["KINDS", "SANDBOX_KINDS", "ProgramLimits", "Refused", "run_task", "walls"]

Answer = Callable[[str, list[Any], dict[str, Any]], Any]


def walls() -> dict[str, bool]:
    """Return the restrictions of a program on this machine, by name: whether each is in force."""
    with Worker("lock", "", ProgramLimits()) as worker:
        return worker.walls


def run_task(source: str, answer: Answer, limits: ProgramLimits = ProgramLimits()) -> None:
    """Run a task program. Each `planner.NAME(*args, **kw)` in it calls `answer("NAME", [*args],
    {**kw})` in this process, whose value the program receives.

    None, bool, int, float, str, list, tuple and dict are sent; any other value stays in this
    process, and the program receives a handle that it can only pass to later calls. Names and
    arguments are untrusted: `answer` must check both against lists of what is valid.

    Raises:
        Refused: By the sandbox; "planner" with the line if `answer` raised a RuleSafeError (its
            cause). Other errors of `answer` are passed on.
    """
    kept: list[Any] = []

    def keep(thing: Any) -> int:
        kept.append(thing)
        return len(kept) - 1

    calls = 0
    with Worker("task", source, limits) as worker:
        while (message := worker.receive()).get("done") is not True:
            calls += 1
            if calls > limits.calls:
                raise Refused("output", f"it made more than {limits.calls} calls of the planner")
            name, arguments, named, line = _call(message, kept)
            try:
                value = answer(name, arguments, named)
            except RuleSafeError as error:
                raise Refused("planner", printable(f"line {line}: {name}: {error}")) from error
            worker.restart_deadline()
            worker.send({"answer": encode(value, keep)})


def _call(message: dict[str, Any], kept: list[Any]) -> tuple[str, list[Any], dict[str, Any], int]:
    """Return name, arguments, named arguments and line of a call that the process requests."""

    def handled(number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(kept):
            raise ValueError("no such handle")
        return kept[number]

    try:
        name, line = message["call"], message["line"]
        arguments = decode(message["arguments"], handled)
        named = decode(message["named"], handled)
    except (KeyError, ValueError, TypeError, RecursionError):
        raise malformed_message() from None
    right = (
        *(type(name) is str and name.isidentifier() and not name.startswith("_"),),
        *(type(line) is int, type(arguments) is list, type(named) is dict),
    )
    if not all(right) or not all(type(key) is str for key in named):
        raise malformed_message()
    return name, arguments, named, line
