"""The corpus has no lock of a test, and success at the move level is measured as described."""

import random

import pytest

pytest.importorskip("torch")

from rulesafe_cli.cli import main
from rulesafe_data.store import EpisodeStore
from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_reader.designs import automaton_of_tokens
from rulesafe_reader.memory import Grasps
from rulesafe_reader.network import EVENTS
from rulesafe_reader.parser import ParserConfig, load_parser, words_of
from rulesafe_reader.reader import Observed
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import Simulation
from rulesafe_studies.reading import agents, commands, corpus, moves
from rulesafe_studies.reading.decoder import grasp_classes
from rulesafe_studies.reading.paraphrases import RULES, paraphrase, vocabulary
from rulesafe_studies.reading.training import ParserTraining, known_pairs, train_parser


@pytest.fixture(scope="module")
def pairs():
    return list(corpus.pairs(seed=5, numbers=range(60)))


def test_the_design_of_a_pair_is_its_lock(pairs):
    for pair in pairs[:5]:
        assert corpus.behaviour_of(automaton_of_tokens(pair.tokens)) == pair.behaviour
    assert len(pairs) > 30 and all(pair.steps in corpus.STEPS for pair in pairs)


def test_excluded_behaviours_are_left_out_also_with_knob_and_handle_exchanged(pairs):
    excluded = {pairs[0].behaviour, pairs[3].behaviour}
    left = list(corpus.pairs(5, range(60), excluded))
    assert {pair.behaviour for pair in left} == {pair.behaviour for pair in pairs} - excluded
    rule = load_rule("rule_004")
    automaton = smallest(automaton_of(rule))
    assert corpus.behaviour_of(automaton) == corpus.behaviour_of(automaton.mirrored)
    assert corpus.behaviours(["rule_004"]) == {corpus.behaviour_of(automaton)}


def test_locks_of_the_tests_are_not_known_by_name():
    tests = {name for part in commands.SETS if part != "twenty" for name in expand_rules(part)}
    assert not tests & {pair.tokens[1] for pair in known_pairs()}


def test_a_corpus_is_written_in_parts_and_only_once(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "PART", 20)
    corpus.write_corpus(tmp_path, 5, 40, (), workers=1)
    found = corpus.read_corpus(tmp_path, 5, 40)
    (tmp_path / "locks_5_0000.jsonl").write_text("")
    corpus.write_corpus(tmp_path, 5, 40, (), workers=1)
    assert 0 < len(corpus.read_corpus(tmp_path, 5, 40)) < len(found)


def test_paraphrases_keep_parts_and_numbers(pairs):
    rng = random.Random(0)
    names = {"knob", "handle"}
    changed = 0
    for pair in pairs:
        text = paraphrase(pair.text, rng)
        changed += text != pair.text
        assert {w for w in words_of(text) if w in names} <= {*words_of(pair.text), *names}
        assert "{" not in text
    assert changed > 0.8 * len(pairs)
    words = vocabulary([pair.text for pair in pairs])
    assert {word for pair in pairs for word in words_of(paraphrase(pair.text, rng))} <= {
        *words,
        *"0123456789",
    }
    assert len(RULES) > 20


def test_a_lock_is_opened_within_twice_the_moves_of_its_plan():
    lock = load_rule("rule_002")  # knob+, door+
    plan = shortest_plan(lock)
    assert moves.opens(lock, moves.planned(plan))
    assert not moves.opens(lock, moves.planned(["handle+"]))
    late = [*["handle+", "handle-"], *plan]
    assert moves.opens(lock, moves.planned(late))
    assert not moves.opens(lock, moves.planned(["handle+", "handle-", "handle+", *plan]))


def test_a_cycle_moves_each_part_into_its_other_phase():
    agent = moves.cycling(("knob", "door"))
    history = []
    for event, happened in (("knob+", True), ("door+", False), ("knob-", True), ("door+", False)):
        assert agent(history) == event
        history.append(Observed(event, happened))
    assert moves.best_cycle([load_rule("rule_002")]) == ("knob", "door")


def test_each_instruction_is_shuffled_to_another_lock():
    locks = expand_rules("twenty")
    others = moves.shuffled(locks, seed=1)
    assert all(others[name] != lock.description for name, lock in locks.items())
    assert sorted(others.values()) == sorted(lock.description for lock in locks.values())


@pytest.mark.train
def test_a_trained_parser_is_measured(pairs, tmp_path, monkeypatch):
    monkeypatch.setattr(moves, "blind", lambda: (("knob", "door"), ("handle+", "door+")))
    config = ParserTraining(steps=4, batch=4, warm_up=1, pretrained=0)
    small = ParserConfig(width=16, heads=2, layers=1)
    folder = train_parser(pairs, config, tmp_path / "parser", network=small)
    assert load_parser(folder / "parser.safetensors").config.width == 16
    locks = {"rule_002": load_rule("rule_002")}
    table = commands.measure(folder, {"one": locks})
    assert set(table["one"]) == {"locks", *commands.AGENTS}
    (row,) = commands.rows(table)
    assert row[:2] == ["one", "1"] and row[4:] == ["100 (21-100)", "0 (0-79)"]


@pytest.mark.episode
def test_the_classes_of_grasps_are_the_moves_that_were_made(tmp_path):
    """With deliberate misses, some of which move nothing."""
    demos = str(tmp_path / "demos")
    words = ["--rules", "rule_020", "--safes", "safe_02", "--episodes", "2", "--misses", "0.4"]
    passes = ["--passes", "states", "--style", "strict", "--out", demos]
    assert main(["demos", "generate", *words, *passes]) == 0
    assert main(["demos", "render", demos, "--observations", "joints"]) == 0
    store, failed = EpisodeStore(demos), 0
    for episode in range(2):
        classes = list(grasp_classes(store, episode, Grasps()).values())
        moved = [EVENTS[number] for number in classes if number < len(EVENTS)]
        assert [*moved, "door+"] == shortest_plan(load_rule("rule_020"))
        failed += len(classes) - len(moved)
    assert failed


@pytest.mark.episode
def test_a_cycle_is_made_with_the_motions_of_the_expert(monkeypatch):
    monkeypatch.setattr(agents, "blind", lambda rules: (("door", "knob"), ()))
    simulation = Simulation()
    simulation.reset("rule_002", "safe_02", 3)
    agent = agents.Cycle()
    record = Runtime(simulation).run(agent, stop=False)
    assert record.success, record.reason
    tried = [Observed("door+", False), Observed("knob+"), Observed("door+")]
    assert agent._history == tried
