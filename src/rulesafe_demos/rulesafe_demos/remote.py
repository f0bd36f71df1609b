"""A task program that nobody has read: executed in the sandbox, where it can call the planner and
nothing else.

The calls travel to this process. What the planner gives that is no plain data stays here, and the
program holds a handle that it can only give back. Example::

    run_program(SandboxedProgram(source), "rule_001", "safe_02", 0, "nominal", None)
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_type_hints

from planner_node.tasks import EndEffectorPose, PartConstraints, TaskPlanner
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_demos.program import Ending, TimeIsUp
from rulesafe_design.sandbox import Refused, run_task
from rulesafe_design.verdicts import ProgramLimits

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
"""The planner's methods that a program may call. One that is new in the planner is not here by
itself."""

MAX_CALLS = 500
"""Calls that a program may make. A step of a plan takes six or seven."""

MAX_TEXT = 200
"""Characters of a text that is given to the planner."""

MAX_NUMBER = 1e6
"""The largest number that is given to the planner, either sign."""

HANDLES: Mapping[type, str] = {PartConstraints: "constraints", EndEffectorPose: "a pose"}
"""What a program can hold but not see, in words."""

KINDS = {
    "planner": "a call of the planner could not be carried out: stuck, out of reach, no way",
    "call": "a call that the planner does not have, or with arguments that it does not take",
    "calls": f"more than {MAX_CALLS} calls of the planner",
    "simulated": "more simulated time than an episode has",
}
"""How a program fails in its calls -> what it means. The sandbox has kinds of its own."""


class RemotePlanner:
    """Answers a program's calls with those of a planner in this process.

    `kind`, one of KINDS or "error", says why the last call failed; empty while none has.
    """

    def __init__(self, planner: TaskPlanner):
        self.kind = ""
        self._planner = planner
        self._calls = 0

    def answer(self, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """What `planner.NAME(*args, **named)` gives. The words come from a stranger.

        Errors: RuleSafeError for what is not valid and for what the planner could not do.
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
        except TimeIsUp as error:
            raise self._failed("simulated", str(error)) from error
        except RuleSafeError as error:
            # The sandbox says which call it was.
            raise self._failed("planner", str(error).removeprefix(f"{name}: ")) from error
        except Exception as error:  # of a library: the program has ended, this process has not
            raise self._failed("error", f"{type(error).__name__}: {error}") from error

    def _failed(self, kind: str, message: str) -> RuleSafeError:
        self.kind = kind
        return RuleSafeError(message)

    def _checked(
        self, name: str, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Callable[..., Any], dict[str, Any]]:
        """The method and its arguments by name."""
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
    """An argument as the planner takes it. `kind`: the parameter's annotation. Errors:
    RuleSafeError for another type and for what is too large."""
    kinds = get_args(kind) or (kind,)
    for held, words in HANDLES.items():
        if held in kinds:
            if type(value) is held:
                return value
            raise RuleSafeError(
                f"{name} must be {words} that a call of the planner returned, not {_shown(value)}"
            )
    if value is None and type(None) in kinds:
        return None
    if str in kinds:
        if isinstance(value, str) and len(value) <= MAX_TEXT:
            return value
        raise RuleSafeError(f"{name} must be a text of up to {MAX_TEXT} characters")
    assert float in kinds, f"no check for {kind}"
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if right and abs(value) <= MAX_NUMBER:  # which nan is not
        return float(value)
    raise RuleSafeError(f"{name} must be a number within +-{MAX_NUMBER:g}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """A value for a message, however large it is."""
    if type(value) in HANDLES:
        return HANDLES[type(value)]
    if value is None or isinstance(value, float) or (type(value) is int and abs(value) < 1e9):
        return repr(value)
    return "another number" if type(value) is int else f"a {type(value).__name__}"


def _plain(value: Any) -> Any:
    """A result as it travels: residuals as (name, excess, unit); handles are the sandbox's."""
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    return float(value) if isinstance(value, float) else value


class SandboxedProgram:
    """The source of a task program, for the sandbox. The first call that fails ends it."""

    def __init__(self, source: str, limits: ProgramLimits = ProgramLimits()):
        self._source = source
        self._limits = limits

    def execute(self, planner: TaskPlanner) -> Ending:
        remote = RemotePlanner(planner)
        try:
            run_task(self._source, remote.answer, self._limits)
        except Refused as refused:
            return Ending(remote.kind or refused.kind, str(refused))
        return Ending()
