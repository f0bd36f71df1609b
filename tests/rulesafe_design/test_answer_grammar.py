"""The grammar of answers: it contains the shipped programs, and the sandbox accepts its sentences.

The reader of GBNF here is independent of llama.cpp and covers what the grammar uses.
"""

import ast
import json
import os
import random
import re
import warnings
from importlib.resources import files
from pathlib import Path

import pytest
from lark import Lark, UnexpectedInput

from rulesafe_design import prompts
from rulesafe_design.answer_grammar import answer_grammar
from rulesafe_design.answers import SCHEMA, parse_answer
from rulesafe_design.grammar import Grammar
from rulesafe_design.models import ModelRequest, Reply
from rulesafe_design.restricted import compile_lock
from rulesafe_locks.lock_files import read_lock
from rulesafe_locks.plans import shortest_plan

WORDS = "details comment string number name part method function plan lead-1 lead-2 lead-3 "
WORDS += "lead-4 attribute is-open has item-0 relation is operator line"
"""Rules without brackets, which are terminals of the parser."""


LOCKS = Path(str(files("rulesafe_locks"))) / "data/locks/sampled"
EVERY = int(os.environ.get("RULESAFE_TEST_EVERY", "10"))
"""Every n-th shipped program is parsed; 1 takes some minutes."""

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+(?:,\d+)?\}|[a-z0-9-]+|[()|?*+]')
PRINTABLE = [chr(code) for code in range(32, 127)]


def rules_of(text):
    """Return the tokens of each rule of a grammar, by name."""
    found = {}
    for line in text.splitlines():
        name, _, body = line.partition(" ::= ")
        tokens = TOKEN.findall(body)
        read = "".join(tokens).replace(" ", "")
        assert read == body.replace(" ", ""), f"unknown token in {line}"
        assert name not in found, f"two rules {name}"
        found[name] = tokens
    return found


# Parser --------------------------------------------------------------------------------------


def parser_of(text, words):
    """Return the Lark parser of a grammar. The rules `words`, and those that they consist of,
    become terminals, which keeps the number of Earley items small."""
    found = rules_of(text)
    upper, names = set(), set(words)
    while names:
        upper |= names
        names = {token for name in names for token in found[name] if token in found} - upper

    def translated(token):
        if token in found:
            name = token.replace("-", "_")
            return name.upper() if token in upper else name
        if token[0] == "[":  # written out, since Lark evaluates \x5B before re reads the set
            escaped = [re.sub(r"(\W)", r"\\\1", character) for character in characters(token)]
            return f"/[{''.join(escaped)}]/"
        if token[0] == "{":
            return f"~{token[1:-1].replace(',', '..')}"
        return token

    lines = [
        f"{translated(name)}: {' '.join(map(translated, tokens))}" for name, tokens in found.items()
    ]
    return Lark("\n".join(lines), start="root", parser="earley")


def characters(token):
    """Return the printable ASCII characters of a set such as [a-z0-9]."""
    return [c for c in PRINTABLE if re.fullmatch(token, c)]


# Random sentences ------------------------------------------------------------------------------


class Sampler:
    """Random sentences of a grammar. Each optional repetition is taken with probability `more`."""

    def __init__(self, text, random, more=0.1):
        self.rules, self.random, self.more = rules_of(text), random, more

    def sentence(self, name="root"):
        text, rest = self.alternatives(self.rules[name])
        assert not rest
        return text()

    def alternatives(self, tokens):
        """Return a function that draws a text, and the tokens after the alternatives."""
        options = [[]]
        while tokens and tokens[0] != ")":
            if tokens[0] == "|":
                options.append([])
                tokens = tokens[1:]
            else:
                item, tokens = self.item(tokens)
                options[-1].append(item)
        return lambda: "".join(item() for item in self.random.choice(options)), tokens

    def item(self, tokens):
        token, *rest = tokens
        if token == "(":
            draw, rest = self.alternatives(rest)
            rest = rest[1:]
        elif token in self.rules:

            def draw():
                return self.sentence(token)

        elif token[0] == "[":
            letters = characters(token)

            def draw():
                return self.random.choice(letters)

        else:
            literal = ast.literal_eval(token)

            def draw():
                return literal

        if rest and (rest[0] == "?" or rest[0][0] == "{"):
            bounds = (0, 1) if rest[0] == "?" else [int(n) for n in rest[0][1:-1].split(",")]
            return lambda: "".join(draw() for _ in range(self.count(*bounds))), rest[1:]
        return draw, rest

    def count(self, least, most=None):
        count = least
        while most is not None and count < most and self.random.random() < self.more:
            count += 1
        return count


# Tests ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parser():
    return parser_of(answer_grammar(), WORDS.split())


def answer(description, program, plan):
    return json.dumps({"description": description, "program": program, "plan": list(plan)})


def test_examples_of_the_prompt_and_the_template_conform(parser):
    for example in prompts.examples():
        parser.parse(answer(example["description"], example["program"], example["plan"]))
    template = (files("rulesafe_design") / "data/lock_template.md").read_text("utf-8")
    parser.parse(answer("The template of the prompt.", template, ["door+"]))


def test_shipped_programs_conform(parser):
    locks = [read_lock(path) for path in sorted(LOCKS.glob("*.json"))]
    extreme = [
        max(locks, key=lambda lock: len(lock.description)),
        max(locks, key=lambda lock: len(lock.program)),
        max(locks, key=lambda lock: lock.program.count("elif")),
    ]
    for lock in [*locks[::EVERY], *extreme]:
        parser.parse(answer(lock.description, lock.program, shortest_plan(lock.rule)))


@pytest.mark.parametrize("count", [19, 20, 599, 601])
def test_length_of_a_description(parser, count):
    text = answer("x" * count, "def check_lock(self):\n    pass\n", ["door+"])
    if count in (19, 601):
        with pytest.raises(UnexpectedInput):
            parser.parse(text)
    else:
        parser.parse(text)


def test_sampled_programs_conform(parser):
    model = Grammar(seed=5)
    for number in range(1, 9):
        reply = json.loads(model.complete(ModelRequest((), SCHEMA, number)).text)
        parser.parse(answer(reply["description"], reply["program"], ["door+"]))


@pytest.mark.parametrize(
    "program",
    [
        "def check_lock(self):\n    import os\n",
        "def check_lock(self):\n    if True:\n    pass\n",
        "def check_lock(self):\n  pass\n",
        "def check_lock(self):\n    a = open('x')\n",
        "def check_lock(self):\n    in = 1\n",
        "def check_lock(self):\n    a.__class__ = 1\n",
        "def other(self):\n    pass\n",
        "def check_lock(self):\n    a = hasattr(a, '_b')\n",
    ],
)
def test_refused_programs_do_not_conform(parser, program):
    with pytest.raises(UnexpectedInput):
        parser.parse(answer("A program that is refused.", program, ["door+"]))


@pytest.mark.parametrize("seed", range(4))
def test_random_sentences_are_accepted(seed):
    sampler = Sampler(answer_grammar(), random.Random(seed))
    programs = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # such as "is" with a number
        for _ in range(100):
            found = parse_answer(Reply(sampler.sentence()))
            compile_lock(found.program)
            assert found.plan[-1] == "door+"
            programs.add(found.program)
    assert len(programs) > 80


def test_every_rule_is_used():
    rules = rules_of(answer_grammar())
    used = {token for tokens in rules.values() for token in tokens if token in rules}
    assert used | {"root"} == set(rules)
