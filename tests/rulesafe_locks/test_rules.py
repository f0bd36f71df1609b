"""The rules against independent implementations, and the properties of all locks."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.plans import possible_events, reachable_states, shortest_plan
from rulesafe_locks.rules import PARTS, RULES, Lock, load_rule

CLOSED = {"knob": False, "handle": False, "door": False}

rule_ids = st.sampled_from(RULES)
toggles = st.lists(st.sampled_from(["knob", "handle"]), max_size=60)
updates = st.lists(
    st.fixed_dictionaries({part: st.booleans() for part in PARTS}), min_size=1, max_size=30
)


# The rules again, as predicates of the complete history instead of a memory: `history` contains
# (event, knob open, handle open) after each event, K and H are the phases now.


def typed(history, digit):
    """Return all entered digits as text; `digit` returns "" for an event without a digit."""
    return "".join(digit(*entry) for entry in history)


def count(history, *prefixes):
    return sum(event.startswith(prefixes) for event, _, _ in history)


def balanced_015(history, K, H):
    tally = Counter()
    for event, _, _ in history:
        tally[event] += 1
        if tally["knob+"] == 3 or tally["handle-"] == 3:
            tally.clear()
    return tally["knob+"] == tally["handle-"] and tally["knob+"] >= 2


def counted_018(history, K, H):
    moves = "".join(event[0] for event, _, _ in history)
    runs = moves.split("h")[:-1]  # knob moves before each handle move
    return [len(run) + 1 for run in runs][-3:] == [1, 2, 3]


def recorded(event, K, H):
    return {"knob+": "1", "knob-": "0"}.get(event, "") if H else ""


ORACLES = {
    "rule_001": lambda h, K, H: K and H,
    "rule_002": lambda h, K, H: K,
    "rule_003": lambda h, K, H: H,
    "rule_004": lambda h, K, H: K and H,
    "rule_005": lambda h, K, H: typed(h, lambda e, k, _: "01"[e[0] == "h"]).endswith("001"),
    "rule_006": lambda h, K, H: typed(
        h, lambda e, _, handle: ("0" if handle else "1") if e[0] == "k" else ""
    ).endswith("010"),
    "rule_007": lambda h, K, H: K != H and count(h, "knob") > 0 and count(h, "handle") > 0,
    "rule_008": lambda h, K, H: K and count(h, "handle") > 1 and count(h, "handle") % 2 == 0,
    "rule_009": lambda h, K, H: typed(h, lambda e, *_: "10"[e[0] == "h"]).endswith("1001"),
    "rule_010": lambda h, K, H: typed(
        h, lambda e, knob, _: ("0" if knob else "1") if e[0] == "h" else ""
    ).endswith("0110"),
    "rule_011": lambda h, K, H: typed(
        h, lambda e, *_: {"knob-": "1", "knob+": "0"}.get(e, "")
    ).endswith("1010"),
    "rule_012": lambda h, K, H: len({(False, False)} | {entry[1:] for entry in h}) == 4,
    "rule_013": lambda h, K, H: H and count(h, "knob") > 0 and count(h, "knob") % 3 == 0,
    "rule_014": lambda h, K, H: H and not K,
    "rule_015": balanced_015,
    "rule_016": lambda h, K, H: typed(
        h, lambda e, *_: {"knob-": "1", "handle+": "0"}.get(e, "")
    ).endswith("1110"),
    "rule_017": lambda h, K, H: count(h, "knob") * count(h, "handle") == 4,
    "rule_018": counted_018,
    "rule_019": lambda h, K, H: typed(h, recorded).endswith("01") and not H,
    "rule_020": lambda h, K, H: typed(h, recorded).endswith("11") and not H,
}


def holds(rule_id, knob, handle):
    """Return which of knob and handle are locked: an independent implementation."""
    both_closed = not knob and not handle
    return {
        "knob": rule_id == "rule_004" and both_closed,
        "handle": rule_id == "rule_014" and both_closed,
    }


def test_rules_are_listed_in_order():
    assert [f"rule_{number:03d}" for number in range(1, 21)] == list(RULES)
    assert set(ORACLES) == set(RULES)
    assert [load_rule(rule_id).id for rule_id in RULES] == list(RULES)
    descriptions = [load_rule(rule_id).description for rule_id in RULES]
    assert len(set(descriptions)) == 20 and all(text.endswith(".") for text in descriptions)


@given(rule_id=rule_ids, moves=toggles)
@settings(max_examples=200, deadline=None)
def test_lock_agrees_with_the_whole_history(rule_id, moves):
    lock = Lock(load_rule(rule_id))
    phases, history = dict(CLOSED), []
    locked = lock.update(phases)
    for part in moves:
        if locked[part]:
            continue  # a locked part cannot move
        phases[part] = not phases[part]
        event = part + ("+" if phases[part] else "-")
        history.append((event, phases["knob"], phases["handle"]))
        locked = lock.update(phases)
        K, H = phases["knob"], phases["handle"]
        assert locked["door"] is not bool(ORACLES[rule_id](history, K, H))
        assert {part: locked[part] for part in ("knob", "handle")} == holds(rule_id, K, H)


@pytest.mark.parametrize("rule_id", RULES)
def test_every_short_sequence_agrees_with_the_whole_history(rule_id):
    # rule_015 takes 13 moves to open the door after its counts were reset to zero.
    longest = 13 if rule_id == "rule_015" else 10
    rule, oracle = load_rule(rule_id), ORACLES[rule_id]
    open_now = Counter()
    pending = [(rule.start(), [])]
    while pending:
        state, history = pending.pop()
        K, H, _ = state.phases
        locked = rule.locked(state)
        assert ("door" not in locked) == bool(oracle(history, K, H)), history
        assert {part: part in locked for part in ("knob", "handle")} == holds(rule_id, K, H)
        open_now["door" not in locked] += 1
        if len(history) == longest:
            continue
        for part, is_open in (("knob", K), ("handle", H)):
            if part not in locked:
                event = part + ("-" if is_open else "+")
                after = rule.step(state, event)
                pending.append((after, [*history, (event, *after.phases[:2])]))
    assert open_now[True] > 0 and open_now[False] > 0


class Listing:
    """The two published check_lock functions, called at each step; they set the door's lock."""

    def __init__(self):
        self.last_knob = None
        self.buffer = []

    def rule_001(self, knob, handle, door):
        return not knob or not handle

    def rule_020(self, knob, handle, door):
        if self.last_knob is None:
            self.last_knob = knob
        if handle and knob != self.last_knob:
            self.buffer.append("1" if knob else "0")
            self.buffer = self.buffer[-2:]
        self.last_knob = knob
        return not (("".join(self.buffer) == "11" and not handle) or door)


@given(rule_id=st.sampled_from(["rule_001", "rule_020"]), moves=toggles)
@settings(max_examples=200, deadline=None)
def test_lock_agrees_with_the_published_listing(rule_id, moves):
    lock, listing = Lock(load_rule(rule_id)), getattr(Listing(), rule_id)
    phases = dict(CLOSED)
    assert lock.update(phases)["door"] == listing(**phases)
    for part in moves:
        phases[part] = not phases[part]
        assert lock.update(phases)["door"] == listing(**phases)


@given(rule_id=rule_ids, sequence=updates)
@settings(max_examples=200, deadline=None)
def test_update_is_deterministic_and_reset_forgets(rule_id, sequence):
    rule = load_rule(rule_id)
    lock, fresh = Lock(rule), Lock(rule)
    first = [lock.update(phases) for phases in sequence]
    lock.reset()
    assert lock.state == fresh.state
    again = [lock.update(phases) for phases in sequence]
    assert first == again == [fresh.update(phases) for phases in sequence]
    assert lock.locked == again[-1]


@given(rule_id=rule_ids, sequence=updates)
@settings(max_examples=200, deadline=None)
def test_parts_that_change_together_are_taken_in_order(rule_id, sequence):
    together, apart = Lock(load_rule(rule_id)), Lock(load_rule(rule_id))
    phases = dict(CLOSED)
    for target in sequence:
        for part in PARTS:
            phases[part] = target[part]
            apart.update(phases)
        together.update(target)
        assert together.state == apart.state
        before = together.state
        together.update(target)  # no change, no event
        assert together.state == before


@given(rule_id=rule_ids, moves=toggles)
@settings(max_examples=200, deadline=None)
def test_a_door_once_opened_stays_free(rule_id, moves):
    lock, phases = Lock(load_rule(rule_id)), dict(CLOSED)
    for event in shortest_plan(load_rule(rule_id)):
        assert lock.update(phases)["door"] == (event != "door+")
        phases[event[:-1]] = event.endswith("+")
    assert lock.update(phases)["door"] is False
    for part in [*moves, "door"]:  # finally the door closes again, and is still unlocked
        phases[part] = not phases[part]
        assert lock.update(phases)["door"] is False


@pytest.mark.parametrize("rule_id", RULES)
def test_a_forced_door_is_free_while_open_and_locked_again_when_closed(rule_id):
    lock = Lock(load_rule(rule_id))
    assert lock.update(CLOSED | {"door": True})["door"] is False
    assert lock.state.opened is False
    assert lock.update(CLOSED)["door"] is True


def test_a_caller_that_changes_the_locked_parts_does_not_change_the_lock():
    lock = Lock(load_rule("rule_001"))
    locked = lock.update({"knob": False, "handle": False, "door": False})
    assert locked["door"]
    locked["door"] = False
    assert lock.locked["door"]


def test_a_move_of_a_locked_part_is_applied():
    lock = Lock(load_rule("rule_004"))
    assert lock.locked == {"knob": True, "handle": False, "door": True}
    lock.update(CLOSED | {"knob": True})  # the locked knob was forced open
    assert lock.update({"knob": True, "handle": True, "door": False})["door"] is False


@pytest.mark.parametrize("rule_id", RULES)
def test_states_are_finite_and_locked_parts_keep_their_phase(rule_id):
    rule = load_rule(rule_id)
    states = reachable_states(rule)
    assert len(states) < 1500
    for state in states:
        moved = {event[:-1] for event in possible_events(rule, state)}
        assert not moved & rule.locked(state)
        assert moved | rule.locked(state) | ({"door"} if state.phases.door else set()) == set(PARTS)


@pytest.mark.parametrize("rule_id", RULES)
def test_locks_of_one_rule_are_independent(rule_id):
    rule = load_rule(rule_id)
    moved, other = Lock(rule), Lock(rule)
    moved.update({"knob": True, "handle": True, "door": False})
    assert other.state == rule.start() != moved.state


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ({"knob": True, "handle": True}, "'door' is missing; required: knob, handle, door"),
        (CLOSED | {"drawer": True}, "unknown part 'drawer'; valid: knob, handle, door"),
        (CLOSED | {"knob": 1}, "'knob' is 1, a int; valid: True"),
        (CLOSED | {"handle": None}, "'handle' is None"),
        (CLOSED | {"knob": True, "door": 0.7}, "'door' is 0.7, a float"),
    ],
)
def test_bad_phases_are_refused_and_change_nothing(phases, message):
    lock = Lock(load_rule("rule_009"))
    before = lock.state
    with pytest.raises(RuleSafeError, match=message):
        lock.update(phases)
    assert lock.state == before


@pytest.mark.parametrize("name", ["rule_021", "", "001", None, 1, []])
def test_unknown_rules_are_refused_with_the_list(name):
    with pytest.raises(RuleSafeError, match=r"unknown rule .*rule_001, .*, rule_020"):
        load_rule(name)
