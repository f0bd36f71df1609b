"""Service requests and messages that are sent again because they may have been lost.

DDS loses the response to a client, or the message to a subscriber, that was discovered only
recently.
"""

import time
from collections.abc import Callable
from math import inf
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

from rulesafe_core.chunks import REPEAT_AFTER


class RepeatedRequest:
    """A service request that is repeated until the first response arrives.

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


class RepeatedPublisher:
    """A publisher that can publish its last message again.

    Args:
        node: the publishing node; that of a lifecycle node publishes only while it is active.
        kind: message type.
        topic: topic.
        qos: quality of service.

    Attributes:
        publisher: the publisher of rclpy.
    """

    def __init__(self, node: Node, kind: Any, topic: str, qos: QoSProfile) -> None:
        create = getattr(node, "create_lifecycle_publisher", node.create_publisher)
        self.publisher: Any = create(kind, topic, qos)
        self._last: Any = None
        self._published_at = -inf  # s, monotonic clock

    def publish(self, message: Any) -> None:
        self._last, self._published_at = message, time.monotonic()
        self.publisher.publish(message)

    def repeat(self, after: float = REPEAT_AFTER) -> bool:
        """Publish the last message again if it was published at least `after` s ago, and return
        whether it was."""
        if self._last is None or time.monotonic() - self._published_at < after:
            return False
        self.publish(self._last)
        return True

    def forget(self) -> None:
        """Repeat the last message no more."""
        self._last = None
