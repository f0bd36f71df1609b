"""Shortest plans against a literal table and brute force; distances against Bellman's equation."""

import re
from itertools import product
from pathlib import Path

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks import plans
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import (
    apply_plan,
    opens_door,
    plan_distance,
    possible_events,
    reachable_states,
    shortest_plan,
)
from rulesafe_locks.rules import RULES, Lock, load_rule

EXPECTED = {
    "rule_001": "K+ H+ D",
    "rule_002": "K+ D",
    "rule_003": "H+ D",
    "rule_004": "H+ K+ D",
    "rule_005": "K+ K- H+ D",
    "rule_006": "H+ K+ H- K- H+ K+ D",
    "rule_007": "K+ K- H+ D",
    "rule_008": "K+ H+ H- D",
    "rule_009": "K+ H+ H- K- D",
    "rule_010": "K+ H+ K- H- H+ K+ H- D",
    "rule_011": "K+ K- K+ K- K+ D",
    "rule_012": "K+ H+ K- D",
    "rule_013": "K+ K- K+ H+ D",
    "rule_014": "K+ H+ K- D",
    "rule_015": "K+ K- K+ H+ H- H+ H- D",
    "rule_016": "K+ K- K+ K- K+ K- H+ D",
    "rule_017": "K+ K- H+ H- D",
    "rule_018": "H+ K+ H- K- K+ H+ D",
    "rule_019": "H+ K+ K- K+ H- D",
    "rule_020": "H+ K+ H- K- H+ K+ H- D",
}
STEPS = dict(
    zip(EXPECTED, (3, 2, 2, 3, 4, 7, 4, 4, 5, 8, 6, 4, 5, 4, 8, 8, 5, 7, 6, 8), strict=True)
)
REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference" / "rules.md"

all_rules = pytest.mark.parametrize("rule_id", RULES)


def events(text):
    names = {"K": "knob", "H": "handle", "D": "door"}
    return [names[word[0]] + (word[1:] or "+") for word in text.split()]


def door_is_free_after(rule, plan):
    """Use the lock itself, phase by phase; None if a locked part would have to move."""
    lock = Lock(rule)
    phases = {"knob": False, "handle": False, "door": False}
    locked = lock.update(phases)
    for event in plan:
        if locked[event[:-1]]:
            return None
        phases[event[:-1]] = event.endswith("+")
        locked = lock.update(phases)
    return not locked["door"]


@all_rules
def test_plan_is_the_reference_plan(rule_id):
    plan = shortest_plan(load_rule(rule_id))
    assert plan == events(EXPECTED[rule_id])
    assert len(plan) == STEPS[rule_id]


@all_rules
def test_plan_opens_the_lock_and_no_proper_prefix_does(rule_id):
    rule, (*moves, door) = load_rule(rule_id), events(EXPECTED[rule_id])
    assert door == "door+"
    assert door_is_free_after(rule, moves)
    for length in range(len(moves)):
        assert door_is_free_after(rule, moves[:length]) is False


@all_rules
def test_no_shorter_plan_and_no_better_tie(rule_id):
    # Every sequence of knob and handle moves up to the plan's length, tried on the lock.
    rule, steps = load_rule(rule_id), STEPS[rule_id]
    solutions = []
    for length in range(steps):
        for parts in product(("knob", "handle"), repeat=length):
            plan = [
                part + "+-"[parts[:number].count(part) % 2] for number, part in enumerate(parts)
            ]
            if door_is_free_after(rule, plan):
                assert length == steps - 1
                solutions.append(plan)

    def changes(plan):
        parts = [event[0] for event in plan]
        return len(re.sub(r"(.)\1+", r"\1", "".join(parts)))

    # product() yields the knob before the handle, and min() returns the first of equal values.
    assert shortest_plan(rule) == [*min(solutions, key=changes), "door+"]


@all_rules
def test_distance_satisfies_bellmans_equation(rule_id):
    rule = load_rule(rule_id)
    assert plan_distance(rule, rule.start()) == STEPS[rule_id]
    for state in reachable_states(rule):
        after = [plan_distance(rule, rule.step(state, e)) for e in possible_events(rule, state)]
        known = [distance for distance in after if distance is not None]
        expected = 0 if state.opened else 1 + min(known) if known else None
        assert plan_distance(rule, state) == expected


def test_only_rule_017_can_be_lost():
    lost = {
        rule_id
        for rule_id in RULES
        for state in reachable_states(load_rule(rule_id))
        if plan_distance(load_rule(rule_id), state) is None
    }
    assert lost == {"rule_017"}
    rule = load_rule("rule_017")
    state = apply_plan(rule, ["knob+", "knob-"] * 2 + ["knob+"])
    assert plan_distance(rule, state) is None


@all_rules
def test_apply_plan_and_opens_door_agree(rule_id):
    rule, plan = load_rule(rule_id), shortest_plan(load_rule(rule_id))
    assert apply_plan(rule, plan).opened and opens_door(rule, plan)
    middle = apply_plan(rule, plan[:1])
    assert not middle.opened and not opens_door(rule, plan[:1])
    assert opens_door(rule, plan[1:], middle) and not opens_door(rule, plan, middle)


@pytest.mark.parametrize(
    ("rule_id", "plan", "message"),
    [
        ("rule_004", ["knob+"], r"step 1, 'knob\+', is impossible; valid there: handle\+"),
        ("rule_014", ["knob+", "knob-", "handle+"], "step 3"),
        ("rule_001", ["knob+", "door+"], r"step 2, 'door\+'"),
        ("rule_001", ["knob+", "knob+"], "step 2"),
        ("rule_001", ["knob-"], "step 1"),
        ("rule_001", ["turn"], r"unknown event 'turn'; valid: knob\+, knob-, handle\+"),
    ],
)
def test_impossible_plans_are_refused(rule_id, plan, message):
    with pytest.raises(RuleSafeError, match=message):
        apply_plan(load_rule(rule_id), plan)


def test_a_callers_change_does_not_reach_the_cache():
    rule = load_rule("rule_001")
    shortest_plan(rule).clear()
    assert len(shortest_plan(rule)) == 3


def test_a_rule_that_never_opens_and_one_without_bound_are_errors(monkeypatch):
    never = Rule("never", "Nothing opens it.", unlocked=lambda memory, phases: False)
    with pytest.raises(RuleSafeError, match="never: no sequence of events"):
        shortest_plan(never)

    monkeypatch.setattr(plans, "MAX_STATES", 500)
    endless = Rule(
        "endless",
        "It counts for ever.",
        unlocked=lambda memory, phases: memory == (-1,),
        memory=(0,),
        on_event=lambda memory, phases, event: (memory[0] + 1,),
    )
    with pytest.raises(RuleSafeError, match="endless: more than 500 states"):
        shortest_plan(endless)


@pytest.mark.skipif(not REFERENCE.exists(), reason="no ../shared/reference/rules.md here")
def test_the_literal_table_is_that_of_the_reference():
    rows = re.findall(r"^\| (\d{3}) \| (.*?) \| (\d) \|", REFERENCE.read_text(), re.MULTILINE)
    assert {f"rule_{number}": plan for number, plan, _ in rows} == EXPECTED
    assert {f"rule_{number}": int(steps) for number, _, steps in rows} == STEPS


@all_rules
def test_an_open_door_cannot_be_closed(rule_id):
    rule = load_rule(rule_id)
    plan = shortest_plan(rule)
    opened = apply_plan(rule, plan)
    assert not any(event.startswith("door") for event in possible_events(rule, opened))
    with pytest.raises(RuleSafeError, match="'door-', is impossible"):
        apply_plan(rule, [*plan, "door-"])
