"""Reading: random access, whole episodes; and what is said when something is wrong."""

import json
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.versions import PHYSICS, RENDERER
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter

WITHOUT_PICTURES = """
import sys
sys.modules.update(dict.fromkeys(("av", "zarr", "numcodecs", "sapien", "torch"), None))
from rulesafe_data.states import export_states
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter
store = EpisodeStore(sys.argv[1])
store.batch([(0, 1), (4, 2)])
export_states(sys.argv[1], sys.argv[2] + "/states.parquet")
print(store.frames)
"""


def random_pairs(store, count, seed=0):
    rng = np.random.default_rng(seed)
    episodes = rng.integers(0, len(store), count)
    return [(e, rng.integers(store.episodes[e].length)) for e in episodes.tolist()]


def test_counts(root):
    store = EpisodeStore(root)
    assert len(store) == 3
    assert store.frames == 72
    assert [episode.length for episode in store.episodes] == [23, 40, 9]
    assert store.episodes[1].task == "turn the knob"


def test_what_was_written_comes_back(root, make, make_frames):
    store = EpisodeStore(root)
    for index in range(3):
        written, read = make(index), store.episode(index)
        for key, array in written.vectors().items():
            assert np.array_equal(read[key], array)
        clouds = np.stack([frame.points for frame in make_frames(len(written), index)])
        assert np.array_equal(read["observation.points"], clouds)


def test_a_dataset_has_one_version_of_physics_and_renderer(tmp_path, make):
    here = {"physics": PHYSICS, "renderer": RENDERER}
    writer = DatasetWriter(tmp_path, versions=here)
    writer.write(0, make(0))
    writer.finish()
    assert EpisodeStore(tmp_path).versions == here
    text = f"of physics {PHYSICS}, renderer {RENDERER}, and the new episodes are of "
    with pytest.raises(RuleSafeError, match=f"{text}unknown versions; use another directory"):
        DatasetWriter(tmp_path)
    path = tmp_path / "meta/rulesafe.json"
    path.unlink()
    (tmp_path / "meta/info.json").unlink()
    writer = DatasetWriter(tmp_path)  # continues an interrupted one
    writer.write(1, make(1))
    with pytest.raises(RuleSafeError, match="must have the same versions"):
        writer.finish()


def test_random_access_equals_sequential(root):
    store = EpisodeStore(root)
    whole = [store.episode(index) for index in range(3)]
    pairs = random_pairs(store, 60)
    batch = store.batch(pairs)
    assert batch.keys() == set(store.keys)
    for row, (episode, frame) in enumerate(pairs):
        for key in store.keys:
            assert np.array_equal(batch[key][row], whole[episode][key][frame]), key
    for key, value in store[2, 8].items():
        assert np.array_equal(value, whole[2][key][8])


def test_facts_are_privileged(root):
    store = EpisodeStore(root)
    assert not {"step", "part_open", "facts", "rule"} & set(store.keys)
    assert store.privileged.facts(1) == {
        "rule": "rule_002",
        "seed": 1,
        "success": True,
        "names": ["a"],
    }
    assert store.privileged.frames(0)["part_open"].shape == (23, 3)
    with pytest.raises(RuleSafeError, match="episodes 0 to 2, not 3"):
        store.privileged.facts(3)


def test_a_dataset_without_pictures_needs_no_decoder(states_only, tmp_path):
    """Neither PyAV nor numcodecs is imported for joint states alone."""
    store = EpisodeStore(states_only)
    assert "observation.images.head" not in store.keys
    assert json.loads((states_only / "meta/info.json").read_text())["video_path"] is None
    (tmp_path / "cache").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PICTURES, str(states_only), str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "135\n"


def _read(store, pairs, out):
    out.put(store.batch(pairs))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_read_too(root, method):
    store = EpisodeStore(root)
    pairs = random_pairs(store, 8)
    expected = store.batch(pairs)  # opens files before the fork
    context = multiprocessing.get_context(method)
    out = context.Queue()
    if method == "spawn":  # what a worker that is not forked is sent
        store = pickle.loads(pickle.dumps(store))
        found = store.batch(pairs)
    else:
        child = context.Process(target=_read, args=(store, pairs, out))
        child.start()
        found = out.get(timeout=60)
        child.join()
    for key, array in expected.items():
        assert np.array_equal(found[key], array)
    assert np.array_equal(
        store.batch(pairs)["observation.images.head"], expected["observation.images.head"]
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda store: store[3, 0], "episodes 0 to 2, not 3"),
        (lambda store: store[-1, 0], "episodes 0 to 2, not -1"),
        (lambda store: store[0, 23], "frames 0 to 22, not 23"),
        (lambda store: store.batch([(0, 0)], ["actions"]), "unknown key 'actions'; valid: obs"),
        (lambda store: store.episode(7), "episodes 0 to 2, not 7"),
    ],
)
def test_questions_out_of_range(root, ask, message):
    with pytest.raises(RuleSafeError, match=message):
        ask(EpisodeStore(root))


def test_what_is_no_dataset_is_said(tmp_path, states_only):
    with pytest.raises(RuleSafeError, match="not a dataset"):
        EpisodeStore(tmp_path)
    info = states_only / "meta/info.json"
    text = info.read_text()
    info.write_text(text.replace("v3.0", "v2.1"))
    for opened in (EpisodeStore, DatasetWriter):
        with pytest.raises(RuleSafeError, match=r"version 'v2.1'; supported: 'v3.0'"):
            opened(states_only)
    info.write_text(text[:50])
    with pytest.raises(RuleSafeError, match=r"not a dataset's meta/info.json"):
        EpisodeStore(states_only)
    info.write_text(text)
    (states_only / "meta/rulesafe.json").unlink()
    with pytest.raises(RuleSafeError, match="not of RuleSafe"):
        EpisodeStore(states_only)


def test_damaged_files_are_named(tmp_path, make):
    writer = DatasetWriter(tmp_path)
    writer.write(0, make(0))
    writer.finish()
    for name in (
        "data/chunk-000/file-000.parquet",
        "videos/observation.images.head/chunk-000/file-000.mp4",
    ):
        path = Path(tmp_path, name)
        content = path.read_bytes()
        path.write_bytes(b"no such thing")
        with pytest.raises(RuleSafeError, match=path.name):
            EpisodeStore(tmp_path)[0, 1]
        path.write_bytes(content)
    assert EpisodeStore(tmp_path)[0, 1]["frame_index"] == 1
