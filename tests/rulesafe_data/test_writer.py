"""Writing: kills, full disks, several processes at once, and data that does not fit."""

import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data import layout
from rulesafe_data.frame import Frame
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData

HERE = Path(__file__).parent

WRITE = f"""
import os, signal, sys
sys.path.insert(0, {str(HERE)!r})
from conftest import episode
from rulesafe_data.writer import DatasetWriter
writer = DatasetWriter(sys.argv[1])
"""

KILLED_AT_A_RENAME = f"""
{WRITE}
from pathlib import Path
left = int(sys.argv[2])
def killing(rename):
    def once(path, target):
        global left
        if ".writing" in str(target):  # not in its place yet
            return rename(path, target)
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return rename(path, target)
    return once
Path.replace, Path.rename = killing(Path.replace), killing(Path.rename)
writer.write(1, episode(1))
"""

WAITING_IN_THE_MIDDLE = f"""
{WRITE}
import dataclasses, time
whole = episode(1)
def slow():
    for t, frame in enumerate(whole.frames):
        if t == 30:
            print("in the middle", flush=True)
            time.sleep(600)
        yield frame
writer.write(1, dataclasses.replace(whole, frames=slow()))
"""

SEVERAL = f"""
{WRITE}
for index in range(int(sys.argv[2]), 6, 2):
    writer.write(index, episode(index))
"""


def run(code, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def contents(root):
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def assert_goes_on(root, make, expected):
    """After episode 0, and 1 that was killed: 1 is not there, and can be written."""
    writer = DatasetWriter(root)
    assert writer.has(0)
    assert not writer.has(1)
    writer.write(1, make(1))
    writer.finish()
    assert contents(root) == expected


def test_a_kill_in_the_middle_loses_only_the_episode_in_flight(tmp_path, make, expected):
    DatasetWriter(tmp_path).write(0, make(0))
    child = subprocess.Popen(
        [sys.executable, "-c", WAITING_IN_THE_MIDDLE, str(tmp_path)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"in the middle\n"
    child.kill()
    assert child.wait() == -signal.SIGKILL
    assert list((tmp_path / ".writing").iterdir())  # it was writing, indeed
    assert_goes_on(tmp_path, make, expected)


def test_a_kill_at_any_file_loses_only_the_episode_in_flight(tmp_path, make, expected):
    """Killed before the first, the second ... file is put into place, until none is left."""
    for renames in range(10):
        root = tmp_path / str(renames)
        DatasetWriter(root).write(0, make(0))
        done = run(KILLED_AT_A_RENAME, root, renames)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert_goes_on(root, make, expected)
    assert renames == 5  # two videos, clouds, privileged, table
    assert DatasetWriter(root).has(1)


def test_a_kill_while_writing_again_leaves_no_mixture(tmp_path, make, expected):
    writer = DatasetWriter(tmp_path)
    writer.write(0, make(0))
    writer.write(1, make(4))
    assert run(KILLED_AT_A_RENAME, tmp_path, 1).returncode == -signal.SIGKILL
    assert_goes_on(tmp_path, make, expected)


def test_several_processes_write_at_once(tmp_path, make):
    children = [
        subprocess.Popen([sys.executable, "-c", SEVERAL, str(tmp_path / "both"), str(first)])
        for first in range(2)
    ]
    assert [child.wait() for child in children] == [0, 0]
    alone = DatasetWriter(tmp_path / "alone")
    for index in range(6):
        alone.write(index, make(index))
    alone.finish()
    DatasetWriter(tmp_path / "both").finish()
    assert contents(tmp_path / "both") == contents(tmp_path / "alone")


@pytest.mark.parametrize("limit", [300, 3000, 8000])
def test_a_full_disk_is_said_and_harms_nothing(tmp_path, make, limit, expected):
    """A limit on the size of files stands for a full disk: the same failing write."""
    DatasetWriter(tmp_path).write(0, make(0))

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = run(f"{WRITE}\nwriter.write(1, episode(1))", tmp_path, preexec_fn=limited)
    assert done.returncode == 1
    assert "RuleSafeError: cannot write" in done.stderr
    assert "free disk space and repeat the command to resume" in done.stderr
    assert_goes_on(tmp_path, make, expected)


def test_finish_may_be_repeated_and_more_may_follow(tmp_path, make, expected):
    writer = DatasetWriter(tmp_path)
    writer.write(0, make(0))
    writer.finish()
    assert len(EpisodeStore(tmp_path)) == 1
    writer.write(1, make(1))
    assert len(EpisodeStore(tmp_path)) == 1
    writer.finish()
    writer.finish()
    assert contents(tmp_path) == expected


def test_a_gap_is_an_error(tmp_path, make):
    writer = DatasetWriter(tmp_path)
    with pytest.raises(RuleSafeError, match="no episode"):
        writer.finish()
    for index in (0, 2, 5):
        writer.write(index, make(index, pictures=False))
    with pytest.raises(RuleSafeError, match=r"missing in .*: 1, 3, 4 \(3 of 6\)"):
        writer.finish()


def test_episodes_must_agree_on_pictures(tmp_path, make):
    writer = DatasetWriter(tmp_path)
    writer.write(0, make(0))
    writer.write(1, make(1, pictures=False))
    with pytest.raises(RuleSafeError, match="the same image_shape"):
        writer.finish()


def test_subtasks_are_stored_as_in_lerobot(tmp_path, make):
    labels = np.arange(len(make(0))) % 6
    writer = DatasetWriter(tmp_path)
    writer.write(0, replace(make(0), subtasks=labels))
    writer.finish()
    store = EpisodeStore(tmp_path)
    np.testing.assert_array_equal(store.episode(0)["subtask_index"], labels)
    assert store[0, 4]["subtask_index"] == 4
    texts = pq.read_table(tmp_path / "meta/subtasks.parquet").to_pydict()
    assert texts["subtask_index"] == [*range(7)] and texts["subtask"][2] == "turn the handle open"
    assert texts["subtask"][layout.MISS] == "miss the part"
    writer.write(1, make(1))
    with pytest.raises(RuleSafeError, match="must have the same subtasks"):
        writer.finish()
    with pytest.raises(RuleSafeError, match=r"subtasks must have shape \(\d+,\)"):
        replace(make(0), subtasks=labels[1:])


def test_files_are_numbered_in_chunks(tmp_path, make, monkeypatch):
    monkeypatch.setattr(layout, "CHUNK_SIZE", 4)  # 1000 take long to write
    writer = DatasetWriter(tmp_path)
    for index in range(6):
        writer.write(index, make(index % 3, length=5))
    writer.finish()
    for folder in ("data", "privileged", "videos/observation.images.front"):
        names = sorted(path.stem for path in (tmp_path / folder / "chunk-001").iterdir())
        assert names == ["file-000", "file-001"]
    store = EpisodeStore(tmp_path)
    assert len(store) == 6
    assert store[5, 1]["index"] == 26
    rows = pq.read_table(tmp_path / "meta/episodes", partitioning=None).to_pylist()
    assert [(r["data/chunk_index"], r["data/file_index"]) for r in rows[3:]] == [
        (0, 3),
        (1, 0),
        (1, 1),
    ]
    for name in ("file-000", "file-001"):  # fewer now: what was of the others goes
        (tmp_path / f"data/chunk-001/{name}.parquet").unlink()
    writer.finish()
    assert len(EpisodeStore(tmp_path)) == 4


def test_frames_must_be_as_many_as_actions(tmp_path, make_frames):
    vectors = np.zeros((5, 39)), np.zeros((5, 39)), np.zeros((5, 13))
    writer = DatasetWriter(tmp_path)
    with pytest.raises(RuleSafeError, match="4 frames but 5 actions"):
        writer.write(0, EpisodeData("open", *vectors, frames=make_frames(4, 0)))
    with pytest.raises(RuleSafeError, match="more frames than the 5 actions"):
        writer.write(0, EpisodeData("open", *vectors, frames=make_frames(6, 0)))
    odd = make_frames(5, 0)
    odd[3] = Frame(odd[2].images | {"head": odd[2].images["head"][:40]}, odd[3].points)
    with pytest.raises(RuleSafeError, match="head of frame 3 must be"):
        writer.write(0, EpisodeData("open", *vectors, frames=odd))
    odd[3] = Frame(odd[2].images, None)
    with pytest.raises(RuleSafeError, match=r"points of frame 3 must be \(50, 6\), got None"):
        writer.write(0, EpisodeData("open", *vectors, frames=odd))
    odd[3] = Frame({"head": odd[2].images["head"]}, odd[2].points)
    with pytest.raises(RuleSafeError, match=r"front of frame 3 must be .*, got None"):
        writer.write(0, EpisodeData("open", *vectors, frames=odd))
    odd[3] = Frame(odd[2].images | {"wrist": odd[2].images["head"]}, odd[2].points)
    with pytest.raises(RuleSafeError, match=r"wrist of frame 3 must be None, got"):
        writer.write(0, EpisodeData("open", *vectors, frames=odd))
    with pytest.raises(RuleSafeError, match="this one has neither"):
        writer.write(0, EpisodeData("open", *vectors, frames=[Frame()] * 5))
    assert not writer.has(0)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_clouds_may_be_without_pictures(tmp_path, make_frames):
    shown = make_frames(5, 0)
    vectors = np.zeros((5, 39)), np.zeros((5, 39)), np.zeros((5, 13))
    writer = DatasetWriter(tmp_path)
    clouds = [Frame(points=frame.points) for frame in shown]
    writer.write(0, EpisodeData("open", *vectors, frames=clouds))
    writer.finish()
    store = EpisodeStore(tmp_path)
    found = store.episode(0)
    assert not any("image" in key for key in found)
    wanted = np.stack([frame.points for frame in shown])
    np.testing.assert_allclose(found["observation.points"], wanted, atol=0.01)
    assert not (tmp_path / "videos").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            (np.zeros((5, 38)), np.zeros((5, 39)), np.zeros((5, 13))),
            "all_joint_positions must have",
        ),
        ((np.zeros((5, 39)), np.zeros((4, 39)), np.zeros((5, 13))), "velocity must have"),
        ((np.zeros((0, 39)), np.zeros((0, 39)), np.zeros((0, 13))), "N > 0"),
        (
            (np.zeros((5, 39)), np.zeros((5, 39)), np.full((5, 13), np.nan)),
            "action contains values that are not finite",
        ),
    ],
)
def test_vectors_must_fit(given, message):
    with pytest.raises(RuleSafeError, match=message):
        EpisodeData("open", *given)


def test_facts_may_be_numpy_but_must_be_json(tmp_path, make):
    vectors = np.zeros((5, 39)), np.zeros((5, 39)), np.zeros((5, 13))
    writer = DatasetWriter(tmp_path)
    facts = {"seed": np.int64(3), "pose": np.arange(3.0)}
    writer.write(0, EpisodeData("open", *vectors, facts=facts))
    writer.finish()
    assert EpisodeStore(tmp_path).privileged.facts(0) == {"seed": 3, "pose": [0.0, 1.0, 2.0]}
    with pytest.raises(RuleSafeError, match="facts must be JSON"):
        writer.write(0, EpisodeData("open", *vectors, facts={"seed": {1, 2}}))
