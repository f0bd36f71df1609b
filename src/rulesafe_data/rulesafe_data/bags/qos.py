"""Quality of service that publishers offer, as rosbag2 stores it."""

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
"""ROS 2's default, as discovery reports it: history and depth are unknown."""


def is_latched(profile: Qos) -> bool:
    """Return whether late subscribers receive the last messages (transient local)."""
    return profile.durability == QosDurability.TRANSIENT_LOCAL


def to_plain(profiles: Sequence[Qos]) -> list[dict[str, Any]]:
    """Return the profiles as in metadata.yaml of version 9."""
    return [dict(profile) for profile in dump_qos_v9(list(profiles))]


def to_text(profiles: Sequence[Qos]) -> str:
    """Return the profiles as in the metadata of an MCAP channel."""
    return yaml.safe_dump(to_plain(profiles), sort_keys=False).strip()


def from_plain(profiles: Any) -> tuple[Qos, ...]:
    """Read profiles, those of any version of rosbag2, from YAML text or from its content.

    Raises:
        RuleSafeError: they are no profiles.
    """
    try:
        return tuple(parse_qos(profiles))
    except (ReaderError, KeyError, TypeError, AttributeError) as error:
        raise RuleSafeError(f"these are no offered_qos_profiles of a bag: {error!r}") from error
