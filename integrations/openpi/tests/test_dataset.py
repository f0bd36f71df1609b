"""Export to LeRobot's format v2.1: the same content in the files that its readers expect."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data import layout, tables
from rulesafe_data.store import EpisodeStore
from rulesafe_data.video import Video
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_locks.rules import load_rule
from rulesafe_openpi import dataset
from rulesafe_openpi.dataset import export
from vq_memory_node.memory import VqMemory, memory_from
from vq_memory_node.rolling import RollingMemory

RULE, WITHOUT = load_rule("rule_020"), load_rule("sampled_143")
TASKS = (RULE.description, WITHOUT.description, "Open the safe, please.")
"""Of a rule, of a lock without a short instruction, and a custom instruction."""

FILES = {"meta/more.json": {"a": 1}}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def table(out, index=0):
    return tables.read_columns(out / f"data/chunk-000/episode_{index:06d}.parquet")


def write(root, length):
    writer = DatasetWriter(root)
    for index, task in enumerate(TASKS):
        joints = np.cumsum(np.random.default_rng(index).normal(0, 0.05, (length, 39)), axis=0)
        actions = joints[:, 20:33]
        writer.write(index, EpisodeData(task, joints, np.zeros_like(joints), actions))
    writer.finish()
    return root


@pytest.fixture(scope="module")
def states_only(tmp_path_factory):
    """A dataset of three episodes without images."""
    return write(tmp_path_factory.mktemp("states") / "demos", 5)


@pytest.fixture(scope="module")
def exported(small_demos, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported") / "v2"
    export(small_demos, out, "long", files=FILES)
    return out


def test_metadata(exported, small_demos):
    store, info = EpisodeStore(small_demos), json.loads((exported / "meta/info.json").read_text())
    assert info["codebase_version"] == "v2.1" and info["fps"] == 10
    counts = [info[f"total_{name}"] for name in ("episodes", "frames", "tasks", "videos", "chunks")]
    assert counts == [2, 120, 2, 4, 1]
    assert info["features"]["observation.state"]["names"] == list(ACTION_JOINTS)
    assert "observation.points" not in info["features"]
    tasks = [load_rule(rule).description for rule in ("rule_001", "rule_020")]
    assert [line["task"] for line in lines(exported / "meta/tasks.jsonl")] == tasks
    episodes = lines(exported / "meta/episodes.jsonl")
    assert [each["length"] for each in episodes] == [60, 60]
    assert [each["tasks"] for each in episodes] == [[task] for task in tasks]
    statistics = lines(exported / "meta/episodes_stats.jsonl")
    assert [each["episode_index"] for each in statistics] == [0, 1]
    assert set(statistics[0]["stats"]) == set(info["features"])
    action = store.episode(1)["action"]
    found = statistics[1]["stats"]["action"]
    np.testing.assert_allclose(found["mean"], action.mean(0), atol=1e-6)
    np.testing.assert_allclose(found["q99"], np.quantile(action, 0.99, axis=0), atol=1e-6)
    assert found["count"] == [60]
    assert np.shape(statistics[1]["stats"]["observation.images.head"]["mean"]) == (3, 1, 1)
    assert (exported / "README.md").read_text().startswith("---\nlicense: apache-2.0\n")
    assert json.loads((exported / "meta/more.json").read_text()) == {"a": 1}


def test_the_content_is_that_of_the_dataset(exported, small_demos):
    store, info = EpisodeStore(small_demos), json.loads((exported / "meta/info.json").read_text())
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


def test_episodes_without_images_are_in_chunks(states_only, tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "CHUNK_SIZE", 2)
    export(write(tmp_path / "states", 5), tmp_path / "out")
    info = json.loads((tmp_path / "out/meta/info.json").read_text())
    assert (info["total_videos"], info["video_path"]) == (0, None)
    assert (info["chunks_size"], info["total_chunks"]) == (2, 2)
    files = sorted((tmp_path / "out/data").glob("*/*"))
    assert [f"{path.parent.name}/{path.name}" for path in files] == [
        "chunk-000/episode_000000.parquet",
        "chunk-000/episode_000001.parquet",
        "chunk-001/episode_000002.parquet",
    ]


def test_an_interrupted_export_is_resumed(small_demos, exported, tmp_path, monkeypatch):
    out = tmp_path / "out"

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(small_demos, out, "long", files=FILES, on_episode=stop)
    assert not (out / "meta/info.json").exists()
    written, write_table = [], tables.write_table
    monkeypatch.setattr(
        dataset.tables,
        "write_table",
        lambda path, content: written.append(path) or write_table(path, content),
    )
    export(small_demos, out, "long", files=FILES)
    assert [path.name for path in written] == ["episode_000001.parquet"]
    names = [p.relative_to(exported) for p in sorted(exported.rglob("*")) if p.is_file()]
    assert names == [p.relative_to(out) for p in sorted(out.rglob("*")) if p.is_file()]
    assert all((out / name).read_bytes() == (exported / name).read_bytes() for name in names)


def test_other_files_are_not_overwritten(small_demos, states_only, exported, tmp_path):
    (tmp_path / "mine").write_text("text")
    with pytest.raises(RuleSafeError, match="has other files: give a new directory"):
        export(small_demos, tmp_path)
    with pytest.raises(RuleSafeError, match="export of another dataset"):
        export(states_only, exported)
    for other in ({}, {"files": FILES}, {"files": FILES, "memory": VqMemory()}):
        with pytest.raises(RuleSafeError, match="export of another dataset, format"):
            export(small_demos, exported, **other)
    with pytest.raises(RuleSafeError, match="is not a dataset"):
        export(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("length", [None, "short", "long"])
def test_the_command_writes_the_instructions(states_only, tmp_path, capsys, length):
    out = tmp_path / "out"
    command = ["demos", "export", str(states_only), "--format", "lerobot-v2.1", "--out", str(out)]
    assert main(command + (["--instruction", length] if length else [])) == 0
    tasks = list(TASKS) if length == "long" else [RULE.short_instruction, *TASKS[1:]]
    assert [line["task"] for line in lines(out / "meta/tasks.jsonl")] == tasks
    assert [line["tasks"] for line in lines(out / "meta/episodes.jsonl")] == [[t] for t in tasks]
    assert all(f"- {task}\n" in (out / "README.md").read_text() for task in tasks)
    text = capsys.readouterr().out
    over = 2 if length == "long" else 1  # a lock without a short instruction has the long one
    assert f"warning: {over} of 3 instructions have more than an estimated 40 tokens" in text


def test_joints_that_never_move_are_named(tmp_path, capsys):
    joints = np.random.default_rng(0).normal(0, 0.05, (5, 39))
    actions = joints[:, 20:33].copy()
    actions[:, 12] = 0.5
    writer = DatasetWriter(tmp_path / "demos")
    writer.write(0, EpisodeData(TASKS[0], joints, np.zeros_like(joints), actions))
    writer.finish()
    command = ["demos", "export", str(tmp_path / "demos"), "--format", "lerobot-v2.1"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    warning = f"warning: constant in all episodes (std 0): action {ACTION_JOINTS[12]}. Models"
    assert warning in capsys.readouterr().out


def test_tokens_are_those_of_a_running_episode(tmp_path):
    demos, out = write(tmp_path / "demos", 100), tmp_path / "out"
    options = ["--memory-model", "all_rules", "--format", "lerobot-v2.1"]
    assert main(["demos", "export", str(demos), "--out", str(out), *options]) == 0
    columns, memory = table(out), RollingMemory(VqMemory())
    for frame, joints in enumerate(columns["observation.state"]):
        memory.push(joints)
        reading = memory.read()
        assert np.array_equal(columns[layout.MEMORY][frame], reading.values)
        assert np.array_equal(columns[layout.MEMORY_MASK][frame], reading.mask)
    assert columns[layout.MEMORY].dtype == np.int64
    assert columns[layout.MEMORY_MASK].dtype == np.bool_
    features = json.loads((out / "meta/info.json").read_text())["features"]
    assert features[layout.MEMORY] == {"dtype": "int64", "shape": [40], "names": None}
    assert features[layout.MEMORY_MASK] == {"dtype": "bool", "shape": [40], "names": None}
    assert len(lines(out / "meta/episodes_stats.jsonl")[0]["stats"][layout.MEMORY]["mean"]) == 40
    assert layout.MEMORY in (out / "README.md").read_text()
    request = json.loads((out / "meta/export.json").read_text())
    assert memory_from(request["memory"]) == VqMemory() and request["instruction"] == "short"
    assert request["versions"] == {}  # of a dataset that is not from the simulation


def test_one_token_per_frame_is_a_column_of_numbers(tmp_path):
    """LeRobot expects this for the shape (1,)."""
    demos, out = write(tmp_path / "demos", 100), tmp_path / "out"
    export(demos, out, memory=dataset.exported_memory("all_rules", 32, 1))
    columns, memory = table(out), RollingMemory(VqMemory("all_rules", 32, 1))
    for joints in columns["observation.state"]:
        memory.push(joints)
    assert columns[layout.MEMORY].shape == (100,)
    assert (
        columns[layout.MEMORY][-1] == memory.read().values[0] and columns[layout.MEMORY_MASK].all()
    )
    info = json.loads((out / "meta/info.json").read_text())
    assert info["features"][layout.MEMORY]["shape"] == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--clusters 4", "--clusters and --length require --memory-model"),
        ("--memory-model nothing", "nothing"),
        ("--memory-model all_rules --clusters 5", "5"),
        ("--memory-model all_rules --length 0", "length"),
        ("--instruction tiny", "tiny"),
    ],
)
def test_invalid_options_are_refused(states_only, tmp_path, capsys, options, message):
    command = ["demos", "export", str(states_only), "--format", "lerobot-v2.1"]
    try:
        assert main([*command, "--out", str(tmp_path / "out"), *options.split()]) == 2
    except SystemExit as stop:
        assert stop.code == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
