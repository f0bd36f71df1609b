"""A test's own node: hears everything of an episode and sends chunks."""

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
"""Room for all that comes while a test waits for the processor."""

SETTLE = 1.0
"""s of wall time in which a node that was just found has found the others too."""

PATIENCE = 60.0
"""s of wall time after which something that should happen has not."""


class Client(Node):
    """Hears everything of an episode and sends chunks."""

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

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Spins until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{what}: not within {PATIENCE:g} s"
            self.executor_.spin_once(timeout_sec=0.1)

    def settle(self) -> None:
        """Lets nodes find each other: what this one sees of the graph, another may not see yet."""
        end = time.monotonic() + SETTLE
        while time.monotonic() < end:
            self.executor_.spin_once(timeout_sec=0.1)

    def until_heard_by(self, node: str, *topics: str) -> None:
        """Waits until a node whose name ends so subscribes to the topics, and those who publish
        them know. Not by their count: readers of an earlier test may still be in it."""

        def heard(topic: str) -> bool:
            infos = self.get_subscriptions_info_by_topic(topic)
            return any(info.node_name.endswith(node) for info in infos)

        self.until(lambda: all(map(heard, topics)), f"subscriptions of {topics} by {node}")
        self.settle()

    def until_recorded(self, publisher: Publisher) -> None:
        """Waits until a recorder, and who else subscribes, gets what is published."""
        topic = publisher.topic_name
        self.until_heard_by("recorder", topic)
        self.until(
            lambda: publisher.get_subscription_count() >= self.count_subscribers(topic),
            f"all subscriptions of {topic}",
        )

    def meet(self, caller: ServiceClient) -> None:
        """Waits for a service, the first time a little longer: a server may hear a client before
        it knows where to send the answer, which is lost then."""
        assert caller.wait_for_service(PATIENCE), f"no {caller.srv_name}"
        if caller not in self._met:
            self._met.append(caller)
            self.settle()

    @property
    def status(self) -> EpisodeStatus:
        return self.statuses[-1]

    @property
    def now(self) -> int:
        """Stamp of the last status, ns; -1 before the first one."""
        return messages.to_ns(self.status.header.stamp) if self.statuses else -1

    def wait_for_turn(self) -> EpisodeStatus:
        """The next status that asks for a chunk."""
        self.statuses.clear()
        self.until(lambda: self.statuses and self.status.waiting, "the simulation waits")
        return self.status

    def reset(self, rule: str = "", safe: str = "", seed: int = 0) -> ResetEpisode.Response:
        self.meet(self._reset)
        request = ResetEpisode.Request(rule=rule, safe=safe, seed=seed)
        asked: list[tuple[float, Future]] = []

        def answered():
            # A server may know of a client's question before its answers find the client: asked
            # again, as the evaluator does.
            if not asked or time.monotonic() - asked[-1][0] > PATIENCE / 3:
                asked.append((time.monotonic(), self._reset.call_async(request)))
            return any(future.done() for _, future in asked)

        self.until(answered, "the reply of /episode/reset")
        return next(future.result() for _, future in asked if future.done())

    def send(self, rows, stamp: int, joints=ACTION_JOINTS) -> None:
        """Publishes a chunk (n, 13) at 10 Hz, once the simulation listens."""
        self.until(self._chunks.get_subscription_count, "a subscriber of /policy/action_chunk")
        message = JointTrajectory(joint_names=list(joints))
        message.header.stamp = convert.to_time(stamp)
        for i, row in enumerate(np.asarray(rows, float), 1):
            point = JointTrajectoryPoint(positions=[float(value) for value in row])
            point.time_from_start.nanosec = i * PERIOD % 10**9
            point.time_from_start.sec = i * PERIOD // 10**9
            message.points.append(point)
        self._chunks.publish(message)
