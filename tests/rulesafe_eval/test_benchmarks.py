"""Benchmarks: their episodes are fixed, and an evaluation has exactly these."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from planner_node.reach import reachable_variation
from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval import benchmarks, results
from rulesafe_eval.benchmarks import BENCHMARKS, FOLDER, benchmark_of, load_benchmark
from rulesafe_eval.commands import names_of_benchmarks
from rulesafe_eval.request import Setup, make_request
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.rules import RULES
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.variation import Variation


def request_of(found, **setup):
    about = Setup("expert", **setup)
    rules, safes = ",".join(found.rules), ",".join(found.safes)
    return make_request(about, {}, rules, safes, found.episodes, found.split, found.seed)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_has_the_episodes_of_its_conditions(name):
    found = load_benchmark(name)
    keys = ("rule", "number", "safe", "seed")
    entries = [tuple(entry[key] for key in keys) for entry in found.entries]
    expected = [tuple(getattr(e, key) for key in keys) for e in request_of(found).all_episodes()]
    assert entries == expected and len(set(entries)) == len(entries)
    assert len(entries) == found.episodes * len(found.rules)
    split = load_split(found.split).randomisation
    for entry in found.entries[:: len(found.entries) // 2]:
        variation, resampled = reachable_variation(
            entry["safe"], entry["rule"], split, entry["seed"]
        )
        assert (Variation.from_dict(entry["variation"]), entry["resampled"]) == (
            variation,
            resampled,
        )


def test_the_benchmarks_cover_rules_and_safes():
    assert set(BENCHMARKS) == {path.stem for path in FOLDER.glob("*.json")}
    assert set(BENCHMARKS) == set(names_of_benchmarks.metavar.strip("{}").split(","))
    assert load_benchmark("multi_task").rules == RULES
    assert len(load_benchmark("multi_task").safes) == 10
    assert load_benchmark("out_of_distribution").split == "shifted"
    assert load_benchmark("generated_locks").rules == rule_sets()["sampled_test"]


def test_the_benchmark_of_an_evaluation_is_recognised():
    found = load_benchmark("multi_task")
    request = request_of(found)
    assert benchmark_of(request) == "multi_task"
    assert not benchmark_of(replace(request, seed=1))
    assert not benchmark_of(replace(request, episodes=9))
    for other in ({"step_seconds": 30.0}, {"turn_back": True}, {"control": "shuffled"}):
        assert not benchmark_of(request_of(found, **other))


def test_other_sampled_variations_are_an_error(monkeypatch, tmp_path):
    content = json.loads((FOLDER / "single_task.json").read_text())
    content["entries"][3]["variation"]["placement"]["yaw"] += 0.01
    (tmp_path / "single_task.json").write_text(json.dumps(content))
    monkeypatch.setattr(benchmarks, "FOLDER", Path(tmp_path))
    load_benchmark.cache_clear()
    with pytest.raises(RuleSafeError, match="other variations than the benchmark single_task"):
        load_benchmark("single_task")
    load_benchmark.cache_clear()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--benchmark", "paper"], "unknown benchmark 'paper'"),
        (["--benchmark", "multi_task", "--seed", "3"], "determines the seed: omit --seed"),
        (["--benchmark", "multi_task", "--rules", "rule_001"], "omit --rules"),
        (["--benchmark", "multi_task", "--step-seconds", "60"], "omit --step-seconds"),
        (["--benchmark", "multi_task", "--turn-back"], "has no --turn-back"),
    ],
)
def test_conditions_of_a_benchmark_cannot_be_changed(options, text, capsys, tmp_path):
    assert main(["eval", "--policy", "expert", "--out", str(tmp_path / "x"), *options]) == 2
    assert text in capsys.readouterr().err


def test_an_evaluation_of_a_benchmark_has_its_conditions(monkeypatch, tmp_path):
    requested = []

    def stop(request, *_):
        requested.append(benchmark_of(request))
        raise RuleSafeError("not evaluated")

    monkeypatch.setattr(results, "evaluate", stop)
    options = ["--policy", "expert", "--benchmark", "single_task", "--out", str(tmp_path)]
    assert main(["eval", *options]) == 2
    assert requested == ["single_task"]
