"""Exploration of lock programs: listings of the paper, states, bounds, inconsistent graphs."""

import json

import pytest

from rulesafe_design import exploring
from rulesafe_design.compiler import compile_program
from rulesafe_design.exploring import explore
from rulesafe_design.sandbox import Refused
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.rules import load_rule

# The two programs in the appendix of the paper, without trailing spaces.
LISTINGS = {
    "rule_001": """def check_lock(self):
    # Query the open status of each component of the safe
    is_knob_open = self.is_open(obj_name='safe', link_name='knob')
    is_handle_open = self.is_open(obj_name='safe', link_name='handle')
    is_door_open = self.is_open(obj_name='safe', link_name='door')

    # If either the knob or handle is not open,
    # the door remains locked; otherwise, it can be unlocked
    if (not is_knob_open or not is_handle_open):
        self.set_lock(obj_name='safe', link_name='door', lock=True)
    else:
        self.set_lock(obj_name='safe', link_name='door', lock=False)
""",
    "rule_020": """def check_lock(self):
 # Query the open states of knob, handle, and door
    knob = self.is_open(obj_name='safe', link_name='knob')
    handle = self.is_open(obj_name='safe', link_name='handle')
    door = self.is_open(obj_name='safe', link_name='door')

    # Initialize task state if not already created
    if not hasattr(self, '_mech_state'):
        self._mech_state = {}

    state = self._mech_state
    state.setdefault('last_knob', knob)
    state.setdefault('input_buffer', [])

    # Allow password input only when the handle is open
    if handle:
        # Record knob rotation events ("1" for open, "0" for close)
        if knob != state['last_knob']:
            event = '1' if knob else '0'
            state['input_buffer'].append(event)
            state['input_buffer'] = state['input_buffer'][-2:]  # Keep last two events only

    # Unlock the door if correct input ("11") is entered and handle is closed,
    # or if the door is already open
    if (''.join(state['input_buffer']) == '11' and not handle) or door:
        self.set_lock(obj_name='safe', link_name='door', lock=False)
    else:
        self.set_lock(obj_name='safe', link_name='door', lock=True)

    # Update the last knob state
    state['last_knob'] = knob
""",
}
MOVED = ("knob", "handle")
HEAD = """def check_lock(self):
    knob = self.is_open(link_name='knob')
    handle = self.is_open(link_name='handle')
    if not hasattr(self, 's'):
        self.s = {'knob': knob, 'handle': handle, 'moves': 0, 'seen': []}
    s = self.s
    moved = [name for name, is_open in (('knob', knob), ('handle', handle)) if is_open != s[name]]
    s['knob'], s['handle'] = knob, handle
"""
COUNT = HEAD + "    s['moves'] += len(moved)\n"
REMEMBER = HEAD + "    s['seen'].extend(moved)\n"


def line(text):
    return f"def check_lock(self):\n    {text}\n"


@pytest.mark.parametrize("rule_id", LISTINGS)
def test_listings_of_the_paper_behave_like_our_rules(rule_id):
    found = compile_program(LISTINGS[rule_id])
    assert found.bound is None
    assert found.automaton == smallest(automaton_of(load_rule(rule_id)))


def test_moves_of_locked_parts_are_included():
    graph = explore(line("self.set_lock(link_name='knob', lock=self.is_open(link_name='handle'))"))
    assert graph.states == ((False, False, False),) * 2 + ((False, True, False),) * 2
    assert graph.complete and None not in graph.next  # also the moves of the locked knob


def test_set_lock_persists_until_the_next_call():
    source = """def check_lock(self):
    if self.is_open(link_name='knob'):
        self.set_lock(link_name='door', lock=False)
"""
    graph = explore(source)
    assert {free for free, _, _ in graph.states} == {False, True} and len(graph.states) == 6
    after = graph.next[graph.next[0][0]][0]  # the knob opened and closed
    assert graph.phases[after] == (False, False) and graph.states[after][0]


# Number of calls -------------------------------------------------------------------------------


def test_program_may_need_several_calls_to_settle():
    graph = explore(line("self.n = max(0, getattr(self, 'n', 6) - 1)"))
    assert graph.complete and len(graph.states) == 4


@pytest.mark.parametrize(
    "source",
    [
        line("self.n = getattr(self, 'n', 0) + 1"),
        line("self.n = not getattr(self, 'n', False)"),
        line("self.n = max(0, getattr(self, 'n', 9) - 1)"),
        line("self.d = [*getattr(self, 'd', []), 1]"),
        HEAD + "    s['flag'] = not s.get('flag') if knob else False\n",
    ],
)
def test_a_lock_that_counts_calls_is_refused(source):
    with pytest.raises(Refused, match="not on how often") as refused:
        explore(source)
    assert refused.value.kind == "clock"


# Bounds ---------------------------------------------------------------------------------------


def test_counters_are_explored_up_to_a_number_of_moves():
    graph = explore(COUNT, ProgramLimits(events=10))
    assert (graph.complete, graph.events, graph.depth[-1]) == (False, 10, 10)
    assert len(graph.states) == 1 + 2 * 10  # by count and by the phase of the knob
    frontier = [depth == 10 for depth in graph.depth]
    assert [after is None for after in graph.next] == frontier


@pytest.mark.parametrize("states", [1, 2, 3, 30, 31, 62, 63, 100, 1000])
def test_only_complete_layers_are_kept(states):
    graph = explore(REMEMBER, ProgramLimits(states=states, events=12))
    depths = [sum(depth == layer for depth in graph.depth) for layer in range(graph.events + 1)]
    assert depths == [2**layer for layer in range(graph.events + 1)]
    assert not graph.complete and graph.events == (states + 1).bit_length() - 2
    assert len(graph.states) <= states < 2 * len(graph.states) + 1


def test_finite_program_is_complete_exactly_at_its_size():
    assert not explore(LISTINGS["rule_001"], ProgramLimits(states=3)).complete
    assert explore(LISTINGS["rule_001"], ProgramLimits(states=4)).complete
    assert not explore(LISTINGS["rule_001"], ProgramLimits(events=2)).complete
    assert explore(LISTINGS["rule_001"], ProgramLimits(events=3)).complete


# Values on self --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, what",
    [
        ("self.f = check_lock", "function"),
        ("self.f = self", "Safe"),
        ("self.f = self.is_open", "method"),
        ("self.f = [int]", "type"),
        ("self.f = {'a': (1, lambda: 0)}", "function"),
        ("self.f = {check_lock: 1}", "function"),
        ("self.f = (x for x in [1])", "generator"),
        ("self.f = iter([1])", "list_iterator"),
        ("self.f = map(abs, [1])", "map"),
        ("self.f = range(3)", "range"),
        ("self.f = {}.keys()", "dict_keys"),
        ("self.f = b'x'", "bytes"),
        ("self.f = 1j", "complex"),
        ("self.f = ValueError()", "ValueError"),
        ("self.f = float('nan')", "nan"),
        ("self.f = ...", "ellipsis"),
    ],
)
def test_only_plain_data_may_be_stored_on_self(text, what):
    with pytest.raises(Refused, match=what) as refused:
        explore(line(text))
    assert refused.value.kind == "state" and "self.f" in str(refused.value)


def test_deep_data_is_refused():
    source = line("x = []\n    for i in range(1000):\n        x = [x]\n    self.f = x")
    with pytest.raises(Refused, match="deeper than") as refused:
        explore(source)
    assert refused.value.kind == "state"


def test_branches_do_not_share_state():
    """A list changed by one move is unchanged after the other move."""
    graph = explore(
        REMEMBER + "    self.set_lock(link_name='door', lock=s['seen'] != ['handle'])\n",
        ProgramLimits(events=4),
    )
    assert [number for number, state in enumerate(graph.states) if state[0]] == [graph.next[0][1]]


def test_aliases_are_preserved():
    source = """def check_lock(self):
    if not hasattr(self, 'a'):
        self.a = []
        self.b = {'c': self.a, 'me': None}
        self.b['me'] = self.b
    opened = self.is_open(link_name='knob')
    if opened and not self.a:
        self.a.append(1)
    self.set_lock(link_name='door', lock=not self.b['me']['me']['c'])
"""
    graph = explore(source)
    assert graph.complete and graph.states[graph.next[0][0]][0]


# Inconsistent graphs --------------------------------------------------------------------------

RIGHT = {
    "rows": [[0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [1, 0, 0, 1, 1]],
    "next": [[1, 2], [0, 3], [3, 0], [2, 1]],
    "depth": [0, 1, 1, 2],
    "complete": True,
    "events": 3,
}


def changed(**parts):
    return {**json.loads(json.dumps(RIGHT)), **parts}


WRONG = {
    **{f"no {name}": {k: v for k, v in RIGHT.items() if k != name} for name in RIGHT},
    **{f"{name} is {x!r}": changed(**{name: x}) for name in RIGHT for x in (None, "xx", -1, 1.5)},
    **{f"{name} of {x!r}": changed(**{name: [x] * 4}) for name in list(RIGHT)[:3] for x in ("", 9)},
    "no dict": [1],
    "another flag": changed(rows=[[2, 0, 0, 0, 0], *RIGHT["rows"][1:]]),
    "true for 1": changed(rows=[[True, 0, 0, 0, 0], *RIGHT["rows"][1:]]),
    "a short row": changed(rows=[[0, 0], *RIGHT["rows"][1:]]),
    "a row more": changed(rows=[*RIGHT["rows"], [0, 0, 0, 0, 0]]),
    "too far": changed(next=[[1, 2], [0, 3], [3, 0], [2, 4]]),
    "below": changed(next=[[1, 2], [0, 3], [3, 0], [2, -1]]),
    "another phase": changed(next=[[1, 2], [0, 3], [3, 0], [1, 2]]),
    "a move that does nothing": changed(next=[[0, 2], [0, 3], [3, 0], [2, 1]]),
    "an opened start": changed(rows=[[0, 0, 0, 1, 1], *RIGHT["rows"][1:]]),
    "a wrong depth": changed(depth=[0, 1, 1, 1]),
    "not complete": changed(complete=False),
    "complete with a frontier": changed(next=[*RIGHT["next"][:3], None]),
    "a hole": changed(next=[[1, 2], None, [3, 0], [2, 1]], complete=False, events=2),
    "more events": changed(events=4),
    "a half explored layer": changed(next=[*RIGHT["next"][:3], None], complete=False, events=1),
}


@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG)
def test_inconsistent_graphs_are_refused(answer):
    with pytest.raises(Refused) as refused:
        exploring._graph(answer, ProgramLimits(), {})
    assert refused.value.kind == "output"


def test_consistent_graphs_are_accepted():
    assert exploring._graph(RIGHT, ProgramLimits(), {}).complete
    part = changed(next=[*RIGHT["next"][:3], None], complete=False, events=2)
    assert not exploring._graph(part, ProgramLimits(), {}).complete
    for limits in (ProgramLimits(states=3), ProgramLimits(events=1)):
        with pytest.raises(Refused):
            exploring._graph(RIGHT, limits, {})
