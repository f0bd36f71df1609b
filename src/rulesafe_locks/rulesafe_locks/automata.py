"""Locks as finite automata: states, locked parts in each, and successors of knob and handle moves.

The minimal automaton of a lock is unique, so two locks are equivalent if and only if their minimal
automata are equal. Example::

    smallest(automaton_of(load_rule("rule_001"))).states  # four, one per pair of phases
"""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.locks import LockState, Phases, Rule

MOVED = ("knob", "handle")
"""The parts whose moves change a lock's state, in the order of a state's successors."""

MAX_STATES = 100_000
"""Limit of exploration. The largest of the twenty rules has about 1200 states (rule_018)."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class AutomatonState:
    """One state of a lock with a closed door."""

    phases: Phases
    """Phases of knob and handle (True: open); `door` is always False."""
    door_unlocked: bool
    """Whether the door is unlocked."""
    locked_parts: frozenset[str]
    """The parts of MOVED that are locked."""
    next: tuple[int | None, int | None]
    """Indices of the states after a knob and a handle move; None if there is no such move."""

    @property
    def output(self) -> Hashable:
        """Phases, door lock and locked parts: equivalent states have equal outputs."""
        return self.phases, self.door_unlocked, self.locked_parts


@dataclass(frozen=True)
class Automaton:
    """States by index; state 0 is the start, where all parts are closed."""

    states: tuple[AutomatonState, ...]

    def run(self, moves: Iterable[str], start: int = 0) -> int:
        """Return the index of the state after these moves, each "knob" or "handle"."""
        number = start
        for move in moves:
            following = self.states[number].next[MOVED.index(move)]
            if following is None:
                raise RuleSafeError(f"no {move} move is possible in state {number}")
            number = following
        return number

    @property
    def digest(self) -> str:
        """SHA-256 of the automaton, hexadecimal."""
        return hashlib.sha256(repr(to_json(self)).encode()).hexdigest()

    @property
    def mirrored(self) -> "Automaton":
        """The minimal automaton with knob and handle exchanged."""
        other = dict(zip(MOVED, reversed(MOVED), strict=True))
        states = (
            AutomatonState(
                Phases(state.phases.handle, state.phases.knob),
                state.door_unlocked,
                frozenset(other[part] for part in state.locked_parts),
                (state.next[1], state.next[0]),
            )
            for state in self.states
        )
        return smallest(Automaton(tuple(states)))


def explored(
    start: Key,
    output: Callable[[Key], AutomatonState],
    step: Callable[[Key, str], Key],
    name: str = "lock",
) -> Automaton:
    """Return the automaton of all states that moves reach from `start`.

    Args:
        start: key of the first state.
        output: returns the state of a key, without successors.
        step: returns the key after a move of a part of MOVED.
        name: name of the lock, for the error message.

    Raises:
        RuleSafeError: there are more than MAX_STATES states.
    """
    numbers, keys, successors = {start: 0}, [start], []
    for key in keys:  # `keys` grows during the loop
        after = [step(key, part) for part in MOVED]
        for new in after:
            if new not in numbers:
                numbers[new] = len(keys)
                keys.append(new)
        successors.append((numbers[after[0]], numbers[after[1]]))
        if len(keys) > MAX_STATES:
            raise RuleSafeError(
                f"{name}: more than {MAX_STATES} states; limit the values of the rule's memory"
            )
    return Automaton(
        tuple(replace(output(key), next=after) for key, after in zip(keys, successors, strict=True))
    )


def automaton_of(rule: Rule) -> Automaton:
    """Return the automaton of all states of a rule, up to the opening of the door.

    It includes moves of locked parts, because contacts in the physics may force one."""

    def output(state: LockState) -> AutomatonState:
        locked = rule.locked(state)
        return AutomatonState(state.phases, "door" not in locked, locked - {"door"}, (None, None))

    def step(state: LockState, part: str) -> LockState:
        return rule.step(state, part + ("-" if getattr(state.phases, part) else "+"))

    return explored(rule.start(), output, step, rule.id)


def as_rule(
    automaton: Automaton, rule_id: str, description: str, short_instruction: str = ""
) -> Rule:
    """Return a rule that executes an automaton; its memory is the index of the state."""
    states = automaton.states
    return Rule(
        rule_id,
        description,
        unlocked=lambda memory, phases: states[memory[0]].door_unlocked,
        memory=(0,),
        on_event=lambda memory, phases, event: (automaton.run([event[:-1]], memory[0]),),
        locked_parts=lambda memory, phases: states[memory[0]].locked_parts,
        remembers="the index of the automaton's state",
        short_instruction=short_instruction,
    )


# Minimal automata and equivalence -------------------------------------------------------------


def possible(automaton: Automaton) -> Automaton:
    """Return the automaton without moves of locked parts."""
    return _renumbered(replace(state, next=_without_locked(state)) for state in automaton.states)


def _without_locked(state: AutomatonState) -> tuple[int | None, int | None]:
    knob, handle = state.next
    return (
        None if "knob" in state.locked_parts else knob,
        None if "handle" in state.locked_parts else handle,
    )


def smallest(automaton: Automaton) -> Automaton:
    """Return the minimal equivalent automaton.

    Its states are numbered in breadth-first order, knob before handle, so that equivalent automata
    give equal values."""
    states = _renumbered(automaton.states).states
    group = _numbered(_equivalence_classes(states))
    chosen = dict(zip(reversed(group), reversed(states), strict=True))
    return _renumbered(
        replace(chosen[kind], next=_mapped(chosen[kind], group)) for kind in range(len(chosen))
    )


def _equivalence_classes(states: Sequence[AutomatonState]) -> list[int]:
    """Return the equivalence class of each state, by Hopcroft's algorithm (1971).

    It takes O(n log n) steps, so that large automata from untrusted files are not slow."""
    group = _numbered(state.output for state in states)
    members: list[set[int]] = [set() for _ in range(max(group) + 1)]
    for number, kind in enumerate(group):
        members[kind].add(number)
    # A missing move leads to an extra state, after all others.
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
    """Return the least number of moves from the start to each state.

    States must be numbered in breadth-first order, as in `smallest`."""
    found = {0: 0}
    for number, state in enumerate(automaton.states):
        for after in state.next:
            if after is not None:
                found.setdefault(after, found[number] + 1)
    return [found[number] for number in range(len(automaton.states))]


def refinements(states: Sequence[AutomatonState]) -> Iterator[list[int]]:
    """Yield partitions of the states (the group of each) by their outputs after up to 0, 1, 2, ...
    moves, until the partition does not change any more (Moore's algorithm)."""
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
    """Return a shortest sequence of moves ("knob", "handle") after which two locks differ in their
    outputs or possible moves; None if they are equivalent."""
    start = (0, 0)
    parents: dict[tuple[int, int], tuple[tuple[int, int], str]] = {}
    pairs = [start]

    def path(pair: tuple[int, int]) -> list[str]:
        moves = []
        while pair != start:
            pair, move = parents[pair]
            moves.append(move)
        return moves[::-1]

    for pair in pairs:
        state, other_state = one.states[pair[0]], other.states[pair[1]]
        if state.output != other_state.output:
            return path(pair)
        for part, x, y in zip(MOVED, state.next, other_state.next, strict=True):
            if (x is None) != (y is None):
                return [*path(pair), part]
            if x is not None and y is not None and (x, y) != start and (x, y) not in parents:
                parents[x, y] = pair, part
                pairs.append((x, y))
    return None


def _numbered(keys: Iterable[Hashable]) -> list[int]:
    """Return a number for each key, from 0 in order of first occurrence; equal for equal keys."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def _mapped(state: AutomatonState, numbers: Any) -> tuple[int | None, int | None]:
    knob, handle = (None if n is None else numbers[n] for n in state.next)
    return knob, handle


def _renumbered(states: Iterable[AutomatonState]) -> Automaton:
    """Return the automaton of the reachable states, numbered in breadth-first order."""
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
"""A state as data: five values 0 or 1, then the states after a knob and a handle move."""


def to_json(automaton: Automaton) -> list[list[int | None]]:
    """Return a row of COLUMNS for each state."""
    return [
        [
            *(int(phase) for phase in state.phases[:2]),
            int(state.door_unlocked),
            *(int(part in state.locked_parts) for part in MOVED),
            *state.next,
        ]
        for state in automaton.states
    ]


def from_json(rows: Any) -> Automaton:
    """Return the automaton of such rows.

    Raises:
        RuleSafeError: a row is not valid, state 0 has an open part, or a move does not change the
            phase of exactly its part.
    """
    if not isinstance(rows, list) or not rows or len(rows) > MAX_STATES:
        raise RuleSafeError(f"automaton is not a list of 1 to {MAX_STATES} states")
    states = [_state(number, row, len(rows)) for number, row in enumerate(rows)]
    if any(states[0].phases):
        raise RuleSafeError(
            "state 0: knob_open and handle_open must be 0, since all parts start closed"
        )
    for number, move, after in _moves(states):
        expected = states[number].phases._replace(
            **{move: not getattr(states[number].phases, move)}
        )
        if states[after].phases != expected:
            raise RuleSafeError(
                f"state {number}: a {move} move leads to state {after}, whose phases do not follow "
                f"from it; expected knob_open {expected.knob:d}, handle_open {expected.handle:d}"
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
        raise RuleSafeError(f"state {number} is {row!r}; valid: integers [{', '.join(COLUMNS)}]")
    if any(n not in (0, 1) for n in row[:5]) or any(not 0 <= n < count for n in row[5:]):
        raise RuleSafeError(
            f"state {number} is {row!r}; valid: five values 0 or 1, then the indices "
            f"of two states, 0 to {count - 1}"
        )
    held = frozenset(part for part, is_held in zip(MOVED, row[3:5], strict=True) if is_held)
    return AutomatonState(Phases(bool(row[0]), bool(row[1])), bool(row[2]), held, (row[5], row[6]))
