"""Quality of service and the fast subscriptions of the bridge's node."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from h1_2_bridge.network import from_arguments, use_interface
from rulesafe_core.chunks import SECOND
from rulesafe_core.ros import run_beyond_signals

NEWEST_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""The robot's states, 500 per second: only the newest one is used."""

COMMAND_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""Commands to the robot, whose own subscribers request either reliability."""

DRY_RUN = "/bridge/dry_run"
"""Prefix of the topics that commands are published on in a dry run."""

TURN = SECOND // 200
"""ns from one turn of hands and watchdogs to the next."""

NO_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)
NO_SUBSCRIPTION_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)
"""Without these, rclpy polls the events of every topic too."""


def run_robot_node(
    name: str, run: Callable[[list[int]], object], args: Sequence[str] | None = None
) -> int:
    """Run a node that holds the robot, on the network interface in its arguments; see
    `run_beyond_signals`."""
    return run_beyond_signals(
        name, run, args, lambda arguments: use_interface(from_arguments(arguments))
    )


class SubscriptionExecutor:
    """Serves the subscriptions of a node, and nothing else.

    An executor of rclpy lists everything that a node could do at each turn, which costs more than
    what the bridge does with a state. This one keeps its wait set. It uses interfaces of rclpy that
    are not public, and is tested with Jazzy only.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._subscriptions: list[Subscription] = []
        self._waits = self._wait_set(0)

    def _wait_set(self, subscriptions: int) -> Any:
        return _rclpy.WaitSet(subscriptions, 0, 0, 0, 0, 0, self._node.context.handle)

    def spin_once(self, timeout: int) -> None:
        """Serve all messages that have arrived, or arrive within `timeout` (ns)."""
        subscriptions = list(self._node.subscriptions)
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
        for index, subscription in enumerate(subscriptions):
            if self._waits.is_ready("subscription", index):
                self._take(subscription)

    @staticmethod
    def _take(subscription: Subscription) -> None:
        kind, raw = subscription.msg_type, subscription.raw
        while taken := subscription.handle.take_message(kind, raw):
            subscription.callback(taken[0])
