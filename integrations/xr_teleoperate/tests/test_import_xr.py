"""`rulesafe demos import-xr`: recordings of xr_teleoperate as a dataset."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent))  # for xr_recordings

from xr_recordings import (
    CLOSED,
    OPEN,
    RATE,
    colour_of,
    contents,
    expected_arm,
    frame_of,
    recording_of,
    write,
)

from h1_2_bridge.hands import DFX, FTP
from rulesafe_cli.cli import main
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS, BODY_JOINTS, LEFT_HAND_JOINTS
from rulesafe_core.robot import HOME, h1_2
from rulesafe_data.store import EpisodeStore
from rulesafe_locks.rules import load_rule
from rulesafe_xr.conversion import ImportOptions, convert
from rulesafe_xr.importing import import_recordings
from rulesafe_xr.recording import FILE, MAX_FRAMES, read_recording

JOINTS = ImportOptions(cameras=None)


def frames(count: int, **changes) -> list[dict]:
    return [frame_of(number) | changes for number in range(count)]


def converted(folder: Path, data: dict, options: ImportOptions = JOINTS):
    return convert(read_recording(write(folder, data)), options)


def test_a_recording_becomes_an_episode(tmp_path, capsys):
    """Order, units, rate, images and text; the source stays as it is."""
    source = tmp_path / "recordings"
    write(source / "episode_0001", recording_of(frames(61)))
    before = contents(source)
    assert main(["demos", "import-xr", str(source), "--out", str(tmp_path / "people")]) == 0
    assert contents(source) == before

    store = EpisodeStore(tmp_path / "people")
    episode = store.episode(0)
    assert len(store) == 1
    assert store.frames == 20
    assert store.episodes[0].task == "Open the safe."
    times = np.arange(20) / 10
    fingers = DFX.from_hand(CLOSED)
    np.testing.assert_allclose(episode["observation.state"][:, :7], expected_arm(times), atol=1e-6)
    np.testing.assert_allclose(episode["observation.state"][:, 7:], [fingers] * 20, atol=1e-6)
    # The action is the target at the next frame, and targets lead the states by two frames.
    ahead = expected_arm(times + 0.1 + 2 / RATE)
    np.testing.assert_allclose(episode["action"][:, :7], ahead, atol=1e-6)
    np.testing.assert_allclose(episode["action"][:, 7:], [fingers] * 20, atol=1e-6)

    every = dict(zip(ALL_JOINTS, episode["observation.all_joint_positions"].T, strict=True))
    np.testing.assert_allclose(
        [every[name] for name in BODY_JOINTS[13:20]], expected_arm(times).T, atol=1e-6
    )
    np.testing.assert_allclose(
        [every[name][0] for name in LEFT_HAND_JOINTS], DFX.from_hand(OPEN), atol=1e-6
    )
    assert all((every[name] == np.float32(HOME[name])).all() for name in BODY_JOINTS[:13])
    speed = dict(zip(ALL_JOINTS, episode["observation.velocity"].T, strict=True))
    np.testing.assert_allclose(speed["right_elbow_joint"], 0.2, atol=1e-5)
    assert (speed["torso_joint"] == 0).all()

    for camera, key in enumerate(("observation.images.head", "observation.images.front")):
        image = store[0, 5][key]
        assert image.shape == (224, 224, 3)
        assert np.abs(image.mean((0, 1)) - colour_of(camera, 15)).max() < 8
    facts = store.privileged.facts(0)
    assert facts["fixed_joints"] == list(BODY_JOINTS[:13])
    assert facts["recording"] == "episode_0001"
    output = capsys.readouterr().out
    assert "20 frames from 61 at 30 Hz" in output
    assert "fixed positions for 13 joints (legs and torso)" in output
    assert "images head color_0, front color_1" in output


@pytest.mark.parametrize("rate", [10, 25, 60])
def test_other_rates_are_resampled_to_10_hz(tmp_path, rate):
    data = recording_of(frames(60), rate)
    episode, _ = converted(tmp_path / "x", data)
    assert len(episode) == int(59 / rate * 10 + 1e-6)
    numbers = np.arange(len(episode)) * rate / 10
    expected = expected_arm(numbers / RATE)
    np.testing.assert_allclose(episode.joint_positions[:, 20:27], expected, atol=1e-6)


def test_lost_frames_are_interpolated_and_reported(tmp_path):
    data = frames(40)
    del data[10:14]  # never written
    data[20]["states"]["right_arm"]["qpos"] = [0.1] * 3
    data[21]["actions"]["right_ee"] = None
    episode, notes = converted(tmp_path / "x", recording_of(data))
    assert len(episode) == 13
    assert "6 lost frames interpolated" in notes
    times = np.arange(13) / 10
    np.testing.assert_allclose(episode.joint_positions[:, 20:27], expected_arm(times), atol=1e-6)


def test_a_long_gap_is_refused(tmp_path):
    data = frames(60)
    del data[10:30]
    with pytest.raises(RuleSafeError, match=r"0\.70 s without complete frames.*--max-gap"):
        converted(tmp_path / "x", recording_of(data))


def swap_states(data: list[dict]) -> None:
    for frame in data:
        states = frame["states"]
        states["left_ee"], states["right_ee"] = states["right_ee"], states["left_ee"]


def test_exchanged_states_of_the_hands_are_detected(tmp_path):
    """As xr_teleoperate 1.1 stores them (its issue 121)."""
    data = frames(30)
    swap_states(data)
    episode, notes = converted(tmp_path / "x", recording_of(data))
    assert any("from left_ee" in note for note in notes)
    np.testing.assert_allclose(episode.joint_positions[0, 27:33], DFX.from_hand(CLOSED))
    np.testing.assert_allclose(episode.joint_positions[0, 33:], DFX.from_hand(OPEN))
    kept = convert(read_recording(tmp_path / "x"), ImportOptions(None, hand_state="right_ee"))[0]
    np.testing.assert_allclose(kept.joint_positions[0, 27:33], DFX.from_hand(OPEN))


def test_hands_of_the_other_model_have_another_range(tmp_path):
    episode, _ = converted(
        tmp_path / "x", recording_of(frames(30)), ImportOptions(None, hand="ftp")
    )
    np.testing.assert_allclose(episode.actions[0, 7:], FTP.from_hand(CLOSED))


def test_the_names_of_earlier_versions_are_read(tmp_path):
    data = frames(30)
    for frame in data:
        for kind in ("states", "actions"):
            for side in ("left", "right"):
                frame[kind][f"{side}_hand"] = frame[kind].pop(f"{side}_ee")
    episode, _ = converted(tmp_path / "x", recording_of(data))
    np.testing.assert_allclose(episode.actions[0, 7:], DFX.from_hand(CLOSED))


def test_recorded_motors_of_the_body_are_used(tmp_path):
    data = frames(30)
    for frame in data:
        frame["states"]["body"]["qpos"] = [0.01 * motor for motor in range(35)]
    episode, notes = converted(tmp_path / "x", recording_of(data))
    assert not any("fixed" in note for note in notes)
    np.testing.assert_allclose(episode.joint_positions[0, :13], 0.01 * np.arange(13))


def without_hand(data: list[dict]) -> None:
    for frame in data:
        for kind in ("states", "actions"):
            frame[kind]["right_ee"]["qpos"] = frame[kind]["left_ee"]["qpos"] = []


def test_a_recording_without_hand_holds_the_fingers_on_request(tmp_path):
    data = frames(30)
    without_hand(data)
    with pytest.raises(RuleSafeError, match=r"right_ee\) is not recorded; --hand none"):
        converted(tmp_path / "x", recording_of(data))
    episode, notes = convert(read_recording(tmp_path / "x"), ImportOptions(None, hand="none"))
    assert "fixed positions for 25 joints (legs and torso, left hand, right hand)" in notes
    np.testing.assert_allclose(episode.actions[:, 7:], [[HOME[n] for n in ACTION_JOINTS[7:]]] * 9)


def test_another_hand_is_refused(tmp_path):
    data = frames(30)
    for frame in data:
        frame["states"]["right_ee"]["qpos"] = [0.1] * 7
    with pytest.raises(RuleSafeError, match=r"right_ee.qpos has 7 values; an Inspire hand has 6"):
        converted(tmp_path / "x", recording_of(data))


def test_hands_of_another_scale_are_refused(tmp_path):
    data = frames(30)
    for frame in data:
        frame["actions"]["right_ee"]["qpos"] = [900] * 6
    with pytest.raises(RuleSafeError, match=r"hand are 900\.00 to 900\.00; .* 0 .closed. to 1"):
        converted(tmp_path / "x", recording_of(data))


def test_actions_beyond_the_limits_are_clipped_and_counted(tmp_path):
    data = frames(30)
    data[15]["actions"]["right_arm"]["qpos"][3] = 9.0
    episode, notes = converted(tmp_path / "x", recording_of(data))
    assert episode.actions[4, 3] == h1_2().joint("right_elbow_joint").upper
    assert "actions of 1 frames clipped to the joint limits of the H1-2" in notes


@pytest.mark.parametrize("kind", ["states", "actions"])
def test_positions_in_degrees_are_refused(tmp_path, kind):
    data = frames(30)
    for frame in data:
        arm = frame[kind]["right_arm"]
        arm["qpos"] = np.degrees(arm["qpos"]).tolist()
    with pytest.raises(RuleSafeError, match=f"{kind} of .* beyond the joint limits .* in degrees"):
        converted(tmp_path / "x", recording_of(data))


def test_states_beyond_the_limits_are_reported(tmp_path):
    data = frames(30)
    data[15]["states"]["right_arm"]["qpos"][3] = 9.0
    _, notes = converted(tmp_path / "x", recording_of(data))
    assert any("states of 1 frames" in note and "right_elbow_joint" in note for note in notes)


def test_a_number_that_no_float_can_hold_is_a_lost_frame(tmp_path):
    data = frames(30)
    data[15]["states"]["right_arm"]["qpos"][3] = 10**400
    _, notes = converted(tmp_path / "x", recording_of(data))
    assert "1 lost frames interpolated" in notes


def drop_arm(data):
    for frame in data["data"]:
        del frame["states"]["right_arm"]


def short_arm(data):
    for frame in data["data"]:
        frame["states"]["right_arm"]["qpos"] = [0.0] * 4


def backwards(data):
    data["data"][4]["idx"] = 2


REFUSED = {
    r"right_arm.qpos has 0 values; the arm of an H1-2 has 7": drop_arm,
    r"right_arm.qpos has 4 values; the arm of an H1-2 has 7": short_arm,
    r"idx of frame 4 is 2; valid: an integer above .* \(3\)": backwards,
    r"use --rate": lambda data: data["info"].clear(),
    r"no text 'goal': use --instruction": lambda data: data.pop("text"),
    r"no list of frames": lambda data: data.update(data={}),
    r"too short for an episode": lambda data: data.update(data=data["data"][:6]),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_used_is_refused_with_the_reason(tmp_path, reason):
    data = recording_of(frames(30))
    REFUSED[reason](data)
    with pytest.raises(RuleSafeError, match=reason):
        converted(tmp_path / "x", data)


def test_the_number_of_frames_is_limited_before_parsing(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / FILE).write_text('{"idx": 0}, ' * (MAX_FRAMES + 1) + "no JSON")
    with pytest.raises(RuleSafeError, match=rf"has {MAX_FRAMES + 1} frames; valid: up to"):
        read_recording(folder)


def test_damaged_and_missing_images_are_replaced_and_counted(tmp_path, capsys):
    folder = write(tmp_path / "x", recording_of(frames(40)))
    (folder / "colors/000015_color_0.jpg").write_bytes(b"no image")
    (folder / "colors/000021_color_1.jpg").unlink()
    import_recordings(folder, tmp_path / "people", ImportOptions())
    assert "2 images taken from another frame" in capsys.readouterr().out
    image = EpisodeStore(tmp_path / "people")[0, 5]["observation.images.head"]
    assert np.abs(image.mean((0, 1)) - colour_of(0, 14)).max() < 8


@pytest.mark.parametrize("path", ["../outside.jpg", "/etc/hostname", 3])
def test_images_outside_of_the_recording_are_not_read(tmp_path, path):
    data = recording_of(frames(30))
    folder = write(tmp_path / "x", data)
    for frame in data["data"]:
        frame["colors"]["color_1"] = path
    (folder / FILE).write_text(json.dumps(data))
    with pytest.raises(RuleSafeError, match=r"no image of color_1 near frame 0"):
        import_recordings(folder, tmp_path / "people", ImportOptions())


def test_images_are_cropped_to_the_central_square(tmp_path):
    from PIL import Image

    from rulesafe_xr.images import read_image

    wide = Image.new("RGB", (640, 480), (255, 0, 0))
    wide.paste((0, 0, 255), (80, 0, 560, 480))
    wide.save(tmp_path / "wide.png")
    found = read_image(tmp_path / "wide.png")
    assert (found == (0, 0, 255)).all()
    # As a policy receives it from a camera of the same size.
    assert (found == DEFAULT_CAMERAS["head"].fit(np.asarray(wide))).all()


@pytest.mark.parametrize("cut", [1, 4, 700, 1500])
def test_complete_frames_of_a_killed_recorder_are_used(cut, tmp_path, capsys):
    folder = write(tmp_path / "x", recording_of(frames(30)))
    complete = read_recording(folder)
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(text[: text.rindex("}", 0, text.rindex("]")) + 1 - cut])
    found = read_recording(folder)
    assert found.stopped and not complete.stopped
    count = len(found.numbers)
    assert 25 <= count < 30
    for part, rows in complete.states.items():
        np.testing.assert_array_equal(found.states[part], rows[:count])
    assert import_recordings(folder, tmp_path / "people", ImportOptions()) == (1, 0)
    assert "the recorder was killed" in capsys.readouterr().out


def test_a_recording_marked_as_failed_is_refused(tmp_path):
    for place, change in enumerate((lambda r: r, lambda r: r["info"], lambda r: r["data"][-1])):
        recording = recording_of(frames(30))
        change(recording)["success"] = False
        folder = write(tmp_path / str(place), recording)
        with pytest.raises(RuleSafeError, match="has success: false; remove this key to import"):
            read_recording(folder)
        change(recording)["success"] = True
        read_recording(write(tmp_path / f"{place}_good", recording))


def test_missing_cameras_are_named(tmp_path):
    folder = write(tmp_path / "x", recording_of([frame_of(i, cameras=1) for i in range(30)]))
    with pytest.raises(RuleSafeError, match=r"no images of 'color_1'; its cameras: color_0"):
        import_recordings(folder, tmp_path / "people", ImportOptions())
    import_recordings(folder, tmp_path / "people", ImportOptions(("color_0", "color_0")))


def test_recordings_are_added_once_and_bad_ones_skipped(tmp_path, capsys):
    """A second run adds only new recordings, and the exit code is 1 if a recording was skipped."""
    source, out = tmp_path / "recordings", tmp_path / "people"
    write(source / "task" / "episode_0001", recording_of(frames(30)))
    (source / "task" / "episode_0002").mkdir()
    (source / "task" / "episode_0002" / FILE).write_text('{"data": [')
    command = ["demos", "import-xr", str(source), "--out", str(out), "--rule", "rule_001"]
    assert main(command) == 1
    first = contents(out)
    write(source / "task" / "episode_0003", recording_of(frames(31)))
    capsys.readouterr()
    assert main(command) == 1
    output = capsys.readouterr().out
    assert "episode_0001: already in" in output
    assert "skipped" in output
    assert "episode_0002" in output
    store = EpisodeStore(out)
    assert [episode.task for episode in store.episodes] == [load_rule("rule_001").description] * 2
    name = "data/chunk-000/file-000.parquet"
    assert contents(out)[name] == first[name]


def test_a_dataset_with_other_observations_is_not_changed(tmp_path):
    folder, out = write(tmp_path / "x", recording_of(frames(30))), tmp_path / "people"
    import_recordings(folder, out, JOINTS)
    before = contents(out)
    other = write(tmp_path / "y", recording_of(frames(31)))
    with pytest.raises(RuleSafeError, match="has other observations"):
        import_recordings(other, out, ImportOptions())
    assert contents(out) == before


def test_a_folder_without_recordings_is_refused(tmp_path):
    with pytest.raises(RuleSafeError, match=r"has no recording of xr_teleoperate"):
        import_recordings(tmp_path, tmp_path / "people", JOINTS)


@pytest.mark.train
def test_a_policy_is_trained_on_imported_recordings(tmp_path, capsys):
    """Images, joint states and memory tokens are there, and open-loop errors are measured."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    for number in range(2):
        write(tmp_path / f"recordings/episode_{number:04}", recording_of(frames(40 + number)))
    people, out = str(tmp_path / "people"), str(tmp_path / "policy")
    assert main(["demos", "import-xr", str(tmp_path / "recordings"), "--out", people]) == 0
    train = ["policy", "train", people, "--policy", "rdt", "--size", "images", "--memory", "vq"]
    assert main([*train, "--steps", "2", "--batch", "2", "--warm-up", "1", "--out", out]) == 0
    capsys.readouterr()
    assert main(["policy", "open-loop", out, people]) == 0
    assert "in 2 of 2 episodes" in capsys.readouterr().out


def test_a_policy_of_point_clouds_names_the_alternative(tmp_path):
    pytest.importorskip("torch")
    from policy_node.commands import train

    import_recordings(write(tmp_path / "x", recording_of(frames(40))), tmp_path / "people", JOINTS)
    with pytest.raises(RuleSafeError, match=r"no point clouds.*--size images"):
        train(tmp_path / "people", "dp3", "none", tmp_path / "policy")


WRITER = """
import importlib.util, sys, types
import numpy as np

source, out = sys.argv[1:]
# Their viewer needs the package rerun, and is not used without a display.
for name in ("utils", "utils.rerun_visualizer"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["utils"].__path__ = [source]
sys.modules["utils.rerun_visualizer"].RerunLogger = None
spec = importlib.util.spec_from_file_location("utils.episode_writer", source + "/episode_writer.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

def parts(value, hand):
    arm = [value + 0.01 * joint for joint in range(7)]
    part = lambda qpos: {"qpos": qpos, "qvel": [], "torque": []}
    found = {f"{side}_arm": part(arm) for side in ("left", "right")}
    found |= {f"{side}_ee": part([hand] * 6) for side in ("left", "right")}
    return found | {"body": {"qpos": []}}

writer = module.EpisodeWriter(task_dir=out, frequency=30, rerun_log=False)
for episode in range(2):
    assert writer.create_episode()
    for number in range(46):
        image = np.full((480, 640, 3), (10, 20, 200), np.uint8)  # OpenCV: blue, green, red
        colors = {f"color_{camera}": image.copy() for camera in range(4)}
        start = 0.1 * episode + 0.002 * number
        states, actions = parts(start, 0.5), parts(start + 0.002, 0.25)
        writer.add_item(colors=colors, depths={}, states=states, actions=actions)
    writer.save_episode()
    while not writer.is_available:
        pass
writer.close()
"""


def test_files_of_their_own_writer_are_read(tmp_path, peers):
    """Run with RULESAFE_XR_TELEOPERATE set to a clone of xr_teleoperate."""
    clone = Path(os.environ.get("RULESAFE_XR_TELEOPERATE", ""))
    source = clone / "teleop/utils"
    if not (source / "episode_writer.py").is_file():
        pytest.skip("RULESAFE_XR_TELEOPERATE is no clone of unitreerobotics/xr_teleoperate")
    if importlib.util.find_spec("cv2") is None:
        pytest.skip("OpenCV is not installed")
    environment = peers("xr_teleoperate", "logging-mp==0.1.6")
    command = [sys.executable, "-c", WRITER, str(source), str(tmp_path / "recordings")]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert run.returncode == 0, run.stderr
    added = import_recordings(tmp_path / "recordings", tmp_path / "people", ImportOptions())
    store = EpisodeStore(tmp_path / "people")
    episode = store.episode(1)
    assert added == (2, 0)
    assert store.frames == 30
    assert store.episodes[0].task == "Pick up the red cup on the table."
    expected = 0.1 + 0.006 * np.arange(15)
    np.testing.assert_allclose(episode["observation.state"][:, 0], expected, atol=1e-6)
    np.testing.assert_allclose(episode["action"][:, 6], expected + 0.008 + 0.06, atol=1e-6)
    np.testing.assert_allclose(episode["action"][0, 7:], DFX.from_hand([0.25] * 6), atol=1e-6)
    colour = store[1, 3]["observation.images.front"].mean((0, 1))
    assert np.abs(colour - (200, 20, 10)).max() < 8
