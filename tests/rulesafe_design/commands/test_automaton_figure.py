"""Drawings of automata: complete, with a marked plan, in the format of the suffix."""

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
    """Return the drawn automaton, its nodes (number -> attributes) and edges (from, to, ...)."""
    rule = load_rule(rule_id)
    source = automaton_graph(rule).source
    nodes = re.findall(r"^\t(\d+) \[label=(.*)\]$", source, re.M)
    edges = re.findall(r"^\t(\d+) -> (\d+) \[(.*)\]$", source, re.M)
    automaton = smallest(possible(automaton_of(rule)))
    return (
        automaton,
        {int(n): attributes for n, attributes in nodes},
        [(int(a), int(b), s) for a, b, s in edges],
    )


@pytest.mark.parametrize("rule_id", RULES)
def test_every_state_and_every_move_is_drawn_once(rule_id):
    automaton, nodes, edges = drawn(rule_id)
    assert sorted(nodes) == list(range(len(automaton.states)))
    moves = []
    for tail, head, attributes in edges:
        part = "handle" if "dashed" in attributes else "knob"
        assert depths(automaton)[tail] < depths(automaton)[head]
        if "dir=back" not in attributes:
            moves.append((tail, part, head))
        if "dir=back" in attributes or "dir=both" in attributes:
            moves.append((head, part, tail))
    expected = [
        (number, part, after)
        for number, state in enumerate(automaton.states)
        for part, after in zip(("knob", "handle"), state.next, strict=True)
        if after is not None
    ]
    assert sorted(moves) == sorted(expected)


@pytest.mark.parametrize("rule_id", RULES)
def test_states_are_marked_with_their_properties(rule_id):
    automaton, nodes, _ = drawn(rule_id)
    ends = dead_ends(automaton)
    assert len(ends) == prove(load_rule(rule_id)).dead_ends
    for number, state in enumerate(automaton.states):
        look = LOOKS[state.phases[:2]]
        colour = DEAD if number in ends else look.colour
        assert f'fillcolor="{colour}"' in nodes[number] and look.shape in nodes[number]
        assert ("peripheries=2" in nodes[number]) == state.door_unlocked
        for part in ("knob", "handle"):
            assert (f"{part[0].upper()} locked" in nodes[number]) == (part in state.locked_parts)


@pytest.mark.parametrize("rule_id", RULES)
def test_the_plan_is_numbered_from_the_start_to_the_door(rule_id):
    source = automaton_graph(load_rule(rule_id)).source
    steps = re.findall(r'label="(\d+): (\S+?)"', source)
    steps = [event for _, event in sorted(steps, key=lambda step: int(step[0]))]
    expected = [event[0].upper() + event[-1] for event in shortest_plan(load_rule(rule_id))[:-1]]
    assert steps == [*expected, "door+"]


def test_looks_are_distinct():
    looks = list(LOOKS.values())
    for field in ("name", "letters", "shape", "colour"):
        assert len({getattr(look, field) for look in looks}) == 4


@needs_dot
@pytest.mark.parametrize(
    ("suffix", "magic"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".PDF", b"%PDF")]
)
def test_file_format_follows_the_suffix(tmp_path, capsys, suffix, magic):
    path = tmp_path / f"drawn{suffix}"
    assert main(["rules", "show", "rule_004", "--out", str(path)]) == 0
    assert f"wrote {path}" in capsys.readouterr().out
    assert path.read_bytes().startswith(magic)


@needs_dot
def test_drawing_is_deterministic_and_has_a_caption(tmp_path):
    words = "Turn <both> & pull."
    rule = Rule("odd_one", words, unlocked=lambda memory, phases: phases.knob and phases.handle)
    for name in ("one.svg", "two.svg"):
        draw(rule, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    text = "".join(ET.parse(tmp_path / "one.svg").getroot().itertext())
    assert "odd_one" in text and words in text and "4 states, 3 steps" in text
    # Browsers drop a leading space of a text, which would join it to the previous text.
    for look in LOOKS.values():
        assert f"\N{NO-BREAK SPACE}{look.name}" in text


@pytest.mark.parametrize("rule_id", ["rule_017", "rule_020"])
def test_drawings_in_the_documentation_are_current(rule_id):
    """Positions may differ between versions of Graphviz; states and labels do not."""
    root = ET.parse(IMAGES / f"{rule_id}.svg").getroot()
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    _, nodes, edges = drawn(rule_id)
    assert {int(title) for title in titles if title.isdecimal()} == set(nodes)
    found = sorted(title for title in titles if re.fullmatch(r"\d+->\d+", title))
    assert found == sorted(f"{tail}->{head}" for tail, head, _ in edges)
    text = "".join(root.itertext())
    assert load_rule(rule_id).description.split(": ")[0][:60] in text


def test_missing_graphviz(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuleSafeError, match="apt install graphviz"):
        draw(load_rule("rule_001"), tmp_path / "x.svg")
    assert list(tmp_path.iterdir()) == []


def test_invalid_format(tmp_path):
    with pytest.raises(RuleSafeError, match=r"valid: \.svg, \.png, \.pdf"):
        draw(load_rule("rule_001"), tmp_path / "x.gif")


def test_too_many_states(tmp_path):
    def count(memory, phases, event):
        return (min(memory[0] + 1, MAX_STATES),)

    rule = Rule("long", "Wait.", lambda memory, phases: memory == (MAX_STATES,), (0,), count)
    with pytest.raises(RuleSafeError, match=f"at most {MAX_STATES} are drawn"):
        draw(rule, tmp_path / "x.svg")


def test_lock_that_cannot_be_opened(tmp_path):
    with pytest.raises(RuleSafeError, match="no sequence of events opens the door"):
        draw(Rule("shut", "No.", unlocked=lambda memory, phases: False), tmp_path / "x.svg")
