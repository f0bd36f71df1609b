"""The base class of lifecycle nodes."""

from typing import Any, Generic, TypeVar

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.subscription import Subscription

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import Diagnostics, claim, declare, read_parameters
from rulesafe_core.settings import Settings

T = TypeVar("T", bound=Settings)

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE

LOG_INTERVAL = 5.0
"""s between two log lines of `complain`, at least."""


class ManagedNode(LifecycleNode, Generic[T]):
    """A lifecycle node that refuses transitions with a reason.

    Subclasses implement `load`, `subscribe`, `unload` and `report`. A RuleSafeError of `load` or
    `subscribe` refuses the transition and is logged.

    Args:
        name: of the node.
        kind: settings that become its parameters.
        publishes: topic of which no other process may be a publisher; empty: none.
        options: of the publisher of diagnostics.

    Attributes:
        refusal: why the last transition was refused; empty if it was not.
        inputs: the subscriptions while the node is active.
        listener: the node that has the subscriptions.
    """

    def __init__(self, name: str, kind: type[T], publishes: str = "", **options: Any) -> None:
        super().__init__(name)
        self._claim = claim(self, publishes) if publishes else None
        self._kind = kind
        declare(self, kind)
        self.refusal = ""
        self.inputs: list[Subscription] = []
        self.listener: Node = self
        self.diagnostics = Diagnostics(self, **options)

    def load(self) -> None:
        """Make what the parameters describe, and the publishers: the node becomes inactive."""
        raise NotImplementedError

    def subscribe(self) -> list[Subscription]:
        """Make and return the subscriptions: the node becomes active."""
        raise NotImplementedError

    def unload(self) -> None:
        """Discard what `load` made: the node becomes unconfigured."""
        raise NotImplementedError

    def report(self) -> None:
        """Publish the node's state on /diagnostics."""
        raise NotImplementedError

    @property
    def values(self) -> T:
        """The present values of the parameters."""
        return read_parameters(self, self._kind)

    def complain(self, text: str) -> None:
        """Log a warning, every few seconds at most."""
        self.get_logger().warning(text, throttle_duration_sec=LOG_INTERVAL)

    def start(self) -> None:
        """Configure and activate. Errors: RuleSafeError if a transition is refused."""
        if self.trigger_configure() != SUCCESS or self.trigger_activate() != SUCCESS:
            raise RuleSafeError(self.refusal or "the node could not be activated")

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.load()
        except RuleSafeError as error:
            return self._refuse("configured", error)
        self.refusal = ""
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.inputs = self.subscribe()
        except RuleSafeError as error:
            return self._refuse("activated", error)
        self.refusal = ""
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        for subscription in self.inputs:
            self.listener.destroy_subscription(subscription)
        self.inputs = []
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.unload()
        self.refusal = ""
        return super().on_cleanup(state)

    def _refuse(self, transition: str, error: RuleSafeError) -> TransitionCallbackReturn:
        self.refusal = str(error)
        self.get_logger().error(f"not {transition}: {error}")
        self.report()
        return FAILURE
