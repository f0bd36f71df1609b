"""Topics whose messages are accepted from one publisher only."""

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import NAMES, UNNAMED, publishers_of

MOST_LOST = 100
"""Most consecutive messages of one publisher that may be lost at once."""

STREAM_RATE = 1000.0
"""Highest rate of a robot's states, 1/s."""

LISTED = 20.0
"""Time for which DDS lists a killed publisher, s."""

RECENT = 1.0
"""Time for which a refusal is reported, s."""

NAMES_PERIOD = 0.1
"""Shortest time between two look-ups of the publishers' names, s: a flood of messages must not
delay the receiver."""


@dataclass
class _Sender:
    """A publisher: its GID, None if it is not known, and its last message (number and s)."""

    gid: bytes | None
    number: int
    time: float


class ExclusiveTopic:
    """Accepts the messages of a topic's first publisher and refuses those of a second one.

    rclpy of ROS 2 Jazzy does not pass the GID of a message's publisher, but its sequence number,
    which each publisher counts from 1. A message belongs to the publisher whose number it
    continues; one that continues none is of another publisher, if DDS lists several. With a
    middleware without sequence numbers (Cyclone DDS) messages are accepted while there is only one.

    The first publisher keeps the topic until DDS no longer lists it, it has been silent, or
    `release` is called. While a second one publishes, it counts as silent after LISTED only: in a
    short queue, messages of one publisher can displace those of the other.

    Args:
        node: the subscribing node.
        topic: the topic.
        silence: time without a message of the first publisher after which another may follow, s.
        rate: highest rate of a publisher, 1/s: as many messages more than MOST_LOST may be lost,
            displaced by those of the other or in a pause of the node.
    """

    def __init__(self, node: Node, topic: str, silence: float = LISTED, rate: float = 0.0) -> None:
        self._node, self._topic, self._silence, self._rate = node, topic, silence, rate
        self._senders: list[_Sender] = []
        self._first: _Sender | None = None
        self._last: _Sender | None = None  # of the last message; None: not certain
        self._refused = self._named = -RECENT  # s, monotonic clock
        self._uncertain = -math.inf  # s, when a message continued no publisher, or several
        self._reason = ""

    def guard(self, receive: Callable[[Any], object], refuse: Callable[[str], object]) -> Any:
        """Return a callback of a subscription that passes the first publisher's messages to
        `receive`, and the reason of a refusal to `refuse`."""

        def callback(message: Any, info: Mapping[str, Any]) -> None:
            try:
                self.check(info)
            except RuleSafeError as error:
                refuse(str(error))
            else:
                receive(message)

        return callback

    def release(self) -> None:
        """Let the publisher of the next message be the first one."""
        self._first = None

    def check(self, info: Mapping[str, Any]) -> None:
        """Identify the publisher of a message. `info`: the message's description by rclpy.

        Raises:
            RuleSafeError: the message is not certain to be of the first publisher.
        """
        number, now = info["publication_sequence_number"] or 0, time.monotonic()
        near = sorted(
            (each for each in self._senders if 0 < number - each.number <= self._lost(each, now)),
            key=lambda each: -each.number,
        )
        self._last = None
        equal = len(near) > 1 and near[0].number == near[1].number
        if not equal:
            self._last = near[0] if near else self._add(number, now)
            self._last.number, self._last.time = number, now
            self._first = self._first or self._last
        if equal or not near:
            self._uncertain = now
        if self._last is not None and self._last is self._first:
            return
        if now >= self._named + NAMES_PERIOD:
            self._named, self._reason = now, self._conflict()
            others = (each.time for each in self._senders if each is not self._last)
            silent = now - max(self._uncertain, *others) > LISTED
            if self._remove_ended(publishers_of(self._node, self._topic), silent):
                self.check(info)
                return
        self._refused = now
        raise RuleSafeError(self._reason)

    def trouble(self) -> str:
        """Return why a message was refused within the last second; empty if none was."""
        return self._reason if time.monotonic() - self._refused < RECENT else ""

    def publisher(self) -> str:
        """Return the name of the node that published the last message, or of all that may have."""
        return self._name(self._last)

    def _lost(self, sender: _Sender, now: float) -> float:
        """Return how many messages of a publisher may have been lost since its last one."""
        return MOST_LOST + self._rate * (now - sender.time)

    def _add(self, number: int, now: float) -> _Sender:
        """Return the publisher of a message that continues no other one's. It is the first one if
        that is the only one and has lost many, or has ended; else it is added."""
        listed = publishers_of(self._node, self._topic)
        last = max(self._uncertain, self._first.time) if self._first else now
        self._remove_ended(listed, silent=now - last > self._silence)
        first = self._first
        if first is not None and list(listed) == [first.gid] and number > first.number:
            return first
        others = [gid for gid in listed if first is None or gid != first.gid]
        added = _Sender(others[0] if len(others) == 1 else None, 0, now)
        self._senders = [each for each in self._senders if each is first or each.gid != added.gid]
        self._senders.append(added)
        return added

    def _remove_ended(self, listed: Collection[bytes], silent: bool) -> bool:
        """Remove the publishers that have ended, and all if the first one has; return whether there
        were any.

        Args:
            listed: GIDs of the publishers.
            silent: whether the first one has been silent, so that it counts as ended.
        """
        first, before = self._first, len(self._senders)
        self._senders = [each for each in self._senders if each.gid is None or each.gid in listed]
        ended = silent or (first is not None and first not in self._senders)
        if first is not None and not ended and list(listed) == [first.gid]:
            self._senders = [first]  # a message of a second one may arrive before it is listed
        elif ended or len(listed) < 2:
            self._senders, self._first = [], None
        return len(self._senders) < before

    def _name(self, sender: _Sender | None) -> str:
        listed = publishers_of(self._node, self._topic)
        if sender is not None and sender.gid is not None:
            return listed.get(sender.gid, UNNAMED)
        return " or ".join(sorted(set(listed.values()))) or UNNAMED

    def _conflict(self) -> str:
        first, second = self._name(self._first), self.publisher()
        first, second = NAMES.get(first, first), NAMES.get(second, second)
        found = f"both {second}" if first == second else f"{first} and {second}"
        topic = self._node.resolve_topic_name(self._topic)
        return f"{topic} has two publishers, {found}; end one of them"


def subscribe_to_first(
    node: Node, kind: Any, topic: str, receive: Callable[[Any], object], qos: QoSProfile | int
) -> Subscription:
    """Subscribe to a topic that describes the robot: messages of a second publisher are refused and
    logged. Arguments as those of `create_subscription`."""

    def refuse(reason: str) -> None:
        node.get_logger().warning(reason, throttle_duration_sec=5.0)

    guarded = ExclusiveTopic(node, topic, RECENT, STREAM_RATE).guard(receive, refuse)
    return node.create_subscription(kind, topic, guarded, qos)
