"""The reader follows the most probable lock that agrees with what happened."""

import math

import pytest

pytest.importorskip("torch")

from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_reader.parser import Candidate, load_parser
from rulesafe_reader.reader import Observed, Reader

OPEN_KNOB = ("LockDesign", "(", ")", "PhaseTest", "'open'", "None", "None", "None")
OPEN_HANDLE = ("LockDesign", "(", ")", "PhaseTest", "None", "'open'", "None", "None")


class Proposals:
    """A parser that proposes these designs with these probabilities."""

    def __init__(self, *proposals):
        self.proposals, self.asked = proposals, 0

    def candidates(self, text, count):
        self.asked += 1
        return [Candidate(tokens, math.log(share)) for tokens, share in self.proposals[:count]]


def test_the_plan_of_the_most_probable_lock_is_followed_from_its_present_state():
    parser = Proposals((("not", "a", "design"), 0.5), (OPEN_KNOB, 0.3), (OPEN_HANDLE, 0.2))
    reader = Reader(parser)
    assert reader.next_event("text", []) == "knob+"
    assert reader.next_event("text", [Observed("knob+")]) == "door+"
    assert reader.next_event("text", [Observed("knob+"), Observed("knob-")]) == "knob+"
    assert parser.asked == 1


def test_a_move_that_does_not_happen_is_tried_again_until_another_lock_is_more_probable():
    reader = Reader(Proposals((OPEN_KNOB, 0.9), (OPEN_HANDLE, 0.05)), slip=0.1)
    opened, refused = Observed("knob+"), Observed("door+", False)
    assert reader.next_event("text", [opened, refused]) == "door+"
    assert reader.next_event("text", [opened, refused, refused]) == "handle+"
    certain = Reader(Proposals((OPEN_KNOB, 0.9), (OPEN_HANDLE, 0.05)), slip=1e-6)
    assert certain.next_event("text", [opened, refused]) == "handle+"


def test_a_locked_part_that_moves_makes_a_lock_improbable():
    stop = ("Hold", "'handle'", "'closed'", "PhaseTest", "'open'", "None", "None")
    held = (*OPEN_HANDLE[:-1], *stop)
    reader = Reader(Proposals((held, 0.9), (OPEN_KNOB, 0.1)), forced=1e-3)
    assert reader.next_event("text", []) == "knob+"
    assert reader.next_event("text", [Observed("knob+")]) == "handle+"
    moved = [Observed("handle+"), Observed("knob+")]
    assert reader.next_event("text", moved) == "door+"
    assert reader.next_event("text", [*moved, Observed("knob-")]) == "knob+"


def test_equal_locks_are_one_and_locks_that_cannot_be_opened_are_left_out():
    never = ("LockDesign", "(", "Seen", "(", ")", "(", "Event", "'knob'", "'open'", "None", ")")
    never = (*never, ")", "None", "None")
    twice = ("LockDesign", "(", ")", "PhaseTest", "'open'", "None", "None", "None")
    readings = Reader(Proposals((OPEN_KNOB, 0.4), (twice, 0.3), (never, 0.2))).read("text")
    assert len(readings) == 1 and math.isclose(math.exp(readings[0].score), 0.7)


def test_a_lock_that_is_shut_for_ever_is_not_followed():
    once = "LockDesign ( Count Event 'knob' 'open' None 'exactly' 1 COUNTS None ) None None"
    tokens = tuple("'counts on'" if token == "COUNTS" else token for token in once.split())
    reader = Reader(Proposals((tokens, 0.9), (OPEN_HANDLE, 0.1)))
    opened, closed = Observed("knob+"), Observed("knob-")
    assert reader.next_event("text", [opened]) == "door+"
    assert reader.next_event("text", [opened, closed, opened]) == "handle+"


def test_without_a_probable_lock_there_is_no_event():
    assert Reader(Proposals((("no", "design"), 1.0))).next_event("text", []) == ""


def test_a_part_that_may_have_been_turned_back_is_moved_again():
    reader = Reader(Proposals((OPEN_KNOB, 1.0)), slip=0.1, turned_back=0.015)
    opened, refused = Observed("knob+"), Observed("door+", False)
    assert reader.next_event("text", [opened, refused]) == "door+", "the hand may have slipped"
    assert reader.next_event("text", [opened, refused, refused]) == "knob+"
    still_open = [opened, refused, refused, Observed("knob+", False)]
    assert reader.next_event("text", still_open) == "door+", "it was the hand after all"
    never = Reader(Proposals((OPEN_KNOB, 1.0)), turned_back=0.0)
    assert never.next_event("text", [opened, *[refused] * 3]) == "door+"


def test_a_part_cannot_move_to_where_it_is():
    """The second grasp is decoded wrongly: the knob stays open, and no closed one is assumed."""
    reader = Reader(Proposals((OPEN_KNOB, 1.0)), turned_back=0.0)
    twice = [Observed("knob+"), Observed("knob+")]
    assert reader.next_event("text", twice) == "door+"
    reader = Reader(Proposals((OPEN_KNOB, 1.0)))
    assert reader.next_event("text", [*twice, *[Observed("door+", False)] * 2]) == "knob+"


@pytest.mark.parametrize("wrong", [Observed("knob+", True, 0.2), Observed("knob+", False, 0.2)])
def test_an_observation_may_be_wrong(wrong):
    """That the knob moved, or that it did not."""
    reader = Reader(Proposals((OPEN_KNOB, 1.0)), turned_back=0.0)
    history, knob, tries = [wrong], not wrong.happened, 0
    while (event := reader.next_event("text", history)) != "door+" or not knob:
        history.append(Observed(event, event == "knob+" and not knob))
        knob |= event == "knob+"
        assert (tries := tries + 1) < 5, history


@pytest.mark.parametrize("rule_id", ["rule_008", "rule_010", "rule_020"])
def test_every_step_that_is_undone_is_repaired(rule_id):
    rule, reader = load_rule(rule_id), Reader(load_parser())
    plan = shortest_plan(rule)
    undone = [
        (steps, event[:-1])
        for steps, event in enumerate(plan[:-1], 1)
        if event[:-1] not in rule.locked(progress(rule, plan[:steps]))
    ]
    assert undone
    for steps, part in undone:
        state, history = rule.start(), []
        while not state.opened:
            if len(history) == steps:
                state = turned(rule, state, part)
            event = reader.next_event(rule.description, history)
            happened = event != "" and can_move(rule, state, event)
            state = rule.step(state, event) if happened else state
            history.append(Observed(event, happened))
            assert len(history) < 4 * len(plan), (steps, part, history)


def progress(rule, events):
    state = rule.start()
    for event in events:
        state = rule.step(state, event)
    return state


def can_move(rule, state, event):
    moved = getattr(state.phases, event[:-1]) == event.endswith("+")
    return event[:-1] not in rule.locked(state) and not moved


def turned(rule, state, part):
    return rule.step(state, part + "+-"[getattr(state.phases, part)])
