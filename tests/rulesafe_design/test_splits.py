"""Splits: reproducible, in each cell of difficulty, by id or by behaviour."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from rulesafe_design.difficulty import cell_of
from rulesafe_design.splits import (
    HARD_MEMORY,
    HARD_STEPS,
    TEST_SHARE,
    assign,
    assign_by_behaviour,
)
from rulesafe_locks.automata import automaton_of
from rulesafe_locks.lock_files import LOCKS, LockFile, locks_in
from rulesafe_locks.rules import load_rule


@pytest.fixture
def locks():
    """Locks of all difficulties; their behaviour does not matter."""
    automaton = automaton_of(load_rule("rule_002"))
    facts = [(2, 1), (3, 2), (6, 3), (8, 4), (10, 4), (10, 5), (11, 3), (12, 6)]
    return [
        LockFile(f"lock_{n:03d}", "", automaton, facts={"steps": steps, "memory": memory})
        for n, (steps, memory) in enumerate(pair for pair in facts for _ in range(13))
    ]


def splits(locks):
    return {lock.id: lock.split for lock in assign(locks)}


def test_order_does_not_matter(locks):
    shuffled = random.Random(0).sample(locks, len(locks))
    assert splits(shuffled) == splits(locks)
    assert [lock.id for lock in assign(shuffled)] == [lock.id for lock in shuffled]


def test_hard_exceeds_train(locks):
    assigned = assign(locks)
    assert {lock.split for lock in assigned} == {"train", "test", "hard"}
    train = [lock.facts for lock in assigned if lock.split != "hard"]
    assert max(facts["steps"] for facts in train) == 10 < HARD_STEPS
    assert max(facts["memory"] for facts in train) == 4 < HARD_MEMORY
    for lock in assigned:
        beyond = lock.facts["steps"] > 10 or lock.facts["memory"] > 4
        assert (lock.split == "hard") == beyond


def test_each_cell_is_split(locks):
    counts = Counter((cell_of(lock.facts), lock.split) for lock in assign(locks))
    cells = {cell for cell, split in counts if split != "hard"}
    assert len(cells) == 5
    for cell in cells:
        test, train = counts[cell, "test"], counts[cell, "train"]
        assert test == round((test + train) / TEST_SHARE)
        assert train > test > 0


def test_split_depends_on_the_ids(locks):
    positions = [lock.split for lock in assign(locks)]
    renamed = [LockFile(f"other_{lock.id}", "", lock.automaton, facts=lock.facts) for lock in locks]
    assert [lock.split for lock in assign(renamed)] != positions


def test_locks_that_behave_alike_are_in_the_same_split():
    """Also with knob and handle exchanged, under another id, and in another order."""
    locks = locks_in(LOCKS / "sampled")
    mirrored = [
        replace(lock, id=f"m_{lock.id}", automaton=lock.automaton.mirrored) for lock in locks
    ]
    alone = {lock.id: lock.split for lock in assign_by_behaviour(locks)}
    both = {lock.id: lock.split for lock in assign_by_behaviour([*reversed(locks), *mirrored])}
    assert both == alone | {f"m_{name}": split for name, split in alone.items()}
    counts = Counter((cell_of(lock.facts), alone[lock.id]) for lock in locks)
    for cell in {cell for cell, _ in counts}:
        found = [counts[cell, split] for split in ("test", "validation", "train")]
        shares = [0.3, 0.2, 0.5]
        assert all(abs(n - share * sum(found)) <= 2 for n, share in zip(found, shares, strict=True))
