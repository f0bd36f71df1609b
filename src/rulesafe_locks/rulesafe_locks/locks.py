"""What a lock rule is, and the lock that runs one.

An event is a change of one part's phase, written "knob+" (opens) or "knob-" (closes). A rule keeps
a memory, a small tuple that each event replaces, and says from memory and phases whether the door
is free and which other parts it holds. Where a memory takes finitely many values, the lock is a
finite automaton that can be searched (see `plans`). The twenty rules are in `rules`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rulesafe_core.errors import RuleSafeError, unknown_name

PARTS = ("knob", "handle", "door")
"""The movable parts, in the order in which changes within one update are taken."""

EVENTS = ("knob+", "knob-", "handle+", "handle-", "door+", "door-")
"""Every change of phase. Rules see only those of knob and handle."""

Memory = tuple[int, ...]


class Phases(NamedTuple):
    """Which parts are open (True) at one moment."""

    knob: bool = False
    handle: bool = False
    door: bool = False


class LockState(NamedTuple):
    """All that decides a lock's future; hashable. `opened`: the door was opened while free."""

    phases: Phases
    memory: Memory
    opened: bool = False


OnEvent = Callable[[Memory, Phases, str], Memory]
Unlocked = Callable[[Memory, Phases], bool]
Held = Callable[[Memory, Phases], frozenset[str]]


def forget(memory: Memory, phases: Phases, event: str) -> Memory:
    """The memory of a rule that looks at the present phases only."""
    return memory


def hold_nothing(memory: Memory, phases: Phases) -> frozenset[str]:
    """The holds of a rule that locks nothing but the door."""
    return frozenset()


@dataclass(frozen=True)
class Rule:
    """One rule. Its functions are pure and get the phases as they are after the event."""

    id: str
    description: str
    """The instruction in plain English."""
    unlocked: Unlocked
    """Is the door free?"""
    memory: Memory = ()
    """The memory at the start, all parts closed."""
    on_event: OnEvent = forget
    """The memory after a knob or handle event."""
    held: Held = hold_nothing
    """The parts, beside the door, that cannot leave their phase now."""
    remembers: str = "nothing"
    """What the memory stands for, in words."""

    def start(self) -> LockState:
        """The state after a reset: all parts closed, nothing entered."""
        return LockState(Phases(), self.memory)

    def step(self, state: LockState, event: str) -> LockState:
        """The state after one event. It is taken as a fact, even if the lock forbids it."""
        part, opens = event[:-1], event.endswith("+")
        if event == "door+":
            opened = state.opened or self.unlocked(state.memory, state.phases)
            return LockState(state.phases._replace(door=True), state.memory, opened)
        phases = state.phases._replace(**{part: opens})
        if part == "door":
            return state._replace(phases=phases)
        return LockState(phases, self.on_event(state.memory, phases, event), state.opened)

    def locked(self, state: LockState) -> frozenset[str]:
        """The parts that cannot leave their phase in this state."""
        held = self.held(state.memory, state.phases)
        # An open door has nothing to hold it; one that was opened properly stays free for good.
        if state.opened or state.phases.door or self.unlocked(state.memory, state.phases):
            return held
        return held | {"door"}

    def new_lock(self) -> "Lock":
        """A lock that follows this rule, reset."""
        return Lock(self)


class Lock:
    """A running lock: phases in, locks out. It never blocks a change; the physics does."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.reset()

    def reset(self) -> None:
        """Back to the start: all parts closed, memory empty."""
        self.state = self.rule.start()

    def update(self, phases: Mapping[str, bool]) -> dict[str, bool]:
        """Take the phases of all parts (True = open), return which are locked (True).

        Parts that changed since the last update (or since the reset, when all were closed) make
        events in the order of PARTS. Raises RuleSafeError, with the lock unchanged, where a part
        is missing or unknown or a phase is not a bool.
        """
        for event in events_between(self.state.phases, check_phases(phases)):
            self.take(event)
        return self.locked

    def take(self, event: str) -> None:
        """Take one event; RuleSafeError for one that is not known."""
        if event not in EVENTS:
            raise unknown_name("event", event, EVENTS)
        self.state = self.rule.step(self.state, event)

    @property
    def locked(self) -> dict[str, bool]:
        """Which parts cannot leave their phase now."""
        held = self.rule.locked(self.state)
        return {part: part in held for part in PARTS}


def check_phases(phases: Mapping[str, bool]) -> Phases:
    """The phases as a tuple; RuleSafeError unless there is one bool for each part."""
    for part in phases:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    for part in PARTS:
        if part not in phases:
            raise RuleSafeError(f"no phase for part {part!r}; all are needed: {', '.join(PARTS)}")
        if not isinstance(phases[part], bool):
            raise RuleSafeError(
                f"the phase of {part!r} is {phases[part]!r}, a {type(phases[part]).__name__}; "
                "valid: True (open), False (closed)"
            )
    return Phases(**phases)


def events_between(before: Phases, after: Phases) -> list[str]:
    """The events that lead from one set of phases to another, in the order of PARTS."""
    return [
        part + ("+" if new else "-")
        for part, old, new in zip(PARTS, before, after, strict=True)
        if old != new
    ]
