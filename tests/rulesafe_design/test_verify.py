"""Verification of programs: proved properties and reasons for refusal."""

import pytest

from rulesafe_design.sandbox import KINDS, Refused
from rulesafe_design.verify import MAX_STEPS, known_digests, verify
from rulesafe_locks.automata import as_rule
from rulesafe_locks.plans import opens_door
from rulesafe_locks.rules import RULES

HEAD = """def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")
    if not hasattr(self, "_state"):
        self._state = {"knob": knob, "handle": handle, "moves": 0}
    state = self._state
    if knob != state["knob"]:
        state["moves"] = min(state["moves"] + 1, 20)
    state["knob"] = knob
"""
DOOR = '    self.set_lock(obj_name="safe", link_name="door", lock=not ({}))\n'


def program(free, more=""):
    return HEAD + more + DOOR.format(free)


TWO_MOVES = program("state['moves'] == 2")


def refusal(*arguments, **options):
    with pytest.raises(Refused) as refused:
        verify(*arguments, **options)
    assert refused.value.kind in KINDS
    return refused.value.kind, str(refused.value)


def test_a_good_lock():
    found = verify(TWO_MOVES, plan=["knob+", "knob-", "door+"], known=known_digests())
    assert found.bound is None
    assert found.proof.plan == ("knob+", "knob-", "door+")
    assert found.proof.memory == 2
    assert found.proof.dead_ends == 4  # three moves or more, by the phases of knob and handle
    assert opens_door(as_rule(found.automaton, "two", ""), found.proof.plan)


HOLD = '    self.set_lock(obj_name="safe", link_name="knob", lock=knob)\n'
NEVER = "no sequence of knob and handle moves ever frees the door"


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        (
            program("state['moves'] < 2"),
            "trivial",
            "the door is free at the start, with all parts closed",
        ),
        (program("state['moves'] == 2 and knob"), "shut", NEVER),
        # Two knob moves would open it, but the knob is locked after the first.
        (program("state['moves'] == 2", HOLD), "shut", NEVER),
        (program("knob and handle"), "duplicate", "the lock behaves exactly like rule_001"),
    ],
)
def test_a_lock_that_is_of_no_use_is_refused(source, kind, message):
    found, text = refusal(source, known=known_digests())
    assert found == kind and message in text


def test_long_plans():
    kind, message = refusal(program("state['moves'] == 13"))
    assert kind == "long"
    assert f"14 steps; valid: at most {MAX_STEPS}" in message
    assert verify(program("state['moves'] == 13"), max_steps=14).proof.steps == 14


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (["knob+", "door+"], r"step 2, 'door\+', is impossible; valid there: knob-, handle\+"),
        (["knob+", "knob-"], r"does not open the door.*A valid plan: knob\+, knob-, door\+"),
        (["knob+", "knob+"], r"step 2, 'knob\+', is impossible"),
        (["turn"], r"unknown event 'turn'; valid: knob\+"),
        ([], "does not open the door"),
    ],
)
def test_claimed_plans_that_fail(plan, message):
    with pytest.raises(Refused, match=message) as refused:
        verify(TWO_MOVES, plan=plan)
    assert refused.value.kind == "plan"


def test_longer_valid_plan_is_accepted():
    verify(TWO_MOVES, plan=["handle+", "knob+", "handle-", "knob-", "door+"])


def test_twenty_rules_have_unique_digests():
    assert sorted(known_digests().values()) == list(RULES)
