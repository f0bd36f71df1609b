"""The shipped set: 200 different locks that can be opened and match their files."""

import json
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
from rulesafe_design.splits import assign
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.automata import automaton_of, possible, smallest
from rulesafe_locks.lock_files import LOCKS, dump_lock, locks_in
from rulesafe_locks.plans import opens_door, shortest_plan
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule

SPLITS = ("train", "test", "hard")

DOCUMENT = Path(__file__).parents[2] / "docs" / "lock_design.md"


@pytest.fixture(scope="module")
def locks():
    return locks_in(LOCKS / "sampled")


def test_files_and_ids(locks):
    assert [lock.id for lock in locks] == [f"sampled_{n:03d}" for n in range(1, 201)]
    for lock in locks:
        assert (LOCKS / "sampled" / f"{lock.id}.json").read_text("utf-8") == dump_lock(lock)
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


def test_no_two_are_the_same_lock(locks):
    twenty = {smallest(possible(automaton_of(load_rule(rule)))) for rule in RULES}
    found = {smallest(possible(lock.automaton)) for lock in locks}
    assert len(found) == len(locks)
    assert not found & twenty


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


def test_their_origin_reproduces_them(locks):
    """The grammar still generates the same texts and program."""
    for lock in locks:
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


def test_splits(locks):
    assert assign([replace(lock, split="") for lock in locks]) == locks
    train, test, hard = ([lock for lock in locks if lock.split == split] for split in SPLITS)
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


def test_table_in_the_document(locks):
    groups = {split: [each.facts for each in locks if each.split == split] for split in SPLITS}
    assert table(groups) in DOCUMENT.read_text("utf-8"), table(groups)
