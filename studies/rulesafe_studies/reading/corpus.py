"""The corpus: instructions of sampled locks with their designs, none of which equals a test lock.

excluded = behaviours(["sampled_test", "written_test"])
list(pairs(seed=1, numbers=range(1000), excluded=excluded))
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rulesafe_core.files import write_atomically
from rulesafe_data.bars import ProgressBar
from rulesafe_design.compiler import compile_graph
from rulesafe_design.exploring import explore_trusted
from rulesafe_design.grammar import Grammar
from rulesafe_design.grammar_locks import program
from rulesafe_design.verdicts import ProgramLimits, Refused
from rulesafe_design.verify import behaviour
from rulesafe_locks.automata import Automaton, as_rule, automaton_of
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.plans import plan_distance
from rulesafe_reader.designs import LONGEST, design_tokens

LIMITS = ProgramLimits(states=400)
STEPS = range(2, 13)
"""Lengths of the shortest plans, as in the sampled sets."""

PART = 2000
"""Number of drawn locks of a file."""


@dataclass(frozen=True)
class Pair:
    """An instruction and the design of its lock; `behaviour` is the same for equal locks."""

    text: str
    tokens: tuple[str, ...]
    behaviour: str
    steps: int


def behaviour_of(automaton: Automaton) -> str:
    """Return a digest that is the same for locks that behave alike, also with knob and handle
    exchanged."""
    return min(behaviour(automaton), behaviour(automaton.mirrored))


def behaviours(names: Sequence[str]) -> set[str]:
    """Return the behaviours of the rules of some sets."""
    rules = expand_rules(",".join(names)).values()
    return {behaviour_of(automaton_of(rule)) for rule in rules}


def pairs(seed: int, numbers: Iterable[int], excluded: Collection[str] = ()) -> Iterator[Pair]:
    """Yield the locks with these numbers of a grammar that can be opened with a plan of STEPS, have
    at most LIMITS.states states, and whose behaviour is not excluded."""
    grammar = Grammar(seed)
    for number in numbers:
        design, text = grammar.draw(number)
        try:
            automaton = compile_graph(explore_trusted(program(design), LIMITS)).automaton
        except Refused:
            continue
        lock = as_rule(automaton, str(number), text)
        steps, tokens = plan_distance(lock, lock.start()), design_tokens(design)
        if steps is not None and steps in STEPS and len(tokens) < LONGEST:
            found = behaviour_of(automaton)
            if found not in excluded:
                yield Pair(text, tuple(tokens), found, steps)


def write_corpus(
    folder: Path, seed: int, count: int, excluded: Collection[str], workers: int
) -> None:
    """Write the locks 0 to count - 1 of a grammar in files of PART; complete files are kept."""
    missing = [part for part in range(-(-count // PART)) if not _file(folder, seed, part).is_file()]
    write = partial(_write_part, folder, seed, excluded)
    with get_context("spawn").Pool(workers) as pool, ProgressBar(total=len(missing)) as bar:
        for _ in pool.imap_unordered(write, missing):
            bar.update()


def read_corpus(folder: Path, seed: int, count: int) -> list[Pair]:
    """Return the locks that `write_corpus` wrote."""
    return [
        Pair(row["text"], tuple(row["tokens"]), row["behaviour"], row["steps"])
        for part in range(-(-count // PART))
        for row in map(json.loads, _file(folder, seed, part).read_text("utf-8").splitlines())
    ]


def _write_part(folder: Path, seed: int, excluded: Collection[str], part: int) -> None:
    rows = pairs(seed, range(part * PART, (part + 1) * PART), excluded)
    text = "".join(json.dumps(asdict(row)) + "\n" for row in rows)
    write_atomically(_file(folder, seed, part), text.encode())


def _file(folder: Path, seed: int, part: int) -> Path:
    return folder / f"locks_{seed}_{part:04d}.jsonl"
