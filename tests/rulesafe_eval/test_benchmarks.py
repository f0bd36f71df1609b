"""Benchmarks: their episodes are fixed, and an evaluation has exactly these."""

import json
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from planner_node.reach import reachable_variation
from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval import benchmarks, results
from rulesafe_eval.benchmarks import (
    BENCHMARKS,
    FOLDER,
    SEALED,
    benchmark_of,
    load_benchmark,
    reset_arguments,
)
from rulesafe_eval.commands import names_of_benchmarks
from rulesafe_eval.jobs import benchmark_jobs
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.runner import execute
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_sim.episode import SECONDS_A_STEP
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.runtime import Playback
from rulesafe_sim.simulation import HOME_ACTION
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
    named = names_of_benchmarks.metavar.strip("{}").split(",")
    assert named == [*BENCHMARKS, SEALED.name]
    assert load_benchmark("multi_task").rules == RULES
    assert len(load_benchmark("multi_task").safes) == 10
    assert load_benchmark("out_of_distribution").split == "shifted"
    assert load_benchmark("generated_locks").rules == rule_sets()["sampled_test"]


def test_an_episode_is_the_same_in_gymnasium():
    """Equal variation, time limit and, after equal actions, state digest as in `rulesafe eval`."""
    found = load_benchmark("out_of_distribution")
    index = 23
    entry = found.entries[index]
    request = request_of(found)
    episode = request.episode(entry["rule"], entry["number"])
    rule, split = load_rule(entry["rule"]), load_split(found.split).randomisation
    variation, _ = reachable_variation(episode.safe, rule, split, episode.seed)
    actions = np.linspace(HOME_ACTION, HOME_ACTION + 0.1, 6, dtype=np.float32)
    line, _, _ = execute(Playback(actions), request.setup, episode, rule, variation)

    env = gymnasium.make("rulesafe_sim.env:RuleSafe-v1", observations=("joint_positions",))
    _, info = env.reset(**reset_arguments("out_of_distribution", index))
    assert Variation.from_dict(info["variation"]) == variation
    assert (info["rule"], info["safe"], info["seed"]) == (rule.id, episode.safe, episode.seed)
    assert info["time_limit"] == request.setup.time_limit(rule)
    for action in actions:
        env.step(action)
    assert env.unwrapped.simulation.digest == line["state_digest"]
    with pytest.raises(RuleSafeError, match="has the episodes 0 to 199, got 200"):
        reset_arguments("multi_task", 200)
    with pytest.raises(RuleSafeError, match="unknown benchmark 'paper'"):
        reset_arguments("paper", 0)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_evaluator_node_runs_the_same_episodes(name):
    found = load_benchmark(name)
    first = len(found.entries) - 3
    jobs = benchmark_jobs(name, first, 3)
    for job, entry in zip(jobs, found.entries[first:], strict=True):
        assert job.facts == {"benchmark": name, "variation": entry["variation"]}
        assert (job.rule, job.safe, job.seed) == (entry["rule"], entry["safe"], entry["seed"])
        assert json.loads(job.variation) == entry["variation"]
        assert job.time_limit == Setup("expert", step_seconds=found.step_seconds).time_limit(
            job.rule
        )
        assert found.step_seconds == SECONDS_A_STEP, "the default of RuleSafe-v1"
    with pytest.raises(RuleSafeError, match=f"got {len(found.entries)}"):
        benchmark_jobs(name, first, 4)


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
