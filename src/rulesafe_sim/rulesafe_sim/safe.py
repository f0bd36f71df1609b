"""Data model of a safe: parts, case, materials and grasps."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from typing import Literal

from rulesafe_core.body import Material
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.settings import required
from rulesafe_core.transforms import Vec3, about_axis, apply
from rulesafe_sim.safe_families import HandleShape, KnobShape, PartFamily
from rulesafe_sim.safe_meshes import LinkMeshes, Mesh, Shell

DETENT_RAMP = 0.1
"""The detent torque changes sign at half of the range, linearly over +- this fraction of it."""


@dataclass(frozen=True)
class GraspConfig:
    """Grasp annotation of a part as in its file: in the frame of `link` (knob or handle) at
    position 0."""

    link: Literal["knob", "handle"]
    points: tuple[Vec3, ...] = required(unit="m")
    closing: Vec3 = required()
    """Closing direction of thumb and finger, unit length; its sign has no meaning."""
    approach: Vec3 = required()
    """Approach direction of the hand, unit length."""


@dataclass(frozen=True)
class Grasp:
    """A pinch grasp: point (m), and unit vectors in the link frame of the part."""

    point: Vec3
    closing: Vec3
    approach: Vec3


@dataclass(frozen=True, kw_only=True)
class Part:
    """Common properties of the parts. Position 0 is closed, `range` rad is fully open."""

    range: float = required(20, 120, "deg")
    open_above: float = required(0, 1)  # fraction of the range above which the part is open
    closed_below: float = required(0, 1)  # fraction of the range below which it is closed
    damping: float = required(0.0, 5.0, "nms_per_rad")
    detent: float = required(0.0, 0.3, "nm")  # peak torque, towards the nearer end stop
    spring: float = required(0.0, 2.0, "nm")  # constant torque towards closed
    mass: float = required(0.02, 20.0, "kg")
    motion_axis: Vec3  # the part turns about it, right-handed
    grasp: GraspConfig

    def __post_init__(self) -> None:
        if not 0 < self.closed_below < self.open_above < 1:
            raise RuleSafeError(
                f"closed_below is {self.closed_below:g} and open_above is {self.open_above:g}; "
                "valid: 0 < closed_below < open_above < 1"
            )
        if self.detent and self.spring >= self.detent:
            raise RuleSafeError(
                f"spring_nm {self.spring:g} must be smaller than detent_nm {self.detent:g}, "
                "otherwise the part does not stay open"
            )

    def torque(self, position: float) -> float:
        """Return the torque (N m, positive opens) of detent and spring at a position (rad)."""
        return detent_torque(self, position) - self.spring


@dataclass(frozen=True, kw_only=True)
class RotaryPart(Part):
    """A knob or a handle, which turns about the door's normal."""

    from_free_edge: float = required(0.03, 0.3, "m")  # from the axis to the door's free edge
    above_centre: float = required(-0.3, 0.3, "m")  # height of the axis above the door's centre
    closed_angle: float = required(-180, 180, "deg")  # from up to the link's z, clockwise
    rotor_inertia: float = required(0.0, 0.01, "kgm2")  # inertia of the mechanism behind the door

    shape: PartFamily

    @property
    def opening_sign(self) -> int:
        """+1 if the part opens clockwise as seen from the front, otherwise -1."""
        return 1 if self.motion_axis[0] < 0 else -1

    @property
    def phase_visible(self) -> bool:
        """Whether the fully open part looks different from the closed one."""
        if isinstance(self.shape, Mesh):
            return self.shape.phase_visible
        sectors = self.range * self.shape.symmetry / (2 * pi)
        return abs(sectors - round(sectors)) > 1e-6


@dataclass(frozen=True, kw_only=True)
class Knob(RotaryPart):
    shape: KnobShape | Mesh


@dataclass(frozen=True, kw_only=True)
class Handle(RotaryPart):
    shape: HandleShape | Mesh


@dataclass(frozen=True, kw_only=True)
class Door(Part):
    meshes: LinkMeshes | None = None  # in the door's frame; None: a panel of the case's size


@dataclass(frozen=True)
class Case:
    """Outer box of the safe, with the door in its front."""

    width: float = required(0.25, 0.6, "m")
    height: float = required(0.25, 0.8, "m")
    depth: float = required(0.15, 0.6, "m")
    wall: float = required(0.006, 0.04, "m")  # thickness of the walls
    gap: float = required(0.001, 0.006, "m")  # gap between wall and door
    door_thickness: float = required(0.01, 0.06, "m")
    contents: Literal["gold", "folders", "chest"] = required()

    @property
    def door_width(self) -> float:
        return self.width - 2 * (self.wall + self.gap)

    @property
    def door_height(self) -> float:
        return self.height - 2 * (self.wall + self.gap)


@dataclass(frozen=True)
class Looks:
    case: Material
    door: Material
    interior: Material
    knob: Material
    handle: Material
    trim: Material


@dataclass(frozen=True)
class Safe:
    """A safe as defined in its file. `id` is the file name without .yaml."""

    id: str
    title: str
    hinge: str  # "left" or "right", as seen from the front
    case: Case | Shell
    looks: Looks
    knob: Knob
    handle: Handle
    door: Door

    def __post_init__(self) -> None:
        if isinstance(self.case, Shell) != (self.door.meshes is not None):
            raise RuleSafeError(
                "parts.door.meshes is needed with a case of the family shell, and valid only then"
            )

    @property
    def parts(self) -> Mapping[str, Part]:
        """Knob, handle and door by name."""
        return {"knob": self.knob, "handle": self.handle, "door": self.door}

    @property
    def turners(self) -> Mapping[str, RotaryPart]:
        """Knob and handle by name."""
        return {"knob": self.knob, "handle": self.handle}

    @property
    def hinge_side(self) -> int:
        """Sign of y at the hinge in the safe frame: -1 for a left hinge, +1 for a right one."""
        return -1 if self.hinge == "left" else 1

    @property
    def hinge_point(self) -> Vec3:
        """Origin of the door's frame, on the hinge axis, in the safe frame (m)."""
        if isinstance(self.case, Shell):
            return *self.case.hinge, 0.0
        return 0.0, self.hinge_side * self.case.door_width / 2, 0.0

    @property
    def phase_visible(self) -> bool:
        """Whether images show a difference between an open and a closed knob or handle."""
        return any(part.phase_visible for part in self.turners.values())

    def axis_point(self, part: str) -> Vec3:
        """Return the intersection of the axis of knob or handle with the front of the closed door,
        in the safe frame (m)."""
        turner = self.turners[part]
        y = -self.hinge_side * (self.case.door_width / 2 - turner.from_free_edge)
        return 0.0, y, turner.above_centre

    def grasps(self, part: str, use: str) -> tuple[Grasp, ...]:
        """Return all pinch grasps of a part, including equivalent ones by symmetry.

        Args:
            part: part to grasp, "knob" or "handle".
            use: "turn" to turn this part, "pull" to pull the door with it.

        Returns:
            The grasps in the link frame of the part.
        """
        if part not in self.turners:
            raise unknown_name("part to grasp", part, self.turners)
        if use not in ("turn", "pull"):
            raise unknown_name("use of a grasp", use, ("turn", "pull"))
        note = self.turners[part].grasp if use == "turn" else self.door.grasp
        if note.link != part:
            raise unknown_name(f"part to grasp for a {use} on {self.id}", part, (note.link,))
        return symmetric_grasps(note, self.turners[part].shape.symmetry)


def symmetric_grasps(note: GraspConfig, symmetry: int) -> tuple[Grasp, ...]:
    """Return the annotated grasps and their symmetric copies, without those that differ only in
    the sign of the closing axis."""
    found: dict[tuple[float, ...], Grasp] = {}
    for point in note.points:
        for k in range(symmetry):
            turn = about_axis((1, 0, 0), 2 * pi * k / symmetry)
            turned_point = _rounded(apply(turn, point))
            closing = _rounded(apply(turn, note.closing))
            opposite = tuple(-c + 0.0 for c in closing)
            if turned_point + opposite not in found:
                grasp = Grasp(turned_point, closing, note.approach)
                found[turned_point + closing] = grasp
    return tuple(found.values())


def _rounded(values) -> Vec3:
    x, y, z = (round(float(v), 9) + 0.0 for v in values)
    return x, y, z


def detent_torque(part: Part, position: float) -> float:
    """Return the torque (N m, positive opens) of a part's detent at a position (rad).

    It points to the nearer end of the range, so that the part rests at its stops, and is zero at
    half of the range.
    """
    offset = (position / part.range - 0.5) / DETENT_RAMP
    if offset < 1.0:
        return part.detent * (offset if offset > -1.0 else -1.0)
    return part.detent
