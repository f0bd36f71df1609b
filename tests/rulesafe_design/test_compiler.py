"""Compiled programs compared with the rules: listings of the paper, examples, random events."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_design.compiler import CompiledLock, compile_graph, compile_program
from rulesafe_design.exploring import StateGraph
from rulesafe_design.sandbox import Refused
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.automata import MOVED, automaton_of, difference
from rulesafe_locks.rules import RULES, Lock, load_rule

ROOT = Path(__file__).parents[2]
UNBOUNDED = {"rule_008", "rule_013", "rule_017", "rule_018"}
"""Rules whose example programs have unbounded counters."""


@pytest.fixture(scope="module")
def compiled():
    """All example programs, compiled once."""
    paths = sorted((ROOT / "examples" / "locks").glob("rule_*.py"))
    return {path.stem: compile_program(path.read_text()) for path in paths}


def test_every_rule_has_an_example_program(compiled):
    assert tuple(compiled) == RULES


@pytest.mark.parametrize("rule_id", RULES)
def test_programs_are_equivalent_to_our_functions(compiled, rule_id):
    found = compiled[rule_id]
    assert difference(found.automaton, automaton_of(load_rule(rule_id))) is None
    assert (found.bound is not None) == (rule_id in UNBOUNDED)


@settings(max_examples=300)
@given(rule_id=st.sampled_from(RULES), moves=st.lists(st.sampled_from(MOVED), max_size=80))
def test_programs_agree_with_rules_for_random_events(compiled, rule_id, moves):
    lock = Lock(load_rule(rule_id))
    automaton, number = compiled[rule_id].automaton, 0
    phases = {"knob": False, "handle": False, "door": False}
    for move in moves:
        phases[move] = not phases[move]
        locked = lock.update(phases)
        number = automaton.run([move], number)
        state = automaton.states[number]
        held = {part: part in state.locked_parts for part in MOVED}
        assert locked == {**held, "door": not state.door_unlocked}


# Bounds -------------------------------------------------------------------------------------------


def tree(states, step, events):
    """Return the graph of an exploration up to `events`; `states` maps a key to its outputs."""
    keys, depth, following = [(0, (False, False))], [0], []
    place = {keys[0]: 0}
    for number, (key, (knob, handle)) in enumerate(keys):
        if depth[number] == events:
            following.append(None)
            continue
        after = [
            (step(key, "knob"), (not knob, handle)),
            (step(key, "handle"), (knob, not handle)),
        ]
        for new in after:
            if new not in place:
                place[new] = len(keys)
                keys.append(new)
                depth.append(depth[number] + 1)
        following.append((place[after[0]], place[after[1]]))
    return StateGraph(
        states=tuple((states(key), False, False) for key, _ in keys),
        phases=tuple(phases for _, phases in keys),
        next=tuple(following),
        depth=tuple(depth),
        complete=None not in following,
        events=events,
    )


def counting(key, part):
    """Return the next state of an unbounded counter of knob moves."""
    return key + (part == "knob")


def test_periodic_counter_is_found_with_its_bound():
    found = compile_graph(tree(lambda n: n % 5 == 4, counting, 30))
    assert isinstance(found, CompiledLock)
    assert found.bound.events == 30
    assert len(found.automaton.states) == 20  # ten counts (five, by the knob's phase) x handle
    assert found.automaton.states[found.automaton.run(["knob"] * 94)].door_unlocked
    # Every state is reached within 9 + 1 moves; 0 and 6 knob moves, 4 and 3 before a free door,
    # are distinguished by 3 moves, and no two states need more.
    assert found.bound.states == 20 + 30 - 10 - 3 - 1


def test_a_finite_program_is_exact():
    found = compile_graph(tree(lambda n: n == 3, lambda n, part: min(counting(n, part), 5), 40))
    assert found.bound is None


def test_automaton_agrees_with_the_program_up_to_the_bound():
    """A lock that opens only at the 3rd and the 17th knob move."""
    for events in range(18, 40):
        graph = tree(lambda n: n in (3, 17), counting, events)
        try:
            found = compile_graph(graph)
        except Refused:
            continue
        for n in range(events + 1):
            state = found.automaton.states[found.automaton.run(["knob"] * n)]
            assert state.door_unlocked == (n in (3, 17))


def test_no_regularity_is_refused():
    """No finite automaton recognises square numbers."""
    squares = {n * n for n in range(1, 100)}
    with pytest.raises(Refused, match="without regularity") as refused:
        compile_graph(tree(lambda n: n in squares, counting, 64))
    assert refused.value.kind == "states"


def test_the_bound_is_stated_and_grows_with_the_limits():
    program = (ROOT / "examples" / "locks" / "rule_017.py").read_text()
    small, large = (
        compile_program(program, ProgramLimits(events=n)).bound.events for n in (20, 40)
    )
    assert (small, large) == (20, 40)
