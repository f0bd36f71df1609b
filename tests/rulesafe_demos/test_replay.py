"""Replays: exact, of failed attempts too, and a difference is found where it is."""

import numpy as np
import pytest

from planner_node.episode import run_expert
from rulesafe_cli.cli import main
from rulesafe_core.versions import PHYSICS
from rulesafe_data.attempt_recording import STATE, Recorder, read, save
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_demos.attempts import make_request
from rulesafe_demos.perform import ending, facts_of
from rulesafe_sim.simulation import Simulation


@pytest.fixture(scope="module")
def failure(tmp_path_factory):
    """A directory with an attempt that ran out of time after two seconds."""
    directory = tmp_path_factory.mktemp("failed")
    request = make_request("rule_001", 1, 1, "safe_03", "varied", 0)
    DemoFolder(directory).settle(request)
    attempt = request.episode("rule_001", 0)
    simulation = Simulation()
    simulation.reset(attempt.rule, attempt.safe, attempt.seed)
    recorder = Recorder()
    record = run_expert(simulation, time_limit=2.0, subscribers=[recorder])
    assert not record.success and record.state_digest == simulation.digest
    facts = facts_of(request, attempt) | ending(record)
    variation = {"variation": simulation.variation.to_dict(), "resampled": 0}
    path = DemoFolder(directory).file("rule_001", 0, success=False)
    save(path, recorder.rows, facts | variation | recorder.names)
    return directory


def test_a_recording_of_earlier_physics_is_refused_with_the_reason(failure, tmp_path, capsys):
    recording = read(DemoFolder(failure).file("rule_001", 0, success=False))
    rows = [{name: column[0] for name, column in recording.columns.items()}]
    versions = dict(recording.facts["versions"])
    assert versions.pop("physics") == PHYSICS
    save(tmp_path / "earlier.parquet", rows, recording.facts | {"versions": versions})
    assert main(["demos", "replay", str(tmp_path / "earlier.parquet")]) == 2
    assert "the recording was recorded with version 1 of the physics" in capsys.readouterr().err


@pytest.mark.episode
def test_an_episode_replays_exactly(demonstrations, capsys):
    assert main(["demos", "replay", str(demonstrations), "1"]) == 0
    out = capsys.readouterr().out
    assert "opened" in out
    path = DemoFolder(demonstrations).file("rule_002", 1, success=True)
    assert f"equal in {read(path).frames} frames" in out


def test_a_failed_attempt_replays_exactly(failure, capsys):
    words = ["demos", "replay", str(failure), "--rule", "rule_001", "--attempt", "0"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "failed: time limit of 2 s" in out
    assert "equal in" in out


def test_a_replay_can_be_filmed(failure, tmp_path, capsys):
    film = tmp_path / "film.mp4"
    path = DemoFolder(failure).file("rule_001", 0, success=False)
    assert main(["demos", "replay", str(path), "--out", str(film)]) == 0
    av = pytest.importorskip("av")
    with av.open(str(film)) as container:
        frames = sum(1 for _ in container.decode(video=0))
    assert frames == read(path).frames + 1 + 20  # every state, and two seconds of the last


@pytest.mark.parametrize("column", STATE)
def test_a_difference_is_found(failure, tmp_path, capsys, column):
    recording = read(DemoFolder(failure).file("rule_001", 0, success=False))
    rows = [
        {name: values[i] for name, values in recording.columns.items()}
        for i in range(recording.frames + 1)
    ]
    value = np.array(rows[5][column])
    flat = value.reshape(-1)
    flat[-1] = not flat[-1] if flat.dtype == bool else flat[-1] + 1
    rows[5][column] = value
    path = tmp_path / "changed.parquet"
    save(path, rows, dict(recording.facts))
    assert main(["demos", "replay", str(path)]) == 1
    assert f"differs: frame 5: {column}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["7"], "no episode 7; there are 3"),
        (["--rule", "rule_002", "--attempt", "40"], "no attempt 40; valid: 0.."),
        ([], "give the index of an episode"),
    ],
)
def test_what_is_not_there_is_said(demonstrations, capsys, words, said):
    assert main(["demos", "replay", str(demonstrations), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_file_of_something_else_is_refused(tmp_path, capsys):
    path = tmp_path / "other.parquet"
    path.write_bytes(b"not a table")
    assert main(["demos", "replay", str(path)]) == 2
    assert "is damaged or no table" in capsys.readouterr().err
