"""Lock rules, and the lock that executes one.

An event is a change of one part's phase, written "knob+" (opens) or "knob-" (closes). A rule has a
memory, a small tuple that each event updates. Memory and phases determine whether the door is
unlocked and which other parts are locked. If the memory takes finitely many values, the lock is a
finite automaton that can be searched (see `plans`). The twenty rules are in `rules`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_locks.instructions import Length, check_length

PARTS = ("knob", "handle", "door")
"""The movable parts. Changes in the same update are processed in this order."""

EVENTS = ("knob+", "knob-", "handle+", "handle-", "door+", "door-")
"""All events. Rules receive only those of knob and handle."""

Memory = tuple[int, ...]


class Phases(NamedTuple):
    """Which parts are open (True) at one moment."""

    knob: bool = False
    handle: bool = False
    door: bool = False


class LockState(NamedTuple):
    """The complete state of a lock; hashable. `opened`: the door was opened while unlocked."""

    phases: Phases
    memory: Memory
    opened: bool = False


OnEvent = Callable[[Memory, Phases, str], Memory]
Unlocked = Callable[[Memory, Phases], bool]
LockedParts = Callable[[Memory, Phases], frozenset[str]]


def ignore_event(memory: Memory, phases: Phases, event: str) -> Memory:
    """Return the memory unchanged, for a rule that depends on the current phases only."""
    return memory


def lock_only_door(memory: Memory, phases: Phases) -> frozenset[str]:
    """Return no parts, for a rule that locks only the door."""
    return frozenset()


@dataclass(frozen=True)
class Rule:
    """A lock rule. Its functions are pure and receive the phases after the event."""

    id: str
    description: str
    """The instruction in plain English."""
    unlocked: Unlocked
    """Whether the door is unlocked."""
    memory: Memory = ()
    """The memory at the start, all parts closed."""
    on_event: OnEvent = ignore_event
    """The memory after a knob or handle event."""
    locked_parts: LockedParts = lock_only_door
    """The parts other than the door that are locked, which means that their phase cannot change."""
    remembers: str = "nothing"
    """Description of the memory's contents."""
    short_instruction: str = ""
    """The same instruction in at most `instructions.MAX_TOKENS` tokens; empty: there is none."""

    def instruction(self, length: Length) -> str:
        """Return the long or the short instruction; the long one if there is no short one.

        Raises:
            RuleSafeError: `length` is neither "short" nor "long".
        """
        check_length(length)
        return (self.short_instruction if length == "short" else "") or self.description

    def start(self) -> LockState:
        """Return the state after a reset: all parts closed, initial memory."""
        return LockState(Phases(), self.memory)

    def step(self, state: LockState, event: str) -> LockState:
        """Return the state after an event, which is not checked against the locked parts."""
        part, opens = event[:-1], event.endswith("+")
        if event == "door+":
            opened = state.opened or self.unlocked(state.memory, state.phases)
            return LockState(state.phases._replace(door=True), state.memory, opened)
        phases = state.phases._replace(**{part: opens})
        if part == "door":
            return state._replace(phases=phases)
        return LockState(phases, self.on_event(state.memory, phases, event), state.opened)

    def locked(self, state: LockState) -> frozenset[str]:
        """Return the parts that are locked in this state."""
        held = self.locked_parts(state.memory, state.phases)
        # An open door is not locked; after it was opened while unlocked, it never locks again.
        if state.opened or state.phases.door or self.unlocked(state.memory, state.phases):
            return held
        return held | {"door"}


class Lock:
    """A lock that tracks phases and returns locked parts. The physics has to block them."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._state_of_locked: LockState | None = None  # the state for which `_locked` was computed
        self._locked: dict[str, bool] = {}
        self.reset()

    def reset(self) -> None:
        """Return to the initial state: all parts closed, initial memory."""
        self.state = self.rule.start()

    def update(self, phases: Mapping[str, bool]) -> dict[str, bool]:
        """Update the phases of all parts (True = open), and return which are locked (True).

        Changes since the last update, or since the reset, become events in the order of PARTS.

        Raises:
            RuleSafeError: a part is missing or unknown, or a phase is not a bool; the lock is
                unchanged.
        """
        for event in events_between(self.state.phases, check_phases(phases)):
            self.take(event)
        return self.locked

    def take(self, event: str) -> None:
        """Apply one event; raise RuleSafeError for an unknown one."""
        if event not in EVENTS:
            raise unknown_name("event", event, EVENTS)
        self.state = self.rule.step(self.state, event)

    @property
    def locked(self) -> dict[str, bool]:
        """Whether each part is locked now."""
        if self.state is not self._state_of_locked:
            held = self.rule.locked(self.state)
            self._locked = {part: part in held for part in PARTS}
            self._state_of_locked = self.state
        return dict(self._locked)


def check_phases(phases: Mapping[str, bool]) -> Phases:
    """Return the phases as a tuple; raise RuleSafeError unless there is one bool per part."""
    for part in phases:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    for part in PARTS:
        if part not in phases:
            raise RuleSafeError(f"the phase of {part!r} is missing; required: {', '.join(PARTS)}")
        if not isinstance(phases[part], bool):
            raise RuleSafeError(
                f"the phase of {part!r} is {phases[part]!r}, a {type(phases[part]).__name__}; "
                "valid: True (open), False (closed)"
            )
    return Phases(**phases)


def events_between(before: Phases, after: Phases) -> list[str]:
    """Return the events between two sets of phases, in the order of PARTS."""
    return [
        part + ("+" if new else "-")
        for part, old, new in zip(PARTS, before, after, strict=True)
        if old != new
    ]
