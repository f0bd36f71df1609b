"""Node base for commands: spin until a condition holds, and repeat unanswered requests."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import TypeVar

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from rulesafe_core.ros import ros_context


class RepeatedRequest:
    """A service request that is repeated until the first response arrives.

    DDS may lose the response to a client that was discovered only recently.

    Args:
        send: sends the request.
        interval: time in s after which an unanswered request is repeated.
        ready: returns whether a request can be sent.

    Attributes:
        response: future of the first response.
    """

    def __init__(
        self,
        send: Callable[[], Future],
        interval: float,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self.response: Future = Future()
        self._send, self._interval, self._ready = send, interval, ready
        self._due = -inf  # s, monotonic clock

    def poll(self) -> bool:
        """Send the request if it is due; return whether a response has arrived."""
        now = time.monotonic()
        if now > self._due and not self.response.done() and self._ready():
            self._due = now + self._interval
            self._send().add_done_callback(self._answered)
        return self.response.done()

    def _answered(self, call: Future) -> None:
        if not self.response.done():
            self.response.set_result(call.result())


class ClientNode(Node):
    """A node for clients only: no parameter services and no /rosout publisher."""

    def __init__(self, name: str) -> None:
        super().__init__(name, start_parameter_services=False, enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def spin_until(self, condition: Callable[[], object], timeout: float = inf) -> bool:
        """Spin until the condition holds; return whether it did within `timeout` s."""
        end = time.monotonic() + timeout
        while not condition():
            remaining = end - time.monotonic()
            if remaining <= 0 or not self.context.ok():
                return False
            self._executor.spin_once(timeout_sec=min(remaining, 0.1))
        return True

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
