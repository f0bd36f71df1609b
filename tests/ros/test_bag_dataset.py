"""Test that the dataset of a recorded episode equals the dataset written directly."""

from pathlib import Path

import av
import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rulesafe_core.chunks import PERIOD
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import to_ns
from rulesafe_data.attempt_recording import NO_ACTION, RecordedAttempt, snapshot
from rulesafe_data.bags.decoding import MessageDecoder
from rulesafe_data.bags.reading import Bag
from rulesafe_data.films.frames import BAR, SIDE
from rulesafe_data.frame import Frame
from rulesafe_data.states import load_states
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_ros.bag.to_dataset import ConversionRequest, to_dataset
from rulesafe_ros.bag.to_video import to_video
from rulesafe_sim.observer import Observer
from rulesafe_sim.simulation import Simulation

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
STATES = ROOT / "datasets/rule_001_rule_020.parquet"
LAUNCH = ROOT / "launch/sim_evaluation.launch.xml"
CAMERAS = ("/camera/points", "/camera/head/image_raw", "/camera/front/image_raw")
RULE, SAFE, SEED = "rule_003", "safe_07", 5
CHUNKS = (8, 5)
"""Steps per chunk."""

TOLD = ("safe_positions", "part_open", "part_locked", "steps_done", "contact_force")
"""Privileged columns in /episode/status."""


@pytest.fixture
def simulation():
    simulation = Simulation()
    try:
        simulation.reset(RULE, SAFE, SEED)
    except RuleSafeError as error:
        pytest.skip(str(error))
    return simulation


@pytest.fixture
def actions():
    """(13, 13), rad, in single precision as published by policies."""
    return load_states(STATES)[0][1][: sum(CHUNKS)]


def record(client, start, bag_command, actions, folder):
    """Publish the actions in chunks, and record all topics."""
    recorder = bag_command("record", "--out", folder)
    node = start("rulesafe_sim.node", "start:=false")
    client.until_subscribed_by("recorder", *CAMERAS)
    client.reset(RULE, SAFE, SEED)
    row = 0
    for rows in CHUNKS:
        client.wait_for_turn()
        client.send(actions[row : row + rows], client.now)
        client.until(lambda: not client.status.waiting, "the chunk's beginning")
        row += rows
    client.until(lambda: client.status.waiting and client.status.frame == row, "the end")
    client.until(client.time_stops, "repeated statuses")  # the recorder has received the last one
    output = recorder.stop_well()
    assert "lost: none" in output
    node.stop()


def test_a_recorded_evaluation_has_all_images(start, tmp_path, simulation):
    """The nodes start together; the bag begins with the images of the episode's first frame."""
    folder = tmp_path / "bag"
    options = (f"record:={folder}", f"out:={tmp_path / 'out'}", "policy:=expert")
    words = ("launch", str(LAUNCH), *options, f"rule:={RULE}", f"safe:={SAFE}", "film:=false")
    words += ("step_seconds:=1",)
    _, output = start("rulesafe_cli.cli", words=words).wait()
    assert "time limit of 2 s" in output
    bag = Bag(folder)
    decode = MessageDecoder(bag)
    (started,) = map(decode, bag.messages(["/episode/started"]))
    begin = to_ns(started)
    for topic in CAMERAS:
        stamps = {to_ns(decode(message).header.stamp) for message in bag.messages([topic])}
        assert sorted(stamps)[:20] == [begin + frame * PERIOD for frame in range(20)], topic


def write_directly(simulation, actions, root) -> None:
    """Write the same episode in process, as `rulesafe demos render` does."""
    observer, states, frames = Observer(simulation), [], []
    for action in actions:
        seen = observer.observe(("head", "front", "points"))
        frames.append(Frame({"head": seen["head"], "front": seen["front"]}, seen["points"]))
        states.append(snapshot(simulation) | NO_ACTION)
        simulation.step(action)
    states.append(snapshot(simulation) | NO_ACTION)
    columns = {name: np.stack([np.asarray(s[name]) for s in states]) for name in states[0]}
    names = list(simulation.joints().robot_joints)
    recording = RecordedAttempt({"robot_joints": names}, columns)
    writer = DatasetWriter(root)
    writer.write(
        0,
        EpisodeData(
            task=simulation.rule.description,
            joint_positions=recording.joint_positions(),
            joint_velocities=recording.joint_velocities(),
            actions=actions,
            frames=iter(frames),
            privileged={name: columns[name][:-1] for name in TOLD},
        ),
    )
    writer.finish()


def test_a_bag_s_dataset_is_the_one_written_directly(
    client, start, bag_command, simulation, actions, tmp_path
):
    record(client, start, bag_command, actions, tmp_path / "bag")
    write_directly(simulation, actions, tmp_path / "direct")
    said = []
    assert (
        to_dataset([tmp_path / "bag"], ConversionRequest(tmp_path / "recorded"), said.append) == 1
    )
    assert "0 images taken from another frame" in said[-1]
    direct, recorded = EpisodeStore(tmp_path / "direct"), EpisodeStore(tmp_path / "recorded")
    assert recorded.digest == direct.digest
    ours = {path.relative_to(direct.root) for path in direct.root.rglob("*") if path.is_file()}
    for path in sorted(ours):
        if path.parts[0] != "privileged":  # facts differ
            same = (recorded.root / path).read_bytes() == (direct.root / path).read_bytes()
            assert same, path
    columns = recorded.privileged.frames(0)
    for name, column in direct.privileged.frames(0).items():
        assert columns[name].dtype == column.dtype
        assert np.array_equal(columns[name], column), name
    facts = recorded.privileged.facts(0)
    assert (facts["rule"], facts["safe"], facts["seed"]) == (RULE, SAFE, SEED)
    assert facts["digest"] == simulation.digest
    assert facts["started"] % PERIOD == 0

    film, sheet = to_video(tmp_path / "bag", tmp_path / "films")
    with av.open(str(film)) as container:
        pictures = list(container.decode(video=0))
    assert (pictures[0].width, pictures[0].height) == (2 * SIDE, SIDE + BAR)
    assert len(pictures) == sum(CHUNKS) + 1 + 20  # and the last one is shown for 2 s
    assert sheet.stat().st_size > 10_000
