"""Minimal automata, equivalence, and automata as JSON."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import (
    MOVED,
    Automaton,
    AutomatonState,
    as_rule,
    automaton_of,
    difference,
    from_json,
    possible,
    smallest,
    to_json,
)
from rulesafe_locks.locks import Phases
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import RULES, Lock, load_rule

rule_ids = st.sampled_from(RULES)
moves = st.lists(st.sampled_from(MOVED), max_size=60)


def automaton_from(rows):
    """Return the automaton with a state for each row (phases and output, successors).

    The first state has closed parts, the last four have all phases, so that each move has a
    successor.
    """
    rest = [Phases(bool(bits & 1), bool(bits & 2)) for bits, _, _ in rows[1:-4]]
    every = [Phases(k, h) for k in (False, True) for h in (False, True)]
    phases = [Phases(), *rest, *every]
    numbers = {phase: [n for n, other in enumerate(phases) if other == phase] for phase in every}

    def to(phase, choice):
        return numbers[phase][choice % len(numbers[phase])]

    return Automaton(
        tuple(
            AutomatonState(
                phase,
                bool(bits & 4),
                frozenset(part for part, bit in zip(MOVED, (8, 16), strict=True) if bits & bit),
                (
                    to(phase._replace(knob=not phase.knob), knob),
                    to(phase._replace(handle=not phase.handle), handle),
                ),
            )
            for phase, (bits, knob, handle) in zip(phases, rows, strict=True)
        )
    )


def automata():
    """Any lock of up to 16 states: consistent phases, all else arbitrary."""
    choice = st.integers(0, 59)
    rows = st.lists(st.tuples(st.integers(0, 31), choice, choice), min_size=5, max_size=16)
    return rows.map(automaton_from)


def outputs(automaton, sequence):
    return [automaton.states[automaton.run(sequence[:n])].output for n in range(len(sequence) + 1)]


@given(rule_ids, moves)
def test_the_automaton_of_a_rule_does_what_its_lock_does(rule_id, sequence):
    rule = load_rule(rule_id)
    automaton, lock = automaton_of(rule), Lock(rule)
    phases = {"knob": False, "handle": False, "door": False}
    for number, part in enumerate(sequence, 1):
        phases[part] = not phases[part]
        locked = lock.update(phases)
        state = automaton.states[automaton.run(sequence[:number])]
        assert state.phases == (phases["knob"], phases["handle"], False)
        assert state.door_unlocked == (not locked["door"])
        assert state.locked_parts == {part for part in MOVED if locked[part]}


@given(automata(), moves)
def test_the_smallest_automaton_shows_the_same(automaton, sequence):
    assert outputs(smallest(automaton), sequence) == outputs(automaton, sequence)


@given(automata())
def test_states_of_the_minimal_automaton_are_distinguishable(automaton):
    states = smallest(automaton).states
    for one in range(len(states)):
        for other in range(one):
            assert difference(started(states, one), started(states, other)) is not None


def started(states, start):
    """Return the automaton with another start state."""
    order = [start, *(n for n in range(len(states)) if n != start)]
    place = {n: k for k, n in enumerate(order)}
    return Automaton(
        tuple(
            AutomatonState(
                s.phases, s.door_unlocked, s.locked_parts, (place[s.next[0]], place[s.next[1]])
            )
            for s in (states[n] for n in order)
        )
    )


@given(automata(), st.randoms(use_true_random=False))
def test_equal_behaviour_gives_an_equal_automaton_whatever_the_numbering(automaton, random):
    order = [0, *random.sample(range(1, len(automaton.states)), len(automaton.states) - 1)]
    place = {n: k for k, n in enumerate(order)}
    states = [automaton.states[n] for n in order]
    again = Automaton(
        tuple(
            AutomatonState(
                s.phases, s.door_unlocked, s.locked_parts, (place[s.next[0]], place[s.next[1]])
            )
            for s in states
        )
    )
    assert smallest(again) == smallest(automaton)
    assert smallest(again).digest == smallest(automaton).digest
    assert smallest(possible(again)) == smallest(possible(automaton))


@settings(max_examples=200)
@given(automata(), automata())
def test_a_difference_is_one_and_no_difference_is_none(one, other):
    found = difference(one, other)
    assert (found is None) == (smallest(one) == smallest(other))
    if found is not None:
        assert outputs(one, found)[-1] != outputs(other, found)[-1]
        assert outputs(one, found[:-1])[:-1] == outputs(other, found[:-1])[:-1]


@given(automata())
def test_in_a_mirrored_lock_the_knob_is_the_handle(automaton):
    mirrored, minimal = automaton.mirrored, smallest(automaton)
    assert mirrored.mirrored == minimal
    for moves in (["knob"], ["handle", "handle", "knob"], ["knob", "handle", "knob", "knob"]):
        other = ["handle" if part == "knob" else "knob" for part in moves]
        here, there = minimal.states[minimal.run(moves)], mirrored.states[mirrored.run(other)]
        assert here.door_unlocked == there.door_unlocked
        assert (here.phases.knob, here.phases.handle) == (there.phases.handle, there.phases.knob)
        assert ("knob" in here.locked_parts) == ("handle" in there.locked_parts)


def test_the_twenty_are_twenty_different_locks():
    digests = {smallest(possible(automaton_of(load_rule(rule)))).digest for rule in RULES}
    assert len(digests) == 20


def test_moves_of_locked_parts_do_not_distinguish_locks():
    """Two locks whose handle is always locked differ only in states after its moves."""
    held = frozenset({"handle"})
    rows = [(False, False), (True, False), (False, True), (True, True)]

    def lock(free_behind):
        return Automaton(
            tuple(
                AutomatonState(Phases(k, h), (h and free_behind) or k, held, (n ^ 1, n ^ 2))
                for n, (k, h) in enumerate(rows)
            )
        )

    assert difference(lock(True), lock(False)) == ["handle"]
    assert smallest(possible(lock(True))) == smallest(possible(lock(False)))
    assert len(smallest(possible(lock(True))).states) == 2


@given(automata())
def test_data_and_back(automaton):
    assert from_json(to_json(automaton)) == automaton


@pytest.mark.parametrize("rule_id", RULES)
def test_a_rule_that_follows_the_automaton_is_the_same_rule(rule_id):
    rule = load_rule(rule_id)
    again = as_rule(smallest(automaton_of(rule)), rule_id, rule.description)
    assert shortest_plan(again) == shortest_plan(rule)
    assert difference(automaton_of(again), automaton_of(rule)) is None


ROW = [0, 0, 0, 0, 0, 1, 2]
REST = [[1, 0, 0, 0, 0, 0, 3], [0, 1, 0, 0, 0, 3, 0], [1, 1, 1, 0, 0, 2, 1]]


def test_right_rows_are_taken():
    found = from_json([ROW, *REST])
    expected = automaton_of(load_rule("rule_001"))
    assert smallest(possible(found)) == smallest(possible(expected))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "1 to 100000 states"),
        ({"states": []}, "1 to 100000 states"),
        ([[0, 0, 0, 0, 0, 1]], r"state 0 is .*; valid: integers \[knob_open, handle_open"),
        ([[*ROW[:6], True], *REST], "state 0"),
        ([[*ROW[:6], "2"], *REST], "state 0"),
        ([[*ROW[:6], None], *REST], "state 0"),
        ([[*ROW[:6], 4], *REST], "two states, 0 to 3"),
        ([[*ROW[:6], -1], *REST], "two states, 0 to 3"),
        ([[0, 0, 2, 0, 0, 1, 2], *REST], "five values 0 or 1"),
        (
            [[*ROW[:5], 2, 1], *REST],
            "state 0: a knob move leads to state 2, .*; expected knob_open 1, handle_open 0",
        ),
        ([*REST, ROW], "state 0: knob_open and handle_open must be 0"),
    ],
)
def test_wrong_rows_are_refused(rows, message):
    with pytest.raises(RuleSafeError, match=message):
        from_json(rows)


def test_a_lock_without_an_end_is_refused(monkeypatch):
    from rulesafe_locks import automata as module
    from rulesafe_locks.locks import Rule

    monkeypatch.setattr(module, "MAX_STATES", 1000)
    endless = Rule(
        "endless",
        "Count.",
        unlocked=lambda memory, phases: False,
        memory=(0,),
        on_event=lambda memory, phases, event: (memory[0] + 1,),
    )
    with pytest.raises(RuleSafeError, match="endless: more than 1000 states"):
        automaton_of(endless)
