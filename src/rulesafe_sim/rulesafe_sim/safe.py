"""A safe as data: parts, case, looks, and where a pinch takes each part."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from typing import Literal

from rulesafe_core.body import Material
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.settings import required
from rulesafe_core.transforms import Vec3, about_axis, apply
from rulesafe_sim.safe_families import Bar, Fluted, Grip, Lever, PartFamily, Tee, Wheel

DETENT_RAMP = 0.1
"""The detent's torque changes sign at half range, over +- this fraction of it."""


@dataclass(frozen=True)
class GraspNote:
    """Where a pinch takes a part, as the file notes it: in the frame of `link` (the knob or the
    handle), at the part's position 0."""

    link: Literal["knob", "handle"]
    points: tuple[Vec3, ...] = required(unit="m")
    closing: Vec3 = required()
    """Along which thumb and finger close; unit length, either sense."""
    approach: Vec3 = required()
    """Along which the hand comes; unit length."""


@dataclass(frozen=True)
class Grasp:
    """One way to pinch: point (m) and unit vectors in the part's link frame."""

    point: Vec3
    closing: Vec3
    approach: Vec3


@dataclass(frozen=True, kw_only=True)
class Part:
    """What the three parts have in common. Position 0 is closed, `range` rad is fully open."""

    range: float = required(20, 120, "deg")
    open_above: float = required(0, 1)  # fraction of the range above which it is open
    closed_below: float = required(0, 1)  # fraction below which it is closed again
    damping: float = required(0.0, 5.0, "nms_per_rad")
    detent: float = required(0.0, 0.3, "nm")  # peak torque towards the nearer end of the range
    spring: float = required(0.0, 2.0, "nm")  # constant torque towards closed
    mass: float = required(0.02, 20.0, "kg")
    motion_axis: Vec3  # the part turns about it, right-handed
    grasp: GraspNote

    def __post_init__(self) -> None:
        if not 0 < self.closed_below < self.open_above < 1:
            raise RuleSafeError(
                "0 < closed_below < open_above < 1 must hold; they are "
                f"{self.closed_below:g} and {self.open_above:g}"
            )
        if self.detent and self.spring >= self.detent:
            raise RuleSafeError(
                f"spring_nm {self.spring:g} must be smaller than detent_nm {self.detent:g}, "
                "or the part does not stay open"
            )

    def torque(self, position: float) -> float:
        """Torque (N m, positive opens) of detent and spring at a position (rad)."""
        return detent_torque(self, position) - self.spring


@dataclass(frozen=True, kw_only=True)
class Turner(Part):
    """A knob or a handle: it turns about the door's normal."""

    from_free_edge: float = required(0.03, 0.3, "m")  # axis to the door's free edge
    above_centre: float = required(-0.3, 0.3, "m")  # axis to the door's middle, up
    closed_angle: float = required(-180, 180, "deg")  # the link's z from up, clockwise, as seen
    rotor_inertia: float = required(0.0, 0.01, "kgm2")  # of the works that turn along

    shape: PartFamily

    @property
    def opening_sign(self) -> int:
        """+1 where the part opens clockwise as seen from the front, -1 where it opens the other
        way."""
        return 1 if self.motion_axis[0] < 0 else -1

    @property
    def phase_visible(self) -> bool:
        """Whether the fully open part looks different from the closed one."""
        turns = self.range * self.shape.symmetry / (2 * pi)
        return abs(turns - round(turns)) > 1e-6


@dataclass(frozen=True, kw_only=True)
class Knob(Turner):
    shape: Bar | Grip | Fluted


@dataclass(frozen=True, kw_only=True)
class Handle(Turner):
    shape: Lever | Tee | Wheel


@dataclass(frozen=True)
class Door(Part):
    pass


@dataclass(frozen=True)
class Case:
    """The safe's outer box; the door is set into its front."""

    width: float = required(0.25, 0.6, "m")
    height: float = required(0.25, 0.8, "m")
    depth: float = required(0.15, 0.6, "m")
    wall: float = required(0.006, 0.04, "m")  # as seen around the door
    gap: float = required(0.001, 0.006, "m")  # between wall and door
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
    """A safe as its file states it. `id` is the file's name without .yaml."""

    id: str
    title: str
    hinge: str  # "left" or "right", as seen from the front
    case: Case
    looks: Looks
    knob: Knob
    handle: Handle
    door: Door

    @property
    def parts(self) -> Mapping[str, Part]:
        """knob, handle and door by name."""
        return {"knob": self.knob, "handle": self.handle, "door": self.door}

    @property
    def turners(self) -> Mapping[str, Turner]:
        """knob and handle by name."""
        return {"knob": self.knob, "handle": self.handle}

    @property
    def hinge_side(self) -> int:
        """Sign of the safe frame's y at the hinge: -1 for a left one, +1 for a right one."""
        return -1 if self.hinge == "left" else 1

    @property
    def phase_visible(self) -> bool:
        """Whether a picture tells an open knob or handle from a closed one."""
        return any(part.phase_visible for part in self.turners.values())

    def axis_point(self, part: str) -> Vec3:
        """Where the knob's or handle's axis leaves the closed door's front, safe frame (m)."""
        turner = self.turners[part]
        y = -self.hinge_side * (self.case.door_width / 2 - turner.from_free_edge)
        return 0.0, y, turner.above_centre

    def torques(self, positions: Mapping[str, float]) -> dict[str, float]:
        """Torque (N m, positive opens) of detent and spring on each part, by its position (rad)."""
        return {name: self.parts[name].torque(position) for name, position in positions.items()}

    def grasps(self, held: str, use: str) -> tuple[Grasp, ...]:
        """All ways to pinch the `held` part ("knob" or "handle"), equivalent ones by symmetry
        included, to "turn" it or to "pull" the door by it; in the held part's link frame."""
        if held not in self.turners:
            raise unknown_name("part to hold", held, self.turners)
        if use not in ("turn", "pull"):
            raise unknown_name("use", use, ("turn", "pull"))
        note = self.turners[held].grasp if use == "turn" else self.door.grasp
        if note.link != held:
            raise unknown_name(f"part to {use} {self.id} by", held, (note.link,))
        return spread(note, self.turners[held].shape.symmetry)


def spread(note: GraspNote, symmetry: int) -> tuple[Grasp, ...]:
    """The noted grasps and their copies by the part's symmetry, without those that differ only
    in the closing axis's sense."""
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
    """Torque (N m, positive opens) of a part's detent at a position (rad): its peak towards the
    nearer end of the range, so that the part rests against its stops, and through zero at half
    range."""
    offset = (position / part.range - 0.5) / DETENT_RAMP
    return part.detent * max(-1.0, min(1.0, offset))
