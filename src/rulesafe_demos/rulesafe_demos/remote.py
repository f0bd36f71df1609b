"""Untrusted task programs: executed in the sandbox, where they can call only the planner.

The calls are sent to this process. Objects that the planner returns stay in this process; the
program receives handles, which it can only pass back. Example::

    run_program(SandboxedProgram(source), "rule_001", "safe_02", 0, "nominal", None)
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_type_hints

from planner_node.tasks import EndEffectorPose, PartConstraints, TaskPlanner
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_demos.program import ProgramEnd, TimeLimitExceeded
from rulesafe_design.sandbox import Refused, run_task

CALLS = (
    "hand_pre_pinch",
    "hand_pinch",
    "rotate_hand",
    "hand_release",
    "hand_pre_grasp",
    "hand_grasp",
    "hand_open",
    "generate_constraints",
    "generate_end_effector_pose",
    "move_to_pose",
)
"""Methods of the planner that a program may call. New methods of the planner must be added here
explicitly."""

MAX_CALLS = 500
"""Maximum number of calls in a program. A step of a plan needs six or seven."""

MAX_TEXT = 200
"""Maximum length of a string argument, characters."""

MAX_NUMBER = 1e6
"""Largest absolute value of a number argument."""

HANDLES: Mapping[type, str] = {PartConstraints: "constraints", EndEffectorPose: "a pose"}
"""Types that a program receives as handles -> their names in messages."""


class RemotePlanner:
    """Executes the calls of a program with a planner in this process.

    `kind` is why the last call failed ("planner", "call", "calls", "simulated" or "error", see
    docs/programs.md); empty if none has.
    """

    def __init__(self, planner: TaskPlanner):
        self.kind = ""
        self._planner = planner
        self._calls = 0

    def answer(self, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Return the result of `planner.NAME(*args, **named)`. The arguments are untrusted.

        Raises:
            RuleSafeError: for invalid calls, and if the planner fails.
        """
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise self._failed("calls", f"more than {MAX_CALLS} calls of the planner")
        try:
            call, given = self._checked(name, args, named)
        except RuleSafeError as error:
            raise self._failed("call", str(error)) from error
        try:
            return _plain(call(**given))
        except TimeLimitExceeded as error:
            raise self._failed("simulated", str(error)) from error
        except RuleSafeError as error:
            # The sandbox adds the name of the call.
            raise self._failed("planner", str(error).removeprefix(f"{name}: ")) from error
        except Exception as error:  # an error of a library ends the program, not this process
            raise self._failed("error", f"{type(error).__name__}: {error}") from error

    def _failed(self, kind: str, message: str) -> RuleSafeError:
        self.kind = kind
        return RuleSafeError(message)

    def _checked(
        self, name: str, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Return the method and its arguments by name."""
        if name not in CALLS:
            raise unknown_name("call of the planner", name[:MAX_TEXT], CALLS)
        call = getattr(self._planner, name)
        signature = inspect.signature(call)
        try:
            given = dict(signature.bind(*args, **named).arguments)
        except TypeError as error:
            valid = ", ".join(signature.parameters)
            raise RuleSafeError(f"{str(error)[:MAX_TEXT]}; valid: {valid}") from None
        kinds = get_type_hints(call)
        return call, {key: _argument(key, value, kinds[key]) for key, value in given.items()}


def _argument(name: str, value: Any, kind: Any) -> Any:
    """Return an argument of a remote call, converted for the planner.

    Args:
        name: name of the parameter.
        value: argument as received.
        kind: type annotation of the parameter.

    Raises:
        RuleSafeError: the type does not match, or the value is too large.
    """
    kinds = get_args(kind) or (kind,)
    for held, noun in HANDLES.items():
        if held in kinds:
            if type(value) is held:
                return value
            raise RuleSafeError(
                f"{name} must be {noun} returned by a call of the planner, got {_shown(value)}"
            )
    if value is None and type(None) in kinds:
        return None
    if str in kinds:
        if isinstance(value, str) and len(value) <= MAX_TEXT:
            return value
        raise RuleSafeError(f"{name} must be a string of at most {MAX_TEXT} characters")
    assert float in kinds, f"no check for {kind}"
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if right and abs(value) <= MAX_NUMBER:  # false for nan
        return float(value)
    raise RuleSafeError(f"{name} must be a number within +-{MAX_NUMBER:g}, got {_shown(value)}")


def _shown(value: Any) -> str:
    """Return a short text for a value of any size."""
    if type(value) in HANDLES:
        return HANDLES[type(value)]
    if value is None or isinstance(value, float) or (type(value) is int and abs(value) < 1e9):
        return repr(value)
    return "another number" if type(value) is int else f"a {type(value).__name__}"


def _plain(value: Any) -> Any:
    """Return a result for transfer: residuals as (name, excess, unit); the sandbox adds handles."""
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    return float(value) if isinstance(value, float) else value


class SandboxedProgram:
    """The source of a task program, run in the sandbox. The first failing call ends it."""

    def __init__(self, source: str):
        self._source = source

    def execute(self, planner: TaskPlanner) -> ProgramEnd:
        remote = RemotePlanner(planner)
        try:
            run_task(self._source, remote.answer)
        except Refused as refused:
            return ProgramEnd(remote.kind or refused.kind, str(refused))
        return ProgramEnd()
