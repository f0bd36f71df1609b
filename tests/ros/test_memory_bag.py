"""Test that a played recording results in the same tokens at any rate."""

import time
from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.chunks import PERIOD
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.states import load_states
from vq_memory_node.memory import VqMemory

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from memory_player import INPUTS
from rosbags.highlevel import AnyReader

pytestmark = pytest.mark.ros

STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"
SHORTEST = 136
"""Index of the stored episode with the fewest frames."""


@pytest.fixture
def recording(client, start, bag_command, tmp_path):
    """A bag of a complete episode with the times of /clock, and the stamps of its frames, ns."""
    path = tmp_path / "episode"
    recorder = bag_command("record", "--out", path, "--clock", "sim", "--topics", *INPUTS)
    simulation = start("rulesafe_sim.node", "cameras:=false", "start:=false")
    client.until_heard_by("recorder", "/joint_states", "/clock")
    client.reset(seed=1)
    client.wait_for_turn()
    begin = client.now
    _, actions = load_states(STATES)[SHORTEST]
    client.send(actions, begin)
    end = begin + len(actions) * PERIOD
    client.until(lambda: client.status.waiting and client.now == end, "the chunk's end")
    output = recorder.stop_well()
    assert "lost: none" in output
    simulation.stop()
    return path, range(begin, end + 1, PERIOD)


def trajectory(path, stamps) -> np.ndarray:
    """Return the positions (N, 13) in a bag at these stamps."""
    samples = {}
    with AnyReader([path]) as bag:
        wanted = [c for c in bag.connections if c.topic == "/joint_states"]
        for channel, _, raw in bag.messages(wanted):
            message = bag.deserialize(raw, channel.msgtype)
            places = dict(zip(message.name, message.position, strict=True))
            row = [places[joint] for joint in ACTION_JOINTS]
            samples[message.header.stamp.sec * 10**9 + message.header.stamp.nanosec] = row
    return np.array([samples[stamp] for stamp in stamps], np.float32)


def test_a_bag_has_the_same_memory_at_any_speed(
    client, start, bag_command, player, model_dir, recording
):
    path, stamps = recording
    positions = trajectory(path, stamps)
    memory = VqMemory(str(model_dir), 16)
    for speed in (1, 5):
        node = start(
            "vq_memory_node.node", f"model:={model_dir}", "clusters:=16", "use_sim_time:=true"
        )
        player.wait()
        player.be_silent()  # a bag is not played with a simulation in the graph
        began = time.monotonic()
        playing = bag_command("play", path, "--rate", speed, "--delay", 4)
        player.until(stamps[-1])
        assert time.monotonic() - began >= (len(stamps) - 1) / 10 / speed
        code, output = playing.wait()
        assert code == 0, output
        # Only the newest tokens are queued, so that a busy subscriber may miss some.
        player.check(positions, stamps[0], memory, at_least=len(stamps) // 2)
        tokens = {tuple(message.tokens) for message in player.heard.values()}
        assert len(tokens) > 10
        node.stop()
        player.speak()
