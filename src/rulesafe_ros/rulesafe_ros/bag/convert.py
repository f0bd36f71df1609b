"""Quality of service, types and topics of a graph, to those of a bag and back."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from rclpy.duration import Duration, Infinite
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.topic_endpoint_info import TopicEndpointInfo

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags import qos
from rulesafe_data.bags.definitions import definition
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.qos import ENDLESS, Qos

DEPTH = 1000
"""Messages of a topic that may wait for the recorder, or that a player keeps for slow readers."""


def from_profile(profile: QoSProfile) -> Qos:
    """What discovery tells of a publisher."""
    return Qos(
        qos.HISTORY[profile.history],
        profile.depth,
        qos.RELIABILITY[profile.reliability],
        qos.DURABILITY[profile.durability],
        profile.deadline.nanoseconds,
        profile.lifespan.nanoseconds,
        qos.LIVELINESS[profile.liveliness],
        profile.liveliness_lease_duration.nanoseconds,
        profile.avoid_ros_namespace_conventions,
    )


def to_request(offered: Sequence[Qos]) -> QoSProfile:
    """What a recorder asks for: as much as all of the publishers offer, so that it hears all."""
    reliable = all(offer.reliability == "reliable" for offer in offered)
    latched = all(offer.latched for offer in offered)
    return QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def to_offer(offered: Sequence[Qos]) -> QoSProfile:
    """What a player offers in the publishers' place: what they offered, where they agreed, else a
    reliable topic. Of a latched one it keeps as many messages as there were publishers."""
    first = offered[0] if offered else Qos()
    reliable = not offered or any(offer.reliability != "best_effort" for offer in offered)
    latched = bool(offered) and all(offer.latched for offer in offered)
    kept = first.depth if first.history == "keep_last" and first.depth else 0
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=kept or (len(offered) if latched else DEPTH),
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        deadline=_duration(first.deadline),
        lifespan=_duration(first.lifespan),
        liveliness=LivelinessPolicy.AUTOMATIC,
    )


def _duration(nanoseconds: int) -> Duration:
    return Infinite if nanoseconds >= ENDLESS else Duration(nanoseconds=nanoseconds)


def interface_class(kind: str) -> Any:
    """The class of a type such as sensor_msgs/msg/JointState or std_srvs/srv/Trigger. Errors:
    RuleSafeError where its package is not there."""
    module, _, name = kind.rpartition("/")
    try:
        return getattr(import_module(module.replace("/", ".")), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise RuleSafeError(
            f"no type {kind} here ({error}): source the workspace that has it"
        ) from None


def publishers(node: Node, name: str) -> list[TopicEndpointInfo]:
    """Who writes a topic."""
    return list(node.get_publishers_info_by_topic(name))


def to_topic(name: str, infos: Sequence[TopicEndpointInfo]) -> Topic:
    """What a bag notes of a topic. Errors: RuleSafeError where its publishers disagree about its
    type, or nobody here knows it."""
    kinds = sorted({info.topic_type for info in infos})
    if len(kinds) != 1:
        raise RuleSafeError(f"{name} has several types at once ({', '.join(kinds)})")
    interface_class(kinds[0])
    hashes = {str(info.topic_type_hash) for info in infos}
    return Topic(
        name,
        kinds[0],
        tuple(from_profile(info.qos_profile) for info in infos),
        hashes.pop() if len(hashes) == 1 else "",
        definition(kinds[0]),
    )
