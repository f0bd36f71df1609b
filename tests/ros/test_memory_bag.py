"""Test that a played recording results in the same tokens at any rate and in each loop."""

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rulesafe_core.chunks import PERIOD
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.states import load_states
from vq_memory_node.memory import Reading, VqMemory
from vq_memory_node.rolling import readings_of

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from memory_player import INPUTS
from ros_client import ALL_QOS
from rosbags.highlevel import AnyReader
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core.messages import decode_tokens, to_ns
from rulesafe_interfaces.msg import MemoryTokens

pytestmark = pytest.mark.ros

STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"
OK = DiagnosticStatus.OK
SHORTEST = 136
"""Index of the stored episode with the fewest frames."""


@pytest.fixture
def record(client, start, bag_command, tmp_path):
    """record(frames=None) -> a bag of an episode, or of its first frames, with the times of /clock;
    and the stamps of its frames, ns."""

    def run(frames: int | None = None) -> tuple[Path, range]:
        path = tmp_path / "episode"
        recorder = bag_command("record", "--out", path, "--clock", "sim", "--topics", *INPUTS)
        # Paced, so that the queue does not overflow while a busy machine pauses the recorder.
        pace = "real_time_factor:=2"
        simulation = start("rulesafe_sim.node", "cameras:=false", "start:=false", pace)
        client.until_subscribed_by("recorder", *INPUTS)
        client.reset(seed=1)
        client.wait_for_turn()
        begin = client.now
        actions = load_states(STATES)[SHORTEST][1][:frames]
        client.send(actions, begin)
        end = begin + len(actions) * PERIOD
        client.until(lambda: client.status.waiting and client.now == end, "the chunk's end")
        # The recorder may receive the last messages later than this node.
        client.until(client.time_stops, "repeated statuses")
        output = recorder.stop_well()
        assert "lost: none" in output
        simulation.stop()
        return path, range(begin, end + 1, PERIOD)

    return run


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


@pytest.mark.parametrize("speed", [pytest.param(1, marks=pytest.mark.thorough), 5])
def test_a_bag_has_the_same_memory_at_any_speed(
    client, start, bag_command, player, model_dir, record, speed
):
    path, stamps = record()
    positions = trajectory(path, stamps)
    memory = VqMemory(str(model_dir), 16)
    start("vq_memory_node.node", f"model:={model_dir}", "clusters:=16", "use_sim_time:=true")
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


def loops(received: Sequence) -> list[dict[int, Any]]:
    """Return the messages of each complete loop of a bag by their stamps, ns; without the first
    loop, during which nodes are still discovered."""
    found: list[dict] = [{}]
    for message in received:
        stamp = to_ns(message.header.stamp)
        if found[-1] and stamp < max(found[-1]):
            found.append({})
        found[-1][stamp] = message
    return found[1:-1]


def test_each_loop_of_a_bag_is_a_new_episode_of_memory_and_policy(
    client, start, bag_command, record, monkeypatch
):
    """The tokens of each loop are those of the episode, and equal observations give equal chunks.
    On a busy machine, chunks of two loops may belong to different frames."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    path, stamps = record(45)
    chunks: list[JointTrajectory] = []
    tokens: list[MemoryTokens] = []
    reports: list[DiagnosticStatus] = []
    for kind, topic, take in (
        (JointTrajectory, "/policy/action_chunk", chunks.append),
        (MemoryTokens, "/memory/tokens", tokens.append),
        (DiagnosticArray, "/diagnostics", lambda message: reports.extend(message.status)),
    ):
        client.create_subscription(kind, topic, take, ALL_QOS)
    start("vq_memory_node.node", "model:=all_rules", "use_sim_time:=true")
    client.until_subscribed_by("vq_memory_node", "/joint_states")
    policy = ("policy:=seeing_policies:Stateless", "execute_steps:=10", "use_sim_time:=true")
    start("policy_node.node", *policy)
    bag_command("play", path, "--loop", "--rate", 3)

    def in_several_loops() -> set[int]:
        counts = Counter(stamp for loop in loops(chunks) for stamp in loop)
        return {stamp for stamp, count in counts.items() if count > 1}

    client.until(lambda: len(in_several_loops()) >= 4, "chunks at the same frames of two loops")
    for stamp in in_several_loops():
        first, *others = (loop[stamp] for loop in loops(chunks) if stamp in loop)
        assert all(other == first for other in others)
    batch = readings_of(trajectory(path, stamps), VqMemory("all_rules"))

    def received() -> bool:
        """Return whether most tokens of two loops, and of half of the loops, were received: a busy
        subscriber misses some."""
        most = [len(loop) > len(stamps) // 2 for loop in loops(tokens)]
        return sum(most) >= max(2, len(most) / 2)

    client.until(received, "the tokens of two loops")
    for loop in loops(tokens):
        for stamp, message in loop.items():
            found, expected = Reading(*decode_tokens(message)), batch[stamps.index(stamp)]
            assert np.array_equal(found.values, expected.values), f"frame {stamps.index(stamp)}"
            assert np.array_equal(found.mask, expected.mask)
    for node in ("vq_memory_node", "policy_node"):
        assert DiagnosticStatus.ERROR not in [r.level for r in reports if r.name == node]
        reports.clear()
        client.until(
            lambda name=node: [r for r in reports if (r.name, r.level) == (name, OK)],
            f"status OK of {node}",
        )
