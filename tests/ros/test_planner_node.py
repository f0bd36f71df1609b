"""Tests of the planner node with joint states and statuses that are published here."""

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core import convert, messages
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_sim.convert import to_joint_state, to_status
from rulesafe_sim.simulation import Simulation

pytestmark = pytest.mark.ros


class Robot:
    """Publishes joint states and statuses of a robot at rest, and receives the planner's chunks.

    Attributes:
        joints_at, status_at: stamps of the joint states and of the statuses, ns.
    """

    def __init__(self, client, waiting: bool):
        self.joints_at = self.status_at = 0
        self.chunks: list[JointTrajectory] = []
        self._simulation, self._waiting = Simulation(), waiting
        self._simulation.reset("rule_003", "safe_01", 5)
        self._joints = client.create_publisher(JointState, "/joint_states", 10)
        self._status = client.create_publisher(EpisodeStatus, "/episode/status", 10)
        qos = convert.STATE_QOS
        client.create_subscription(JointTrajectory, "/policy/action_chunk", self.chunks.append, qos)
        client.create_timer(0.05, self._publish)

    def _publish(self) -> None:
        simulation, state = self._simulation, self._simulation.state()
        facts = {"safe": "safe_01", "episode": 1, "waiting": self._waiting, "clipped": 0}
        self._joints.publish(to_joint_state(state, self.joints_at))
        self._status.publish(to_status(simulation, state, self.status_at, **facts))

    def stamps(self) -> list[int]:
        return [messages.to_ns(chunk.header.stamp) for chunk in self.chunks]


def test_without_lock_step_a_chunk_starts_now_and_the_next_one_at_its_end(client, start):
    robot = Robot(client, waiting=False)
    robot.joints_at = 7 * SECOND  # time has passed since the status
    start("planner_node.node")
    client.until(lambda: robot.chunks, "a chunk")
    assert robot.stamps() == [7 * SECOND]
    end = 7 * SECOND + len(robot.chunks[0].points) * PERIOD
    robot.joints_at = robot.status_at = end - 1
    client.settle()
    robot.joints_at = robot.status_at = end
    client.until(lambda: len(robot.chunks) > 1, "the next chunk")
    assert robot.stamps() == [7 * SECOND, end]


def test_a_lost_chunk_is_sent_again(client, start):
    robot = Robot(client, waiting=True)
    start("planner_node.node")
    client.until(lambda: len(robot.chunks) > 1, "the chunk, and the same again")
    assert robot.chunks[0] == robot.chunks[1] and robot.stamps()[0] == 0
