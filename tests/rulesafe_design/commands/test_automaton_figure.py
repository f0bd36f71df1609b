"""Drawn automata: everything is in them, the plan is marked, the files are what they are called."""

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_design.commands.automaton_figure import (
    DEAD,
    LOOKS,
    MAX_STATES,
    automaton_graph,
    depths,
    draw,
)
from rulesafe_locks.automata import automaton_of, possible, smallest
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.proofs import dead_ends, prove
from rulesafe_locks.rules import RULES, load_rule

IMAGES = Path(__file__).parents[3] / "docs" / "images"
needs_dot = pytest.mark.skipif(not shutil.which("dot"), reason="needs Graphviz' dot")


def drawn(rule_id):
    """The automaton that is drawn, its nodes (number -> attributes) and edges (from, to, ...)."""
    rule = load_rule(rule_id)
    source = automaton_graph(rule).source
    nodes = re.findall(r"^\t(\d+) \[label=(.*)\]$", source, re.M)
    edges = re.findall(r"^\t(\d+) -> (\d+) \[(.*)\]$", source, re.M)
    automaton = smallest(possible(automaton_of(rule)))
    return (
        automaton,
        {int(n): said for n, said in nodes},
        [(int(a), int(b), s) for a, b, s in edges],
    )


@pytest.mark.parametrize("rule_id", RULES)
def test_every_state_and_every_move_is_drawn_once(rule_id):
    automaton, nodes, edges = drawn(rule_id)
    assert sorted(nodes) == list(range(len(automaton.states)))
    moves = []
    for tail, head, said in edges:
        part = "handle" if "dashed" in said else "knob"
        assert depths(automaton)[tail] < depths(automaton)[head]
        if "dir=back" not in said:
            moves.append((tail, part, head))
        if "dir=back" in said or "dir=both" in said:
            moves.append((head, part, tail))
    expected = [
        (number, part, after)
        for number, state in enumerate(automaton.states)
        for part, after in zip(("knob", "handle"), state.next, strict=True)
        if after is not None
    ]
    assert sorted(moves) == sorted(expected)


@pytest.mark.parametrize("rule_id", RULES)
def test_states_are_marked_by_what_holds_of_them(rule_id):
    automaton, nodes, _ = drawn(rule_id)
    ends = dead_ends(automaton)
    assert len(ends) == prove(load_rule(rule_id)).dead_ends
    for number, state in enumerate(automaton.states):
        look = LOOKS[state.phases[:2]]
        colour = DEAD if number in ends else look.colour
        assert f'fillcolor="{colour}"' in nodes[number] and look.shape in nodes[number]
        assert ("peripheries=2" in nodes[number]) == state.free
        for part in ("knob", "handle"):
            assert (f"{part[0].upper()} locked" in nodes[number]) == (part in state.held)


@pytest.mark.parametrize("rule_id", RULES)
def test_the_plan_is_numbered_from_the_start_to_the_door(rule_id):
    source = automaton_graph(load_rule(rule_id)).source
    steps = re.findall(r'label="(\d+): (\S+?)"', source)
    steps = [event for _, event in sorted(steps, key=lambda step: int(step[0]))]
    expected = [event[0].upper() + event[-1] for event in shortest_plan(load_rule(rule_id))[:-1]]
    assert steps == [*expected, "door+"]


def test_states_that_look_alike_share_a_look_and_others_do_not():
    looks = list(LOOKS.values())
    for field in ("name", "letters", "shape", "colour"):
        assert len({getattr(look, field) for look in looks}) == 4


@needs_dot
@pytest.mark.parametrize(
    ("suffix", "magic"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".PDF", b"%PDF")]
)
def test_files_are_what_their_suffix_says(tmp_path, capsys, suffix, magic):
    path = tmp_path / f"drawn{suffix}"
    assert main(["rules", "show", "rule_004", "--out", str(path)]) == 0
    assert f"wrote {path}" in capsys.readouterr().out
    assert path.read_bytes().startswith(magic)


@needs_dot
def test_a_drawing_is_the_same_each_time_and_says_what_it_shows(tmp_path):
    words = "Turn <both> & pull."
    rule = Rule("odd_one", words, unlocked=lambda memory, phases: phases.knob and phases.handle)
    for name in ("one.svg", "two.svg"):
        draw(rule, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    text = "".join(ET.parse(tmp_path / "one.svg").getroot().itertext())
    assert "odd_one" in text and words in text and "4 states, 3 steps" in text
    # A text of its own that begins with a blank that browsers drop would stick to the one before.
    for look in LOOKS.values():
        assert f"\N{NO-BREAK SPACE}{look.name}" in text


@pytest.mark.parametrize("rule_id", ["rule_017", "rule_020"])
def test_the_documented_drawings_are_of_the_rules_as_they_are(rule_id):
    """Places may differ from one version of Graphviz to the next; states and labels do not."""
    root = ET.parse(IMAGES / f"{rule_id}.svg").getroot()
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    _, nodes, edges = drawn(rule_id)
    assert {int(title) for title in titles if title.isdecimal()} == set(nodes)
    found = sorted(title for title in titles if re.fullmatch(r"\d+->\d+", title))
    assert found == sorted(f"{tail}->{head}" for tail, head, _ in edges)
    text = "".join(root.itertext())
    assert load_rule(rule_id).description.split(": ")[0][:60] in text


def test_without_graphviz_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuleSafeError, match="apt install graphviz"):
        draw(load_rule("rule_001"), tmp_path / "x.svg")
    assert list(tmp_path.iterdir()) == []


def test_other_formats_are_refused_with_the_valid_ones(tmp_path):
    with pytest.raises(RuleSafeError, match=r"valid: \.svg, \.png, \.pdf"):
        draw(load_rule("rule_001"), tmp_path / "x.gif")


def test_what_nobody_could_read_is_not_drawn(tmp_path):
    def count(memory, phases, event):
        return (min(memory[0] + 1, MAX_STATES),)

    rule = Rule("long", "Wait.", lambda memory, phases: memory == (MAX_STATES,), (0,), count)
    with pytest.raises(RuleSafeError, match=f"at most {MAX_STATES} are drawn"):
        draw(rule, tmp_path / "x.svg")


def test_a_lock_that_nothing_opens_is_not_drawn(tmp_path):
    with pytest.raises(RuleSafeError, match="no sequence of events opens the door"):
        draw(Rule("shut", "No.", unlocked=lambda memory, phases: False), tmp_path / "x.svg")
