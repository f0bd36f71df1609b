"""Publisher and receiver of action chunks, and messages that are published again."""

import time

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from waiting import wait_for

from rulesafe_core.chunks import REPEAT_AFTER, SECOND
from rulesafe_core.chunks_ros import CHUNKS, MAX_BYTES, ChunkPublisher, ChunkReceiver
from rulesafe_core.convert import STATE_QOS, to_trajectory
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.repeated_ros import RepeatedPublisher
from rulesafe_core.ros import publishers_of, ros_context

pytestmark = pytest.mark.ros

STEPS = np.arange(26.0).reshape(2, 13)


class Robot:
    """A receiver, and the nodes of its publishers."""

    def __init__(self):
        self.executor = SingleThreadedExecutor()
        self.node = self.add("robot")
        self.accepted, self.refused, self.valid = [], [], True
        self.receiver = ChunkReceiver(
            self.node, lambda: 7, self.accept, lambda *refusal: self.refused.append(refusal)
        )

    def add(self, name: str) -> Node:
        node = rclpy.create_node(name)
        self.executor.add_node(node)
        return node

    def accept(self, chunk, now):
        if not self.valid:
            raise RuleSafeError("too fast")
        self.accepted.append((self.name, chunk.stamp, now))

    @property
    def name(self) -> str:
        """Name of the node that published the last chunk; empty if the receiver does not know."""
        return publishers_of(self.node, CHUNKS).get(self.receiver.publisher, "")

    def until(self, condition) -> None:
        wait_for(condition, turn=lambda: self.executor.spin_once(timeout_sec=0.05))

    def publisher(self, name: str) -> ChunkPublisher:
        """Return a publisher of a new node, which the receiver has discovered and knows by name."""
        publisher = ChunkPublisher(self.add(name))
        self.until(publisher.publisher.get_subscription_count)
        self.until(lambda: name in publishers_of(self.node, CHUNKS).values())
        return publisher

    def receive(self, publisher: ChunkPublisher, stamp: int) -> None:
        count = len(self.accepted) + len(self.refused)
        publisher.send(STEPS, stamp)
        self.until(lambda: len(self.accepted) + len(self.refused) > count)


@pytest.fixture
def robot():
    with ros_context():
        found = Robot()
        yield found
        nodes = found.executor.get_nodes()
        found.executor.shutdown()
        for node in nodes:
            node.destroy_node()


def test_a_lost_chunk_is_published_again_at_its_stamp_only(robot):
    publisher = robot.publisher("policy")
    assert not publisher.resend(5), "nothing was published"
    robot.receive(publisher, 5)
    published = time.monotonic()
    assert not publisher.resend(6), "time has advanced"
    robot.until(lambda: publisher.resend(5) and len(robot.accepted) > 1)
    assert time.monotonic() - published >= REPEAT_AFTER
    assert robot.accepted == 2 * [("policy", 5, 7)]
    publisher.forget()
    assert not publisher.resend(5), "it belongs to a past episode"


def test_only_the_last_message_is_repeated(robot):
    publisher, received = RepeatedPublisher(robot.node, String, "/text", STATE_QOS), []
    robot.node.create_subscription(String, "/text", lambda m: received.append(m.data), STATE_QOS)
    robot.until(publisher.publisher.get_subscription_count)
    assert not publisher.repeat(0)
    for text in "ab":
        publisher.publish(String(data=text))
    assert publisher.repeat(0) and not publisher.repeat(60.0)
    robot.until(lambda: len(received) == 3)
    assert received == ["a", "b", "b"]


def test_publishers_are_identified_by_their_sequence_numbers(robot):
    first = robot.publisher("planner")
    for stamp in (1, 2, 3):
        robot.receive(first, stamp)
    assert first.others() == ""
    second = robot.publisher("teleop")
    robot.until(first.others)
    assert first.others() == f"{CHUNKS} has another publisher: teleop"
    assert second.others() == f"{CHUNKS} has another publisher: planner"
    for publisher, stamp in ((second, 4), (first, 5), (second, 6), (first, 7)):
        robot.receive(publisher, stamp)
    names = [name for name, _, _ in robot.accepted]
    assert names == [*3 * ["planner"], "teleop", "planner", "teleop", "planner"]


def test_equal_sequence_numbers_of_two_publishers_identify_neither(robot):
    one, two = robot.publisher("planner"), robot.publisher("teleop")
    robot.valid = False
    robot.receive(one, 1)
    assert robot.receiver.publisher is None
    robot.receive(two, 1)
    assert [refusal[:2] for refusal in robot.refused] == 2 * [("too fast", "planner or teleop")]


def test_a_refusal_has_its_reason_and_the_publisher(robot):
    publisher = robot.publisher("policy")
    robot.valid = False
    robot.receive(publisher, 1)
    reason, name, chunk = robot.refused[0]
    assert (reason, name, chunk.stamp) == ("too fast", "policy", 1)
    for raw, expected in (
        (bytes(MAX_BYTES + 1), f"valid: up to {MAX_BYTES}"),
        (b"\x00\x01\x00\x00\xff\xff", ""),
        (serialize_message(to_trajectory(STEPS[:, :12], 1)), "12"),
    ):
        robot.receiver.receive(raw, {"publication_sequence_number": 2})
        reason, name, chunk = robot.refused[-1]
        assert (name, chunk) == ("policy", None) and expected in reason
    assert len(serialize_message(to_trajectory(np.zeros((500, 13)), SECOND))) < MAX_BYTES
    assert not robot.accepted
