"""Proofs against brute force: all sequences, all policies, all labellings, on small locks."""

import resource
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_locks.automata import MOVED, as_rule, automaton_of, from_json, possible, smallest
from rulesafe_locks.locks import EVENTS, Phases
from rulesafe_locks.plans import opens_door, possible_events
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule


@st.composite
def small_locks(draw):
    """Locks of 8 states, two for each pair of phases; moves and locked parts are arbitrary."""
    rows = []
    for number in range(8):
        knob, handle = number & 1, number >> 1 & 1
        free = draw(st.integers(0, 3)) == 0 if number else 0
        held = [draw(st.integers(0, 4)) == 0 for _ in MOVED]
        after = [(number & 3 ^ 1) + 4 * draw(st.integers(0, 1))]
        after.append((number & 3 ^ 2) + 4 * draw(st.integers(0, 1)))
        rows.append([knob, handle, int(free), *map(int, held), *after])
    return as_rule(from_json(rows), "small", "")


def plans_of(rule, length):
    """Return all plans of this length, by exhaustive search."""
    return [
        plan
        for plan in product(EVENTS[:5], repeat=length)
        if plan.count("door+") == (plan[-1] == "door+") == 1 and opens_door(rule, plan)
    ]


def views(plan):
    """Yield the phases before each event."""
    phases = Phases()
    for event in plan:
        yield phases
        phases = phases._replace(**{event[:-1]: event.endswith("+")})


def labels_suffice(plan, count):
    """Return whether a policy with `count` memory states can execute the plan.

    Tries all sequences of memory states: memory and phases must determine the event and the next
    memory state."""
    seen = list(views(plan))
    for labels in product(range(count), repeat=len(plan)):
        does = {}
        after = {}
        for n, event in enumerate(plan):
            pair = labels[n], seen[n]
            if does.setdefault(pair, event) != event:
                break
            if n + 1 < len(plan) and after.setdefault(pair, labels[n + 1]) != labels[n + 1]:
                break
        else:
            return True
    return False


@settings(max_examples=60, deadline=None)
@given(small_locks())
def test_openable_is_whether_any_sequence_opens(rule):
    lengths = [n for n in range(1, 7) if plans_of(rule, n)]
    proof = prove(rule)
    if lengths:
        assert proof.steps == lengths[0]
    else:
        assert not proof.openable or proof.steps > 6
    assert proof.openable == (proof.dead_ends < proof.states)


@settings(max_examples=60, deadline=None)
@given(small_locks())
def test_memory_of_a_shortest_plan_is_the_fewest_labels(rule):
    proof = prove(rule)
    if not 0 < proof.steps <= 6:
        return
    plans = plans_of(rule, proof.steps)
    assert any(labels_suffice(plan, proof.memory) for plan in plans)
    assert not any(labels_suffice(plan, proof.memory - 1) for plan in plans)


def reaches_door(lock, start):
    """Return whether a state with an unlocked door is reachable from this state."""
    queue = [start]
    for number in queue:
        queue += [n for n in lock.states[number].next if n is not None and n not in queue]
    return any(lock.states[number].door_unlocked for number in queue)


@settings(max_examples=100, deadline=None)
@given(small_locks())
def test_dead_ends_are_where_nothing_opens(rule):
    lock = smallest(possible(automaton_of(rule)))
    proof = prove(rule)
    assert proof.dead_ends == sum(not reaches_door(lock, n) for n in range(len(lock.states)))
    assert (proof.dead_end is None) == (proof.dead_ends == 0)
    if proof.dead_end is not None:
        moves = [event[:-1] for event in proof.dead_end]
        assert not reaches_door(lock, lock.run(moves))
        assert all(reaches_door(lock, lock.run(moves[:n])) for n in range(len(moves)))


@settings(max_examples=100, deadline=None)
@given(small_locks())
def test_a_memoryless_policy_is_found_where_there_is_one(rule):
    """The policies run on the rule itself instead of its automaton."""

    def opens(policy):
        state = rule.start()
        for _ in range(20):  # more steps than states: the policy is in a cycle
            part = policy[state.phases]
            event = part + ("-" if getattr(state.phases, part) else "+")
            if event in possible_events(rule, state):
                state = rule.step(state, event)
            if state.opened:
                return True
        return False

    pairs = [Phases(*pair) for pair in product((False, True), repeat=2)]
    choices = product((*MOVED, "door"), repeat=4)
    policies = [dict(zip(pairs, parts, strict=True)) for parts in choices]
    found = prove(rule).policy
    assert (found is not None) == any(map(opens, policies))
    assert found is None or opens(found)


@given(small_locks())
def test_alike_counts_states_of_equal_phases(rule):
    proof = prove(rule)
    lock = smallest(possible(automaton_of(rule)))
    phases = [state.phases for state in lock.states]
    assert proof.alike == max(map(phases.count, phases))
    assert proof.states == len(phases) <= 8
    along = list(views(proof.plan))
    assert proof.alike_on_plan == max(map(along.count, along), default=0) >= proof.memory
    assert proof.memory_blind == proof.steps


@pytest.mark.parametrize(
    ("rule_id", "memory", "memoryless", "dead_ends"),
    [
        ("rule_001", 1, True, 0),
        ("rule_008", 1, True, 0),  # knob, handle, handle: each pair of phases occurs once
        ("rule_011", 3, False, 0),  # three openings of one knob
        ("rule_016", 4, False, 0),
        ("rule_017", 2, False, 4),  # too many moves of one part, by its phase and the other's
        ("rule_020", 2, False, 0),
    ],
)
def test_figures_worked_out_by_hand(rule_id, memory, memoryless, dead_ends):
    proof = prove(load_rule(rule_id))
    assert (proof.memory, proof.memoryless, proof.dead_ends) == (memory, memoryless, dead_ends)


@pytest.mark.parametrize("rule_id", RULES)
def test_the_twenty_open(rule_id):
    rule, proof = load_rule(rule_id), prove(load_rule(rule_id))
    assert proof.openable
    assert opens_door(rule, proof.plan)
    assert proof.facts["steps"] == len(proof.plan)
    assert proof.memory <= proof.memory_blind
    assert all(one != other for one, other in pairwise(proof.plan))


@pytest.mark.thorough
def test_a_long_path_to_a_dead_end_takes_little_memory():
    """A chain of 30 000 states: storing the path to each would take gigabytes."""
    last = 29_999
    rows = [[n % 2, 0, int(n == 3), 0, 1, min(n + 1, last), 0] for n in range(last + 1)]
    rows[last] = [last % 2, 0, 0, 1, 1, last - 1, 0]
    other = len(rows)
    for row in rows:
        row[6] = other + row[0]
    rows += [[0, 1, 0, 0, 0, other + 1, 0], [1, 1, 0, 0, 0, other, 1]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    proof = prove(as_rule(from_json(rows), "chain", ""))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert proof.steps == 4
    assert len(proof.dead_end) == 4
    assert after - before < 500_000  # KiB
