"""The splits of a set of locks: for training and for tests.

"hard" are the locks beyond what "train" has: of HARD_STEPS steps or more, or of HARD_MEMORY memory
states or more. "test" has the same cells of difficulty as "train": one in five of each cell.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from rulesafe_design.difficulty import cell_of
from rulesafe_locks.lock_files import LockFile

SPLITS = ("train", "test", "hard")

HARD_STEPS = 11
"""The longest band of difficulty. The twenty rules take eight steps at most, "train" takes ten."""

HARD_MEMORY = 5
"""The band of most memory. The twenty rules take four memory states at most, as "train" does."""

TEST_SHARE = 5
"""One in so many locks of each cell is for "test"."""


def assign(locks: Iterable[LockFile]) -> list[LockFile]:
    """The locks, in their order, each with its split. They need the facts "steps" and "memory".

    It is a function of the set alone, not of its order: within a cell the locks are taken by the
    SHA-256 of their ids, and the first fifth (rounded) is "test".
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


def is_hard(lock: LockFile) -> bool:
    """Is it beyond everything in "train"?"""
    return lock.facts["steps"] >= HARD_STEPS or lock.facts["memory"] >= HARD_MEMORY


def _split(lock: LockFile, test: set[str]) -> str:
    return "hard" if is_hard(lock) else "test" if lock.id in test else "train"


def _hash(lock_id: str) -> str:
    return hashlib.sha256(lock_id.encode()).hexdigest()
