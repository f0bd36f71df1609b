"""The benchmark's part on policies: what it counts. What it times is not asserted."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

from policy_node.policy import NO_READING
from rulesafe_studies.__main__ import main
from rulesafe_studies.bench.commands import markdown
from rulesafe_studies.bench.policy import EPISODES, _observation, untrained
from rulesafe_studies.measuring import Measure
from vq_memory_node.memory import make_memory

ALWAYS = {
    "parameters": 1,
    "chunk": 20,
    "chunk, p99": 1,
    "memory, a frame": 240,
    "memory, 12 frames and a reading": 20,
    "memory, the same as a share of the chunk": 20,
    "evaluation episodes of 60 s per core-hour": EPISODES,
}
TRAINING = {
    "training samples a second": 2,
    "the limit of these samples": 1,
    "training, waiting for data": 1,
}


def measured(tmp_path, *words):
    """Exit code, and the figures' counts by subject and name."""
    file = tmp_path / "figures.json"
    code = main(
        ["bench", "--parts", "policy", "--seconds", "0.1", "--json", str(file), *map(str, words)]
    )
    counts = {}
    for figure in json.loads(file.read_text())["measures"]:
        assert 0 <= figure["p10"] <= figure["median"] <= figure["p90"]
        counts.setdefault(figure["subject"], {})[figure["name"]] = figure["count"]
    return code, counts


@pytest.mark.train
def test_a_family_is_measured_with_and_without_memory(small_demos, tmp_path, capsys):
    page = tmp_path / "page.md"
    code, counts = measured(
        tmp_path,
        "--policies",
        "dp3",
        "--data",
        small_demos,
        "--markdown",
        page,
        "--cache",
        tmp_path,
    )
    assert code == 0
    assert counts == {"dp3 none": ALWAYS | TRAINING, "dp3 vq": ALWAYS | TRAINING}
    assert list(tmp_path.glob("*.npy")), "the clouds are kept for the next run"
    printed = capsys.readouterr().out
    assert "dp3 vq: memory, a frame [us]" in printed and "is not measured" not in printed
    lines = page.read_text().splitlines()
    assert [line.split(" | ")[0] for line in lines[-3:]] == ["| dp3 none", "| dp3 vq", "| n"]


@pytest.mark.train
def test_without_demonstrations_the_training_is_left_out_and_that_is_said(tmp_path, capsys):
    memory = "rulesafe_studies.controls:ElapsedTime"
    code, counts = measured(tmp_path, "--policies", "pi0", "--memories", "raw", memory)
    assert code == 0
    assert counts == {"pi0 raw": ALWAYS, f"pi0 {memory}": ALWAYS}
    assert "training is not measured; set --data to demonstrations" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--policies", "act"), "unknown policy 'act'; valid: dp3"),
        (("--size", "huge"), "unknown size of dp3 'huge'"),
        (("--memories", "gru"), "unknown memory 'gru'"),
        (("--memories", "rulesafe_studies.keyframes:OraclePhases"), "privileged memory"),
        (("--data", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_measured_is_said_before_anything_runs(words, message, tmp_path, capsys):
    assert measured(tmp_path, *words) == (1, {})
    assert message in capsys.readouterr().err


def test_what_is_timed_is_a_policy_of_the_family_and_the_memory():
    policy = untrained("dp3", "tiny", make_memory("vq"))
    assert policy.checkpoint.family == "dp3" and policy.needs.memory
    assert not untrained("dp3", "tiny", make_memory("none")).needs.memory
    assert policy.checkpoint.normaliser.frame is not None
    assert untrained("dp3", "published", policy.memory).checkpoint.normaliser.frame is None


def test_figures_of_several_subjects_become_a_row_for_each():
    figures = [
        Measure.of("chunk", "ms", [1.0, 2.0, 9.0], subject="dp3"),
        Measure.of("chunk", "ms", [4.0], subject="rdt"),
        Measure.of("parameters", "", [1234.0], subject="rdt"),
    ]
    assert markdown(figures).splitlines() == [
        "|  | chunk [ms] | parameters |",
        "|---|---:|---:|",
        "| dp3 | 2 |  |",
        "| rdt | 4 | 1234 |",
        "| n | 1..3 | 1 |",
    ]


def test_figures_of_one_subject_become_a_row_each_with_their_spread():
    rows = markdown([Measure.of("reset", "ms", [1.0, 2.0, 3.0], "no cameras")]).splitlines()
    assert rows[2] == "| reset [ms] (no cameras) | 2 | 1.2..2.8 | 3 |"


def test_a_policy_of_two_levels_replays_stored_demonstrations():
    policy = untrained("two_level", "tiny", make_memory("none"))
    chunk = policy.infer(_observation(policy, "rule_001", np.zeros(13, np.float32), NO_READING))
    assert chunk.shape == (50, 13)
