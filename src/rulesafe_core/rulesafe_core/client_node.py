"""Node base for commands: spin until a condition holds, and wait for responses."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any, TypeVar

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.repeated_ros import RepeatedRequest
from rulesafe_core.ros import ros_context


class ClientNode(Node):
    """A node for clients only: no parameter services and no /rosout publisher."""

    def __init__(self, name: str) -> None:
        super().__init__(name, start_parameter_services=False, enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def destroy_node(self) -> None:
        """Destroy the node, after its executor, which refers to publishers until shut down."""
        self._executor.shutdown()
        super().destroy_node()

    def spin_until(self, condition: Callable[[], object], timeout: float = inf) -> bool:
        """Spin until the condition holds; return whether it did within `timeout` s."""
        end = time.monotonic() + timeout
        while not condition():
            remaining = end - time.monotonic()
            if remaining <= 0 or not self.context.ok():
                return False
            self._executor.spin_once(timeout_sec=min(remaining, 0.1))
        return True

    def response(
        self,
        name: str,
        send: Callable[[], Future],
        timeout: float,
        interval: float,
        ready: Callable[[], bool] = lambda: True,
    ) -> Any:
        """Return the response of a service.

        Args:
            name: name of the service, for the error.
            send: sends a request.
            timeout: s.
            interval: time in s after which an unanswered request is repeated.
            ready: returns whether a request can be sent.

        Raises:
            RuleSafeError: there is no response within `timeout`.
        """
        request = RepeatedRequest(send, interval, ready)
        if not self.spin_until(request.poll, timeout):
            raise RuleSafeError(f"no response from {name} within {timeout:g} s")
        return request.response.result()

    def spin_for(self, seconds: float) -> None:
        """Spin for the given time in s."""
        self.spin_until(lambda: False, seconds)


AnyClient = TypeVar("AnyClient", bound=ClientNode)


@contextmanager
def connected(make: Callable[[], AnyClient]) -> Iterator[AnyClient]:
    """Create a client node in a new ROS context; rclpy installs no signal handlers."""
    with ros_context():
        client = make()
        try:
            yield client
        finally:
            client.destroy_node()
