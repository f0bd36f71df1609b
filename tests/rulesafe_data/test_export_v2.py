"""Export to LeRobot's format v2.1: the same content in the files that its readers expect."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data import export_v2, layout, tables
from rulesafe_data.export_v2 import export
from rulesafe_data.store import EpisodeStore
from rulesafe_data.video import Video
from rulesafe_data.writer import DatasetWriter


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def exported(root, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported") / "v2"
    export(root, out, groot=True)
    return out


def test_metadata(exported, root):
    store, info = EpisodeStore(root), json.loads((exported / "meta/info.json").read_text())
    assert info["codebase_version"] == "v2.1" and info["fps"] == 10
    counts = [info[f"total_{name}"] for name in ("episodes", "frames", "tasks", "videos", "chunks")]
    assert counts == [3, 72, 2, 6, 1]
    assert info["features"]["observation.state"]["names"] == list(ACTION_JOINTS)
    assert "observation.points" not in info["features"]
    assert lines(exported / "meta/tasks.jsonl") == [
        {"task_index": 0, "task": "open the safe"},
        {"task_index": 1, "task": "turn the knob"},
    ]
    episodes = lines(exported / "meta/episodes.jsonl")
    assert [each["length"] for each in episodes] == [23, 40, 9]
    assert [each["tasks"] for each in episodes] == [[each.task] for each in store.episodes]
    statistics = lines(exported / "meta/episodes_stats.jsonl")
    assert [each["episode_index"] for each in statistics] == [0, 1, 2]
    assert set(statistics[0]["stats"]) == set(info["features"])
    action = store.episode(1)["action"]
    found = statistics[1]["stats"]["action"]
    np.testing.assert_allclose(found["mean"], action.mean(0), atol=1e-6)
    np.testing.assert_allclose(found["q99"], np.quantile(action, 0.99, axis=0), atol=1e-6)
    assert found["count"] == [40]
    assert np.shape(statistics[1]["stats"]["observation.images.head"]["mean"]) == (3, 1, 1)
    assert (exported / "README.md").read_text().startswith("---\nlicense: apache-2.0\n")


def test_the_content_is_that_of_the_dataset(exported, root):
    store, info = EpisodeStore(root), json.loads((exported / "meta/info.json").read_text())
    for episode in store.episodes:
        place = {"episode_chunk": 0, "episode_index": episode.index}
        path = exported / info["data_path"].format(**place)
        columns, expected = tables.read_columns(path), store.episode(episode.index)
        videos = {key for key, feature in info["features"].items() if feature["dtype"] == "video"}
        assert set(pq.read_schema(path).names) == set(info["features"]) - videos
        assert all(np.array_equal(columns[key], expected[key]) for key in columns)
        for key in videos:
            video = Video(exported / info["video_path"].format(video_key=key, **place))
            assert np.array_equal(video.frame(5), expected[key][5])
            video.close()


def test_groot_splits_state_and_action(exported):
    modality = json.loads((exported / "meta/modality.json").read_text())
    arm, hand = {"start": 0, "end": 7}, {"start": 7, "end": 13}
    assert modality["state"] == modality["action"] == {"right_arm": arm, "right_hand": hand}
    assert all(name.startswith("R_") == (place >= 7) for place, name in enumerate(ACTION_JOINTS))
    assert modality["video"]["head"] == {"original_key": "observation.images.head"}
    assert modality["annotation"] == {"human.task_description": {"original_key": "task_index"}}


def test_a_dataset_without_images_is_exported(states_only, tmp_path):
    export(states_only, tmp_path / "out")
    info = json.loads((tmp_path / "out/meta/info.json").read_text())
    assert (info["total_videos"], info["video_path"]) == (0, None)
    assert not (tmp_path / "out/meta/modality.json").exists()


def test_episodes_of_a_large_dataset_are_in_several_chunks(make, tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "CHUNK_SIZE", 2)
    writer = DatasetWriter(tmp_path / "states")
    for index in range(3):
        writer.write(index, make(index, pictures=False))
    writer.finish()
    export(writer.root, tmp_path / "out")
    info = json.loads((tmp_path / "out/meta/info.json").read_text())
    assert (info["chunks_size"], info["total_chunks"]) == (2, 2)
    files = sorted((tmp_path / "out/data").glob("*/*"))
    assert [f"{path.parent.name}/{path.name}" for path in files] == [
        "chunk-000/episode_000000.parquet",
        "chunk-000/episode_000001.parquet",
        "chunk-001/episode_000002.parquet",
    ]


def test_an_interrupted_export_is_resumed(root, exported, tmp_path, monkeypatch):
    out, copied = tmp_path / "out", []

    def stop():
        copied.append(0)
        if len(copied) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(root, out, groot=True, on_episode=stop)
    assert not (out / "meta/info.json").exists()
    written, write = [], tables.write_table
    monkeypatch.setattr(
        export_v2.tables,
        "write_table",
        lambda path, table: written.append(path) or write(path, table),
    )
    export(root, out, groot=True)
    assert [path.name for path in written] == ["episode_000002.parquet"]
    names = [p.relative_to(exported) for p in sorted(exported.rglob("*")) if p.is_file()]
    assert names == [p.relative_to(out) for p in sorted(out.rglob("*")) if p.is_file()]
    assert all((out / name).read_bytes() == (exported / name).read_bytes() for name in names)


def test_other_files_are_not_overwritten(root, states_only, exported, tmp_path):
    (tmp_path / "mine").write_text("text")
    with pytest.raises(RuleSafeError, match="has other files: give a new directory"):
        export(root, tmp_path)
    with pytest.raises(RuleSafeError, match="export of another dataset"):
        export(states_only, exported)
    for other in ({"groot": False}, {"groot": True, "instruction": "short"}):
        with pytest.raises(RuleSafeError, match="export of another dataset, format"):
            export(root, exported, **other)
    with pytest.raises(RuleSafeError, match="is not a dataset"):
        export(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
