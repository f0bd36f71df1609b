"""Inputs of the bridge's node within one process: floods, sizes, other publishers, the log."""

import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
from unitree_hg.msg import LowCmd
from virtual import World
from waiting import wait_for

from h1_2_bridge import node as bridge_node
from h1_2_bridge import supervisor_node
from h1_2_bridge.node import CHUNK_PERIOD, BridgeNode
from h1_2_bridge.realtime import steady_ns
from h1_2_bridge.ros import (
    CHUNK_QOS,
    EARLY_RETURN_PAUSE,
    STOP_TOPIC,
    SubscriptionExecutor,
    receivers_of,
)
from h1_2_bridge.wire import encode_low_state
from rulesafe_core.chunks import SECOND
from rulesafe_core.chunks_ros import MAX_BYTES
from rulesafe_core.convert import LATCHED_QOS, to_trajectory
from rulesafe_core.errors import RuleSafeError

pytestmark = pytest.mark.ros

PARAMETERS = ("hand:=none", "supervisor_timeout:=0.0", "state_timeout:=10.0", "gap_timeout:=10.0")
PARAMETERS += ("ramp:=0.2",)


@pytest.fixture
def context():
    rclpy.init(args=["--ros-args", *(part for each in PARAMETERS for part in ("-p", each))])
    yield
    rclpy.try_shutdown()


@pytest.fixture
def node(context):
    """The bridge's node; nothing executes it but the test."""
    found = BridgeNode()
    yield found
    found._reservation.close()
    found.destroy_node()


def engaged(node):
    """Engage the bridge of the node, with states of a robot at rest."""
    world = World()
    node.core.receive(encode_low_state(world.low_state()), steady_ns())
    node.core.engage(steady_ns())
    wait_for(lambda: node.core.state.value == "ACTIVE", "ACTIVE", lambda: node._tick(steady_ns()))
    return node


def test_it_engages_only_if_a_robot_receives_the_commands(node):
    """Otherwise the first commands would be lost, and the weight would begin above 0."""
    node.core.receive(encode_low_state(World().low_state()), steady_ns())
    recorder, robot = (rclpy.create_node(name) for name in ("rosbag2_recorder", "robot"))
    try:
        recorder.create_subscription(LowCmd, "/arm_sdk", lambda _: None, 1)
        wait_for(lambda: node.count_subscribers("/arm_sdk") == 2, "its listener and the recorder")
        with pytest.raises(RuleSafeError, match="the bridge does not reach the robot: it has not"):
            node._engage(node.core, steady_ns())
        robot.create_subscription(LowCmd, "/arm_sdk", lambda _: None, 1)
        wait_for(lambda: node.count_subscribers("/arm_sdk") == 3, "the robot")
        wait_for(lambda: receivers_of(node, "/arm_sdk") == 1, "the recorder's name")
        assert node._engage(node.core, steady_ns()).startswith("the weight ramps up to 1")
    finally:
        recorder.destroy_node()
        robot.destroy_node()


def chunk(node, steps=10, change=0.0):
    rows = np.tile(node.core.drive.command, (steps, 1))
    rows[:, 3] += change
    return serialize_message(to_trajectory(rows, node._time()))


def test_of_a_flood_of_chunks_only_the_newest_is_processed(context):
    """300 messages at once are one callback, and a lasting flood one every CHUNK_PERIOD."""
    listener, sender = rclpy.create_node("listener"), rclpy.create_node("sender")
    names: list[str] = []
    subscription = listener.create_subscription(
        JointTrajectory, "/flood", lambda message: names.append(message.joint_names[0]), CHUNK_QOS
    )
    every = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
    publisher = sender.create_publisher(JointTrajectory, "/flood", every)
    wait_for(publisher.get_subscription_count)
    executor = SubscriptionExecutor(listener, [], {subscription: CHUNK_PERIOD})
    for i in range(300):
        publisher.publish(JointTrajectory(joint_names=[str(i)]))
    publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=30))
    executor.spin_once(SECOND)
    assert names == ["299"]
    names.clear()
    began = time.monotonic()
    while time.monotonic() - began < 0.5:
        publisher.publish(JointTrajectory(joint_names=["again"]))
        executor.spin_once(0)
    assert 1 <= len(names) <= (time.monotonic() - began) * SECOND / CHUNK_PERIOD + 1
    listener.destroy_node()
    sender.destroy_node()


def test_an_incompatible_publisher_does_not_cause_a_busy_loop(context):
    """Its QoS event makes every wait return immediately."""
    listener, sender = rclpy.create_node("listener"), rclpy.create_node("sender")
    listener.create_subscription(String, STOP_TOPIC, lambda _: None, LATCHED_QOS)
    sender.create_publisher(String, STOP_TOPIC, 10)
    executor = SubscriptionExecutor(listener)

    def returns_early():
        began = time.monotonic()
        executor.spin_once(SECOND)
        return time.monotonic() - began < 0.5

    wait_for(returns_early, "the QoS event")
    calls, began = 0, time.monotonic()
    while time.monotonic() - began < 0.2:
        executor.spin_once(SECOND)
        calls += 1
    assert 1 <= calls <= (time.monotonic() - began) * SECOND / EARLY_RETURN_PAUSE + 1
    listener.destroy_node()
    sender.destroy_node()


def test_bridge_and_supervisor_have_no_qos_event_handlers(node):
    supervisor = supervisor_node.SupervisorNode()
    for each in (*node.inputs, *node.listener.subscriptions, *supervisor.subscriptions):
        assert not each.event_handlers, each.topic_name
    supervisor.destroy_node()


def receive(node, raw: bytes) -> None:
    """Let the bridge receive a message on the topic of chunks."""
    (chunks,) = (each for each in node.inputs if each.topic_name == "/policy/action_chunk")
    assert chunks.qos_profile.depth == 1 and node.periods[chunks] == CHUNK_PERIOD
    chunks.callback(raw, {"publication_sequence_number": 1})


def test_messages_that_are_no_chunk_are_counted_and_change_nothing(node):
    engaged(node)
    receive(node, bytes(MAX_BYTES + 1))
    assert "valid: up to 100000" in node.core.refusal
    receive(node, b"\x00\x01\x00\x00\xff\xff")
    assert node.core.refused == 2 and node.core.state.value == "ACTIVE"
    receive(node, chunk(node))
    assert node.core.accepted == 1


@pytest.mark.parametrize("name", ["intruder", "h1_2_bridge", "h1_2_bridge_supervisor"])
def test_a_second_publisher_while_active_releases_the_robot(node, name):
    """One supervisor is expected; a second one, or a second bridge, is not."""
    engaged(node)
    expected = rclpy.create_node("h1_2_bridge_supervisor")
    publishers = [expected.create_publisher(LowCmd, "/arm_sdk", 10)]
    wait_for(lambda: len(node.get_publishers_info_by_topic("/arm_sdk")) == 2)
    node._check_publishers()
    assert node.core.state.value == "ACTIVE"
    other = rclpy.create_node(name)
    publishers.append(other.create_publisher(LowCmd, "/arm_sdk", 10))
    wait_for(lambda: len(node.get_publishers_info_by_topic("/arm_sdk")) == 3)
    node._check_publishers()
    node._check_publishers()
    assert node.core.state.value == "FAULT"
    assert node.core.reason.startswith("/arm_sdk has another publisher: ")
    assert name in node.core.reason
    wait_for(lambda: not node.core.drive.weight, "weight 0", lambda: node._tick(steady_ns()))
    for each in (expected, other):
        each.destroy_node()


def running(node):
    """Return what replaces `executing`: the node, and an executor without services."""
    services = SimpleNamespace(execute=lambda service: False)
    return lambda *_: nullcontext((node, SimpleNamespace(services=services)))


def test_an_error_of_the_bridge_itself_releases_the_robot(node, monkeypatch):
    engaged(node)
    signals, reasons, release = [], [], node.core.release

    def fail():
        if not signals:
            signals.append(2)
            raise ValueError("a test")

    monkeypatch.setattr(bridge_node, "executing", running(node))
    monkeypatch.setattr(node, "_check_publishers", fail)
    monkeypatch.setattr(node.core, "release", lambda text: (reasons.append(text), release(text)))
    bridge_node._run(signals)
    assert reasons and reasons[0].startswith("internal error: ValueError: a test")
    assert node.released


def test_a_hand_driver_that_fails_stops_no_command_of_the_release(node, monkeypatch):
    engaged(node)

    def fail(*_):
        raise ValueError("a test")

    hands = SimpleNamespace(update=fail, store=lambda sent: None)
    monkeypatch.setattr(node, "_hands", hands)
    node._tick(steady_ns())
    assert node.core.state.value == "FAULT"
    assert node.core.reason.startswith("internal error: ValueError: a test")
    wait_for(lambda: not node.core.drive.weight, "weight 0", lambda: node._tick(steady_ns()))


def test_a_bridge_interrupted_twice_says_with_which_weight_it_ended(node, monkeypatch):
    engaged(node)
    monkeypatch.setattr(bridge_node, "executing", running(node))
    with pytest.raises(RuleSafeError, match=r"interrupted twice: ended with the weight at 1\.00"):
        bridge_node._run([2, 2])
    node.core.disengage(steady_ns())
    wait_for(lambda: node._tick(steady_ns()) or node.released)
    bridge_node._run([2, 2])


@pytest.mark.parametrize("latched", [True, False])
def test_a_stop_on_the_topic_needs_no_service(context, request, latched):
    """The bridge's own executor of subscriptions receives it, also from a publisher with default
    QoS; a latched one was published before the bridge subscribed."""
    sender = rclpy.create_node("sender")
    publisher = sender.create_publisher(String, STOP_TOPIC, LATCHED_QOS if latched else 10)
    if latched:
        publisher.publish(String(data="a test"))
    node = engaged(request.getfixturevalue("node"))
    executor = SubscriptionExecutor(node.listener, node.polled, node.periods)

    def damps():
        if not latched:
            publisher.publish(String(data="a test"))
        executor.spin_once(0)
        return node.core.state.value == "DAMPING"

    wait_for(damps)
    assert node.core.reason == "stop requested by a test"
    sender.destroy_node()


def test_a_stop_while_the_supervisor_commands_is_passed_on(node):
    engaged(node)
    node.core._mute("a test", steady_ns())
    receiver = rclpy.create_node("receiver")
    received: list[str] = []
    receiver.create_subscription(String, STOP_TOPIC, lambda m: received.append(m.data), 10)
    wait_for(lambda: node._stops.get_subscription_count() == 2)  # one is the bridge's own
    node.core.stop("a test")
    node._publish_state()
    wait_for(lambda: rclpy.spin_once(receiver, timeout_sec=0) or received)
    assert received == ["a test"]
    receiver.destroy_node()


def test_the_clock_advances_while_the_machine_is_suspended(monkeypatch):
    """Before the first suspension CLOCK_BOOTTIME agrees with CLOCK_MONOTONIC, so that the test
    replaces it."""
    monkeypatch.setattr(time, "clock_gettime_ns", {time.CLOCK_BOOTTIME: 7}.__getitem__)
    assert steady_ns() == 7
    for module in (bridge_node, supervisor_node):
        assert module.steady_ns is steady_ns and not hasattr(module, "time")


def test_a_refusal_for_another_reason_is_logged_at_once(node, monkeypatch):
    engaged(node)
    logged: list[str] = []
    monkeypatch.setattr(node, "get_logger", lambda: SimpleNamespace(warning=logged.append))
    for _ in range(3):
        receive(node, bytes(MAX_BYTES + 1))
        receive(node, chunk(node, change=1.5))
    assert [line.partition(" refused: ")[2][:20] for line in logged] == [
        "the message has 1000",
        "the chunk jumps: rig",
    ]
