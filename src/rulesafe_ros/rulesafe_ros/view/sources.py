"""Which topics the view listens to, and how it asks for them. No ROS here."""

from collections.abc import Sequence
from dataclasses import dataclass

from rulesafe_ros.view.options import ViewOptions

IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"


@dataclass(frozen=True)
class Source:
    """Something to listen to.

    Attributes:
        name: what it is.
        topics: where it may be; the first that somebody writes is taken.
        kinds: types that are understood.
        shown: on the page; others go to Foxglove only.
        depth: messages that may wait; 1 where only the newest is of interest.
    """

    name: str
    topics: tuple[str, ...]
    kinds: tuple[str, ...]
    shown: bool = True
    depth: int = 1


def _one(name: str, topic: str, kind: str, shown: bool = True, depth: int = 1) -> Source:
    package, message = kind.split("/")
    return Source(name, (topic,), (f"{package}/msg/{message}",), shown, depth)


def sources(options: ViewOptions) -> tuple[Source, ...]:
    """All that a page and Foxglove show."""
    cameras = tuple(
        Source(name, options.camera_topics(name), (IMAGE, COMPRESSED)) for name in ("head", "front")
    )
    return (
        *cameras,
        _one("points", "/camera/points", "sensor_msgs/PointCloud2"),
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
        _one("head_info", "/camera/head/camera_info", "sensor_msgs/CameraInfo", shown=False),
        _one("front_info", "/camera/front/camera_info", "sensor_msgs/CameraInfo", shown=False),
    )


@dataclass(frozen=True)
class Offer:
    """What a topic's writer offers."""

    kind: str
    reliable: bool
    latched: bool


@dataclass(frozen=True)
class Wish:
    """What to subscribe to: a topic, with a type and qualities that each of its writers offers."""

    topic: str
    kind: str
    reliable: bool
    latched: bool


def choose(source: Source, offers: Sequence[tuple[str, Sequence[Offer]]]) -> Wish | None:
    """What to subscribe to of a source, given what is offered on each of its topics; None where
    there is nothing of a type that is understood.

    A subscriber that asks for more than a writer offers gets nothing of it: camera drivers offer
    best effort, and a latched message reaches only those who ask for it.
    """
    for topic, found in offers:
        known = [offer for offer in found if offer.kind in source.kinds]
        if known:
            alike = [offer for offer in known if offer.kind == known[0].kind]
            return Wish(
                topic,
                known[0].kind,
                all(offer.reliable for offer in alike),
                all(offer.latched for offer in alike),
            )
    return None
