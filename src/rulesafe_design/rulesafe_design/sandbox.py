"""Programs of strangers, run in a process of their own that can do nothing but compute.

The process confines itself before it sees the program (`confine`), and only there the program is
parsed, checked against a subset of Python (`restricted`) and run (`worker`). What it says is
checked on this side as strangers' words are (`processes`). docs/sandbox.md says what this promises
and what it does not. Lock programs are explored by `exploring`.
"""

from collections.abc import Callable
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.processes import Worker, malformed_message, printable
from rulesafe_design.verdicts import KINDS, SANDBOX_KINDS, Limits, Refused
from rulesafe_design.wire import decode, encode

__all__ = ["KINDS", "SANDBOX_KINDS", "Limits", "Refused", "run_task", "walls"]

Answer = Callable[[str, list[Any], dict[str, Any]], Any]


def walls() -> dict[str, bool]:
    """What confines a program on this machine, by name: is it in force?"""
    with Worker("lock", "", Limits()) as worker:
        return worker.walls


def run_task(source: str, answer: Answer, limits: Limits = Limits()) -> None:
    """Runs a task program. Each `planner.NAME(*args, **kw)` in it comes here as
    `answer("NAME", [*args], {**kw})`, whose value the program gets.

    None, bool, int, float, str, list, tuple and dict travel; any other value stays here, and the
    program gets a handle that it can only pass to later calls. The names and arguments are a
    stranger's: `answer` must check both against lists of what is valid.

    Errors: Refused, "planner" with the line where `answer` raised a RuleSafeError (its cause).
    What else `answer` raises is passed on. The process is gone in any case.
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
    """Name, arguments, named arguments and line of a call that the process asks for."""

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
