"""Benchmarks: their episodes are fixed, and an evaluation has exactly these."""

import json
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from planner_node.reach import out_of_reach
from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval import results
from rulesafe_eval.benchmark_names import benchmark_of
from rulesafe_eval.conditions import names_of_benchmarks
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.rules import RULES
from rulesafe_sim import benchmarks
from rulesafe_sim.benchmarks import BENCHMARKS, FOLDER, load_benchmark
from rulesafe_sim.episodes import place, plan_episodes
from rulesafe_sim.runtime import Playback
from rulesafe_sim.simulation import HOME_ACTION
from rulesafe_sim.variation import Variation


def request_of(found, **changes):
    rules, safes = ",".join(found.rules), ",".join(found.safes)
    plan = plan_episodes(rules, safes, found.split, found.episodes, found.seed)
    return make_request(Setup("expert"), {}, replace(plan, **changes))


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_has_the_episodes_of_its_conditions(name):
    """With the variations that the search for a pose within reach finds."""
    found = load_benchmark(name)
    expected = list(request_of(found))
    unplaced = [replace(each, variation=None, resampled=0) for each in found]
    assert unplaced == expected and len(set(expected)) == len(expected) == len(found.entries)
    for episode in list(found)[:: len(expected) // 2]:
        assert place(replace(episode, variation=None, resampled=0), out_of_reach) == episode


def test_the_benchmarks_cover_rules_and_safes():
    assert set(BENCHMARKS) == {path.stem for path in FOLDER.glob("*.json")}
    named = names_of_benchmarks.metavar.strip("{}").split(",")
    assert named == [*BENCHMARKS]
    assert load_benchmark("multi_task").rules == RULES
    assert len(load_benchmark("multi_task").safes) == 10
    assert load_benchmark("out_of_distribution").split == "shifted"
    assert load_benchmark("generated_locks").rules == rule_sets()["sampled_test"]
    assert load_benchmark("written_locks").rules == rule_sets()["written_test"]


def test_an_episode_is_the_same_in_gymnasium():
    """Equal variation, time limit and, after equal actions, state digest as in `rulesafe eval`."""
    episode = list(load_benchmark("out_of_distribution"))[23]
    actions = np.linspace(HOME_ACTION, HOME_ACTION + 0.1, 6, dtype=np.float32)
    line, _, _ = EpisodeRunner(Setup("expert")).execute(Playback(actions), episode)

    env = gymnasium.make("rulesafe_sim.env:RuleSafe-v1", observations=("joint_positions",))
    _, info = env.reset(options={"episode": episode.to_dict()})
    assert Variation.from_dict(info["variation"]) == episode.variation
    assert (info["rule"], info["safe"], info["seed"]) == (episode.rule, episode.safe, episode.seed)
    assert info["time_limit"] == episode.time_limit
    for action in actions:
        env.step(action)
    assert env.unwrapped.simulation.digest == line["state_digest"]
    with pytest.raises(RuleSafeError, match=r"has the episodes 0 to 9 of rule_001, .*; got 10 of"):
        load_benchmark("multi_task").episode("rule_001", 10)
    with pytest.raises(RuleSafeError, match="unknown benchmark 'paper'"):
        load_benchmark("paper")


def test_the_benchmark_of_an_evaluation_is_recognised():
    found = load_benchmark("multi_task")
    request = request_of(found)
    assert benchmark_of(request) == "multi_task"
    assert not benchmark_of(replace(request, seed=1))
    assert not benchmark_of(replace(request, episodes=9))
    assert not benchmark_of(request_of(found, step_seconds=30.0))
    for other in ({"disturbances": "turned back"}, {"variant": "shuffled memory"}):
        assert not benchmark_of(replace(request, setup=replace(request.setup, **other)))
    assert not benchmark_of(replace(request, commitment="0" * 64))


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
