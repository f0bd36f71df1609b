"""Splits of a set of locks.

Locks that are sampled from the grammar are split into "train", "test" and "hard". "hard" contains
the locks with at least HARD_STEPS steps or at least HARD_MEMORY memory states, more than any lock
in "train". "test" contains one fifth of the locks of each cell of difficulty of "train".

Locks that a language model wrote are split into "train", "validation" and "test" in each cell of
difficulty, by their behaviour: locks that behave alike, also with knob and handle exchanged, are in
the same split.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from rulesafe_design.difficulty import cell_of
from rulesafe_design.verify import behaviour
from rulesafe_locks.lock_files import LockFile

HARD_STEPS = 11
"""First number of the last band of steps. The twenty rules need at most 8 steps, "train" 10."""

HARD_MEMORY = 5
"""The last band of memory. The twenty rules and "train" need at most four memory states."""

TEST_SHARE = 5
"""One of TEST_SHARE locks of each cell is in "test"."""

WRITTEN = {"test": 0.3, "validation": 0.5, "train": 1.0}
"""Splits of the locks of a language model, and the share of each cell in it and those before."""


def assign(locks: Iterable[LockFile]) -> list[LockFile]:
    """Return the locks in the same order, each with its split; needs the facts "steps", "memory".

    The split does not depend on the order of the locks: within a cell they are sorted by the
    SHA-256 of their ids, and the first fifth (rounded) is in "test".
    """
    locks = list(locks)
    cells = defaultdict(list)
    for lock in locks:
        if not is_hard(lock):
            cells[cell_of(lock.facts)].append(lock.id)
    test = set()
    for ids in cells.values():
        test |= set(sorted(ids, key=_hash)[: round(len(ids) / TEST_SHARE)])
    return [replace(lock, split=_split(lock, test)) for lock in locks]


def assign_by_behaviour(locks: Iterable[LockFile]) -> list[LockFile]:
    """Return the locks in the same order, each with its split of WRITTEN; needs the facts "steps"
    and "memory". Within a cell, locks are sorted by `symmetric_digest`."""
    locks = list(locks)
    digests = {lock.id: symmetric_digest(lock) for lock in locks}
    cells = defaultdict(set)
    for lock in locks:
        cells[cell_of(lock.facts)].add(digests[lock.id])
    splits = {
        digest: next(name for name, end in WRITTEN.items() if (place + 0.5) / len(found) < end)
        for found in cells.values()
        for place, digest in enumerate(sorted(found))
    }
    return [replace(lock, split=splits[digests[lock.id]]) for lock in locks]


def symmetric_digest(lock: LockFile) -> str:
    """Return a digest that is the same for locks that behave alike, also with knob and handle
    exchanged."""
    return min(behaviour(lock.automaton), behaviour(lock.automaton.mirrored))


def is_hard(lock: LockFile) -> bool:
    """Return whether a lock has more steps or memory states than all locks in "train"."""
    return lock.facts["steps"] >= HARD_STEPS or lock.facts["memory"] >= HARD_MEMORY


def _split(lock: LockFile, test: set[str]) -> str:
    return "hard" if is_hard(lock) else "test" if lock.id in test else "train"


def _hash(lock_id: str) -> str:
    return hashlib.sha256(lock_id.encode()).hexdigest()
