"""Designs and their tokens say the same."""

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.grammar import Grammar
from rulesafe_design.grammar_locks import LockDesign
from rulesafe_locks.automata import as_rule, automaton_of, smallest
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_reader.designs import KNOWN, automaton_of_tokens, design_tokens, read_design


def test_a_design_is_read_from_its_tokens():
    grammar = Grammar(3)
    for number in range(200):
        design, _ = grammar.draw(number)
        assert read_design(design_tokens(design)) == design


@pytest.mark.parametrize(
    "tokens",
    [
        "",
        "LockDesign ( )",
        "LockDesign ( ) None None None",
        "Event 'knob' 'open' None",
        "LockDesign ( Unknown ) None None",
        "LockDesign ) None None",
        "Seen ( ) ( )",
    ],
)
def test_other_tokens_are_refused(tokens):
    with pytest.raises(RuleSafeError, match="not a design"):
        read_design(tokens.split())
    with pytest.raises(RuleSafeError):
        automaton_of_tokens(tuple(tokens.split()))


def test_a_design_that_is_not_valid_is_refused():
    tokens = ["LockDesign", "(", "Count", "None", "'exactly'", "2", "'counts on'", "None", ")"]
    tokens += ["None", "None"]
    assert isinstance(read_design(tokens), LockDesign)
    with pytest.raises(RuleSafeError, match="not a design"):
        automaton_of_tokens(tuple(tokens))


def test_the_automaton_is_that_of_the_lock():
    tokens = ("LockDesign", "(", ")", "PhaseTest", "'open'", "'closed'", "None", "None")
    lock = as_rule(automaton_of_tokens(tokens), "", "")
    assert shortest_plan(lock) == ["knob+", "door+"]
    known = automaton_of_tokens((KNOWN, "rule_004"))
    assert known == smallest(automaton_of(load_rule("rule_004")))
    with pytest.raises(RuleSafeError, match="rule_404"):
        automaton_of_tokens((KNOWN, "rule_404"))
