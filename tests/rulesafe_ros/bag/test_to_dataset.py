"""Tests of datasets from bags of a robot; those of a simulation: tests/ros/test_bag_dataset.py."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS
from rulesafe_data.bags.reading import Bag
from rulesafe_data.store import EpisodeStore
from rulesafe_ros.bag.actions import ACTIONS
from rulesafe_ros.bag.camera_frames import CameraFrames
from rulesafe_ros.bag.episodes import read_episodes
from rulesafe_ros.bag.to_dataset import ConversionRequest, to_dataset
from rulesafe_ros.bag.to_video import to_video

ROOT = Path(__file__).parents[3]
COLUMNS = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]


def quiet(text):
    """Ignore a report."""


def test_frames_are_interpolated_at_tenths_of_a_second(robot, day, motion, tmp_path):
    script = robot(0, 3)
    started = day + SECOND + 12_345_678
    script.say("/episode/started", started, script.time(started))
    (episode,) = read_episodes(Bag(script.write(tmp_path / "bag")))
    assert episode.start == day + SECOND + PERIOD
    assert episode.frames == 19
    for frame in range(episode.frames):
        expected = [motion(episode.stamp(frame))[joint] for joint in ACTION_JOINTS]
        assert episode.positions[frame, COLUMNS] == pytest.approx(expected, abs=1e-6)
        assert episode.velocities[frame, COLUMNS] == pytest.approx(
            10 * np.array(expected), abs=1e-5
        )
    knee = ALL_JOINTS.index("left_knee_joint")
    assert (episode.positions[:, knee] == np.float32(FIXED_POSITIONS["left_knee_joint"])).all()


def test_episodes_end_at_the_next_start_and_at_gaps(robot, day, tmp_path):
    script = robot(0, 9, stops=((6.0, 7.0),))
    for seconds in (-3, 2, 2, 5):  # one starts before the bag; one is published twice
        stamp = day + seconds * SECOND
        script.say("/episode/started", day + (seconds + 3) * SECOND, script.time(stamp))
    reports = []
    episodes = read_episodes(Bag(script.write(tmp_path / "bag")), reports.append)
    spans = [((e.start - day) / SECOND, (e.end - day) / SECOND) for e in episodes]
    assert spans == [(2.1, 4.9), (5.1, 5.9)]  # the first frames with joint states
    assert len(reports) == 2
    assert all("no episode starts there" in line for line in reports)


def test_each_episode_has_its_own_instruction(robot, day, tmp_path):
    """The second episode's instruction follows a millisecond after the end of the first."""
    script = robot(0, 4)
    for seconds, words in ((0, "one"), (2, "two")):
        stamp = day + seconds * SECOND
        script.say("/episode/started", stamp, script.time(stamp))
        script.say("/instruction", stamp + 1_000_000, script.make("std_msgs/String", data=words))
    episodes = read_episodes(Bag(script.write(tmp_path / "bag")))
    assert [episode.instruction for episode in episodes] == ["one", "two"]


def test_a_bag_without_starts_is_divided_by_its_gaps(robot, day, tmp_path):
    script = robot(0, 5, stops=((2.0, 3.0),))
    episodes = read_episodes(Bag(script.write(tmp_path / "bag")))
    spans = [((e.start - day) / SECOND, (e.end - day) / SECOND) for e in episodes]
    assert spans == [(0.1, 1.9), (3.1, 4.9)]


def test_an_episode_with_a_damaged_part_is_skipped(robot, day, tmp_path):
    """The part is shorter than a gap that divides episodes."""
    script = robot(0, 4)
    for seconds in (0, 2):
        stamp = day + seconds * SECOND
        script.say("/episode/started", stamp, script.time(stamp))
    bag = script.write(tmp_path / "bag", [day + 22 * PERIOD, day + 25 * PERIOD])
    (file,) = bag.glob("*.mcap")
    raw = bytearray(file.read_bytes())
    _, second, _ = (found.start() for found in re.finditer(rb"\x28\xb5\x2f\xfd", raw))
    raw[second + 20] ^= 0xFF  # in the second compressed chunk
    file.write_bytes(raw)
    reports = []
    (episode,) = read_episodes(Bag(bag), reports.append)
    assert episode.start == day + PERIOD and len(reports) == 1
    assert f"episode at {day // SECOND + 2}.0 s: the bag is damaged there" in reports[0]


def test_joint_states_that_are_not_finite_are_skipped(robot, day, motion, tmp_path):
    script = robot(0, 2)
    script.joints(day + SECOND, motion(day + SECOND) | {ACTION_JOINTS[0]: np.nan})
    reports = []
    (episode,) = read_episodes(Bag(script.write(tmp_path / "bag")), reports.append)
    assert np.isfinite(episode.positions).all() and np.isfinite(episode.velocities).all()
    assert reports == ["skipped 1 messages: joint states with positions that are not finite"]


@pytest.fixture
def teleoperated(robot, day, motion):
    """2.5 s with two overlapping chunks; the second arrives 0.13 s after its observation."""
    script = robot(0, 2.6)
    script.say("/episode/started", day, script.time(day))
    script.say("/instruction", day, script.make("std_msgs/String", data="Open it."))
    # In single precision, as the steps that are executed.
    first = np.float32(np.linspace(0.0, 0.1, 13) + np.arange(1, 11)[:, None] / 100).astype(float)
    second = np.float32(first[:10] + 0.05).astype(float)
    script.chunk(day + 2 * PERIOD, day + 2 * PERIOD + 40_000_000, first)
    script.chunk(day + 8 * PERIOD, day + 8 * PERIOD + 130_000_000, second)
    return script, first, second


def test_actions_are_the_executed_steps(teleoperated, tmp_path, day, motion):
    script, first, second = teleoperated
    (episode,) = read_episodes(Bag(script.write(tmp_path / "bag")))
    actions = ACTIONS["newest"](episode)
    assert len(actions) == 17  # the last step of the second chunk is at 1.8 s
    start = [motion(day + PERIOD)[joint] for joint in ACTION_JOINTS]
    assert episode.start == day + PERIOD
    assert actions[0] == pytest.approx(start, abs=1e-6)  # no motion before the first chunk
    begins = (day + 3 * PERIOD - episode.start) // PERIOD  # step 0 is at that time
    assert np.array_equal(actions[begins - 1 : begins + 6], first[:7])
    assert np.array_equal(actions[begins + 6 :], second[1:])  # its first step is in the past
    assert np.array_equal(ACTIONS["newest"](episode.from_first_chunk()), actions[begins - 1 :])
    blended = ACTIONS["blended"](episode)
    assert np.array_equal(blended[: begins + 6], actions[: begins + 6])
    assert not np.allclose(blended[begins + 6], actions[begins + 6])


def test_other_sources_of_actions(teleoperated, tmp_path, day):
    script, _, _ = teleoperated
    bridge = script.store.types["rulesafe_interfaces/msg/BridgeState"]
    empty = {"string": "", "bool": False}
    for step in range(26):
        stamp = day + step * PERIOD + 3_000_000
        fields = {
            name: empty.get(str(description[1][0] if description[1] else ""), 0)
            for name, description in script.store.fielddefs[bridge.__msgtype__][1]
        }
        fields |= {
            "header": script.header(stamp),
            "state": "ACTIVE",
            "command": np.full(13, step / 10),
        }
        script.say("/bridge/state", stamp, bridge(**fields))
    bag = Bag(script.write(tmp_path / "bag"))
    (episode,) = read_episodes(bag)
    actions = ACTIONS["bridge"](episode)
    assert actions.shape == (episode.frames - 1, 13)
    # The frame at 0.1 s ends at 0.2 s; the newest command then is that of 0.103 s.
    assert actions[:, 0] == pytest.approx(np.arange(1, len(actions) + 1) / 10)
    reached = ACTIONS["reached"](episode)
    assert np.array_equal(reached, episode.positions[1:, COLUMNS].astype(float))


def test_the_executed_actions_are_those_of_the_simulation_up_to_the_open_door(
    teleoperated, tmp_path, monkeypatch
):
    """Or those of the bridge; the actions of a blended policy are not those of its chunks."""
    bag = teleoperated[0].write(tmp_path / "bag")
    (episode,) = read_episodes(Bag(bag))
    with pytest.raises(RuleSafeError, match="does not have the executed actions"):
        ACTIONS["executed"](episode)
    texts = dict.fromkeys(("rule", "safe", "state_digest"), "")
    rows = np.arange(13 * episode.frames, dtype=np.float32).reshape(-1, 13)
    statuses = {
        episode.stamp(frame): SimpleNamespace(
            action=row, success=frame >= 12, seed=1, plan=[], contact_names=[], parts=[], **texts
        )
        for frame, row in enumerate(rows)
    }
    recorded = replace(episode, statuses=statuses)
    assert np.array_equal(ACTIONS["executed"](recorded), rows[1:])
    statuses[episode.stamp(1)].action = ()  # before the first chunk
    assert np.array_equal(ACTIONS["executed"](recorded)[0], episode.positions[0, COLUMNS])
    monkeypatch.setattr("rulesafe_ros.bag.to_dataset.read_episodes", lambda *_: [recorded])
    monkeypatch.setattr("rulesafe_ros.bag.to_dataset.privileged", lambda *_: {})
    request = ConversionRequest(tmp_path / "set", observations="joints")
    assert to_dataset([bag], request, quiet) == 1
    stored = EpisodeStore(tmp_path / "set").episode(0, ["action"])["action"]
    begins = recorded.frames - recorded.from_first_chunk().frames
    assert np.array_equal(stored, rows[begins + 1 : 13])
    del statuses[episode.stamp(9)]
    commands = {stamp: np.zeros(13) for stamp in map(episode.stamp, range(episode.frames))}
    assert not ACTIONS["executed"](replace(recorded, commands=commands)).any()


def test_images_are_the_nearest_ones_in_rgb(teleoperated, day, tmp_path):
    script, _, _ = teleoperated
    for step in range(80):  # 30 Hz
        pixels = np.zeros((16, 24, 3), np.uint8)
        pixels[..., 0], pixels[..., 2] = 3 * step, 240 - 3 * step  # blue, red
        stamp = day + step * SECOND // 30
        if not 30 < step < 37:  # nothing from 1.0 s to 1.23 s
            script.picture("/camera/head/image_raw", stamp, pixels)
            script.picture("/camera/front/image_raw", stamp + 4_000_000, pixels)
    reports = []
    bag = script.write(tmp_path / "bag")
    added = to_dataset([bag], ConversionRequest(tmp_path / "set", "newest"), reports.append)
    assert added == 1
    assert "2 images taken from another frame" in reports[-1]  # of 1.1 s, for both cameras
    store = EpisodeStore(tmp_path / "set")
    assert store.episodes[0].task == "Open it."
    assert store.features["observation.images.head"]["shape"] == (224, 224, 3)
    assert "observation.points" not in store.keys
    found = store.episode(0, ["observation.images.head"])["observation.images.head"]
    for frame in (0, 3, 8, 12, 15):
        seconds = (frame + 2) / 10  # from the first chunk's observation on
        nearest = min(
            (s for s in range(80) if not 30 < s < 37), key=lambda s: abs(s / 30 - seconds)
        )
        red, _, blue = found[frame].reshape(-1, 3).mean(axis=0)
        assert red == pytest.approx(240 - 3 * nearest, abs=6)  # H.264 is not exact
        assert blue == pytest.approx(3 * nearest, abs=6)
    again = to_dataset(
        [bag], ConversionRequest(tmp_path / "set", actions="reached"), reports.append
    )
    assert again == 1
    assert len(EpisodeStore(tmp_path / "set")) == 2
    films = to_video(bag, tmp_path / "films")
    assert [path.name for path in films] == ["film.mp4"]  # without a plan


@pytest.mark.parametrize("success", [True, False])
def test_an_episode_in_which_the_door_stays_closed_is_named(
    success, teleoperated, tmp_path, monkeypatch
):
    bag = teleoperated[0].write(tmp_path / "bag")
    (episode,) = read_episodes(Bag(bag))
    texts = dict.fromkeys(("rule", "safe", "state_digest"), "")
    status = SimpleNamespace(success=success, seed=1, plan=[], contact_names=[], **texts)
    recorded = replace(episode, statuses={episode.start: status})
    monkeypatch.setattr("rulesafe_ros.bag.to_dataset.read_episodes", lambda *_: [recorded])
    reports = []
    request = ConversionRequest(tmp_path / "set", "newest", "joints")
    assert to_dataset([bag], request, reports.append) == 1
    assert reports[0].endswith("the door was not opened") is not success


def test_the_example_in_the_documentation_runs(robot, tmp_path, monkeypatch, capsys):
    robot(0, 1).write(tmp_path / "bag")
    text = (ROOT / "docs/dataset.md").read_text().split("## Bags\n")[1]
    (block,) = re.findall(r"```python\n(.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    assert len(capsys.readouterr().out.splitlines()) == 143


def test_datasets_and_films_are_made_without_ros():
    """On machines without ROS."""
    modules = ("commands", "to_dataset", "to_video", "record_options", "report")
    code = f"""
import importlib, sys
for name in {modules}: importlib.import_module("rulesafe_ros.bag." + name)
print({{"rclpy", "sensor_msgs", "rulesafe_interfaces", "sapien", "torch"}} & set(sys.modules))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n", result.stderr


def test_missing_topics_are_reported(teleoperated, robot, day, tmp_path):
    script, _, _ = teleoperated
    script.picture("/camera/head/image_raw", day + PERIOD, np.zeros((16, 16, 3), np.uint8))
    bag = script.write(tmp_path / "bag")
    with pytest.raises(RuleSafeError, match="has no /camera/front/image_raw"):
        to_dataset([bag], ConversionRequest(tmp_path / "a", "newest"), quiet)
    with pytest.raises(RuleSafeError, match="no episode was added"):
        to_dataset([bag], ConversionRequest(tmp_path / "b", "newest", "joints", "", True), quiet)
    with pytest.raises(RuleSafeError, match="no command on /bridge/state"):
        to_dataset([bag], ConversionRequest(tmp_path / "c", "bridge", "joints"), quiet)
    assert to_dataset([bag], ConversionRequest(tmp_path / "d", "newest", "joints"), quiet) == 1
    assert len(to_video(bag, tmp_path / "films")) == 1  # one image, repeated to the end


def test_a_gap_in_the_images_is_an_error_and_their_end_ends_the_episode(
    teleoperated, day, tmp_path
):
    script, _, _ = teleoperated
    for step in range(3, 80):
        if step < 33 or step > 48:  # nothing for half a second and a frame
            stamp = day + step * SECOND // 30
            for camera in ("head", "front"):
                pixels = np.full((16, 16, 3), 3 * step, np.uint8)
                script.picture(f"/camera/{camera}/image_raw", stamp, pixels)
    reports = []
    bag = script.write(tmp_path / "bag")
    assert to_dataset([bag], ConversionRequest(tmp_path / "set", "newest"), reports.append) == 1
    script.messages = [m for m in script.messages if m[1] != "/camera/front/image_raw"]
    for step in (3, 5, 45):
        stamp = day + step * SECOND // 30
        script.picture("/camera/front/image_raw", stamp, np.zeros((16, 16, 3), np.uint8))
    gap = script.write(tmp_path / "gap")
    with pytest.raises(RuleSafeError, match="no message on /camera/front/image_raw within"):
        to_dataset([gap], ConversionRequest(tmp_path / "other", "newest"), reports.append)
    assert (
        to_dataset(
            [gap], ConversionRequest(tmp_path / "filled", "newest", fill=1.0), reports.append
        )
        == 1
    )
    with pytest.raises(RuleSafeError, match="no message on /camera/"):
        to_dataset(
            [bag], ConversionRequest(tmp_path / "not filled", "newest", fill=0), reports.append
        )
    script.messages = [m for m in script.messages if m[0] < day + SECOND or "camera" not in m[1]]
    short = script.write(tmp_path / "short")
    assert to_dataset([short], ConversionRequest(tmp_path / "set", "reached"), reports.append) == 1
    assert EpisodeStore(tmp_path / "set").episodes[1].length == 2  # up to 0.17 s


def test_lost_images_are_not_replaced_by_those_of_another_episode(robot, day, tmp_path):
    """The first episode lacks its last two images, the second one its first one."""
    script, images = robot(0, 4), {camera.name: camera.topic() for camera in DEFAULT_CAMERAS}
    for seconds in (0, 2):
        stamp = day + seconds * SECOND
        script.say("/episode/started", stamp, script.time(stamp))
    for step in {*range(41)} - {18, 19, 21}:
        pixels = np.full((16, 16, 3), 100 * (step > 20), np.uint8)
        for topic in images.values():
            script.picture(topic, day + step * PERIOD, pixels)
    bag = Bag(script.write(tmp_path / "bag"))
    first, second = read_episodes(bag)
    assert (second.start - day) // PERIOD == 21, "the first frame with joint states"
    assert CameraFrames(bag, first, first.frames, images).end == first.frames - 2
    for episode, expected in ((first, 0), (second, 100)):
        for found in CameraFrames(bag, episode, episode.frames, images):
            assert {int(found[camera].max()) for camera in images} == {expected}
