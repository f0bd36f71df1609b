"""Base class of the lifecycle nodes."""

import time
from typing import Any, Generic, TypeVar

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.subscription import Subscription

from rulesafe_core.callbacks_ros import LOG_INTERVAL, describe_error
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import Diagnostics, declare, read_parameters, reserve_topic
from rulesafe_core.settings import Settings
from rulesafe_core.throttle import Throttle

T = TypeVar("T", bound=Settings)

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ManagedNode(LifecycleNode, Generic[T]):
    """A lifecycle node that logs and stores the reason of a failed transition.

    Subclasses implement `load`, `subscribe`, `unload` and `report`. If one of the first three
    raises an exception, the transition fails and the error is logged.

    Args:
        name: name of the node.
        kind: settings class, declared as parameters.
        publishes: topic for which another publisher is an error; empty: none.
        options: options of the diagnostics publisher.

    Attributes:
        refusal: error of the last transition; empty if it succeeded.
        inputs: the subscriptions while the node is active.
        listener: the node that owns the subscriptions.
    """

    def __init__(self, name: str, kind: type[T], publishes: str = "", **options: Any) -> None:
        super().__init__(name)
        self._reservation = reserve_topic(self, publishes) if publishes else None
        self._kind = kind
        declare(self, kind)
        self._throttle = Throttle(LOG_INTERVAL)
        self.refusal = ""
        self.inputs: list[Subscription] = []
        self.listener: Node = self
        self.diagnostics = Diagnostics(self, **options)

    def load(self) -> None:
        """Configure: load the objects that the parameters select, and create the publishers."""
        raise NotImplementedError

    def subscribe(self) -> list[Subscription]:
        """Activate: create and return the subscriptions."""
        raise NotImplementedError

    def unload(self) -> None:
        """Clean up: release everything that `load` created."""
        raise NotImplementedError

    def report(self) -> None:
        """Publish the node's state on /diagnostics."""
        raise NotImplementedError

    @property
    def values(self) -> T:
        """The current parameter values."""
        return read_parameters(self, self._kind)

    def warn(self, text: str) -> None:
        """Log a warning, at most once every `LOG_INTERVAL` s for each reason."""
        if self._throttle.passes(text, time.monotonic()):
            self.get_logger().warning(text)

    def start(self) -> None:
        """Configure and activate the node. Raises RuleSafeError if a transition fails."""
        if self.trigger_configure() != SUCCESS or self.trigger_activate() != SUCCESS:
            raise RuleSafeError(self.refusal or f"{self.get_name()} could not be activated")

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.load()
        except Exception as error:  # rclpy would hide it, and continue as unconfigured
            return self._refuse("configured", error)
        self.refusal = ""
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.inputs = self.subscribe()
        except Exception as error:  # rclpy would hide it, and continue as unconfigured
            return self._refuse("activated", error)
        self.refusal = ""
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        for subscription in self.inputs:
            self.listener.destroy_subscription(subscription)
        self.inputs = []
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.unload()
        except Exception as error:
            return self._refuse("cleaned up", error)
        self.refusal = ""
        return super().on_cleanup(state)

    def _refuse(self, transition: str, error: Exception) -> TransitionCallbackReturn:
        self.refusal = describe_error(error)
        self.get_logger().error(f"not {transition}: {self.refusal}")
        self.report()
        return FAILURE
