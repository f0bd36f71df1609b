"""The memory of a bag: what a simulation's recording says when it is played, however fast."""

import time
from pathlib import Path

import numpy as np
import pytest

from rulesafe_data.states import load_states
from rulesafe_sim.chunks import PERIOD, SECOND
from rulesafe_sim.joints import ACTION_JOINTS
from vq_memory_node.memory import VqMemory
from vq_memory_node.tokenizers import load_tokenizer

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from memory_player import INPUTS
from rclpy.serialization import deserialize_message
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from sensor_msgs.msg import JointState

from rulesafe_sim import convert

pytestmark = pytest.mark.ros

STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"
FRAMES = 65


@pytest.fixture
def recording(client, start, tmp_path):
    """A bag (MCAP) of the simulation in which the arm moves, and the stamp of its first frame, ns.

    Times are those of /clock, as `ros2 bag record --use-sim-time` has them.
    """
    kept: list[tuple[int, str, bytes]] = []

    def keep(topic, raw):
        kept.append((client.clocks[-1] if client.clocks else 0, topic, raw))

    subscriptions = [
        client.create_subscription(kind, topic, lambda raw, t=topic: keep(t, raw), qos, raw=True)
        for topic, (kind, _, qos) in INPUTS.items()
    ]
    process = start("rulesafe_sim.node", "cameras:=false")
    client.wait_for_turn()
    kept.clear()
    client.reset(seed=1)
    client.wait_for_turn()
    begin = client.now
    _, actions = load_states(STATES)[0]
    client.send(actions[:FRAMES], begin)
    end = begin + FRAMES * PERIOD
    client.until(lambda: last_stamp(kept) == end, "the chunk's end")
    process.stop()
    for subscription in subscriptions:
        client.destroy_subscription(subscription)

    store = get_typestore(Stores.ROS2_JAZZY)
    path = tmp_path / "episode"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        channels = {
            topic: bag.add_connection(topic, name, typestore=store)
            for topic, (_, name, _) in INPUTS.items()
        }
        for when, topic, raw in kept:
            bag.write(channels[topic], when, raw)
    return path, begin


def last_stamp(messages) -> int:
    """ns, of the last joint state among messages; -1 if there is none."""
    raw = next((raw for _, topic, raw in reversed(messages) if topic == "/joint_states"), None)
    return (
        -1 if raw is None else convert.from_time(deserialize_message(raw, JointState).header.stamp)
    )


def read(path) -> list[tuple[int, str, bytes]]:
    """A bag's messages: when (ns), topic, what."""
    with Reader(path) as bag:
        return [(when, channel.topic, bytes(raw)) for channel, when, raw in bag.messages()]


def trajectory(path, begin) -> np.ndarray:
    """(FRAMES + 1, 13) the positions of a bag at 10 Hz."""
    samples = {}
    for _, topic, raw in read(path):
        if topic == "/joint_states":
            message = deserialize_message(raw, JointState)
            places = dict(zip(message.name, message.position, strict=True))
            row = [places[joint] for joint in ACTION_JOINTS]
            samples[convert.from_time(message.header.stamp)] = row
    return np.array([samples[begin + i * PERIOD] for i in range(FRAMES + 1)], np.float32)


def test_a_bag_has_the_same_memory_at_any_speed(client, start, player, model_dir, recording):
    path, begin = recording
    positions, messages = trajectory(path, begin), read(path)
    memory = VqMemory(load_tokenizer(model_dir, 16))
    for speed in (1, 5):
        node = start(
            "vq_memory_node.node", f"model:={model_dir}", "clusters:=16", "use_sim_time:=true"
        )
        player.wait()
        began = time.monotonic()
        for when, topic, raw in messages:
            while time.monotonic() - began < (when - messages[0][0]) / SECOND / speed:
                client.executor_.spin_once(timeout_sec=0.001)
            player.publishers[topic].publish(raw)
        player.until(begin + FRAMES * PERIOD)
        assert time.monotonic() - began >= FRAMES / 10 / speed
        player.check(positions, begin, memory, at_least=FRAMES + 1)
        tokens = {tuple(message.tokens) for message in player.heard.values()}
        assert len(tokens) > 10
        node.stop()
