"""Publisher and receiver of action chunks, for all nodes."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core.chunks import REPEAT_AFTER, Chunk
from rulesafe_core.convert import STATE_QOS, to_trajectory
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.exclusive_ros import ExclusiveTopic
from rulesafe_core.messages import decode_chunk
from rulesafe_core.repeated_ros import RepeatedPublisher
from rulesafe_core.ros import publishers_of

CHUNKS = "policy/action_chunk"

MAX_BYTES = 100_000
"""Largest size of a chunk's message; one of 500 steps has less."""


class ChunkPublisher(RepeatedPublisher):
    """Publishes chunks, and publishes one again that was lost.

    Args:
        node: the publishing node.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node, JointTrajectory, CHUNKS, STATE_QOS)
        self._node = node

    def send(self, steps: ArrayLike, stamp: int) -> None:
        """Publish a chunk (n, 13), rad, computed from an observation at `stamp` (ns)."""
        self.publish(to_trajectory(steps, stamp))
        self._stamp = stamp

    def resend(self, stamp: int) -> bool:
        """Publish the last chunk again if it was lost, and return whether it was computed from an
        observation at `stamp` (ns), at which the robot still is.

        A simulation waits for a chunk at its stamp; time advances as soon as it has received one.
        """
        if self._last is None or stamp != self._stamp:
            return False
        if self.repeat():
            self._node.get_logger().warning(
                f"time has not advanced for {REPEAT_AFTER:g} s since the last action chunk was "
                "published; publishing it again"
            )
        return True

    def others(self) -> str:
        """Return that other nodes publish chunks, too, and which; empty if there are none."""
        if self._node.count_publishers(CHUNKS) < 2:
            return ""
        names = sorted(publishers_of(self._node, CHUNKS).values())
        if (own := self._node.get_name()) in names:
            names.remove(own)
        return f"{self.publisher.topic_name} has another publisher: {', '.join(names)}"


class ChunkReceiver:
    """Subscribes to chunks, decodes them, and refuses those of a second publisher.

    Args:
        node: the subscribing node.
        now: returns the current time, ns.
        accept: called with a chunk and the current time; a RuleSafeError of it refuses the chunk.
        refuse: called with the reason, the name of the publishing node, and the refused chunk, or
            None if the message could not be decoded.
        qos: quality of service.
        options: further arguments of `create_subscription`.

    Attributes:
        subscription: the subscription.
        exclusive: identifies the publishers.
    """

    def __init__(
        self,
        node: Node,
        now: Callable[[], int],
        accept: Callable[[Chunk, int], object],
        refuse: Callable[[str, str, Chunk | None], object],
        qos: QoSProfile = STATE_QOS,
        **options: Any,
    ) -> None:
        self._now, self._accept, self._refuse = now, accept, refuse
        self.exclusive = ExclusiveTopic(node, CHUNKS)
        callback: Any = self.receive  # rclpy's annotations lack callbacks with two arguments
        self.subscription = node.create_subscription(
            JointTrajectory, CHUNKS, callback, qos, raw=True, **options
        )

    def receive(self, raw: bytes, info: dict[str, Any]) -> None:
        """Process a serialized message; `info`: its description by rclpy."""
        now, chunk = self._now(), None
        try:
            self.exclusive.check(info)
            if len(raw) > MAX_BYTES:
                raise RuleSafeError(
                    f"the message has {len(raw)} bytes; valid: up to {MAX_BYTES}, which is more "
                    "than 500 steps need"
                )
            chunk = decode_chunk(deserialize_message(raw, JointTrajectory), now)
            self._accept(chunk, now)
        except (RuleSafeError, RuntimeError) as error:  # RuntimeError: of rclpy, not a trajectory
            self._refuse(str(error), self.exclusive.publisher(), chunk)
