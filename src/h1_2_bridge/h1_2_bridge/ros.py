"""What the bridge's node is made of besides itself: quality of service, its life."""

import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import rclpy
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription

from h1_2_bridge.network import from_arguments, use_interface
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

NEWEST_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For what the robot sends 500 times a second: an old state is worth nothing."""

COMMAND_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""For what the robot is told; its own readers ask for one or the other reliability."""

DRY_RUN = "/bridge/dry_run"
"""What would be sent to the robot is published below this name in a dry run."""

TURN = SECOND // 200
"""ns after which hands and watchdogs get their turn again."""

SERVED = SECOND // 50
"""ns after which services do: an executor's turn costs as much as a command."""

NO_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)
NO_SUBSCRIPTION_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)
"""Without them rclpy asks every topic for its events, too."""


class Bridge(Protocol):
    """What `live` asks of a node; `ear` is the small node whose news are looked for first."""

    ear: Node

    def turn(self, now: int) -> None:
        """Called every TURN, `now`: the steady clock's ns."""

    def let_go(self) -> None:
        """Asks the robot's own controller to take over; may be called again and again."""

    @property
    def has_let_go(self) -> bool:
        """Whether nothing is sent to the robot any more."""

    def destroy_node(self) -> None:
        """Frees what it holds."""


def live(make: Callable[[], Bridge], args: Sequence[str] | None = None) -> int:
    """A bridge's life, which ends once it has let the robot go; the exit code of `until_signal`."""
    return until_signal("h1_2_bridge", lambda signals: _run(make, signals), args)


def until_signal(
    name: str, run: Callable[[list[int]], None], args: Sequence[str] | None = None
) -> int:
    """What must outlive a signal, since it holds the robot: `run` is given the signals that have
    come so far, lets go upon a first one and does not wait upon a second. The exit code: 0 after a
    SIGINT, 143 after a SIGTERM, 2 with one line on stderr for what the user can mend."""
    arguments = sys.argv[1:] if args is None else list(args)
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: signals.append(number))
    try:
        use_interface(from_arguments(arguments))
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
        run(signals)
    except (RuleSafeError, ParameterException) as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        return 2
    except ExternalShutdownException:
        return 1
    finally:
        rclpy.try_shutdown()
    return 0 if signals[0] == signal.SIGINT else 128 + signals[0]


class Ear:
    """Waits for a node's subscriptions, and for nothing else that it has.

    An executor makes a new list of all that a node could do at each turn, which costs more than
    what the bridge does with a state. This keeps the wait set that executors are made of. It is no
    public interface of rclpy: tried with Jazzy's alone.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._subscriptions: list[Subscription] = []
        self._waits = self._wait_set(0)

    def _wait_set(self, subscriptions: int) -> Any:
        return _rclpy.WaitSet(subscriptions, 0, 0, 0, 0, 0, self._node.context.handle)

    def listen(self, timeout: int) -> None:
        """Calls back with all that has come, or comes within `timeout` (ns)."""
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


def _run(make: Callable[[], Bridge], signals: list[int]) -> None:
    node = make()
    ear, slow = Ear(node.ear), SingleThreadedExecutor()
    slow.add_node(cast(Node, node))
    due = served = 0
    try:
        while len(signals) < 2 and not (signals and node.has_let_go):
            ear.listen(TURN)
            if (now := time.monotonic_ns()) >= due:
                due = now + TURN
                if now >= served:
                    served = now + SERVED
                    slow.spin_once(timeout_sec=0)
                if signals:
                    node.let_go()
                node.turn(time.monotonic_ns())
    finally:
        node.destroy_node()
