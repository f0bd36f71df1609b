"""Convert QoS, types and topics between a graph and a bag."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from rclpy.duration import Duration, Infinite
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)

from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.definitions import definition
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.qos import DEFAULT, UNLIMITED, is_latched

DEPTH = 1000
"""Queue length of the recorder's subscriptions, and of the player's publishers."""


def from_profile(profile: QoSProfile) -> Qos:
    """Return the QoS of a discovered publisher."""
    return Qos(
        QosHistory(profile.history),
        profile.depth,
        QosReliability(profile.reliability),
        QosDurability(profile.durability),
        QosTime(*divmod(profile.deadline.nanoseconds, SECOND)),
        QosTime(*divmod(profile.lifespan.nanoseconds, SECOND)),
        QosLiveliness(profile.liveliness),
        QosTime(*divmod(profile.liveliness_lease_duration.nanoseconds, SECOND)),
        profile.avoid_ros_namespace_conventions,
    )


def to_request(offered: Sequence[Qos]) -> QoSProfile:
    """Return the strictest subscription QoS that is compatible with every publisher."""
    reliable = all(offer.reliability == QosReliability.RELIABLE for offer in offered)
    return to_profile(reliable, all(map(is_latched, offered)), DEPTH)


def to_offer(offered: Sequence[Qos]) -> QoSProfile:
    """Return the QoS with which a player publishes in place of the recorded publishers.

    It is best effort if all publishers are, and latched if all publishers are. Without a recorded
    depth, a latched topic keeps one message per publisher.
    """
    first = offered[0] if offered else DEFAULT
    reliable = not offered or any(o.reliability != QosReliability.BEST_EFFORT for o in offered)
    latched = bool(offered) and all(map(is_latched, offered))
    kept = first.depth if first.history == QosHistory.KEEP_LAST else 0
    profile = to_profile(reliable, latched, kept or (len(offered) if latched else DEPTH))
    profile.deadline = _duration(first.deadline)
    profile.lifespan = _duration(first.lifespan)
    profile.liveliness = LivelinessPolicy.AUTOMATIC
    return profile


def to_profile(reliable: bool, latched: bool, depth: int) -> QoSProfile:
    """Return the QoS profile of a publisher or a subscription."""
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _duration(time: QosTime) -> Duration:
    if time >= UNLIMITED:
        return Infinite
    return Duration(seconds=time.sec, nanoseconds=time.nsec)


def interface_class(kind: str) -> Any:
    """Return the Python class of a type such as sensor_msgs/msg/JointState.

    Raises:
        RuleSafeError: the message's package is not installed.
    """
    module, _, name = kind.rpartition("/")
    try:
        return getattr(import_module(module.replace("/", ".")), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise RuleSafeError(
            f"type {kind} is not installed ({error}): source the workspace that contains it"
        ) from None


def to_topic(name: str, infos: Sequence[TopicEndpointInfo]) -> Topic:
    """Return the bag topic for the publishers of a topic.

    Raises:
        RuleSafeError: the publishers have different types, or the type is not installed.
    """
    kinds = sorted({info.topic_type for info in infos})
    if len(kinds) != 1:
        raise RuleSafeError(f"{name} is published with several types: {', '.join(kinds)}")
    interface_class(kinds[0])
    hashes = {str(info.topic_type_hash) for info in infos}
    return Topic(
        name,
        kinds[0],
        tuple(from_profile(info.qos_profile) for info in infos),
        hashes.pop() if len(hashes) == 1 else "",
        definition(kinds[0]),
    )
