"""Statistics of a dataset that was not generated from attempts of the expert."""

import numpy as np
import pytest

from rulesafe_cli.cli import main
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData


@pytest.fixture
def dataset(tmp_path):
    """As `rulesafe bag to-dataset` makes it: three of a simulation, one of a robot."""
    root = tmp_path / "set"
    writer = DatasetWriter(root)
    known = {"rule": "rule_002", "success": True}
    for index, facts in enumerate([known, known, {**known, "success": False}, {}]):
        frames = 10 + 2 * index
        joints = np.zeros((frames, len(ALL_JOINTS)), np.float32)
        actions = np.zeros((frames, len(ACTION_JOINTS)), np.float32)
        data = EpisodeData("Open it.", joints, joints, actions, None, {}, facts)
        writer.write(index, data)
    writer.finish()
    return root


def test_its_episodes_are_counted(dataset, capsys):
    before = sorted(dataset.rglob("*"))
    assert main(["demos", "stats", str(dataset)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Open it.: 1 episode of 16 frames, success not recorded"
    assert lines[1] == "rule_002: 3 episodes of 12 frames, 2 of 3 opened"
    assert lines[2].startswith("dataset: 4 episodes, 52 frames, 0 MB, digest ")
    assert lines[2].endswith(EpisodeStore(dataset).digest)
    size = sum((dataset / "data" / path).stat().st_size for path in dataset.glob("data/*/*"))
    assert lines[3] == f"an episode of 13 frames: tables {size / 4e6:.2f} MB"
    assert "no attempts of `rulesafe demos generate`" in lines[-1]
    assert sorted(dataset.rglob("*")) == before
