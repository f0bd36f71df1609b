"""The second pass renders the same bytes each time, as the cameras would have."""

import json
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from rulesafe_cli.cli import main
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.versions import PHYSICS, RENDERER
from rulesafe_data.attempt_recording import RecordedAttempt, Recorder, read, save
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.layout import MISS, SUBTASKS
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter
from rulesafe_demos import render
from rulesafe_demos.attempts import load_request
from rulesafe_demos.render import (
    PRIVILEGED,
    Place,
    Rendering,
    frames,
    look_of,
    subtasks,
    write_episode,
)
from rulesafe_sim.episode import Activity
from rulesafe_sim.observer import Observer
from rulesafe_sim.randomisation import SPLITS, sample_variation
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER, Simulation

FRAMES = 12


@pytest.fixture
def short(demonstrations, tmp_path):
    """The demonstrations' first frames, in a separate directory."""
    request, folder = load_request(demonstrations), DemoFolder(tmp_path / "demos")
    folder.settle(request)
    for rule, number in DemoFolder(demonstrations).episodes(request.rules, request.episodes):
        recording = read(DemoFolder(demonstrations).file(rule, number, success=True))
        rows = [{k: v[i] for k, v in recording.columns.items()} for i in range(FRAMES + 1)]
        save(folder.file(rule, number, success=True), rows, recording.facts)
    return folder.path


def dataset(directory):
    """The files of a dataset: path -> bytes."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for part in ("meta", "data", "videos", "clouds.zarr", "privileged")
        for path in sorted((directory / part).rglob("*"))
        if path.is_file()
    }


def test_pictures_are_those_of_the_episode():
    """Bit by bit, in a varied scene, with the arm waving so that links and shadows move."""
    variation = sample_variation(SPLITS["varied"].randomisation, "safe_03", 12345)
    simulation = Simulation()
    simulation.reset("rule_001", "safe_03", 12345, variation)
    observer, recorder = Observer(simulation), Recorder()
    runtime = Runtime(simulation, subscribers=[recorder])
    rng = np.random.default_rng(0)
    seen = []
    for _ in range(20):
        seen.append(observer.observe(DEFAULT_CAMERAS.keys))
        action = np.clip(HOME_ACTION + rng.normal(0, 0.3, len(LOWER)), LOWER, UPPER)
        runtime.step(action, Activity())
    columns = {n: np.stack([np.asarray(row[n]) for row in recorder.rows]) for n in recorder.rows[0]}
    facts = {"rule": "rule_001", "safe": "safe_03", "seed": 12345, **recorder.names}
    again = frames(RecordedAttempt(facts, columns), variation)
    for online, frame in zip(seen, again, strict=True):
        offline = (*frame.images.values(), frame.points)
        for one, other in zip(online.values(), offline, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_dataset_goes_on_where_it_stopped_and_is_the_same(short, tmp_path):
    rendering, versions = Rendering(short), {"physics": PHYSICS, "renderer": RENDERER}
    write_episode(
        short, rendering, DatasetWriter(short, versions=versions), Place(0, "rule_002", 0)
    )
    written = (short / "data/chunk-000/file-000.parquet").stat()
    assert main(["demos", "render", str(short)]) == 0
    assert (short / "data/chunk-000/file-000.parquet").stat().st_ino == written.st_ino
    other = tmp_path / "other"
    assert main(["demos", "render", str(short), "--out", str(other), "--workers", "2"]) == 0
    assert dataset(short) == dataset(other)
    table = pq.read_table(other / "data")
    assert len(table) == 3 * FRAMES
    store = EpisodeStore(other)
    for episode in store.episodes:  # the table, both videos and the clouds agree
        whole = store.episode(episode.index)
        assert {len(array) for array in whole.values()} == {FRAMES}


def test_a_lower_camera_rate_repeats_observations_and_subtasks_are_those_of_the_expert(
    short, tmp_path, capsys
):
    full, slow = tmp_path / "full", tmp_path / "slow"
    for out, rate in ((full, "10"), (slow, "5")):
        options = ("--out", str(out), "--observations", "points", "--camera-rate", rate)
        assert main(["demos", "render", str(short), *options]) == 0
    one, other = EpisodeStore(full).episode(1), EpisodeStore(slow).episode(1)
    repeated = one["observation.points"][np.arange(FRAMES) // 2 * 2]
    np.testing.assert_array_equal(other["observation.points"], repeated)
    events = EpisodeStore(full).privileged.frames(1)["event"]
    assert [list(SUBTASKS)[i] for i in one["subtask_index"]] == list(events)
    options = ("--out", str(tmp_path / "third"), "--camera-rate", "3")
    assert main(["demos", "render", str(short), *options]) == 2
    assert "the camera rate is 3 Hz; valid: 1, 2, 5, 10" in capsys.readouterr().err


def test_a_full_disk_harms_no_episode_and_the_same_command_continues(
    short, small_disk, tmp_path, capsys
):
    whole, out = tmp_path / "whole", small_disk.path / "demos"
    assert main(["demos", "render", str(short), "--out", str(whole)]) == 0
    sizes = [len(content) for content in dataset(whole).values()]
    for left in (0, sum(sizes) // 6, sum(sizes) // 2):  # nothing; not one episode; one, not all
        small_disk.fill(left)
        assert main(["demos", "render", str(short), "--out", str(out)]) == 2
        error = capsys.readouterr().err
        assert "cannot write" in error and "No space left on device" in error
        assert "Traceback" not in error
    known = dataset(whole)
    tables = [path for path in dataset(out) if path.startswith("data/")]
    assert tables and all(dataset(out)[path] == known[path] for path in tables)
    small_disk.free()
    assert main(["demos", "render", str(short), "--out", str(out)]) == 0
    assert dataset(out) == known


def test_clouds_alone_are_those_of_the_whole(short, tmp_path):
    whole, clouds = tmp_path / "whole", tmp_path / "clouds"
    assert main(["demos", "render", str(short), "--out", str(whole)]) == 0
    words = ["--observations", "points", "--out", str(clouds)]
    assert main(["demos", "render", str(short), *words]) == 0
    one, other = dataset(whole), dataset(clouds)
    assert not [name for name in other if name.startswith("videos")]
    shared = [name for name in other if name.startswith(("clouds.zarr", "privileged"))]
    assert shared and all(one[name] == other[name] for name in shared)


def test_another_dataset_is_not_mixed_in(short, tmp_path, capsys):
    out = tmp_path / "joints"
    words = ["demos", "render", str(short), "--out", str(out)]
    assert main([*words, "--observations", "joints"]) == 0
    before = dataset(out)
    assert main(words) == 2
    assert "was rendered with different settings (observations)" in capsys.readouterr().err
    assert main([*words, "--observations", "joints", "--look", "varied"]) == 2
    foreign = tmp_path / "project"
    foreign.mkdir()
    (foreign / "notes.txt").write_text("mine")
    assert main(["demos", "render", str(short), "--out", str(foreign)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert dataset(out) == before


def test_a_deliberate_miss_is_a_subtask_of_its_own():
    columns = {"event": ["knob+", "knob+", "door+", ""], "operation": ["miss", "turn", "pull", ""]}
    recording = SimpleNamespace(columns={name: np.array(each) for name, each in columns.items()})
    events = list(SUBTASKS)
    expected = [MISS, events.index("knob+"), events.index("door+")]
    assert subtasks(recording).tolist() == expected


def test_steps_that_a_policy_completed_quickly_are_imitated(monkeypatch):
    """It opens the handle, fails with the knob, and the expert corrects it; then it is too slow."""
    monkeypatch.setattr(render, "QUICK", 2)
    done = np.repeat([0, 1, 2, 3, 4], [2, 3, 2, 3, 1])
    opened = np.zeros((11, 3), bool)
    opened[2:, 1], opened[5:, 0], opened[7:, 0], opened[10:, 2] = True, True, False, True
    columns = {
        "event": np.array(["knob+"] * 4 + ["knob+", "knob-", "knob-", *["door+"] * 3, ""]),
        "operation": np.array([*["policy"] * 4, "turn", *["policy"] * 5, ""]),
        "steps_done": done,
        "part_open": opened,
    }
    found = subtasks(SimpleNamespace(columns=columns))
    names = [*SUBTASKS, "miss"]
    expected = ["handle+"] * 2 + ["miss"] * 2 + ["knob+"] + ["knob-"] * 2 + ["miss"] * 3
    assert [names[index] for index in found] == expected


def test_other_demonstrations_are_not_mixed_in(short, tmp_path, capsys):
    out = tmp_path / "joints"
    words = ["demos", "render", str(short), "--out", str(out), "--observations", "joints"]
    assert main([*words, "--camera-rate", "5"]) == 0
    before = dataset(out)
    assert main(words) == 2
    assert "was rendered with different settings (camera_rate)" in capsys.readouterr().err
    path = short / "generate.json"
    request = json.loads(path.read_text())
    for name, value in {"style": "habitual", "by": "programs", "files": {"mine.yaml": "0"}}.items():
        path.write_text(json.dumps(request | {name: value}))
        assert main([*words, "--camera-rate", "5"]) == 2
        assert "was rendered with different settings (attempts)" in capsys.readouterr().err
    path.write_text(json.dumps(request | {"episodes": 1, "attempts": 50}))
    assert main([*words, "--camera-rate", "5"]) == 0, "the demonstrations may grow"
    assert dataset(out) == before


def test_another_renderer_is_not_mixed_in(short, tmp_path, capsys):
    """Demonstrations of earlier physics can be rendered, since their states are recorded."""
    request = json.loads((short / "generate.json").read_text())
    del request["versions"]["physics"], request["versions"]["renderer"]
    (short / "generate.json").write_text(json.dumps(request))
    out = tmp_path / "points"
    words = ["demos", "render", str(short), "--out", str(out), "--observations", "points"]
    assert main(words) == 0
    assert EpisodeStore(out).versions == {"physics": "1", "renderer": RENDERER}
    about = json.loads((out / "render.json").read_text()) | {"renderer": "sapien"}
    (out / "render.json").write_text(json.dumps(about))
    before = dataset(out)
    assert main(words) == 2
    assert f"(renderer: sapien there, {RENDERER} here)" in capsys.readouterr().err
    assert dataset(out) == before


@pytest.mark.episode
def test_labels_are_those_of_the_same_instants(short, tmp_path):
    out = tmp_path / "joints"
    assert main(["demos", "render", str(short), "--observations", "joints", "--out", str(out)]) == 0
    recording = read(DemoFolder(short).file("rule_002", 0, success=True))
    store = EpisodeStore(out)
    labels = store.privileged.frames(0)
    for name in PRIVILEGED:
        np.testing.assert_array_equal(labels[name], recording.columns[name][:FRAMES])
    assert store.privileged.facts(0)["seed"] == recording.facts["seed"]


def test_another_look_changes_what_is_seen_alone(short, tmp_path):
    plain, relit = tmp_path / "plain", tmp_path / "relit"
    for out, look in ((plain, []), (relit, ["--look", "varied"])):
        assert main(["demos", "render", str(short), "--out", str(out), *look]) == 0
    one, other = dataset(plain), dataset(relit)
    vectors = ["observation.all_joint_positions", "observation.velocity", "action"]
    tables = [pq.read_table(out / "data", columns=vectors) for out in (plain, relit)]
    assert tables[0].equals(tables[1])
    videos = [name for name in one if name.startswith("videos")]
    assert len(videos) == 6
    assert all(one[name] != other[name] for name in videos)
    assert main(["demos", "render", str(short), "--look", "varied"]) == 2


def test_other_cameras_see_the_same_episode(short, tmp_path, capsys):
    file, out = tmp_path / "cameras.yaml", tmp_path / "wide"
    file.write_text(
        "head: {fovy_rad: 1.4, width: 64, height: 48}\nfront: {width: 64, height: 48}\n"
    )
    words = ["demos", "render", str(short), "--cameras", str(file)]
    assert main([*words, "--out", str(out)]) == 0
    store = EpisodeStore(out)
    assert store[0, 3]["observation.images.head"].shape == (48, 64, 3)
    file.write_text("head: {width: 64}\nfront:\n")
    assert main([*words, "--out", str(tmp_path / "other")]) == 2
    assert "the same size" in capsys.readouterr().err
    file.write_text("back: {width: 64}\n")
    assert main([*words, "--out", str(tmp_path / "other")]) == 2
    assert "back" in capsys.readouterr().err


def test_a_look_keeps_what_the_physics_had(demonstrations):
    recording = read(DemoFolder(demonstrations).file("rule_002", 0, success=True))
    recorded, look = look_of(recording, ""), look_of(recording, "varied")
    assert (recorded.placement, recorded.arm, recorded.parts) == (
        look.placement,
        look.arm,
        look.parts,
    )
    assert recorded.lighting != look.lighting
    assert recorded.cameras != look.cameras


def test_joint_space_alone_needs_no_pictures(short, tmp_path):
    out = tmp_path / "joints"
    assert main(["demos", "render", str(short), "--observations", "joints", "--out", str(out)]) == 0
    assert not (out / "videos").exists()
    table = pq.read_table(out / "data").slice(0, FRAMES)
    recording = read(DemoFolder(short).file("rule_002", 0, success=True))
    for key, column, names in (
        ("observation.state", "robot_positions", ACTION_JOINTS),
        ("observation.all_joint_positions", "robot_positions", ALL_JOINTS),
        ("observation.velocity", "robot_velocities", ALL_JOINTS),
    ):
        found = np.array(table[key].to_pylist(), np.float32)
        simulated = recording.facts["robot_joints"]
        for i, name in enumerate(names):
            if name in simulated:
                column_of_joint = recording.columns[column][:FRAMES, simulated.index(name)]
                np.testing.assert_array_equal(found[:, i], column_of_joint)
    actions = np.array(table["action"].to_pylist(), np.float32)
    np.testing.assert_array_equal(actions, recording.columns["action"][:FRAMES])
    simulation = Simulation()
    simulation.reset("rule_002", recording.facts["safe"], recording.facts["seed"])
    first = np.array(table["observation.all_joint_positions"][0].as_py(), np.float32)
    np.testing.assert_array_equal(first, simulation.state().joint_positions.astype(np.float32))


def test_nothing_to_render_is_said(tmp_path, capsys):
    assert main(["demos", "render", str(tmp_path)]) == 2
    assert "contains no demonstrations" in capsys.readouterr().err
