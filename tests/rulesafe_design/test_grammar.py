"""Locks of the grammar compared with an independent implementation of their terms."""

import ast
import json
import random
import re

import pytest

from rulesafe_design.answers import DESCRIPTION, SCHEMA, parse_answer
from rulesafe_design.compiler import compile_program
from rulesafe_design.difficulty import cell_of
from rulesafe_design.grammar import Grammar
from rulesafe_design.grammar_codes import Code, Dial
from rulesafe_design.grammar_counts import Balance, Count, Equal
from rulesafe_design.grammar_events import Event, PhaseTest, disjoint, moves_of
from rulesafe_design.grammar_locks import program, short_instruction
from rulesafe_design.grammar_terms import Order, Seen
from rulesafe_design.models import ModelRequest
from rulesafe_locks.automata import MOVED, as_rule
from rulesafe_locks.instructions import MAX_TOKENS, token_bound
from rulesafe_locks.proofs import prove

SAMPLES = range(1, 61)


@pytest.fixture(scope="module")
def samples():
    """The design, the description and the program of each sample."""
    drawn = {number: Grammar(0).draw(number) for number in SAMPLES}
    return {number: (lock, words, program(lock)) for number, (lock, words) in drawn.items()}


# Independent implementation of the terms --------------------------------------------------------
# A history is a list of moves: the part, whether it opened, and whether the other part was open.


def is_a(event, move):
    part, opened, other_open = move
    return (
        event.part in (part, "either")
        and event.move in ("move", "open" if opened else "close")
        and event.gate in (None, "open" if other_open else "closed")
    )


def since_last(event, history):
    """Return the moves after the last one of the event; all moves if there is none."""
    last = max((n for n, move in enumerate(history, 1) if event and is_a(event, move)), default=0)
    return history[last:]


def count_holds(term, history):
    n = sum(is_a(term.event, move) for move in since_last(term.reset, history))
    if term.goal == "exactly" and term.beyond == "starts again":
        n %= term.number + 1
    return {
        "exactly": n == term.number,
        "at least": n >= term.number,
        "multiple": n > 0 and n % term.number == 0,
        "odd": n % 2 == 1,
    }[term.goal]


def equal_holds(term, history):
    knob = handle = 0
    for move in history:
        knob += is_a(term.knob, move)
        handle += is_a(term.handle, move)
        if term.limit in (knob, handle):
            knob = handle = 0
    return knob - handle == term.ahead and handle >= term.least


def balance_holds(term, history):
    tally = 0
    for move in history:
        tally += is_a(term.up, move) - is_a(term.down, move)
        tally = sorted((0, tally, term.top))[1]
    return tally == term.target


def code_holds(term, history):
    entered = [
        digit
        for move in since_last(term.clear, history)
        for key, digit in term.keys
        if is_a(key, move)
    ]
    return tuple(entered[-len(term.digits) :]) == term.digits


def dial_holds(term, history):
    shows, entered = 1, []
    for move in history:
        if is_a(term.turn, move):
            shows = 1 if shows == term.top else shows + 1
        if is_a(term.read, move):
            entered.append(shows)
            shows = shows if term.after == "stays" else 1
    return tuple(entered[-len(term.numbers) :]) == term.numbers


def order_holds(term, history):
    left = list(term.steps)
    for move in since_last(term.reset, history):
        if left and is_a(left[0], move):
            left.pop(0)
        elif left and term.wrong == "starts again":
            left = list(term.steps)[is_a(term.steps[0], move) :]
    return not left


def seen_holds(term, history):
    names = {
        (False, False): "both closed",
        (True, False): "only the knob open",
        (False, True): "only the handle open",
        (True, True): "both open",
    }
    phases = [phases_after(history[:n]) for n in range(len(history) + 1)]
    return set(term.combinations) <= {names[both] for both in phases}


HOLDS = {
    Balance: balance_holds,
    Code: code_holds,
    Count: count_holds,
    Dial: dial_holds,
    Equal: equal_holds,
    Order: order_holds,
    Seen: seen_holds,
}


def phases_after(history):
    moved = [part for part, _, _ in history]
    return tuple(moved.count(part) % 2 == 1 for part in MOVED)


def satisfied(condition, history):
    if not isinstance(condition, PhaseTest):
        return HOLDS[type(condition)](condition, history)
    knob, handle = phases_after(history)
    return (
        condition.knob in (None, "open" if knob else "closed")
        and condition.handle in (None, "open" if handle else "closed")
        and condition.relation in (None, "same" if knob == handle else "different")
    )


def expected(lock, history):
    """Return whether the door is free, and the locked parts."""
    free = all(satisfied(condition, history) for condition in lock.conditions)
    if lock.hold is None:
        return free, frozenset()
    is_open = phases_after(history)[MOVED.index(lock.hold.part)]
    there = lock.hold.phase == ("open" if is_open else "closed")
    holds = there and not satisfied(lock.hold.unless, history)
    return free, frozenset([lock.hold.part] if holds else [])


def history_of(parts):
    is_open, history = dict.fromkeys(MOVED, False), []
    for part in parts:
        is_open[part] = not is_open[part]
        other = MOVED[1 - MOVED.index(part)]
        history.append((part, is_open[part], is_open[other]))
    return history


def disagreement(lock, automaton, parts):
    """Return the moves after which lock and automaton first differ, or None."""
    number = 0
    for length in range(len(parts) + 1):
        state = automaton.states[number]
        if expected(lock, history_of(parts[:length])) != (state.door_unlocked, state.locked_parts):
            return parts[:length]
        if length < len(parts):
            number = state.next[MOVED.index(parts[length])]
    return None


@pytest.mark.parametrize("number", SAMPLES)
def test_program_agrees_with_its_terms(samples, number):
    lock, _, source = samples[number]
    compiled = compile_program(source)
    assert compiled.bound is None  # finitely many states
    draw = random.Random(number)
    for _ in range(25):
        knob_share = draw.random()  # so that the counts become large
        parts = ["knob" if draw.random() < knob_share else "handle" for _ in range(24)]
        assert disagreement(lock, compiled.automaton, parts) is None
    proof = prove(as_rule(compiled.automaton, "sample", ""))
    if proof.openable:
        parts = [event[:-1] for event in proof.plan[:-1]]
        assert disagreement(lock, compiled.automaton, parts) is None
        assert expected(lock, history_of(parts))[0]


def test_samples_cover_all_terms_and_holds(samples):
    locks = [lock for lock, _, _ in samples.values()]
    assert {type(term) for lock in locks for term in lock.all_terms} == set(HOLDS)
    holds = [lock.hold for lock in locks if lock.hold]
    assert {isinstance(hold.unless, PhaseTest) for hold in holds} == {True, False}
    assert any(lock.phases and lock.phases.relation for lock in locks)
    assert any(len(lock.terms) == 2 for lock in locks)


# Interface of a model ---------------------------------------------------------------------------


def request(number, attempt=0):
    return ModelRequest((("user", "a lock, please"),), SCHEMA, number, attempt)


def test_answers_are_reproducible():
    one, other = Grammar(3), Grammar(3)
    requests = [request(number, attempt) for number in (1, 2, 30) for attempt in (0, 1)]
    backwards = [other.complete(each) for each in reversed(requests)]
    assert [one.complete(each) for each in requests] == backwards[::-1]


def test_seed_number_and_attempt_give_other_locks():
    texts = {
        Grammar(seed).complete(request(number, attempt)).text
        for seed in (0, 1)
        for number in (3, 4)
        for attempt in (0, 1, 2)
    }
    assert len(texts) == 12


def test_answers_can_be_parsed():
    grammar = Grammar(0)
    for number in SAMPLES:
        reply = grammar.complete(request(number))
        answer = parse_answer(reply)
        assert answer.plan is None
        assert answer.description == json.loads(reply.text)["description"]
        assert answer.program.splitlines()[0] == "def check_lock(self):"


def test_most_samples_can_be_opened(samples):
    """Most samples can be opened, and they cover many cells of difficulty."""
    proofs = [
        prove(as_rule(compile_program(source).automaton, "sample", ""))
        for _, _, source in list(samples.values())[:40]
    ]
    facts = [proof.facts for proof in proofs if proof.openable]
    assert len(facts) >= 25
    assert len({cell_of(each) for each in facts}) >= 6


# Text -------------------------------------------------------------------------------------------

FAULTS = r"  | [,.;:)]|[,;:]\.|\.\.|,,|^[^A-Z]|[^.]$|\b(\w+) \1\b|\. [a-z]|None|one (times|numbers)"


def test_descriptions_are_well_formed(samples):
    for number in range(1, 400):
        _, words = Grammar(1).draw(number)
        assert DESCRIPTION[0] <= len(words) <= DESCRIPTION[1]
        assert not re.search(FAULTS, words), words
    words = [words for _, words, _ in samples.values()]
    assert len(set(words)) == len(words)


def test_descriptions_name_the_hold_and_all_conditions(samples):
    for lock, words, _ in samples.values():
        assert ("A stop keeps the" in words) == (lock.hold is not None)
        rest = re.search(r"(?:while|unless) ([^.]*)\.$", words)[1]
        for condition in lock.conditions:
            is_phases = isinstance(condition, PhaseTest)
            for clause in condition.clauses if is_phases else [condition.clause]:
                assert clause in rest
                rest = rest.replace(clause, "", 1)
        assert set(rest.replace("and", "")) <= {" ", ","}, words  # there are no other conditions


def random_history(draw):
    """Return up to 24 random moves, mostly of one part, so that its counts become large."""
    knob_share, length = draw.random(), draw.randrange(25)
    return history_of(["knob" if draw.random() < knob_share else "handle" for _ in range(length)])


def test_conditions_with_the_same_short_text_are_the_same():
    """So the short text states the complete condition."""
    locks = [Grammar(2).draw(number)[0] for number in range(1, 1201)]
    conditions = {each for lock in locks for each in (*lock.all_terms, lock.phases) if each}
    draw = random.Random(0)
    histories = [random_history(draw) for _ in range(300)]
    meanings = {}
    for condition in conditions:
        meaning = [satisfied(condition, history) for history in histories]
        assert meanings.setdefault(condition.short, meaning) == meaning, condition


def test_short_instructions_contain_the_hold_and_all_conditions():
    fitting = 0
    for number in range(1, 401):
        lock, _ = Grammar(1).draw(number)
        text = short_instruction(lock)
        faults = FAULTS.replace("|[^.]$", "")  # no full stop at the end
        assert not re.search(faults, text.replace("etc.", "etc")), text
        assert all(each.short in text[0].lower() + text[1:] for each in lock.conditions)
        if lock.hold:
            opens = lock.hold.phase == "closed"
            verb = f"{lock.hold.part} {'opens' if opens else 'closes'} only if"
            purpose = (
                f"To {'open' if opens else 'close'} {lock.hold.part}: {lock.hold.unless.short}"
            )
            assert f"{verb.capitalize()} {lock.hold.unless.short}" in text or purpose in text
        fitting += token_bound(text) <= MAX_TOKENS
    assert fitting >= 380


def test_programs_are_readable(samples):
    for _, _, source in samples.values():
        assert len(ast.parse(source).body) == 1
        assert max(map(len, source.splitlines())) <= 100
        assert "# The door is free while" in source


def test_events_share_moves_or_not():
    gated = [Event("knob", "move", "open"), Event("knob", "move", "closed")]
    assert disjoint(gated)
    assert moves_of(gated) == Event("knob", "move").moves
    assert not disjoint([Event("knob", "open"), Event("either", "move")])
