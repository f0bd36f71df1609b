"""A dataset as others read it: with pyarrow and PyAV alone, by the rules of LeRobot's format."""

import json
import shutil

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
import zarr

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.clouds import Clouds
from rulesafe_data.store import EpisodeStore

LENGTHS = (23, 40, 9)
CAMERAS = ("observation.images.head", "observation.images.front")
PRIVILEGED = {"step", "part_open", "rule", "seed", "success", "facts"}


def load(path):
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def info(root):
    return load(root / "meta/info.json")


@pytest.fixture(scope="module")
def rows(root):
    return pq.read_table(root / "meta/episodes", partitioning=None).to_pylist()


def test_info(info):
    assert info["codebase_version"] == "v3.0"
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (3, 72, 2)
    assert info["fps"] == 10
    assert info["splits"] == {"train": "0:3"}
    assert info["features"]["observation.state"]["names"] == list(ACTION_JOINTS)
    assert info["features"]["observation.all_joint_positions"]["names"] == list(ALL_JOINTS)
    assert info["features"]["action"]["names"] == list(ACTION_JOINTS)
    assert info["features"]["observation.images.head"]["shape"] == [48, 64, 3]


def test_tables_hold_the_features_of_info_and_nothing_else(root, info, rows):
    start = 0
    for row, length in zip(rows, LENGTHS, strict=True):
        path = info["data_path"].format(
            chunk_index=row["data/chunk_index"], file_index=row["data/file_index"]
        )
        table = pq.read_table(root / path)
        features = {k: f for k, f in info["features"].items() if f["dtype"] != "video"}
        assert table.column_names == list(features)
        for key, feature in features.items():
            kind = table.schema.field(key).type
            if feature["shape"] == [1]:
                assert str(kind).replace("float", "float32") == feature["dtype"]
            else:
                assert kind.list_size == feature["shape"][0]
        assert table.num_rows == row["length"] == length
        assert (row["dataset_from_index"], row["dataset_to_index"]) == (start, start + length)
        assert table["index"].to_pylist() == list(range(start, start + length))
        assert table["frame_index"].to_pylist() == list(range(length))
        assert np.allclose(table["timestamp"], np.arange(length) / 10)
        assert set(table["episode_index"].to_pylist()) == {row["episode_index"]}
        start += length


def test_tasks(root, rows):
    tasks = pq.read_table(root / "meta/tasks.parquet")
    assert tasks.column("task").to_pylist() == ["open the safe", "turn the knob"]
    assert tasks.column("task_index").to_pylist() == [0, 1]
    assert json.loads(tasks.schema.metadata[b"pandas"])["index_columns"] == ["task"]
    assert [row["tasks"] for row in rows] == [
        ["open the safe"],
        ["turn the knob"],
        ["open the safe"],
    ]
    for row, task in zip(rows, (0, 1, 0), strict=True):
        table = pq.read_table(root / f"data/chunk-000/file-{row['episode_index']:03d}.parquet")
        assert set(table["task_index"].to_pylist()) == {task}


@pytest.mark.parametrize("key", CAMERAS)
def test_videos_are_h264_made_for_random_access(root, info, rows, make_frames, key):
    for row, length in zip(rows, LENGTHS, strict=True):
        place = {name: row[f"videos/{key}/{name}"] for name in ("chunk_index", "file_index")}
        assert row[f"videos/{key}/from_timestamp"] == 0
        assert row[f"videos/{key}/to_timestamp"] == pytest.approx(length / 10)
        with av.open(str(root / info["video_path"].format(video_key=key, **place))) as container:
            stream = container.streams.video[0]
            described = info["features"][key]["info"]
            assert stream.codec_context.codec.canonical_name == described["video.codec"]
            assert stream.pix_fmt == described["video.pix_fmt"]
            assert (stream.height, stream.width) == (48, 64)
            assert stream.average_rate == described["video.fps"] == 10
            decoded = list(container.decode(stream))
        assert [frame.time for frame in decoded] == pytest.approx(np.arange(length) / 10)
        assert all(frame.key_frame for frame in decoded[::2])
        name = key.rsplit(".", 1)[1]
        given = [frame.images[name] for frame in make_frames(length, row["episode_index"])]
        pictures = np.stack([frame.to_ndarray(format="rgb24") for frame in decoded])
        assert np.abs(pictures.astype(int) - np.stack(given)).mean() < 6


def test_statistics(root, info, rows):
    store = EpisodeStore(root)
    whole = [store.episode(index) for index in range(3)]
    joined = load(root / "meta/stats.json")
    assert set(joined) == set(info["features"])
    for key, feature in info["features"].items():
        one = {name: rows[1][f"stats/{key}/{name}"] for name in joined[key]}
        expected = (3, 1, 1) if feature["dtype"] == "video" else tuple(feature["shape"])
        for name, value in joined[key].items():
            assert np.shape(value) == np.shape(one[name]) == ((1,) if name == "count" else expected)
        if feature["dtype"] == "video":
            # Some of the pictures, before they were encoded.
            mean = np.concatenate([part[key] for part in whole]).mean(axis=(0, 1, 2)) / 255
            assert np.allclose(np.reshape(joined[key]["mean"], 3), mean, atol=0.03)
            assert 0 <= np.min(joined[key]["min"]) <= np.max(joined[key]["max"]) <= 1
            continue
        values = np.concatenate([part[key] for part in whole]).astype(np.float64)
        for name in ("min", "max", "mean", "std"):
            expected_value = getattr(np, name)(values, axis=0)
            assert np.allclose(joined[key][name], expected_value, atol=1e-6), (key, name)
        assert joined[key]["count"] == [72]
        assert np.allclose(one["q10"], np.quantile(whole[1][key], 0.1, axis=0), atol=1e-6)


def test_what_the_lock_knows_is_apart(root):
    for path in [*(root / "data").rglob("*"), *(root / "meta").rglob("*.parquet")]:
        if path.is_file():
            schema = pq.read_schema(path)
            assert not PRIVILEGED & set(schema.names)
            assert b"rule_00" not in b"".join((schema.metadata or {}).values())
    for path in (root / "meta").glob("*.json"):
        assert "rule_00" not in path.read_text()
    table = pq.read_table(root / "privileged/episodes.parquet")
    assert table["rule"].to_pylist() == ["rule_001", "rule_002", "rule_003"]
    assert table["seed"].to_pylist() == [0, 1, 2]
    frames = pq.read_table(root / "privileged/chunk-000/file-001.parquet")
    assert frames["step"].to_pylist() == [t // 10 for t in range(40)]


def test_clouds_are_zarr_of_version_2(root):
    for name, dtype in (("xyz", "<f4"), ("rgb", "|u1")):
        about = load(root / "clouds.zarr/episode_000001" / name / ".zarray")
        assert (about["zarr_format"], about["dtype"]) == (2, dtype)
        assert about["shape"] == [40, 50, 3]
    assert load(root / "clouds.zarr/.zgroup") == {"zarr_format": 2}
    episode = zarr.open(str(root / "clouds.zarr"), mode="r")["episode_000001"]
    expected = Clouds(root, 1).frames()
    np.testing.assert_array_equal(episode["xyz"][:], expected[..., :3])
    np.testing.assert_array_equal(episode["rgb"][:], np.rint(expected[..., 3:] * 255))


@pytest.mark.parametrize(
    "change",
    [
        {"compressor": {"id": "pickle"}},
        {"filters": [{"id": "pickle"}]},
        {"shape": [2_000_000_000, 1, 3]},
        {"chunks": [10**400, 1, 3]},
        {"shape": "many"},
    ],
    ids=str,
)
def test_descriptions_of_clouds_that_could_run_code_or_claim_memory_are_refused(
    root, change, tmp_path
):
    shutil.copytree(root, tmp_path / "copy")
    path = tmp_path / "copy/clouds.zarr/episode_000001/xyz/.zarray"
    path.write_text(json.dumps(load(path) | change))
    with pytest.raises(RuleSafeError, match="does not describe point clouds of a dataset"):
        Clouds(tmp_path / "copy", 1)
