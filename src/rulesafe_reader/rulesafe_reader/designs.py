"""Lock designs as sequences of tokens, which a network can write.

A dataclass is its name followed by its fields in order, a tuple is enclosed in parentheses, and any
other value is its repr. A shipped lock, which may have no design, is KNOWN and its id. Example::

    design_tokens(LockDesign((), PhaseTest(knob="open")))
    # ["LockDesign", "(", ")", "PhaseTest", "'open'", "None", "None", "None"]
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.compiler import compile_program
from rulesafe_design.grammar_codes import Code, Dial
from rulesafe_design.grammar_counts import Balance, Count, Equal
from rulesafe_design.grammar_events import Event, PhaseTest
from rulesafe_design.grammar_locks import Hold, LockDesign, program
from rulesafe_design.grammar_terms import Order, Seen
from rulesafe_locks.automata import Automaton, automaton_of, smallest
from rulesafe_locks.rules import load_rule

KINDS = {
    kind.__name__: kind
    for kind in (Balance, Code, Count, Dial, Equal, Event, Hold, LockDesign, Order, PhaseTest, Seen)
}

KNOWN = "known"
"""First token of a shipped lock; the second one is its id."""

LONGEST = 160
"""Longest design, in tokens."""


def design_tokens(value: Any) -> list[str]:
    """Return the tokens of a design or of one of its parts."""
    if is_dataclass(value):
        parts = (design_tokens(getattr(value, field.name)) for field in fields(value))
        return [type(value).__name__, *chain.from_iterable(parts)]
    if isinstance(value, tuple):
        return ["(", *chain.from_iterable(map(design_tokens, value)), ")"]
    return [repr(value)]


def read_design(tokens: Sequence[str]) -> LockDesign:
    """Return the design of tokens. Raises RuleSafeError if they are not those of a design."""
    rest = iter(tokens)
    try:
        found = _read(next(rest), rest)
    except (AttributeError, StopIteration, TypeError, ValueError) as error:
        raise RuleSafeError(f"not a design: {' '.join(tokens)}") from error
    if not isinstance(found, LockDesign) or next(rest, None) is not None:
        raise RuleSafeError(f"not a design: {' '.join(tokens)}")
    return found


def _read(token: str, rest: Iterator[str]) -> Any:
    if token in KINDS:
        kind = KINDS[token]
        return kind(*[_read(next(rest), rest) for _ in fields(kind)])
    if token == "(":
        items = []
        while (following := next(rest)) != ")":
            items.append(_read(following, rest))
        return tuple(items)
    if token == "None":
        return None
    return token[1:-1] if token.startswith("'") else int(token)


@cache
def automaton_of_tokens(tokens: tuple[str, ...]) -> Automaton:
    """Return the minimal automaton of the lock with these tokens, a design or a shipped lock.

    Raises:
        RuleSafeError: they are neither, or the program of the design is refused.
    """
    if tokens[:1] == (KNOWN,):
        found = automaton_of(load_rule(tokens[1]))
    else:
        try:
            source = program(read_design(tokens))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise RuleSafeError(f"not a design: {' '.join(tokens)}") from error
        found = compile_program(source).automaton
    return smallest(found)
