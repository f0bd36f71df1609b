"""The shipped sets: different locks that can be opened, match their files and their origin."""

import json
import tarfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from rulesafe_design import exploring
from rulesafe_design.compiler import compile_graph, compile_program
from rulesafe_design.difficulty import CELLS, cell_of
from rulesafe_design.grammar import Grammar
from rulesafe_design.lock_worker import Explorer
from rulesafe_design.models import ModelRequest
from rulesafe_design.splits import assign, assign_by_behaviour
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.automata import automaton_of, possible, smallest
from rulesafe_locks.lock_files import LOCKS, dump_lock, locks_in
from rulesafe_locks.plans import opens_door, shortest_plan
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule

SPLITS = ("train", "test", "hard")

DOCUMENT = Path(__file__).parents[2] / "docs" / "lock_design.md"


COUNTS = {"sampled": 200, "written": 100}
EXCHANGES = Path(__file__).parents[2] / "studies/written/locks.tar.xz"


@pytest.fixture(scope="module", params=COUNTS)
def locks(request):
    return locks_in(LOCKS / request.param)


@pytest.fixture(scope="module")
def sampled():
    return locks_in(LOCKS / "sampled")


@pytest.fixture(scope="module")
def written():
    return locks_in(LOCKS / "written")


def test_files_and_ids(locks):
    name = locks[0].id.partition("_")[0]
    assert [lock.id for lock in locks] == [f"{name}_{n:03d}" for n in range(1, COUNTS[name] + 1)]
    for lock in locks:
        assert (LOCKS / name / f"{lock.id}.json").read_text("utf-8") == dump_lock(lock)
        assert load_rule(lock.id).description == lock.description


def test_descriptions_differ(locks):
    assert len({lock.description for lock in locks}) == len(locks)


def test_shortest_plans_open(locks):
    for lock in locks:
        plan = shortest_plan(lock.rule)
        assert plan == lock.facts["plan"]
        assert opens_door(lock.rule, plan)
        assert not any(opens_door(lock.rule, [*plan[:n], "door+"]) for n in range(len(plan) - 1))


def test_facts_are_proved_again(locks):
    for lock in locks:
        assert prove(lock.rule).facts == lock.facts


def test_no_two_are_the_same_lock(sampled, written):
    twenty = [automaton_of(load_rule(rule)) for rule in RULES]
    every = [*twenty, *(lock.automaton for lock in (*sampled, *written))]
    assert len({smallest(possible(each)) for each in every}) == len(every)


def test_no_written_lock_mirrors_another_or_a_known_one(sampled, written):
    known = {smallest(possible(automaton_of(load_rule(rule)))) for rule in RULES}
    known |= {smallest(possible(lock.automaton)) for lock in (*sampled, *written)}
    for lock in written:
        mirrored = smallest(possible(lock.automaton.mirrored))
        assert mirrored not in known or mirrored == smallest(possible(lock.automaton))


def compiled_here(program):
    """Compile a trusted program without the sandbox."""
    limits = ProgramLimits()
    explorer = Explorer(program, lambda call: call(), limits.states, limits.events)
    return compile_graph(exploring._graph(explorer.explore(), limits, {}))


def test_programs_compile_to_the_automata(locks):
    """The first in the sandbox; the others in this process, because starting one takes longer than
    the exploration."""
    assert compile_program(locks[0].program) == compiled_here(locks[0].program)
    for lock in locks:
        compiled = compiled_here(lock.program)
        assert compiled.automaton == lock.automaton
        assert compiled.bound is None
        assert lock.bound is None


def test_the_grammar_still_generates_the_sampled_ones(sampled):
    for lock in sampled:
        assert set(lock.origin) == {"by", "seed", "number", "repairs"}
        assert lock.origin["by"] == "sampled"
        grammar = Grammar(lock.origin["seed"])
        request = ModelRequest((), {}, lock.origin["number"], lock.origin["repairs"])
        answer = json.loads(grammar.complete(request).text)
        assert (answer["description"], answer["program"]) == (lock.description, lock.program)
        assert answer.get("short_instruction", "") == lock.short_instruction


def test_difficulty_is_spread_evenly(locks):
    """No cell is empty, and none has twice as many locks as another."""
    cells = Counter(cell_of(lock.facts) for lock in locks)
    assert set(cells) == set(CELLS)
    assert max(cells.values()) <= 2 * min(cells.values())
    assert {lock.facts["steps"] for lock in locks} == set(range(2, 13))


def test_the_replies_of_a_language_model_are_the_written_ones(written):
    with tarfile.open(EXCHANGES) as archive:
        files = [archive.extractfile(name) for name in sorted(archive.getnames()) if "_0_" in name]
        exchanges = [json.load(file) for file in files]
    assert len(exchanges) == len(written)
    for lock, exchange in zip(written, exchanges, strict=True):
        answer = json.loads(exchange["reply"]["text"])
        assert (answer["description"], answer["program"].strip()) == (
            lock.description,
            lock.program.strip(),
        )
        assert opens_door(lock.rule, answer["plan"])
        assert lock.origin == {
            "by": "model",
            "model": exchange["model"],
            "number": exchange["number"],
            "repairs": 0,
        }


def test_splits_of_the_written(written):
    assert assign_by_behaviour([replace(lock, split="") for lock in written]) == written
    assert Counter(lock.split for lock in written) == {"train": 52, "validation": 22, "test": 26}


def test_splits_of_the_sampled(sampled):
    assert assign([replace(lock, split="") for lock in sampled]) == sampled
    train, test, hard = ([lock for lock in sampled if lock.split == split] for split in SPLITS)
    assert len(train) > len(hard) > len(test) > 20
    assert {cell_of(lock.facts) for lock in test} == {cell_of(lock.facts) for lock in train}
    most_steps = max(lock.facts["steps"] for lock in train)
    most_memory = max(lock.facts["memory"] for lock in train)
    for lock in hard:
        assert lock.facts["steps"] > most_steps or lock.facts["memory"] > most_memory


def table(groups):
    """Return the number of locks per cell and group, as a Markdown table with sums."""
    found = {name: Counter(cell_of(each) for each in facts) for name, facts in groups.items()}
    lines = [["steps", "memory", *found, "all"]]
    lines.append(["---"] * len(lines[0]))
    for cell in CELLS:
        row = [counts[cell] for counts in found.values()]
        lines.append([cell.bands[0], cell.bands[1], *map(str, row), str(sum(row))])
    sums = [counts.total() for counts in found.values()]
    lines.append(["all", "", *map(str, sums), str(sum(sums))])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


@pytest.mark.parametrize(
    ("name", "splits"), [("sampled", SPLITS), ("written", ("train", "validation", "test"))]
)
def test_table_in_the_document(name, splits):
    locks = locks_in(LOCKS / name)
    groups = {split: [each.facts for each in locks if each.split == split] for split in splits}
    assert table(groups) in DOCUMENT.read_text("utf-8"), table(groups)
