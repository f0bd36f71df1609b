"""Quality of service profiles and the subscription executor of the bridge's node."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from h1_2_bridge.network import check_files, from_arguments, use_interface
from rulesafe_core.callbacks_ros import log_failure
from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import LATCHED_QOS
from rulesafe_core.ros import run_beyond_signals

CHUNK_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""QoS of the bridge's subscription to chunks, of which only the newest is used."""

ECHO_DEPTH = 64
ECHO_QOS = QoSProfile(depth=ECHO_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
"""QoS of the bridge's subscription to the command topic."""

COMMAND_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""QoS of commands; reliable publishers match subscribers of either reliability."""

STOP_TOPIC = "bridge/stop_request"
"""Latched topic (std_msgs/String, who requests it) on which the bridge and its supervisor receive
stop requests, beside the service /bridge/stop, which needs a reply."""

STOP_QOS = (LATCHED_QOS, QoSProfile(depth=1))
"""QoS of two subscriptions to the stop topic: a latched one does not match volatile publishers,
such as one with the default QoS of a user's node."""

LISTENER = "h1_2_bridge_listener"
"""Name of the bridge's node that subscribes to its command topic."""

SUPERVISOR = "h1_2_bridge_supervisor"
"""Name of the supervisor's node, the only one besides the bridge that may publish commands; it does
so when the bridge has died."""

LISTENERS = (SUPERVISOR, LISTENER, "rulesafe_", "rosbag2", "_ros2cli", "ros2cli")
"""Beginnings of the names of nodes that receive the commands but are no robot: those of bridge and
supervisor, recorders and command-line tools."""

DRY_RUN = "bridge/dry_run"
"""Prefix of the command topics in a dry run."""

UPDATE_PERIOD = SECOND // 200
"""Period of the updates of hands and watchdogs, ns."""

EARLY_RETURN_PAUSE = SECOND // 1000
"""Longest pause after a wait that returned early without a message, ns."""

NO_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)
NO_SUBSCRIPTION_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)
"""Empty event callbacks, which keep rclpy from polling the events of every topic."""


def run_robot_node(
    name: str, run: Callable[[list[int]], object], args: Sequence[str] | None = None
) -> int:
    """Run a node that commands the robot, until the robot is released; see `run_beyond_signals`.

    DDS uses the network interface in the node's parameter `network_interface`. Two files with
    different values of a parameter are refused.
    """

    def prepare(arguments: Sequence[str]) -> None:
        check_files(name, arguments)
        use_interface(from_arguments(arguments))

    return run_beyond_signals(name, run, args, prepare)


def stop_subscriptions(node: Node) -> Iterator[tuple[str, QoSProfile]]:
    """Yield topic and QoS of each subscription of a node to stop requests. A request outside of all
    namespaces stops every robot."""
    for topic in sorted({node.resolve_topic_name(STOP_TOPIC), f"/{STOP_TOPIC}"}):
        for qos in STOP_QOS:
            yield topic, qos


def receivers_of(node: Node, topic: str) -> int:
    """Return the number of subscriptions to a topic of commands, except those of LISTENERS; 0 until
    DDS has discovered the robot's."""
    found = node.get_subscriptions_info_by_topic(topic)
    return sum(not info.node_name.startswith(LISTENERS) for info in found)


class SubscriptionExecutor:
    """Executes only the subscriptions of a node, at most one message of each per call.

    The executors of rclpy collect all entities of a node at each iteration, which takes longer than
    the bridge needs to process a state. This executor reuses its wait set. It uses private
    interfaces of rclpy and is tested only with Jazzy.

    Args:
        node: node of the subscriptions.
        skip: subscriptions that `take` polls instead; may change.
        periods: shortest time between two messages of a subscription, ns; may change.
    """

    def __init__(
        self,
        node: Node,
        skip: Sequence[Subscription] = (),
        periods: Mapping[Subscription, int] | None = None,
    ) -> None:
        self._node, self._skip = node, skip
        self._periods = {} if periods is None else periods
        self._due: dict[Subscription, int] = {}  # ns, when a rare subscription is read next
        self._subscriptions: list[Subscription] = []
        self._waits = self._wait_set(0)

    def _wait_set(self, subscriptions: int) -> Any:
        return _rclpy.WaitSet(subscriptions, 0, 0, 0, 0, 0, self._node.context.handle)

    def spin_once(self, timeout: int) -> None:
        """Execute the callbacks of the messages received now or within `timeout` (ns)."""
        now = time.monotonic_ns()
        subscriptions = [
            s
            for s in self._node.subscriptions
            if s not in self._skip and now >= self._due.get(s, 0)
        ]
        if not subscriptions:
            time.sleep(timeout / SECOND)
            return
        if subscriptions != self._subscriptions:
            self._subscriptions = subscriptions
            self._waits = self._wait_set(len(subscriptions))
        self._waits.clear_entities()
        for subscription in subscriptions:
            self._waits.add_subscription(subscription.handle)
        self._waits.wait(timeout)
        indices = range(len(subscriptions))
        ready = [subscriptions[i] for i in indices if self._waits.is_ready("subscription", i)]
        for subscription in ready:
            take(subscription, 1)
            if subscription in self._periods:
                self._due[subscription] = time.monotonic_ns() + self._periods[subscription]
        if not ready:
            # A QoS event without a handler makes every wait return immediately. Without a pause, a
            # loop with real-time scheduling would then block all other processes on its core.
            rest = now + timeout - time.monotonic_ns()
            time.sleep(min(max(rest, 0), EARLY_RETURN_PAUSE) / SECOND)


def take(subscription: Subscription, most: int) -> None:
    """Execute the callback of up to `most` received messages of a subscription, without waiting.
    An exception is logged."""
    kind, raw = subscription.msg_type, subscription.raw
    with_info = subscription._callback_type is Subscription.CallbackType.WithMessageInfo
    for _ in range(most):
        try:
            if not (taken := subscription.handle.take_message(kind, raw)):
                return
            subscription.callback(*(taken if with_info else taken[:1]))
        except Exception as error:
            logger = get_logger(subscription.handle.get_logger_name())
            log_failure(logger, subscription.topic_name, error)
