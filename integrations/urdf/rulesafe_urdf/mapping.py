"""The mapping of a URDF to a safe: proposed by propose.py, edited by the user, applied by build.py.

It is written beside the safe as `mapping.yaml`; angles of joints are those of the URDF.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rulesafe_core.settings import required
from rulesafe_core.strict_yaml import build, read_yaml
from rulesafe_core.transforms import Vec3
from rulesafe_sim.safe_families import Bar, Fluted, Grip, Lever, Tee, Wheel
from rulesafe_urdf.yaml_writer import to_data

Direction = Literal["+x", "-x", "+y", "-y", "+z", "-z"]
Turn = Literal["clockwise", "counterclockwise"]


@dataclass(frozen=True, kw_only=True)
class JointMapping:
    """A joint of the URDF, its closed position and its range from there."""

    joint: str
    closed: float = required(-720, 720, "deg")
    range: float = required(20, 120, "deg")
    open_above: float = required(0, 1)
    closed_below: float = required(0, 1)
    damping: float = required(0.0, 5.0, "nms_per_rad")
    detent: float = required(0.0, 0.3, "nm")
    spring: float = required(0.0, 2.0, "nm")
    mass: float = required(0.02, 20.0, "kg")


@dataclass(frozen=True, kw_only=True)
class DoorMapping(JointMapping):
    """The door; the hand pulls it by the handle at `pull_points` (frame of the handle)."""

    pull_points: tuple[Vec3, ...] = required(unit="m")


@dataclass(frozen=True, kw_only=True)
class TurnerMapping(JointMapping):
    """Knob or handle. `along` and `across`: scale of the part along and across its axis, in
    addition to that of the safe. `grip`: the primitive for collision; without one, convex pieces of
    the mesh are used. Points and directions are in the part's frame (docs/safes.md)."""

    opens: Turn
    closed_angle: float = required(-180, 180, "deg")
    along: float = required(0.05, 20)
    across: float = required(0.05, 20)
    rotor_inertia: float = required(0.0, 0.01, "kgm2")
    symmetry: int = required(1, 12)
    points: tuple[Vec3, ...] = required(unit="m")
    closing: Vec3
    approach: Vec3
    grip: Bar | Grip | Fluted | Lever | Tee | Wheel | None = None


@dataclass(frozen=True, kw_only=True)
class SafeMapping:
    """All choices of an import. Without `knob` or `handle`, a built-in one is added to the door.
    `up` and `front`: directions in the frame of the URDF's root link."""

    title: str
    up: Direction
    front: Direction
    scale: float = required(1e-5, 1e5)
    door: DoorMapping
    knob: TurnerMapping | None = None
    handle: TurnerMapping | None = None


def rounded(mapping: SafeMapping) -> SafeMapping:
    """Return the mapping with the values that its file has, so that an import from this file gives
    the same safe."""
    return build(SafeMapping, to_data(mapping), "mapping.yaml")


def read_mapping(path: Path) -> SafeMapping:
    """Read a mapping. Raises RuleSafeError with the file and key."""
    return build(SafeMapping, read_yaml(path), path.name)
