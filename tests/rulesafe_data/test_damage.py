"""Damaged files of demonstrations and datasets: no other values are read, and they are replaced."""

import json
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data import attempt_recording, layout, tables
from rulesafe_data.clouds import Clouds
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.states import load_states
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData

STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"


def damage(path, position: int, value: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[position] ^= value
    path.write_bytes(raw)


def test_no_damaged_byte_changes_a_value(tmp_path):
    path = tmp_path / "table.parquet"
    columns = {"x": np.arange(500.0).reshape(100, 5), "n": np.arange(100)}
    facts = {"rule": "rule_001", "seed": 12345, "plan": ["knob+"] * 20}
    tables.write_table(path, tables.to_table(columns, facts))
    original, choices, refused = path.read_bytes(), random.Random(1), 0
    for _ in range(200):
        damage(path, choices.randrange(len(original)), choices.randrange(1, 256))
        try:
            found, about = tables.read_columns(path), tables.about(path)
        except RuleSafeError as error:
            assert str(path) in str(error)
            refused += 1
        else:
            assert about == facts
            if found.keys() == columns.keys():  # else its name is missing for the caller
                assert all(np.array_equal(found[name], array) for name, array in columns.items())
        path.write_bytes(original)
    assert refused > 150


def test_no_damaged_byte_changes_the_shipped_states(tmp_path):
    path, choices, refused = tmp_path / "states.parquet", random.Random(1), 0
    shutil.copy(STATES, path)
    expected, size = load_states(path), path.stat().st_size
    for _ in range(40):
        position, value = choices.randrange(size), 1 << choices.randrange(8)
        damage(path, position, value)
        try:
            found = load_states(path)
        except RuleSafeError:
            refused += 1
        else:
            assert found.rules == expected.rules
            np.testing.assert_array_equal(found.positions, expected.positions)
            np.testing.assert_array_equal(found.actions, expected.actions)
        damage(path, position, value)
    assert refused > 30


def test_no_damaged_byte_changes_a_point_cloud(root, tmp_path):
    shutil.copytree(root / "clouds.zarr", tmp_path / "clouds.zarr")
    expected, choices, refused = Clouds(tmp_path, 1).frames(), random.Random(1), 0
    files = sorted((tmp_path / "clouds.zarr/episode_000001").rglob("*.0.0"))
    for _ in range(100):
        path = choices.choice(files)
        content = path.read_bytes()
        position = choices.randrange(len(content))
        if choices.random() < 0.5:
            damage(path, position, 1 << choices.randrange(8))
        else:
            path.write_bytes(content[:position])
        try:
            np.testing.assert_array_equal(Clouds(tmp_path, 1).frames(), expected)
        except RuleSafeError as error:
            assert str(path) in str(error)
            refused += 1
        path.write_bytes(content)
    assert refused == 100
    path.unlink()
    with pytest.raises(RuleSafeError, match=f"{path} is missing"):
        Clouds(tmp_path, 1).frames()


def test_point_clouds_without_checksums_are_damaged(root, tmp_path):
    shutil.copytree(root / "clouds.zarr", tmp_path / "clouds.zarr")
    group = tmp_path / "clouds.zarr/episode_000001"
    (group / ".zattrs").unlink()
    with pytest.raises(RuleSafeError, match="is damaged: crc32 is no list of files"):
        Clouds(tmp_path, 1)


@pytest.mark.parametrize("read", [tables.about, tables.row_count, tables.read_columns])
def test_a_pipe_in_place_of_a_table_is_refused(tmp_path, read):
    os.mkfifo(tmp_path / "table.parquet")
    with pytest.raises(RuleSafeError, match="is a named pipe; valid: a regular file"):
        read(tmp_path / "table.parquet")


@pytest.mark.parametrize("content", [b"", b"text", bytes(1000)])
def test_recordings_that_cannot_be_read_are_removed(tmp_path, content):
    folder = DemoFolder(tmp_path)
    for number, success in enumerate((True, False, True)):
        facts = {"rule": "rule_001", "attempt": number, "success": success}
        attempt_recording.save(folder.file("rule_001", number, success), [], facts)
    assert folder.remove_damaged(["rule_001", "rule_002"]) == []
    folder.file("rule_001", 2, True).write_bytes(content)
    folder.file("rule_001", 1, False).write_bytes(folder.file("rule_001", 0, True).read_bytes())
    first, second = folder.remove_damaged(["rule_001"])
    assert "000001.parquet has another attempt" in first
    assert "000002.parquet is damaged" in second
    assert folder.decided("rule_001") == {0: True}


def test_a_damaged_episode_is_not_intact(tmp_path, make):
    writer = DatasetWriter(tmp_path)
    for index in range(2):
        writer.write(index, make(index))
    assert writer.is_intact(0) and writer.is_intact(1) and not writer.is_intact(2)
    layout.privileged_file(tmp_path, 0).write_bytes(b"")
    layout.video_file(tmp_path, layout.image_key("head"), 1).unlink()
    assert not writer.is_intact(0) and not writer.is_intact(1)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (layout.INFO, {"total_episodes": None}, "damaged: total_episodes is None"),
        (layout.INFO, {"total_episodes": 10**12}, "damaged: total_episodes is 1000000000000"),
        (layout.INFO, {"total_episodes": True}, "damaged: total_episodes is True"),
        (layout.INFO, {"total_episodes": 9}, "does not list 0 to 8"),
        (layout.INFO, {"features": []}, "unsupported dtype or shape of the feature ''"),
        (
            layout.INFO,
            {"features": {"action": {"dtype": "int"}}},
            "of the feature 'action'; valid dtypes: float32",
        ),
        (
            layout.INFO,
            {"features": {"action": {"dtype": "int64", "shape": [-1]}}},
            "dtype or shape",
        ),
        (layout.INFO, {"features": {"x": {"dtype": "int64", "shape": [1]}}}, "has no column 'x'"),
        (layout.EXTENSION, {"digest": None}, "damaged: it requires a digest and the number of"),
        (layout.EXTENSION, {"points": "many"}, "damaged: it requires a digest and the number of"),
    ],
)
def test_metadata_of_the_wrong_type_are_refused(file, change, message, tmp_path):
    writer, zeros = DatasetWriter(tmp_path), np.zeros((3, 39))
    writer.write(0, EpisodeData("open", zeros, zeros, zeros[:, :13]))
    writer.finish()
    path = tmp_path / file
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RuleSafeError, match=message):
        EpisodeStore(tmp_path).episode(0)
