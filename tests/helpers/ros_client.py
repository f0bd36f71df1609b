"""A test node that receives all messages of an episode and publishes chunks."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.client import Client as ServiceClient
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core import convert, messages
from rulesafe_core.chunks_ros import CHUNKS
from rulesafe_core.client_node import ClientNode
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.repeated_ros import RepeatedRequest
from rulesafe_eval.recorder_ros import DISCOVERY_DELAY
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_interfaces.srv import ResetEpisode

ALL_QOS = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE)
"""A queue for all messages that arrive while a test waits for the CPU."""

SETTLE = 1.0
"""Wall time in which messages that were sent are received, s."""

PATIENCE = 180.0
"""Timeout of an expected event, s of wall time."""


class PatientNode(ClientNode):
    """A node that waits for conditions, and fails after PATIENCE."""

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Spin until the condition is true."""
        assert self.spin_until(condition, PATIENCE), f"{what}: not within {PATIENCE:g} s"

    def ask_again(self, send: Callable[[], Future], what: str) -> Any:
        """Return the response of a service whose repeated requests have the same effect."""
        request = RepeatedRequest(send, PATIENCE / 3)
        self.until(request.poll, what)
        return request.response.result()


class Client(PatientNode):
    """Receives all messages of an episode, and publishes chunks."""

    def __init__(self) -> None:
        super().__init__("test_client")
        self.clocks: list[int] = []
        self.joint_states: list[JointState] = []
        self.statuses: list[EpisodeStatus] = []
        for kind, topic, store in (
            (Clock, "/clock", lambda m: self.clocks.append(messages.to_ns(m.clock))),
            (JointState, "/joint_states", self.joint_states.append),
            (EpisodeStatus, "/episode/status", self.statuses.append),
        ):
            self.create_subscription(kind, topic, store, ALL_QOS)
        self._chunks = self.create_publisher(JointTrajectory, CHUNKS, convert.STATE_QOS)
        self._met: list[object] = []
        self._reset = self.create_client(ResetEpisode, "/episode/reset")

    def settle(self, duration: float = SETTLE) -> None:
        """Spin for a duration, s of wall time."""
        self.spin_for(duration)

    def until_discovered(self, caller: object) -> None:
        """Wait, the first time, until the server of one of this node's clients has discovered it:
        until then, its responses may be lost."""
        if caller not in self._met:
            self._met.append(caller)
            self.settle(DISCOVERY_DELAY)

    def until_subscribed_by(self, node: str, *topics: str) -> None:
        """Wait until a node whose name ends with `node` subscribes to the topics and the publishers
        have discovered it. Counting subscribers is not enough: some may be of an earlier test."""

        def subscribed(topic: str) -> bool:
            infos = self.get_subscriptions_info_by_topic(topic)
            return any(info.node_name.endswith(node) for info in infos)

        self.until(lambda: all(map(subscribed, topics)), f"subscriptions of {topics} by {node}")
        self.settle(DISCOVERY_DELAY)

    def until_recorded(self, publisher: Publisher) -> None:
        """Wait until a recorder and all other subscribers receive what is published."""
        topic = publisher.topic_name
        self.until_subscribed_by("recorder", topic)
        self.until(
            lambda: publisher.get_subscription_count() >= self.count_subscribers(topic),
            f"all subscriptions of {topic}",
        )

    def meet(self, caller: ServiceClient) -> None:
        """Wait for a service; see `until_discovered`."""
        assert caller.wait_for_service(PATIENCE), f"no {caller.srv_name}"
        self.until_discovered(caller)

    @property
    def status(self) -> EpisodeStatus:
        """The newest status. Waits for the first one, since a node may serve others before this
        one has discovered it; do not use it in a callback."""
        self.until(lambda: self.statuses, "/episode/status")
        return self.statuses[-1]

    @property
    def joints(self) -> JointState:
        """The newest joint state; see `status`."""
        self.until(lambda: self.joint_states, "/joint_states")
        return self.joint_states[-1]

    def positions(self, stamps: Iterable[int]) -> NDArray[np.float32]:
        """Positions (N, 13) of the action joints at these stamps (ns), rad."""
        places = {
            messages.to_ns(state.header.stamp): dict(zip(state.name, state.position, strict=True))
            for state in self.joint_states
        }
        rows = [[places[stamp][joint] for joint in ACTION_JOINTS] for stamp in stamps]
        return np.array(rows, np.float32)

    @property
    def now(self) -> int:
        """Stamp of the newest status, ns; see `status`."""
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
        self.until(lambda: len(self.statuses) > 5, "repeated statuses")
        return len({status.frame for status in self.statuses}) == 1 and self.status.waiting

    def reset(
        self, rule: str = "", safe: str = "", seed: int = 0, episode: str = ""
    ) -> ResetEpisode.Response:
        self.meet(self._reset)
        request = ResetEpisode.Request(rule=rule, safe=safe, seed=seed, episode=episode)
        return self.ask_again(
            lambda: self._reset.call_async(request), "the reply of /episode/reset"
        )

    def send(self, rows, stamp: int, joints=ACTION_JOINTS) -> None:
        """Publish a chunk (n, 13) at 10 Hz as soon as the publisher is connected to the simulation
        and all other subscribers."""

        def matched() -> bool:
            infos = self.get_subscriptions_info_by_topic(CHUNKS)
            discovered = any(info.node_name == "sim_node" for info in infos)
            return discovered and self._chunks.get_subscription_count() >= len(infos)

        self.until(matched, f"a subscription of the simulation to {CHUNKS}")
        message = convert.to_trajectory(rows, stamp)
        message.joint_names = list(joints)
        self._chunks.publish(message)
