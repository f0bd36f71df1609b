"""Memory tokens in an exported dataset."""

import json

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.states import load_states
from rulesafe_data.tables import read_columns
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_demos.commands import export
from vq_memory_node.memory import VqMemory, memory_from
from vq_memory_node.rolling import RollingMemory

TOKENS, MASK = "observation.memory_tokens", "observation.memory_mask"


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    """A dataset without images of the first 100 frames of a demonstration."""
    positions, actions = load_states("datasets/rule_001_rule_020.parquet")[0]
    joints = np.zeros((100, len(ALL_JOINTS)), np.float32)
    joints[:, [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]] = positions[:100]
    writer = DatasetWriter(tmp_path_factory.mktemp("demos") / "demos")
    writer.write(0, EpisodeData("Open it.", joints, np.zeros_like(joints), actions[:100]))
    writer.finish()
    return writer.root


def exported(demos, out, **settings):
    export(demos, out, format="lerobot-v2.1", **settings)
    columns = read_columns(out / "data/chunk-000/episode_000000.parquet")
    return columns, json.loads((out / "meta/info.json").read_text())


def test_tokens_are_those_of_a_running_episode(demos, tmp_path):
    columns, info = exported(demos, tmp_path / "out", memory_model="all_rules_hand")
    memory = RollingMemory(VqMemory())
    for frame, joints in enumerate(columns["observation.state"]):
        memory.push(joints)
        reading = memory.read()
        assert np.array_equal(columns[TOKENS][frame], reading.values)
        assert np.array_equal(columns[MASK][frame], reading.mask)
    assert columns[TOKENS].dtype == np.int64 and columns[MASK].dtype == np.bool_
    assert info["features"][TOKENS] == {"dtype": "int64", "shape": [40], "names": None}
    assert info["features"][MASK] == {"dtype": "bool", "shape": [40], "names": None}
    statistics = json.loads((tmp_path / "out/meta/episodes_stats.jsonl").read_text())["stats"]
    assert (
        len(statistics[TOKENS]["mean"]) == 40 and TOKENS in (tmp_path / "out/README.md").read_text()
    )
    request = json.loads((tmp_path / "out/meta/export.json").read_text())
    assert memory_from(request["memory"]) == VqMemory() and request["instruction"] == "short"


def test_settings_of_the_memory(demos, tmp_path):
    settings = {"memory_model": "all_rules", "clusters": 32, "length": 1}
    columns, info = exported(demos, tmp_path / "out", **settings)
    memory = RollingMemory(VqMemory("all_rules", 32, 1))
    for joints in columns["observation.state"]:
        memory.push(joints)
    # One value per frame is a column of numbers, as LeRobot expects for the shape (1,).
    assert columns[TOKENS].shape == (100,) and columns[TOKENS][-1] == memory.read().values[0]
    assert columns[MASK].all() and info["features"][TOKENS]["shape"] == [1]
    with pytest.raises(RuleSafeError, match="export of another dataset, format"):
        exported(demos, tmp_path / "out", memory_model="all_rules")
    with pytest.raises(RuleSafeError, match="export of another dataset, format"):
        exported(demos, tmp_path / "out")


def test_invalid_options(demos, tmp_path):
    for settings, message in (
        ({"clusters": 4}, "--clusters and --length require --memory-model"),
        ({"memory_model": "nothing"}, "nothing"),
        ({"memory_model": "all_rules", "clusters": 5}, "5"),
        ({"memory_model": "all_rules", "length": 0}, "length"),
    ):
        with pytest.raises(RuleSafeError, match=message):
            exported(demos, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()
    with pytest.raises(RuleSafeError, match="--memory-model requires --format"):
        export(demos, tmp_path / "out", memory_model="all_rules")
