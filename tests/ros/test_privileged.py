"""Test that no topic that a policy may read contains privileged information of the lock."""

import re
import xml.etree.ElementTree as ET

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from std_msgs.msg import String
from test_docs import section
from tf2_msgs.msg import TFMessage

from rulesafe_core import convert, messages
from rulesafe_core.chunks import PERIOD
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_interfaces.msg import MemoryTokens
from rulesafe_locks.rules import PARTS, load_rule
from rulesafe_sim.simulation import HOME_ACTION

pytestmark = pytest.mark.ros

SIM = "rulesafe_sim.node"
RULES_APART = ("rule_004", "rule_014")
"""At the start, one rule locks the knob, the other one the handle."""

CAMERAS = {
    f"/camera/{name}/{topic}": kind
    for name in ("head", "front")
    for topic, kind in (("image_raw", Image), ("camera_info", CameraInfo))
} | {"/camera/points": PointCloud2}
POLICY_READS: dict[str, tuple[type, QoSProfile]] = {
    "/joint_states": (JointState, convert.STATE_QOS),
    "/instruction": (String, convert.LATCHED_QOS),
    "/episode/started": (Time, convert.LATCHED_QOS),
    "/memory/tokens": (MemoryTokens, convert.LATCHED_QOS),
    "/robot_description": (String, convert.LATCHED_QOS),
    "/tf": (TFMessage, convert.STATE_QOS),
    "/tf_static": (TFMessage, convert.LATCHED_QOS),
} | {topic: (kind, convert.IMAGE_QOS) for topic, kind in CAMERAS.items()}


def key_of(message) -> int | str | tuple:
    """Return a key of a message within its topic: its stamp (ns), if it has one."""
    if isinstance(message, String):
        return message.data
    if isinstance(message, Time):
        return messages.to_ns(message)
    stamped = message.transforms[0] if isinstance(message, TFMessage) else message
    stamp = messages.to_ns(stamped.header.stamp)
    return (stamp, sum(message.mask)) if isinstance(message, MemoryTokens) else stamp


def record(client, topics) -> dict[str, dict[int | str | tuple, object]]:
    """Record the messages of the topics by key; repeated messages count once."""
    heard: dict[str, dict[int | str | tuple, object]] = {topic: {} for topic in topics}
    for topic in topics:
        kind, qos = POLICY_READS[topic]

        def take(message, topic=topic):
            assert heard[topic].setdefault(key_of(message), message) == message

        client.create_subscription(kind, topic, take, qos)
    return heard


def test_the_docs_list_as_readable_what_is_examined_here():
    readable = {row[0] for row in section("Topics") if row[4] == "yes"}
    assert readable - {"/clock"} == POLICY_READS.keys()


@pytest.mark.parametrize("cameras", ["false", "true"])
def test_messages_do_not_depend_on_the_lock(client, start, cameras, model_dir):
    """With two rules that lock different parts and a motion without contact, all topics except the
    instruction have equal messages."""
    motion = [HOME_ACTION + 0.02 * i for i in range(1, 4)]
    runs = []
    for rule in RULES_APART:
        topics = [t for t in POLICY_READS if cameras == "true" or t not in CAMERAS]
        before = set(client.subscriptions)
        heard = record(client, topics)
        memory = start("vq_memory_node.node", f"model:={model_dir}", "clusters:=16")
        process = start(SIM, f"rule:={rule}", "safe:=safe_03", "seed:=2", f"cameras:={cameras}")
        client.wait_for_turn()
        # A status of the simulation before may have waited in the queue.
        client.until(lambda rule=rule: client.status.rule == rule, "the status of this rule")
        status = client.status
        client.until(lambda heard=heard: all(heard.values()), "a first message on each topic")
        tokens, begin = heard["/memory/tokens"], client.now
        client.until(lambda t=tokens, b=begin: (b, 1) in t, "the memory of the first frame")
        client.send(motion, client.now)
        end = client.now + 3 * PERIOD
        client.until(lambda end=end: client.now == end, "the end of the chunk")
        pictures = [heard[t] for t in topics if t in CAMERAS]
        stamped = [heard["/joint_states"], heard["/tf"], *pictures]
        client.until(lambda s=stamped, e=end: all(e in m for m in s), "the last of each topic")
        assert all(len(messages) == 4 for messages in pictures)
        client.until(lambda t=tokens, e=end: (e, 1) in t, "the memory of the last frame")
        runs.append((heard, list(status.part_locked), status.plan))
        process.stop()
        memory.stop()
        for subscription in set(client.subscriptions) - before:
            client.destroy_subscription(subscription)
        client.statuses.clear()
    (first, first_locked, first_plan), (second, second_locked, second_plan) = runs
    assert first_locked != second_locked and first_plan != second_plan
    for topic in first.keys() - {"/instruction", "/memory/tokens"}:
        assert first[topic] == second[topic], topic
    # Only the newest tokens are queued, so that a slow subscriber may miss some.
    first_tokens, second_tokens = first["/memory/tokens"], second["/memory/tokens"]
    for key in first_tokens.keys() & second_tokens.keys():
        assert first_tokens[key] == second_tokens[key]
    for heard, rule in zip((first, second), RULES_APART, strict=True):
        assert list(heard["/instruction"]) == [load_rule(rule).description]


def test_the_description_is_the_robot_and_joint_states_are_its_joints(client, start):
    heard = record(client, ("/joint_states", "/robot_description"))
    start(SIM, "cameras:=false")
    client.wait_for_turn()
    client.until(lambda: all(heard.values()), "both topics")
    (description,) = heard["/robot_description"].values()
    robot = ET.fromstring(description.data)
    cameras = {"head_camera_optical_frame", "front_camera_optical_frame"}
    links = {link.name for link in h1_2().links}
    assert {link.get("name") for link in robot.iter("link")} == links | cameras | {"base_link"}
    assert not re.search("|".join((*PARTS, "safe", "rule")), description.data)
    for message in heard["/joint_states"].values():
        assert tuple(message.name) == ALL_JOINTS
        assert (message.header.frame_id, len(message.effort)) == ("pelvis", 0)
