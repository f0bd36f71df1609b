"""What a publisher offers its subscribers (quality of service), as rosbag2 notes it in YAML."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from rulesafe_core.errors import RuleSafeError

ENDLESS = 2**63 - 1
"""ns that stand for no limit at all."""

HISTORY = ("system_default", "keep_last", "keep_all", "unknown")
RELIABILITY = ("system_default", "reliable", "best_effort", "unknown", "best_available")
DURABILITY = ("system_default", "transient_local", "volatile", "unknown", "best_available")
LIVELINESS = (
    *("system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown"),
    "best_available",
)
"""Names of the policies, each at the place of its number in ROS 2."""


@dataclass(frozen=True)
class Qos:
    """One publisher's offer; the fields are in the order in which rosbag2 writes them.

    Attributes:
        history, depth: what the publisher keeps. "unknown" and 0 where discovery does not tell,
            as with most middlewares.
        reliability, durability, liveliness: names, see above.
        deadline, lifespan, liveliness_lease_duration: ns; ENDLESS: no limit.
        avoid_ros_namespace_conventions: the topic's name in DDS is the bare one.
    """

    history: str = "unknown"
    depth: int = 0
    reliability: str = "reliable"
    durability: str = "volatile"
    deadline: int = ENDLESS
    lifespan: int = ENDLESS
    liveliness: str = "automatic"
    liveliness_lease_duration: int = ENDLESS
    avoid_ros_namespace_conventions: bool = False

    @property
    def latched(self) -> bool:
        """Whether who subscribes late gets what was published before."""
        return self.durability == "transient_local"


_TIMES = ("deadline", "lifespan", "liveliness_lease_duration")
_NAMES = {
    "history": HISTORY,
    "reliability": RELIABILITY,
    "durability": DURABILITY,
    "liveliness": LIVELINESS,
}


def to_plain(profiles: Sequence[Qos]) -> list[dict[str, Any]]:
    """As metadata.yaml of version 9 has them: policies by name, times as sec and nsec."""
    found = []
    for profile in profiles:
        fields = asdict(profile)
        for name in _TIMES:
            sec, nsec = divmod(fields[name], 10**9)
            fields[name] = {"sec": sec, "nsec": nsec}
        found.append(fields)
    return found


def to_text(profiles: Sequence[Qos]) -> str:
    """As the metadata of a channel in MCAP have them."""
    return yaml.safe_dump(to_plain(profiles), sort_keys=False).strip()


def from_plain(profiles: Any) -> tuple[Qos, ...]:
    """What `to_plain` or `to_text` gave, or rosbag2 of any version, which used numbers for the
    policies up to version 8. Errors: RuleSafeError for anything else."""
    try:
        listed = yaml.safe_load(profiles) if isinstance(profiles, str) else profiles
        return tuple(_from_fields(fields) for fields in listed or ())
    except (yaml.YAMLError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise RuleSafeError(f"these are no offered_qos_profiles of a bag: {error!r}") from error


def _from_fields(fields: Mapping[str, Any]) -> Qos:
    values: dict[str, Any] = {}
    for name, kinds in _NAMES.items():
        given = fields[name]
        values[name] = kinds[given] if isinstance(given, int) else str(given)
    for name in _TIMES:
        values[name] = min(fields[name]["sec"] * 10**9 + fields[name]["nsec"], ENDLESS)
    return Qos(
        **values,
        depth=int(fields["depth"]),
        avoid_ros_namespace_conventions=bool(fields["avoid_ros_namespace_conventions"]),
    )
