"""The two scores: the examples of docs/rules.md, and properties of all episodes."""

import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.plans import (
    apply_plan,
    opens_door,
    plan_distance,
    possible_events,
    shortest_plan,
)
from rulesafe_locks.rules import PARTS, RULES, Lock, load_rule
from rulesafe_locks.scores import Progress, progress_after

CLOSED = {"knob": False, "handle": False, "door": False}

rule_ids = st.sampled_from(RULES)


@pytest.mark.parametrize("rule_id", RULES)
def test_each_step_of_the_plan_counts_one(rule_id):
    rule = load_rule(rule_id)
    plan, progress, phases = shortest_plan(rule), Progress(rule), dict(CLOSED)
    progress.update(phases)
    assert progress.steps_done == 0 and progress.order_free_score == 0
    for steps, event in enumerate(plan, 1):
        assert not progress.success
        phases[event[:-1]] = event.endswith("+")
        progress.update(phases)
        assert progress.steps_done == steps
        assert progress.process_score == pytest.approx(steps / len(plan))
        assert progress.order_free_score == pytest.approx(steps / len(plan))
    assert progress.success
    assert progress.process_score == progress.order_free_score == 1


@pytest.mark.parametrize(
    ("rule_id", "moves", "steps", "nearest"),
    [
        # Another order: no step of the plan is in order, though the distance decreases.
        ("rule_001", "handle+", 0, 2),
        ("rule_001", "handle+ knob+", 0, 1),
        ("rule_001", "handle+ knob+ door+", 3, 0),  # the open door completes the plan
        # A wrong move and a right one are undone: the best score so far remains.
        ("rule_001", "handle+ handle- knob+ handle+", 2, 1),
        ("rule_001", "knob+ knob-", 1, 2),
        ("rule_001", "knob+ knob- knob+ handle+", 2, 1),
        # A move that the rule ignores does not change the scores.
        ("rule_011", "knob+ handle+ knob- handle- knob+", 3, 3),
        # A wrong digit invalidates the digits before it, so later steps do not count yet ...
        ("rule_005", "knob+ handle+ knob-", 1, 3),
        # ... until the plan has been executed again from the first invalid step.
        ("rule_005", "knob+ handle+ knob- handle- knob+ knob- handle+", 3, 1),
        # Moving all parts in turn does not enter a code: only the first handle move is in order.
        ("rule_020", "knob+ handle+ knob- handle- knob+ handle+ knob- handle-", 1, 7),
        # The locked door is forced open: no step, no success.
        ("rule_001", "knob+ door+", 1, 2),
        ("rule_002", "door+", 0, 2),
    ],
)
def test_worked_examples(rule_id, moves, steps, nearest):
    rule = load_rule(rule_id)
    length = len(shortest_plan(rule))
    progress = progress_after(rule, moves.split())
    assert progress.process_score == pytest.approx(steps / length)
    assert progress.order_free_score == pytest.approx(1 - nearest / length)


def documented_examples():
    """The rows of the table of examples in docs/rules.md."""
    text = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    row = r"^\| (\d{3}) \| ([KHD+\- ]+) \| (\d) \| ([\d/]+) \| ([\d/]+) \|"
    return re.findall(row, text, re.MULTILINE)


def test_examples_of_the_documentation():
    assert len(documented_examples()) == 9
    for number, moves, steps, process, order_free in documented_examples():
        names = {"K": "knob", "H": "handle", "D": "door"}
        progress = progress_after(
            load_rule(f"rule_{number}"), [names[m[0]] + (m[1:] or "+") for m in moves.split()]
        )
        assert progress.steps_done == int(steps)
        assert progress.process_score == pytest.approx(float(Fraction(process)))
        assert progress.order_free_score == pytest.approx(float(Fraction(order_free)))


def test_turning_by_turns_does_not_earn_the_steps_of_a_code():
    rule = load_rule("rule_020")
    by_turns = ["knob+", "handle+", "knob-", "handle-"] * 10
    rest = iter(by_turns)
    assert all(step in rest for step in shortest_plan(rule)[:-1])  # all events occur, in order
    assert progress_after(rule, by_turns).process_score == pytest.approx(1 / 8)


@given(rule_id=rule_ids, data=st.data())
@settings(max_examples=300, deadline=None)
def test_scores_rise_are_bounded_and_are_one_exactly_on_success(rule_id, data):
    rule = load_rule(rule_id)
    progress, last = Progress(rule), (0, 0.0)
    for _ in range(data.draw(st.integers(0, 25))):
        event = data.draw(st.sampled_from(possible_events(rule, progress.state)))
        progress.take(event)
        now = (progress.steps_done, progress.order_free_score)
        assert last[0] <= now[0] and last[1] <= now[1]
        assert 0 <= progress.process_score <= progress.order_free_score + 1e-12 <= 1 + 1e-12
        assert progress.success == (event == "door+")
        assert (progress.process_score == 1) == (progress.order_free_score == 1) == progress.success
        if progress.success:
            break
        last = now


@given(rule_id=rule_ids, data=st.data())
@settings(max_examples=200, deadline=None)
def test_steps_done_are_in_order_and_the_rest_of_the_plan_would_open(rule_id, data):
    rule = load_rule(rule_id)
    plan, progress, history = shortest_plan(rule), Progress(rule), []
    for _ in range(data.draw(st.integers(1, 20))):
        possible = [e for e in possible_events(rule, progress.state) if e != "door+"]
        event = data.draw(st.sampled_from(possible))
        before = progress.steps_done
        progress.take(event)
        history.append(event)
        done = progress.steps_done
        if done > before:
            rest = iter(history)
            assert all(step in rest for step in plan[:done])  # a subsequence
            assert opens_door(rule, plan[done:], progress.state)
        nearest = min(plan_distance(rule, s) or 99 for s in states_along(rule, history))
        assert progress.order_free_score == pytest.approx(1 - nearest / len(plan))


def states_along(rule, history):
    return [apply_plan(rule, history[:length]) for length in range(len(history) + 1)]


@given(
    rule_id=rule_ids,
    sequence=st.lists(
        st.fixed_dictionaries({part: st.booleans() for part in PARTS}), min_size=1, max_size=15
    ),
)
@settings(max_examples=200, deadline=None)
def test_progress_follows_the_lock_and_reset_forgets(rule_id, sequence):
    # Any phases, also impossible ones: no error, and the same state as the lock.
    rule = load_rule(rule_id)
    progress, lock = Progress(rule), Lock(rule)

    def scores():
        return progress.steps_done, progress.order_free_score, progress.success

    start, trace = scores(), []
    for phases in sequence:
        progress.update(phases)
        lock.update(phases)
        assert progress.state == lock.state
        assert (progress.process_score == 1) == progress.success == lock.state.opened
        trace.append(scores())
    progress.reset()
    assert scores() == start
    for phases, expected in zip(sequence, trace, strict=True):
        progress.update(phases)
        assert scores() == expected


def test_a_lost_lock_keeps_its_best_score():
    rule = load_rule("rule_017")
    events = ["knob+", "knob-", "handle+", "knob+", "knob-", "knob+"]  # 5 knob moves
    progress = progress_after(rule, events)
    assert progress.process_score == pytest.approx(3 / 5)
    assert progress.order_free_score == pytest.approx(4 / 5)  # 4 x 1 moves in between


def test_bad_input_is_refused():
    progress = Progress(load_rule("rule_001"))
    with pytest.raises(RuleSafeError, match="unknown event 'knob'"):
        progress.take("knob")
    with pytest.raises(RuleSafeError, match="unknown part 'drawer'"):
        progress.update(CLOSED | {"drawer": False})
    assert progress.state == load_rule("rule_001").start()


@pytest.mark.parametrize("rule", RULES)
def test_what_remains_opens_the_door_from_wherever_one_is(rule):
    rng = random.Random(rule)
    for _ in range(10):
        progress = Progress(load_rule(rule))
        for _ in range(rng.randrange(8)):
            events = possible_events(progress.rule, progress.state)
            progress.take(rng.choice([event for event in events if event != "door+"]))
        remaining = progress.remaining
        distance = plan_distance(progress.rule, progress.state)
        assert len(remaining) == (distance or 0)
        if distance is not None:
            assert opens_door(progress.rule, remaining, progress.state)
