"""Locks as finite automata: states, what each leaves free, and where a knob or a handle move leads.

The smallest automaton of a lock is unique, so two locks are the same exactly where their smallest
automata are. Example::

    smallest(automaton_of(load_rule("rule_001"))).states  # four, one for each pair of phases
"""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.locks import LockState, Phases, Rule

MOVED = ("knob", "handle")
"""The parts whose moves a lock sees, in the order of a state's successors."""

MAX_STATES = 100_000
"""Exploring gives up here. The largest of the twenty, rule_018, has about 1200 states."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class AutomatonState:
    """One state of a lock, door closed."""

    phases: Phases
    """Which parts are open; the door never is."""
    free: bool
    """Can the door be opened?"""
    held: frozenset[str]
    """Those of MOVED that cannot leave their phase now."""
    next: tuple[int | None, int | None]
    """The states after a move of the knob and of the handle; None: no such move."""

    @property
    def output(self) -> Hashable:
        """All that shows of the state now."""
        return self.phases, self.free, self.held


@dataclass(frozen=True)
class Automaton:
    """States by number; 0 is the start, where all parts are closed."""

    states: tuple[AutomatonState, ...]

    def run(self, moves: Iterable[str], start: int = 0) -> int:
        """The state after these moves, each "knob" or "handle"."""
        number = start
        for move in moves:
            following = self.states[number].next[MOVED.index(move)]
            if following is None:
                raise RuleSafeError(f"state {number} has no {move} move")
            number = following
        return number

    @property
    def digest(self) -> str:
        """SHA-256 of the automaton, hexadecimal; equal for equal automata."""
        return hashlib.sha256(repr(to_json(self)).encode()).hexdigest()


def explored(
    start: Key,
    output: Callable[[Key], AutomatonState],
    step: Callable[[Key, str], Key],
    name: str = "lock",
) -> Automaton:
    """The automaton of everything that moves reach from `start`. `output` gives a state without
    successors, `step` the key after a move of one of MOVED. RuleSafeError past MAX_STATES."""
    numbers, keys, successors = {start: 0}, [start], []
    for key in keys:  # grows while it is gone through
        after = [step(key, part) for part in MOVED]
        for new in after:
            if new not in numbers:
                numbers[new] = len(keys)
                keys.append(new)
        successors.append((numbers[after[0]], numbers[after[1]]))
        if len(keys) > MAX_STATES:
            raise RuleSafeError(
                f"{name}: more than {MAX_STATES} states; its memory must take few values"
            )
    return Automaton(
        tuple(replace(output(key), next=after) for key, after in zip(keys, successors, strict=True))
    )


def automaton_of(rule: Rule) -> Automaton:
    """Every state of a rule up to the opening of the door, also those behind moves of held parts:
    should physics let one happen, it counts."""

    def output(state: LockState) -> AutomatonState:
        locked = rule.locked(state)
        return AutomatonState(state.phases, "door" not in locked, locked - {"door"}, (None, None))

    def step(state: LockState, part: str) -> LockState:
        return rule.step(state, part + ("-" if getattr(state.phases, part) else "+"))

    return explored(rule.start(), output, step, rule.id)


def as_rule(automaton: Automaton, rule_id: str, description: str) -> Rule:
    """A rule that follows an automaton; its memory is the number of the state."""
    states = automaton.states
    return Rule(
        rule_id,
        description,
        unlocked=lambda memory, phases: states[memory[0]].free,
        memory=(0,),
        on_event=lambda memory, phases, event: (automaton.run([event[:-1]], memory[0]),),
        held=lambda memory, phases: states[memory[0]].held,
        remembers="the number of the automaton's state",
    )


# Smallest automata and equality ---------------------------------------------------------------


def possible(automaton: Automaton) -> Automaton:
    """Only what can happen while the lock does its work: no move of a held part."""
    return _renumbered(replace(state, next=_without_held(state)) for state in automaton.states)


def _without_held(state: AutomatonState) -> tuple[int | None, int | None]:
    knob, handle = state.next
    return (None if "knob" in state.held else knob, None if "handle" in state.held else handle)


def smallest(automaton: Automaton) -> Automaton:
    """The automaton with the fewest states of the same behaviour, numbered breadth first with the
    knob before the handle, so that equal behaviour gives an equal value."""
    states = _renumbered(automaton.states).states
    group = _numbered(_alike(states))
    chosen = dict(zip(reversed(group), reversed(states), strict=True))
    return _renumbered(
        replace(chosen[kind], next=_mapped(chosen[kind], group)) for kind in range(len(chosen))
    )


def _alike(states: Sequence[AutomatonState]) -> list[int]:
    """The group of each state, where states share one if they behave alike: Hopcroft's refinement
    (1971), n log n steps for n states, since nobody should wait for an automaton of a stranger."""
    group = _numbered(state.output for state in states)
    members: list[set[int]] = [set() for _ in range(max(group) + 1)]
    for number, kind in enumerate(group):
        members[kind].add(number)
    # A move that is not there leads to a state of its own, which is behind the others.
    nowhere = len(states)
    before: list[list[list[int]]] = [[[] for _ in range(nowhere + 1)] for _ in MOVED]
    for number, state in enumerate(states):
        for move, after in enumerate(state.next):
            before[move][nowhere if after is None else after].append(number)
    members.append({nowhere})
    group.append(len(members) - 1)
    waiting = set(range(len(members)))
    while waiting:
        splitter = list(members[waiting.pop()])
        for leading in before:
            hit: dict[int, set[int]] = {}
            for number in splitter:
                for earlier in leading[number]:
                    hit.setdefault(group[earlier], set()).add(earlier)
            for kind, part in hit.items():
                if len(part) == len(members[kind]):
                    continue
                members[kind] -= part
                members.append(part)
                new = len(members) - 1
                for number in part:
                    group[number] = new
                smaller = new if len(part) <= len(members[kind]) else kind
                waiting.add(new if kind in waiting else smaller)
    return group[:nowhere]


def depths(automaton: Automaton) -> list[int]:
    """The fewest moves from the start to each state. They must be numbered breadth first, as
    `smallest` does."""
    found = {0: 0}
    for number, state in enumerate(automaton.states):
        for after in state.next:
            if after is not None:
                found.setdefault(after, found[number] + 1)
    return [found[number] for number in range(len(automaton.states))]


def refinements(states: Sequence[AutomatonState]) -> Iterator[list[int]]:
    """The group of each state where states are told apart by what shows at once, after up to one
    move, two, ..., until more moves tell no more apart."""
    group = _numbered(state.output for state in states)
    while True:
        yield group
        finer = _numbered(
            (group[number], *(None if n is None else group[n] for n in state.next))
            for number, state in enumerate(states)
        )
        if max(finer) == max(group):
            return
        group = finer


def difference(one: Automaton, other: Automaton) -> list[str] | None:
    """The fewest moves ("knob", "handle") after which two locks differ in what is free, held or
    possible; None where they never do."""
    start = (0, 0)
    came: dict[tuple[int, int], tuple[tuple[int, int], str]] = {}
    pairs = [start]

    def way(pair: tuple[int, int]) -> list[str]:
        moves = []
        while pair != start:
            pair, move = came[pair]
            moves.append(move)
        return moves[::-1]

    for pair in pairs:
        here, there = one.states[pair[0]], other.states[pair[1]]
        if here.output != there.output:
            return way(pair)
        for part, x, y in zip(MOVED, here.next, there.next, strict=True):
            if (x is None) != (y is None):
                return [*way(pair), part]
            if x is not None and y is not None and (x, y) != start and (x, y) not in came:
                came[x, y] = pair, part
                pairs.append((x, y))
    return None


def same_lock(one: Automaton, other: Automaton) -> bool:
    """Do two locks behave alike under every sequence of moves that they allow?"""
    return smallest(possible(one)) == smallest(possible(other))


def _numbered(keys: Iterable[Hashable]) -> list[int]:
    """Numbers for keys, from 0 in the order of first sight; equal for equal keys."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def _mapped(state: AutomatonState, numbers: Any) -> tuple[int | None, int | None]:
    knob, handle = (None if n is None else numbers[n] for n in state.next)
    return knob, handle


def _renumbered(states: Iterable[AutomatonState]) -> Automaton:
    """The reachable states, numbered breadth first."""
    states = list(states)
    numbers, order = {0: 0}, [0]
    for number in order:
        for after in states[number].next:
            if after is not None and after not in numbers:
                numbers[after] = len(order)
                order.append(after)
    return Automaton(tuple(replace(states[n], next=_mapped(states[n], numbers)) for n in order))


# Automata as data -----------------------------------------------------------------------------

COLUMNS = ("knob_open", "handle_open", "door_free", "knob_held", "handle_held", "knob", "handle")
"""A state as data: five times 0 or 1, then the states after a knob and a handle move."""


def to_json(automaton: Automaton) -> list[list[int | None]]:
    """A row of COLUMNS for each state."""
    return [
        [
            *(int(phase) for phase in state.phases[:2]),
            int(state.free),
            *(int(part in state.held) for part in MOVED),
            *state.next,
        ]
        for state in automaton.states
    ]


def from_json(rows: Any) -> Automaton:
    """The automaton of such rows. RuleSafeError, with the row, for anything but states that start
    with both parts closed and in which each move changes the phase of its part and no other."""
    if not isinstance(rows, list) or not rows or len(rows) > MAX_STATES:
        raise RuleSafeError(f"an automaton is a list of 1 to {MAX_STATES} states")
    states = [_state(number, row, len(rows)) for number, row in enumerate(rows)]
    if any(states[0].phases):
        raise RuleSafeError("state 0: at the start knob and handle are closed: 0, 0")
    for number, move, after in _moves(states):
        expected = states[number].phases._replace(
            **{move: not getattr(states[number].phases, move)}
        )
        if states[after].phases != expected:
            raise RuleSafeError(
                f"state {number}: a {move} move leads to state {after}, where other phases hold "
                "than the move makes"
            )
    return Automaton(tuple(states))


def _moves(states: list[AutomatonState]) -> Iterator[tuple[int, str, int]]:
    for number, state in enumerate(states):
        for move, after in zip(MOVED, state.next, strict=True):
            if after is not None:
                yield number, move, after


def _state(number: int, row: Any, count: int) -> AutomatonState:
    right = isinstance(row, list) and len(row) == len(COLUMNS)
    if not right or any(isinstance(n, bool) or not isinstance(n, int) for n in row):
        raise RuleSafeError(f"state {number}: {row!r} is no row of integers {', '.join(COLUMNS)}")
    if any(n not in (0, 1) for n in row[:5]) or any(not 0 <= n < count for n in row[5:]):
        raise RuleSafeError(
            f"state {number}: {row!r}; valid: five times 0 or 1, then two states 0 to {count - 1}"
        )
    held = frozenset(part for part, is_held in zip(MOVED, row[3:5], strict=True) if is_held)
    return AutomatonState(Phases(bool(row[0]), bool(row[1])), bool(row[2]), held, (row[5], row[6]))
