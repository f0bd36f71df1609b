"""Topics that the view subscribes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rulesafe_core.cameras import POINTS, POINTS_TOPIC, CameraSet

IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"


@dataclass(frozen=True)
class Source:
    """A source of displayed data.

    Attributes:
        name: name of the source.
        topics: possible topics, in order of preference.
        kinds: supported message types.
        depth: queue length; 1 if only the newest message is needed.
    """

    name: str
    topics: tuple[str, ...]
    kinds: tuple[str, ...]
    depth: int = 1


def _one(name: str, topic: str, kind: str, depth: int = 1) -> Source:
    package, message = kind.split("/")
    return Source(name, (topic,), (f"{package}/msg/{message}",), depth)


def image_source(camera: str) -> str:
    """Return the name of the source of a camera's images."""
    return f"{camera}_image"


def sources(cameras: CameraSet) -> tuple[Source, ...]:
    """Return the sources of all data that the page shows."""
    images = (
        Source(image_source(camera.name), (camera.film_topic, camera.topic()), (IMAGE, COMPRESSED))
        for camera in cameras
    )
    return (
        *images,
        _one(POINTS, POINTS_TOPIC, "sensor_msgs/PointCloud2"),
        _one("joints", "/joint_states", "sensor_msgs/JointState"),
        _one("chunk", "/policy/action_chunk", "trajectory_msgs/JointTrajectory"),
        _one("tokens", "/memory/tokens", "rulesafe_interfaces/MemoryTokens"),
        _one("status", "/episode/status", "rulesafe_interfaces/EpisodeStatus", depth=10),
        _one("started", "/episode/started", "builtin_interfaces/Time"),
        _one("paused", "/episode/paused", "std_msgs/Bool"),
        _one("instruction", "/instruction", "std_msgs/String"),
        _one("robot", "/robot_description", "std_msgs/String"),
        _one("safe", "/episode/safe_description", "std_msgs/String"),
        _one("bridge", "/bridge/state", "rulesafe_interfaces/BridgeState", depth=10),
        _one("diagnostics", "/diagnostics", "diagnostic_msgs/DiagnosticArray", depth=50),
    )


@dataclass(frozen=True)
class Offer:
    """Message type of a publisher, and whether its QoS is reliable and latched."""

    kind: str
    reliable: bool
    latched: bool


@dataclass(frozen=True)
class SubscriptionRequest:
    """A subscription with the strictest QoS that is compatible with every publisher."""

    topic: str
    kind: str
    reliable: bool
    latched: bool


def choose(source: Source, offers: Mapping[str, Sequence[Offer]]) -> SubscriptionRequest | None:
    """Return the subscription to the first topic with a publisher of a supported type, or None.

    The QoS is that of the publishers: camera drivers may be best effort, and the last message of a
    latched topic reaches only late subscribers that are transient local.

    Args:
        source: the source.
        offers: type and QoS of each publisher, by topic.
    """
    for topic in source.topics:
        known = [offer for offer in offers[topic] if offer.kind in source.kinds]
        if known:
            kind = known[0].kind
            matching = [offer for offer in known if offer.kind == kind]
            reliable = all(offer.reliable for offer in matching)
            return SubscriptionRequest(
                topic, kind, reliable, all(offer.latched for offer in matching)
            )
    return None
