"""Tables and batches are exactly the locks and scores that the simulation uses."""

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import AutomatonState, as_rule, explored
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import PARTS, Phases
from rulesafe_locks.plans import plan_distance, possible_events
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import load_rule
from rulesafe_locks.scores import Progress
from rulesafe_studies.moves import lock_tables as module
from rulesafe_studies.moves.lock_tables import LockBatch, LockTables

COPIES, MOVES = 8, 60
SAMPLED = ["sampled_001", "sampled_041", "sampled_081", "sampled_121", "sampled_181"]


def advance(progress, part):
    """Move a part as the physics does, where a locked part keeps its phase. Return whether the move
    was rejected; nothing moves any more once the door is open, since the episode has ended."""
    phases = progress.state.phases._asdict()
    rejected = progress.locked[part] or progress.success
    if not rejected:
        progress.update(phases | {part: not phases[part]})
    return rejected


def guided(progress, rng):
    """Return a random part, in half of the cases the next one of a shortest plan."""
    remaining = progress.remaining
    return remaining[0][:-1] if remaining and rng.random() < 0.5 else PARTS[rng.integers(3)]


@pytest.mark.parametrize("names", ["twenty", ",".join(SAMPLED)])
def test_random_moves_give_the_state_and_scores_of_the_simulations_lock(names):
    rules = list(expand_rules(names).values())
    batch = LockBatch(LockTables.of(rules), COPIES * len(rules))
    batch.reset(np.arange(COPIES * len(rules)), np.repeat(np.arange(len(rules)), COPIES))
    locks = [Progress(rules[number]) for number in batch.lock]
    rng = np.random.default_rng(0)
    opened = rejected = stuck = 0
    for _ in range(MOVES):
        parts = [guided(progress, rng) for progress in locks]
        batch.move(np.array([PARTS.index(part) for part in parts]))
        refused = [advance(lock, part) for lock, part in zip(locks, parts, strict=True)]
        assert batch.rejected.tolist() == refused
        assert batch.phases.astype(bool).tolist() == [list(each.state.phases) for each in locks]
        assert batch.steps_done.tolist() == [each.steps_done for each in locks]
        assert batch.process_score.tolist() == [each.process_score for each in locks]
        assert batch.order_free_score.tolist() == [each.order_free_score for each in locks]
        assert batch.opened.tolist() == [each.success for each in locks]
        distance = [plan_distance(each.rule, each.state) for each in locks]
        assert batch.remaining.tolist() == [-1 if d is None else d for d in distance]
        opened += batch.opened.sum()
        rejected += batch.rejected.sum()
        stuck += (batch.remaining == -1).sum()
        ended = np.flatnonzero(rng.random(len(locks)) < np.where(batch.opened, 0.3, 0.01))
        batch.reset(ended)
        for number in ended:
            locks[number].reset()
    assert opened > 100 and rejected > 100 and stuck > 0


@pytest.mark.parametrize("name", ["rule_004", "rule_017", "sampled_041"])
def test_every_reachable_state_accepts_the_moves_that_the_lock_accepts(name):
    rule = load_rule(name)
    batch = LockBatch(LockTables.of([rule]), 1)
    paths = {int(batch.state[0]): ()}
    pending = list(paths)
    for state in pending:  # `pending` grows during the loop
        progress = Progress(rule)
        for part in paths[state]:
            advance(progress, part)
        possible = {event[:-1] for event in possible_events(rule, progress.state)}
        for number, part in enumerate(PARTS):
            batch.state[0] = state
            batch.move(np.array([number]))
            assert batch.rejected[0] != (part in possible)
            after = int(batch.state[0])
            if after not in paths and not batch.opened[0]:
                paths[after] = (*paths[state], part)
                pending.append(after)
    assert len(paths) == prove(rule).states


@pytest.mark.parametrize("name", ["rule_005", "rule_018", "sampled_081"])
def test_phases_that_change_in_one_update_are_moves_in_the_order_of_the_parts(name):
    """The simulation may notice two changes at once; a batch moves one part after the other."""
    rule = load_rule(name)
    progress, batch = Progress(rule), LockBatch(LockTables.of([rule]), 2)
    for is_open in (True, False, True):
        progress.update({"knob": is_open, "handle": is_open, "door": False})
        for parts in ([0, 1], [1, 0]):  # the second copy moves the handle first
            batch.move(np.array(parts))
        assert not batch.rejected.any()
        assert batch.remaining[0] == plan_distance(rule, progress.state)
        assert batch.steps_done[0] == progress.steps_done
        assert batch.order_free_score[0] == progress.order_free_score
    assert batch.state[0] != batch.state[1]


def test_locks_that_cannot_be_opened_or_are_too_large_are_refused(monkeypatch):
    def closed(key):
        return AutomatonState(Phases(*key), False, frozenset(), (None, None))

    def step(key, part):
        return (not key[0], key[1]) if part == "knob" else (key[0], not key[1])

    never = as_rule(explored((False, False), closed, step), "never", "It never opens.")
    with pytest.raises(RuleSafeError, match="never: no sequence of events opens the door"):
        LockTables.of([load_rule("rule_001"), never])
    with pytest.raises(RuleSafeError, match="no lock"):
        LockTables.of([])
    monkeypatch.setattr(module, "MAX_CELLS", 11)
    with pytest.raises(RuleSafeError, match="4 states and a plan of 3 events"):
        LockTables.of([load_rule("rule_001")])
