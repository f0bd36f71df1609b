"""Locks as transition tables: many copies of locks are moved in parallel, by indexing of arrays.

A batch accepts and scores moves exactly as `scores.Progress` does for possible events. Example::

    tables = LockTables.of(expand_rules("sampled_train").values())
    batch = LockBatch(tables, count=2)
    batch.reset(np.array([0, 1]), locks=np.array([5, 7]))
    batch.move(np.array([0, 2]))  # the knob of lock 5, the door of lock 7
    batch.process_score  # (2,)
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import MOVED, Automaton, automaton_of, possible, smallest
from rulesafe_locks.locks import PARTS, Rule
from rulesafe_locks.plans import backward_distances
from rulesafe_locks.proofs import Proof, prove

Ints = NDArray[np.integer]

MAX_CELLS = 10_000_000
"""Limit of the number of states of a lock times the length of its shortest plan."""

DOOR = PARTS.index("door")
REJECTED, NEVER = -1, -2
UNREACHABLE = np.iinfo(np.int32).max // 2


@dataclass(frozen=True, eq=False)
class LockTables:
    """Tables of R locks. States are those of the minimal automata, one lock after the other; the
    last four states, which all locks share, have an open door."""

    rules: tuple[Rule, ...]
    proofs: tuple[Proof, ...]
    start: Ints  # (R,) initial state of each lock
    steps: Ints  # (R,) length of the shortest plan
    wanted: Ints  # (R, L) codes of the plan's events before the door's; NEVER: no further event
    phases: NDArray[np.int8]  # (S, 3) 1: open, in the order of PARTS
    follow: Ints  # (S, 3) state after a move of each part; the same state if the move is rejected
    code: Ints  # (S, 3) index in EVENTS of the event of each move, or REJECTED
    best: Ints  # (S, L) the highest k <= column for which the plan's events from k on open the door
    distance: Ints  # (S,) fewest moves to an open door, or UNREACHABLE

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> "LockTables":
        """Compile locks.

        Raises:
            RuleSafeError: there is no lock, a lock cannot be opened, or its tables are too large.
        """
        rules = tuple(rules)
        if not rules:
            raise RuleSafeError("there is no lock; required: one or more")
        proofs = tuple(map(prove, rules))
        for rule, proof in zip(rules, proofs, strict=True):
            _check(rule, proof)
        longest = max(proof.steps for proof in proofs)
        locks = [smallest(possible(automaton_of(rule))) for rule in rules]
        start = np.cumsum([0, *(len(lock.states) for lock in locks)])
        count = int(start[-1])
        tables = cls(
            rules,
            proofs,
            start[:-1],
            np.array([proof.steps for proof in proofs]),
            np.array([_wanted(proof, longest) for proof in proofs]),
            np.zeros((count + 4, len(PARTS)), np.int8),
            np.repeat(np.arange(count + 4, dtype=np.int32)[:, None], len(PARTS), axis=1),
            np.full((count + 4, len(PARTS)), REJECTED, np.int8),
            np.zeros((count + 4, longest), np.int32),
            np.zeros(count + 4, np.int32),
        )
        for row in range(4):
            tables.phases[count + row] = row // 2, row % 2, 1
        for number, lock in enumerate(locks):
            _fill(tables, number, lock)
        return tables

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def first_open(self) -> int:
        """The first of the states with an open door."""
        return len(self.follow) - 4


class LockBatch:
    """`count` copies of the locks of some tables. Attributes are arrays (count,).

    Attributes:
        lock: index of the lock in the tables.
        state: its state.
        rejected: whether the last move was rejected, because the part is locked or the door is
            open.
        steps_done: completed steps of the plan, see `scores.Progress`.
    """

    def __init__(self, tables: LockTables, count: int) -> None:
        self.tables = tables
        self.lock = np.zeros(count, np.intp)
        self.state: Ints = np.zeros(count, np.intp)
        self.rejected = np.zeros(count, bool)
        self.steps_done = np.zeros(count, np.int32)
        self._in_order = np.zeros(count, np.intp)
        self._nearest = np.zeros(count, np.int32)
        self.reset(np.arange(count))

    def reset(self, where: Ints, locks: Ints | None = None) -> None:
        """Close all parts of the copies `where` (n,); `locks` (n,): their locks from now on."""
        if locks is not None:
            self.lock[where] = locks
        self.state[where] = self.tables.start[self.lock[where]]
        self.rejected[where] = False
        self.steps_done[where] = self._in_order[where] = 0
        self._nearest[where] = self.tables.steps[self.lock[where]]

    def move(self, parts: Ints) -> None:
        """Move one part of each copy into its other phase, if it is not locked; the door only
        opens. `parts` (count,): indices in PARTS, which are not checked."""
        tables = self.tables
        cell = 3 * self.state + parts
        code = tables.code.take(cell)
        self.rejected = code == REJECTED
        self._in_order += code == tables.wanted[self.lock, self._in_order]
        self.state = state = tables.follow.take(cell)
        best = tables.best.take(tables.best.shape[1] * state + self._in_order)
        np.maximum(self.steps_done, best, out=self.steps_done)
        np.minimum(self._nearest, tables.distance.take(state), out=self._nearest)
        (opened,) = self.opened.nonzero()
        self.steps_done[opened] = tables.steps[self.lock[opened]]

    @property
    def phases(self) -> NDArray[np.int8]:
        """Phases (count, 3) in the order of PARTS, 1: open."""
        return self.tables.phases.take(self.state, axis=0)

    @property
    def opened(self) -> NDArray[np.bool_]:
        """Whether the door is open."""
        return self.state >= self.tables.first_open

    @property
    def remaining(self) -> Ints:
        """Fewest moves to an open door; -1 if it cannot be opened any more."""
        distance = self.tables.distance[self.state]
        return np.where(distance == UNREACHABLE, -1, distance)

    @property
    def process_score(self) -> NDArray[np.float64]:
        """`scores.Progress.process_score`."""
        return self.steps_done / self.tables.steps[self.lock]

    @property
    def order_free_score(self) -> NDArray[np.float64]:
        """`scores.Progress.order_free_score`."""
        return 1 - self._nearest / self.tables.steps[self.lock]


def _check(rule: Rule, proof: Proof) -> None:
    if not proof.openable:
        raise RuleSafeError(f"{rule.id}: no sequence of events opens the door")
    if proof.states * proof.steps > MAX_CELLS:
        raise RuleSafeError(
            f"{rule.id}: {proof.states} states and a plan of {proof.steps} events; valid: a "
            f"product of at most {MAX_CELLS}"
        )


def _fill(tables: LockTables, number: int, lock: Automaton) -> None:
    """Write the rows of a lock's states."""
    begin, count = int(tables.start[number]), len(lock.states)
    rows = slice(begin, begin + count)
    for row, state in enumerate(lock.states, begin):
        tables.phases[row] = state.phases
        for part, after in enumerate(state.next):
            if after is not None:
                tables.follow[row, part] = begin + after
                tables.code[row, part] = 2 * part + state.phases[part]
        if state.door_unlocked:
            knob, handle, _ = state.phases
            tables.follow[row, DOOR] = tables.first_open + 2 * knob + handle
            tables.code[row, DOOR] = 2 * DOOR
    tables.distance[rows] = _distances(lock)
    plan = [_code(event) for event in tables.proofs[number].plan]
    opens = np.zeros((count, len(plan)), bool)
    later = np.ones(count, bool)  # whether the plan's remaining events open the door
    for k in range(len(plan) - 1, -1, -1):
        part = plan[k] // 2
        leads = True if part == DOOR else later[tables.follow[rows, part] - begin]
        opens[:, k] = later = (tables.code[rows, part] == plan[k]) & leads
    tables.best[rows, : len(plan)] = np.maximum.accumulate(
        np.where(opens, np.arange(len(plan)), 0), axis=1
    )


def _code(event: str) -> int:
    return 2 * PARTS.index(event[:-1]) + event.endswith("-")


def _wanted(proof: Proof, length: int) -> list[int]:
    codes = [_code(event) for event in proof.plan[:-1]]
    return codes + [NEVER] * (length - len(codes))


def _distances(lock: Automaton) -> list[int]:
    """Return the fewest moves from each state to an open door."""
    before: dict[int, list[int]] = {number: [] for number in range(len(lock.states))}
    for number, state in enumerate(lock.states):
        for after in state.next[: len(MOVED)]:
            if after is not None:
                before[after].append(number)
    unlocked = (number for number, state in enumerate(lock.states) if state.door_unlocked)
    found = backward_distances(before, unlocked)  # the door itself is one more move
    return [found[number] + 1 if number in found else UNREACHABLE for number in before]
