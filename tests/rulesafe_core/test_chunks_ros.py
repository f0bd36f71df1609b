"""Publisher and receiver of action chunks, and messages that are published again."""

import time
from unittest.mock import Mock

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from waiting import wait_for

from rulesafe_core import exclusive_ros
from rulesafe_core.chunks import REPEAT_AFTER, SECOND
from rulesafe_core.chunks_ros import CHUNKS, MAX_BYTES, ChunkPublisher, ChunkReceiver
from rulesafe_core.convert import STATE_QOS, to_trajectory
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.exclusive_ros import RECENT, STREAM_RATE, ExclusiveTopic
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
        """Name of the node that published the last chunk."""
        return self.receiver.exclusive.publisher()

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


def test_the_first_publisher_is_kept_and_the_second_is_refused_and_named(robot):
    first = robot.publisher("planner")
    for stamp in (1, 2, 3):
        robot.receive(first, stamp)
    assert first.others() == ""
    second = robot.publisher("teleop")
    robot.until(first.others)
    assert first.others() == f"/{CHUNKS} has another publisher: teleop"
    assert second.others() == f"/{CHUNKS} has another publisher: planner"
    for publisher, stamp in ((second, 4), (first, 5), (second, 6), (first, 7), (second, 8)):
        robot.receive(publisher, stamp)
    assert robot.accepted == [("planner", stamp, 7) for stamp in (1, 2, 3, 5, 7)]
    reason = f"/{CHUNKS} has two publishers, planner and teleop; end one of them"
    assert robot.refused == 3 * [(reason, "teleop", None)]
    assert robot.receiver.exclusive.trouble() == reason
    robot.receiver.exclusive.release()  # as at a new episode
    robot.receive(second, 9)
    robot.receive(first, 10)
    assert robot.accepted[-1] == ("teleop", 9, 7)


def test_another_publisher_follows_one_that_has_ended(robot):
    first = robot.publisher("planner")
    for stamp in (1, 2, 3):
        robot.receive(first, stamp)
    first._node.destroy_publisher(first.publisher)
    second = robot.publisher("teleop")
    robot.until(lambda: robot.node.count_publishers(CHUNKS) == 1)
    robot.receive(second, 4)
    assert robot.accepted[-1] == ("teleop", 4, 7) and not robot.refused


def test_equal_sequence_numbers_of_two_publishers_are_of_neither(robot):
    one, two = robot.publisher("planner"), robot.publisher("teleop")
    robot.receive(one, 1)
    robot.receive(two, 2)
    robot.receive(two, 3)
    robot.receive(one, 4)
    assert [stamp for _, stamp, _ in robot.accepted] == [1]
    assert {refusal[1] for refusal in robot.refused[1:]} == {"planner or teleop"}


class Numbers:
    """The messages of the publishers that DDS lists, by their sequence numbers only."""

    def __init__(self, monkeypatch, *listed: str) -> None:
        self.listed, self.time = listed, 0.0
        monkeypatch.setattr(
            exclusive_ros, "publishers_of", lambda *_: {n.encode(): n for n in self.listed}
        )
        monkeypatch.setattr(exclusive_ros.time, "monotonic", lambda: self.time)
        self.topic = ExclusiveTopic(Mock(), "/lowstate", RECENT, STREAM_RATE)

    def accepts(self, number: int) -> bool:
        self.time += 0.002
        try:
            self.topic.check({"publication_sequence_number": number})
        except RuleSafeError as error:
            assert self.topic.trouble() == str(error)
            return False
        return True


def test_messages_of_two_robots_are_told_apart_although_many_are_lost(monkeypatch):
    robots = Numbers(monkeypatch, "one", "two")
    rng = np.random.default_rng(0)
    for first, second in zip(range(5000, 9000, 7), range(80_000, 90_000, 5), strict=False):
        first, second = first + int(rng.integers(7)), second + int(rng.integers(5))
        assert robots.accepts(first) and not robots.accepts(second)


def test_a_second_publisher_that_is_silent_does_not_matter(monkeypatch):
    robot = Numbers(monkeypatch, "robot", "silent")
    assert all(robot.accepts(number) for number in range(700, 3000, 3))
    robot.time += 1.1  # the robot has restarted
    assert all(robot.accepts(number) for number in range(1, 200))


@pytest.mark.parametrize("displaced", [True, False])
def test_a_robot_keeps_its_topic_while_its_messages_are_lost(monkeypatch, displaced):
    """Those of the second robot displace them, or the node pauses."""
    robots = Numbers(monkeypatch, "one", "two")
    first, second = 5000, 4000
    assert all(robots.accepts(number) for number in range(first - 100, first))
    assert not robots.accepts(second)
    for _ in range(5):
        if displaced:
            assert not any(robots.accepts(second + number) for number in range(1, 300))
        else:
            robots.time += 0.6
        first, second = first + 300, second + 300
        assert not any(robots.accepts(second + number) for number in range(10))
        assert all(robots.accepts(first + number) for number in range(10))


def test_a_message_may_arrive_before_its_publisher_is_listed(monkeypatch):
    robots = Numbers(monkeypatch, "one")
    assert all(robots.accepts(number) for number in range(700, 800))
    assert not any(robots.accepts(number) for number in range(1, 90))
    robots.listed = ("one", "two")
    assert not any(robots.accepts(number) for number in range(90, 200))
    assert robots.accepts(800)


def test_the_second_publisher_follows_when_the_first_has_ended(monkeypatch):
    robots = Numbers(monkeypatch, "one")
    assert all(robots.accepts(number) for number in range(1, 100))
    robots.listed = ("one", "two")
    assert not any(robots.accepts(number) for number in range(5000, 5400))
    assert robots.accepts(100), "the first one publishes, too"
    assert not robots.accepts(5400)
    robots.listed = ("two",)
    assert sum(robots.accepts(number) for number in range(5401, 5601)) >= 140, "within 0.1 s"


def test_a_publisher_that_has_ended_causes_no_refusal(monkeypatch):
    """The first one continues at its numbers; a third one is listed and silent."""
    robots = Numbers(monkeypatch, "one")
    assert all(robots.accepts(number) for number in range(1, 11))
    robots.listed = ("one", "two")
    assert not any(robots.accepts(number) for number in range(500, 600))
    robots.listed = ("one", "silent")
    robots.time += 0.1
    assert all(robots.accepts(number) for number in range(11, 900))


def test_a_publisher_that_lost_many_messages_beside_a_silent_one_is_accepted_again(monkeypatch):
    robot = Numbers(monkeypatch, "robot", "silent")
    assert all(robot.accepts(number) for number in range(1, 100))
    assert not any(robot.accepts(number) for number in range(300, 10_000)), "19.4 s"
    assert sum(robot.accepts(number) for number in range(10_000, 11_000)) >= 600


def test_two_robots_with_equal_numbers_are_never_accepted_again(monkeypatch):
    robots = Numbers(monkeypatch, "one", "two")
    assert robots.accepts(1) and not robots.accepts(1)
    assert not any(robots.accepts(number) for number in range(2, 6000) for _ in range(2))


def test_a_first_publisher_whose_messages_are_displaced_is_kept(monkeypatch):
    """In a queue of one message, those of the second robot replace its messages for seconds."""
    robots = Numbers(monkeypatch, "one", "two")
    assert robots.accepts(1)
    assert not any(robots.accepts(number) for number in range(1000, 3000))
    assert robots.accepts(2)


def test_the_only_publisher_may_lose_any_number_of_messages(monkeypatch):
    robot = Numbers(monkeypatch, "robot")
    assert all(robot.accepts(number) for number in (5, 6, 50_000, 50_001, 60_000))
    robot.listed = ()  # it has ended; its last message is still in the queue
    assert robot.accepts(3)


def test_a_refusal_has_its_reason_and_the_publisher(robot):
    publisher = robot.publisher("policy")
    robot.valid = False
    robot.receive(publisher, 1)
    reason, name, chunk = robot.refused[0]
    assert (reason, name, chunk.stamp) == ("too fast", "policy", 1)
    for number, (raw, expected) in enumerate(
        (
            (bytes(MAX_BYTES + 1), f"valid: up to {MAX_BYTES}"),
            (b"\x00\x01\x00\x00\xff\xff", ""),
            (serialize_message(to_trajectory(STEPS[:, :12], 1)), "12"),
        )
    ):
        robot.receiver.receive(raw, {"publication_sequence_number": number + 2})
        reason, name, chunk = robot.refused[-1]
        assert (name, chunk) == ("policy", None) and expected in reason
    assert len(serialize_message(to_trajectory(np.zeros((500, 13)), SECOND))) < MAX_BYTES
    assert not robot.accepted
