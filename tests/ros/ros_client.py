"""A test node that receives all messages of an episode and publishes chunks."""

import time
from collections.abc import Callable

import numpy as np
from rclpy.client import Client as ServiceClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rulesafe_core import convert, messages
from rulesafe_core.chunks import PERIOD
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_interfaces.srv import ResetEpisode

ALL_QOS = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE)
"""A queue for all messages that arrive while a test waits for the CPU."""

DISCOVERY_DELAY = 1.0
"""Wall time in which a node that was just discovered has discovered the others, s."""

PATIENCE = 180.0
"""Timeout of an expected event, s of wall time."""


class Client(Node):
    """Receives all messages of an episode, and publishes chunks."""

    def __init__(self) -> None:
        super().__init__("test_client")
        self.clocks: list[int] = []
        self.joint_states: list[JointState] = []
        self.statuses: list[EpisodeStatus] = []
        self.executor_ = SingleThreadedExecutor()
        self.executor_.add_node(self)
        for kind, topic, store in (
            (Clock, "/clock", lambda m: self.clocks.append(messages.to_ns(m.clock))),
            (JointState, "/joint_states", self.joint_states.append),
            (EpisodeStatus, "/episode/status", self.statuses.append),
        ):
            self.create_subscription(kind, topic, store, ALL_QOS)
        self._chunks = self.create_publisher(
            JointTrajectory, "/policy/action_chunk", convert.STATE_QOS
        )
        self._met: list[ServiceClient] = []
        self._reset = self.create_client(ResetEpisode, "/episode/reset")

    def destroy_node(self) -> None:
        """Destroy the node, after its executor, which refers to publishers until shut down."""
        self.executor_.shutdown()
        super().destroy_node()

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Spin until the condition is true; fail after PATIENCE."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{what}: not within {PATIENCE:g} s"
            self.executor_.spin_once(timeout_sec=0.1)

    def settle(self) -> None:
        """Spin for SETTLE, so that other nodes discover what this node has discovered."""
        end = time.monotonic() + DISCOVERY_DELAY
        while time.monotonic() < end:
            self.executor_.spin_once(timeout_sec=0.1)

    def until_heard_by(self, node: str, *topics: str) -> None:
        """Wait until a node whose name ends with `node` subscribes to the topics and the publishers
        have discovered it. Counting subscribers is not enough: some may be of an earlier test."""

        def heard(topic: str) -> bool:
            infos = self.get_subscriptions_info_by_topic(topic)
            return any(info.node_name.endswith(node) for info in infos)

        self.until(lambda: all(map(heard, topics)), f"subscriptions of {topics} by {node}")
        self.settle()

    def until_recorded(self, publisher: Publisher) -> None:
        """Wait until a recorder and all other subscribers receive what is published."""
        topic = publisher.topic_name
        self.until_heard_by("recorder", topic)
        self.until(
            lambda: publisher.get_subscription_count() >= self.count_subscribers(topic),
            f"all subscriptions of {topic}",
        )

    def meet(self, caller: ServiceClient) -> None:
        """Wait for a service, and the first time for its discovery of this client: until then, its
        response may be lost."""
        assert caller.wait_for_service(PATIENCE), f"no {caller.srv_name}"
        if caller not in self._met:
            self._met.append(caller)
            self.settle()

    @property
    def status(self) -> EpisodeStatus:
        """The newest status; waits for the first one, since a node that this one has not heard of
        yet may already serve others."""
        self.until(lambda: self.statuses, "/episode/status")
        return self.statuses[-1]

    @property
    def joints(self) -> JointState:
        """The newest joint state; waits for the first one."""
        self.until(lambda: self.joint_states, "/joint_states")
        return self.joint_states[-1]

    @property
    def now(self) -> int:
        """Stamp of the newest status, ns."""
        return messages.to_ns(self.status.header.stamp)

    def wait_for_turn(self) -> EpisodeStatus:
        """Return the next status that waits for a chunk."""
        self.statuses.clear()
        self.until(lambda: self.status.waiting, "the simulation waits")
        return self.status

    def time_stops(self) -> bool:
        """Return whether the simulation waits for a chunk and executes none for a second."""
        self.statuses.clear()
        self.settle()
        return len({status.frame for status in self.statuses}) == 1 and self.status.waiting

    def reset(
        self, rule: str = "", safe: str = "", seed: int = 0, variation: str = ""
    ) -> ResetEpisode.Response:
        self.meet(self._reset)
        request = ResetEpisode.Request(rule=rule, safe=safe, seed=seed, variation=variation)
        asked: list[tuple[float, Future]] = []

        def answered():
            # The response may be lost if the server has not yet discovered the client. The request
            # is repeated, as in the evaluator.
            if not asked or time.monotonic() - asked[-1][0] > PATIENCE / 3:
                asked.append((time.monotonic(), self._reset.call_async(request)))
            return any(future.done() for _, future in asked)

        self.until(answered, "the reply of /episode/reset")
        return next(future.result() for _, future in asked if future.done())

    def send(self, rows, stamp: int, joints=ACTION_JOINTS) -> None:
        """Publish a chunk (n, 13) at 10 Hz when the simulation subscribes to it."""
        self.until(self._chunks.get_subscription_count, "a subscriber of /policy/action_chunk")
        message = JointTrajectory(joint_names=list(joints))
        message.header.stamp = convert.to_time(stamp)
        for i, row in enumerate(np.asarray(rows, float), 1):
            point = JointTrajectoryPoint(positions=[float(value) for value in row])
            point.time_from_start.nanosec = i * PERIOD % 10**9
            point.time_from_start.sec = i * PERIOD // 10**9
            message.points.append(point)
        self._chunks.publish(message)
