"""Publisher and receiver of action chunks, for all nodes."""

from collections.abc import Callable, Collection
from typing import Any

from numpy.typing import ArrayLike
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core.chunks import REPEAT_AFTER, Chunk
from rulesafe_core.convert import STATE_QOS, to_trajectory
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_chunk
from rulesafe_core.repeated_ros import RepeatedPublisher
from rulesafe_core.ros import UNNAMED, publishers_of

CHUNKS = "/policy/action_chunk"

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
        return f"{CHUNKS} has another publisher: {', '.join(names)}"


class ChunkReceiver:
    """Subscribes to chunks, decodes them and identifies their publishers.

    rclpy of ROS 2 Jazzy does not pass the GID of a message's publisher. It follows from the GIDs of
    the topic's publishers and the sequence number of the message, which each publisher counts from
    1: a chunk belongs to the only publisher, or to the only one whose number it continues.

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
        publisher: GID of the publisher of the last message; None if it is not known.
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
        self._node, self._now, self._accept, self._refuse = node, now, accept, refuse
        self._numbers: dict[bytes, int] = {}  # last sequence number of each publisher
        self.publisher: bytes | None = None
        callback: Any = self.receive  # rclpy's annotations lack callbacks with two arguments
        self.subscription = node.create_subscription(
            JointTrajectory, CHUNKS, callback, qos, raw=True, **options
        )

    def receive(self, raw: bytes, info: dict[str, Any]) -> None:
        """Process a serialized message; `info`: its description by rclpy."""
        now, chunk, publishers = self._now(), None, {}
        self.publisher = None
        try:
            publishers = publishers_of(self._node, CHUNKS)
            self.publisher = self._identify(publishers, info["publication_sequence_number"])
            if len(raw) > MAX_BYTES:
                raise RuleSafeError(
                    f"the message has {len(raw)} bytes; valid: up to {MAX_BYTES}, which is more "
                    "than 500 steps need"
                )
            chunk = decode_chunk(deserialize_message(raw, JointTrajectory), now)
            self._accept(chunk, now)
        except (RuleSafeError, RuntimeError) as error:  # RuntimeError: of rclpy, not a trajectory
            names = set(publishers.values()) or {UNNAMED}
            if self.publisher is not None:
                names = {publishers[self.publisher]}
            self._refuse(str(error), " or ".join(sorted(names)), chunk)

    def _identify(self, publishers: Collection[bytes], number: int | None) -> bytes | None:
        """Return the publisher of a message with this sequence number; None if several publishers
        may have published it."""
        last = {gid: self._numbers.get(gid, 0) for gid in publishers}
        possible = [gid for gid in publishers if number and last[gid] < number]
        continued = [gid for gid in possible if number == last[gid] + 1]
        for found in (list(publishers), continued, possible):
            if len(found) == 1:
                self._numbers = last | {found[0]: number or 0}
                return found[0]
        return None
