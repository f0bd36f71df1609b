"""The supervisor's node: its inputs, its heartbeat after a signal, and when its process may end.

The times of the ramp are tested in test_supervisor.py.
"""

import signal
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from std_msgs.msg import String
from unitree_hg.msg import LowCmd as LowCmdMessage
from user import PATIENCE, RAMP
from waiting import wait_for

from h1_2_bridge.outputs import load_output
from h1_2_bridge.realtime import steady_ns
from h1_2_bridge.ros import LISTENER, STOP_TOPIC
from h1_2_bridge.supervisor import Turn
from h1_2_bridge.supervisor_node import BRIDGE, TOPIC, SupervisorNode
from h1_2_bridge.wire import encode_low_cmd
from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import LATCHED_QOS
from rulesafe_interfaces.msg import BridgeState, SupervisorState

pytestmark = pytest.mark.ros


@pytest.fixture
def context():
    rclpy.init(args=["--ros-args", "-p", "ramp:=0.5", "-p", "patience:=0.1"])
    yield
    rclpy.try_shutdown()


@pytest.fixture
def node(context):
    """The supervisor's node; nothing executes it but the test."""
    found = SupervisorNode()
    yield found
    found.destroy_node()


def command(weight: float) -> bytes:
    return encode_low_cmd(load_output("arm_sdk").command(np.zeros(27), weight, np.zeros(27), 6))


class Ticks:
    """Calls the node's update in virtual time, which starts now.

    Attributes:
        now: ns.
        signals: number of signals that the process has received.
    """

    def __init__(self, node: SupervisorNode) -> None:
        self._node, self.now, self.signals = node, steady_ns(), 0

    def run(self, seconds: float, *commands: bytes) -> None:
        """Run ticks; the bridge sends `commands` before each of them."""
        for _ in range(round(seconds * SECOND / self._node.period)):
            self.now += self._node.period
            for raw in commands:
                self._node.supervisor.receive(raw, self.now)
            self._node.update(self.now, self.signals)

    def take_over(self) -> None:
        """Run a takeover from the bridge until weight 0 is repeated."""
        self.run(0.5, command(1.0))
        self.run(1.0)
        assert self._node.supervisor.turn is Turn.RELEASED


@pytest.mark.parametrize("latched", [True, False])
def test_a_stop_is_received(context, request, latched):
    """A latched one from before the node, and one of a publisher with default QoS."""
    sender = rclpy.create_node("sender")
    publisher = sender.create_publisher(String, STOP_TOPIC, LATCHED_QOS if latched else 10)
    publisher.publish(String(data="a test"))
    node = request.getfixturevalue("node")

    def received():
        if not latched:
            publisher.publish(String(data="a test"))
        rclpy.spin_once(node, timeout_sec=0)
        return node.supervisor.counts.stops

    wait_for(received)
    sender.destroy_node()


def test_programs_that_only_listen_are_no_robot(node):
    beats = []
    listener = rclpy.create_node("listener")
    listener.create_subscription(SupervisorState, "/bridge/supervisor", beats.append, 10)
    names = ("rulesafe_bag_recorder", "_ros2cli_123", "rosbag2_recorder", LISTENER)
    others = [rclpy.create_node(name) for name in names]
    for each in others:
        each.create_subscription(LowCmdMessage, TOPIC, lambda message: None, 10)
    ticks = Ticks(node)

    def reported(count: int) -> bool:
        ticks.run(0.1)
        rclpy.spin_once(listener, timeout_sec=0.1)
        return bool(beats) and beats[-1].receivers == count

    named = {*names, "h1_2_bridge_supervisor"}
    wait_for(lambda: {i.node_name for i in node.get_subscriptions_info_by_topic(TOPIC)} == named)
    wait_for(lambda: reported(0))
    robot = rclpy.create_node("robot_side_node")
    robot.create_subscription(LowCmdMessage, TOPIC, lambda message: None, 10)
    wait_for(lambda: reported(1))
    for each in (listener, robot, *others):
        each.destroy_node()


def test_a_subscription_without_a_name_yet_is_no_robot(node, monkeypatch):
    """Such as the bridge's own: the bridge would engage, and release 20 ms later."""
    counts = iter([1] * 9 + [0] + [1] * 12)
    beats = []
    name = "h1_2_bridge.supervisor_node.receivers_of"
    monkeypatch.setattr(name, lambda *_: next(counts))
    monkeypatch.setattr(node, "_heartbeat", SimpleNamespace(publish=beats.append))
    ticks = Ticks(node)
    while len(beats) < 22:
        ticks.run(0.05)
    assert [beat.receivers for beat in beats] == [0] * 19 + [1] * 3


def test_the_bridges_report_of_weight_0_ends_the_takeover(node):
    ticks = Ticks(node)
    ticks.take_over()
    bridge = rclpy.create_node(BRIDGE)
    reports = bridge.create_publisher(BridgeState, "/bridge/state", 10)

    def ended():
        reports.publish(BridgeState(weight=0.0))
        rclpy.spin_once(node, timeout_sec=0)
        ticks.run(0.1)
        return node.supervisor.turn is Turn.NONE

    wait_for(ended)
    bridge.destroy_node()


def test_after_a_takeover_it_may_end_without_a_bridge_only(node):
    """A bridge whose process exists may be paused, and may then send an old command."""
    bridge = rclpy.create_node(BRIDGE)
    bridge.create_publisher(LowCmdMessage, TOPIC, 10)
    wait_for(lambda: BRIDGE in [i.node_name for i in node.get_publishers_info_by_topic(TOPIC)])
    ticks = Ticks(node)
    ticks.take_over()
    assert not node.idle
    bridge.destroy_node()
    wait_for(lambda: node.idle)


def test_after_a_signal_the_heartbeat_continues_in_a_takeover_only(node, monkeypatch):
    """Without a heartbeat the bridge releases the robot. A bridge that was paused learns from the
    heartbeat that the supervisor has released the robot."""
    weights: list[float] = []
    publisher = SimpleNamespace(publish=lambda message: weights.append(message.weight))
    monkeypatch.setattr(node, "_heartbeat", publisher)

    def published(seconds, *commands):
        weights.clear()
        ticks.run(seconds, *commands)
        return list(weights)

    ticks = Ticks(node)
    assert len(published(1.0, command(1.0))) == 20
    ticks.signals = 1
    assert node.supervisor.turn is Turn.BRIDGE and published(1.0, command(1.0)) == []
    takeover = published(0.5)
    assert node.supervisor.turn is Turn.SUPERVISOR
    assert 7 <= len(takeover) <= 9 and (np.diff(takeover) < 0).all()
    ticks.run(0.2)
    assert node.supervisor.turn is Turn.RELEASED and published(1.0) == [0.0] * 20
    node.supervisor.bridge_reported(0.0, ticks.now)
    ticks.run(0.5)
    assert node.supervisor.turn is Turn.NONE and published(1.0) == []


def test_the_heartbeat_tells_of_a_pending_stop(node, monkeypatch):
    beats: list[SupervisorState] = []
    publisher = SimpleNamespace(publish=beats.append)
    monkeypatch.setattr(node, "_heartbeat", publisher)
    ticks = Ticks(node)
    ticks.run(0.2)
    node._on_stop(String(data="a test"))
    ticks.run(0.2)
    assert [beat.stop_pending for beat in (*beats[:2], beats[-1])] == [False, False, True]


def test_interrupted_in_a_takeover_it_ends_after_the_report_of_a_paused_bridge(
    robot, bridge, start_supervisor, user
):
    """In processes: the bridge is paused until the supervisor has released the robot."""
    robot.late = 1
    beats: list[SupervisorState] = []
    user.create_subscription(SupervisorState, "/bridge/supervisor", beats.append, 100)
    supervisor = start_supervisor(RAMP, 3.0)
    process = bridge(gap_timeout=2.5, supervisor_timeout=2.5)
    user.engage()
    user.until(lambda: beats and beats[-1].weight == 1.0, "the supervisor receives commands")
    process.process.send_signal(signal.SIGSTOP)
    user.until(lambda: 0 <= beats[-1].weight < 1, "the takeover")
    supervisor.send_signal(signal.SIGINT)
    beats.clear()
    user.until(lambda: len(beats) > 30 and beats[-1].weight == 0, "heartbeats after the signal")
    process.process.send_signal(signal.SIGCONT)
    user.until_state("FAULT")
    assert supervisor.wait(PATIENCE) == 0
    assert process.process.poll() is None, "the bridge is not the reason why the supervisor ended"
    assert process.stop() == 0
    robot.until_weight_is_zero()
    record = robot.record()
    assert record.weight[-1] == 0.0
    record = record.where(~record.late)
    assert (np.diff(record.weight[record.weight.argmax() :]) <= 0).all()
