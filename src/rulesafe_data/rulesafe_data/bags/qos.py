"""Offered quality-of-service profiles in the formats of rosbag2."""

from collections.abc import Sequence
from typing import Any

import yaml
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import ReaderError
from rosbags.rosbag2.metadata import dump_qos_v9, parse_qos

from rulesafe_core.errors import RuleSafeError

UNLIMITED = QosTime(*divmod(2**63 - 1, 10**9))

DEFAULT = Qos(
    QosHistory.UNKNOWN,
    0,
    QosReliability.RELIABLE,
    QosDurability.VOLATILE,
    UNLIMITED,
    UNLIMITED,
    QosLiveliness.AUTOMATIC,
    UNLIMITED,
    avoid_ros_namespace_conventions=False,
)
"""Default of ROS 2 as reported by discovery, where history and depth are unknown."""


def is_latched(profile: Qos) -> bool:
    """Return whether the durability is transient local."""
    return profile.durability == QosDurability.TRANSIENT_LOCAL


def to_plain(profiles: Sequence[Qos]) -> list[dict[str, Any]]:
    """Convert profiles to plain data as in metadata.yaml of version 9."""
    return [dict(profile) for profile in dump_qos_v9(list(profiles))]


def to_text(profiles: Sequence[Qos]) -> str:
    """Convert profiles to YAML as in the metadata of an MCAP channel."""
    return yaml.safe_dump(to_plain(profiles), sort_keys=False).strip()


def from_plain(profiles: Any) -> tuple[Qos, ...]:
    """Read profiles of any rosbag2 version from YAML text or parsed YAML.

    Raises:
        RuleSafeError: the profiles are invalid.
    """
    try:
        return tuple(parse_qos(profiles))
    except (ReaderError, KeyError, TypeError, AttributeError) as error:
        raise RuleSafeError(f"invalid offered_qos_profiles in a bag: {error!r}") from error
