"""Nodes of commands: they spin until something has happened, and repeat unanswered requests."""

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
    """A request that is sent again until the first response to any of them.

    DDS may lose the response to a client that it has only just discovered.

    Args:
        send: sends the request.
        interval: s after which an unanswered request is sent again.
        ready: whether a request can be sent.

    Attributes:
        response: the first one.
    """

    def __init__(
        self,
        send: Callable[[], Future],
        interval: float,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self.response: Future = Future()
        self._send, self._interval, self._ready = send, interval, ready
        self._due = -inf  # s of the steady clock

    def poll(self) -> bool:
        """Send the request if it is due; return whether there is a response."""
        now = time.monotonic()
        if now > self._due and not self.response.done() and self._ready():
            self._due = now + self._interval
            self._send().add_done_callback(self._answered)
        return self.response.done()

    def _answered(self, call: Future) -> None:
        if not self.response.done():
            self.response.set_result(call.result())


class ClientNode(Node):
    """A node that subscribes and calls, without services and logging of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(name, start_parameter_services=False, enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def spin_until(self, condition: Callable[[], object], timeout: float = inf) -> bool:
        """Serve callbacks until the condition holds; return whether it did within `timeout` s."""
        end = time.monotonic() + timeout
        while not condition():
            left = end - time.monotonic()
            if left <= 0 or not self.context.ok():
                return False
            self._executor.spin_once(timeout_sec=min(left, 0.1))
        return True

    def spin_for(self, seconds: float) -> None:
        """Serve callbacks for so many seconds."""
        self.spin_until(lambda: False, seconds)


AnyClient = TypeVar("AnyClient", bound=ClientNode)


@contextmanager
def connected(make: Callable[[], AnyClient]) -> Iterator[AnyClient]:
    """Make a client in an initialised rclpy; Ctrl-C is Python's, or the command's own."""
    with ros_context():
        client = make()
        try:
            yield client
        finally:
            client.destroy_node()
