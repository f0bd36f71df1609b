"""The families of knobs and handles: sizes in, primitive shapes out.

Every family is laid out in the frame of its link: origin on the door's front where the part's axis
leaves it, x out of the door along that axis, z along the part's arm (lever, spoke, long side) or
along an edge, so that opposite faces to pinch lie at +y and -y. Lengths in m.

Colliders are boxes, capsules and spheres: PhysX facets a cylinder's collider, and a pinch then
turns it without friction. Cylinders are for the eye alone. Copies by symmetry are turned copies of
one shape, and round shapes lie along x with `_facets`, so that even their pictures repeat.
"""

from dataclasses import dataclass, replace
from math import ceil, cos, pi, sin, tan
from typing import Protocol

import numpy as np

from rulesafe_core.body import Material, Shape, capsule_between
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import required
from rulesafe_core.transforms import about_axis, from_parts, from_xyz_rpy

FINGER = 0.015
"""Thickness of a fingertip (m)."""

OPEN_HAND = 0.05
"""From the pinch point to the middle of the outer finger of the hand about to pinch (m)."""

STEM_RADIUS = 0.008
X = (1.0, 0.0, 0.0)
X_AXIS = from_xyz_rpy(rpy=(0, pi / 2, 0))
"""Turns a shape's z axis to x."""


class PartFamily(Protocol):
    """A knob's or handle's geometry."""

    @property
    def symmetry(self) -> int:
        """The part looks the same after a turn by 360 / symmetry degrees."""

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        """Shapes in the part's link frame."""


def _box_along_x(face: float, depth: float, y: float, z: float, **kwargs) -> Shape:
    """A box around the x axis whose front stands `face` off the door."""
    return Shape("box", (depth, y, z), from_parts(np.eye(3), (face - depth / 2, 0, 0)), **kwargs)


def _facets(symmetry: int) -> int:
    """Corners of a round shape that lies on the axis of a part: at least 24, and as many in each of
    the part's equal sectors, or a camera sees them turn."""
    return symmetry * ceil(24 / symmetry)


def _disc(x: float, radius: float, thickness: float, material: Material, symmetry: int) -> Shape:
    """A cylinder for the eye around the x axis, its front at `x`."""
    pose = from_parts(X_AXIS[:3, :3], (x - thickness / 2, 0, 0))
    facets = _facets(symmetry)
    return Shape("cylinder", (radius, thickness), pose, material, collides=False, facets=facets)


def _turned(shape: Shape, angle: float) -> Shape:
    return replace(shape, pose=about_axis(X, angle) @ shape.pose)


def _stem(end: float, material: Material, symmetry: int, radius: float = STEM_RADIUS) -> Shape:
    """From inside the door to x = `end`."""
    facets = _facets(symmetry)
    return capsule_between((0, 0, 0), (end, 0, 0), radius, material=material, facets=facets)


@dataclass(frozen=True)
class Bar:
    """Knob: a flat bar with an inlaid line on one half, which shows how far it is turned."""

    length: float = required(0.03, 0.08, "m")
    width: float = required(0.015, 0.036, "m")
    depth: float = required(0.015, 0.04, "m")
    face: float = required(0.03, 0.08, "m")

    @property
    def symmetry(self) -> int:
        return 1  # the inlay tells the halves apart

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        inlay = from_parts(np.eye(3), (self.face, 0, self.length / 4 - 0.002))
        return (
            _box_along_x(self.face, self.depth, self.width, self.length, material=main),
            _stem(self.face - self.depth, main, self.symmetry),
            Shape("box", (0.001, 0.004, self.length / 2 - 0.004), inlay, trim, collides=False),
        )


@dataclass(frozen=True)
class Grip:
    """Knob: a prism with an even number of equal flats."""

    sides: int = required(4, 12)
    across: float = required(0.02, 0.036, "m")
    """From flat to flat."""
    depth: float = required(0.015, 0.04, "m")
    face: float = required(0.03, 0.08, "m")

    def __post_init__(self) -> None:
        _check_even("sides", self.sides)

    @property
    def symmetry(self) -> int:
        return self.sides

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        back = self.face - self.depth
        return (
            *self._prism(self.face, self.depth, self.across, main),
            *self._prism(back, back, self.across / 2, main),
            _disc(self.face + 0.001, 0.32 * self.across, 0.002, trim, self.symmetry),
        )

    def _prism(self, face: float, depth: float, across: float, main: Material) -> list[Shape]:
        """A regular prism as the union of boxes, each between two opposite sides."""
        side = across * tan(pi / self.sides)
        slab = _box_along_x(face, depth, across, side, material=main)
        return [_turned(slab, 2 * pi * k / self.sides) for k in range(self.sides // 2)]


@dataclass(frozen=True)
class Fluted:
    """Knob: equal round ridges about a core; a fingertip rests in the flute between two."""

    ridges: int = required(4, 10)
    across: float = required(0.02, 0.04, "m")
    """From the top of a ridge to that of the opposite one."""
    ridge_radius: float = required(0.003, 0.008, "m")
    depth: float = required(0.015, 0.04, "m")
    face: float = required(0.03, 0.08, "m")

    def __post_init__(self) -> None:
        _check_even("ridges", self.ridges)
        if self.depth < self.across - 2 * self.ridge_radius:
            raise RuleSafeError("depth_m must be at least across_m - 2 ridge_radius_m")

    @property
    def symmetry(self) -> int:
        return self.ridges

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        r, ring = self.ridge_radius, self.across / 2 - self.ridge_radius
        front, back = self.face - r, self.face - self.depth + r
        ridge = capsule_between((back, ring, 0), (front, ring, 0), r, material=main)
        return (
            # The flutes lie at +y and -y.
            *(_turned(ridge, pi * (2 * k + 1) / self.ridges) for k in range(self.ridges)),
            capsule_between(
                (self.face - self.depth + ring, 0, 0), (self.face - ring, 0, 0), ring, visible=False
            ),
            _disc(self.face - 0.002, ring, self.depth - 0.004, main, self.symmetry),
            _stem(back, main, self.symmetry),
            _disc(self.face, 0.75 * ring, 0.003, trim, self.symmetry),
        )


@dataclass(frozen=True)
class Lever:
    """Handle: one arm."""

    length: float = required(0.06, 0.14, "m")
    """From the axis to the tip."""
    radius: float = required(0.0075, 0.018, "m")
    off_door: float = required(0.03, 0.07, "m")
    """From the door to the arm's middle."""

    @property
    def symmetry(self) -> int:
        return 1

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        return (
            _arm(self.off_door, 0.0, self.length - self.radius, self.radius, main),
            _stem(self.off_door, main, self.symmetry, 0.9 * self.radius),
        )


@dataclass(frozen=True)
class Tee:
    """Handle: a bar across the axis."""

    length: float = required(0.07, 0.16, "m")
    """From tip to tip."""
    radius: float = required(0.0075, 0.018, "m")
    off_door: float = required(0.03, 0.07, "m")

    @property
    def symmetry(self) -> int:
        return 2

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        end = self.length / 2 - self.radius
        return (
            _arm(self.off_door, -end, end, self.radius, main),
            _stem(self.off_door, main, self.symmetry, 0.9 * self.radius),
        )


@dataclass(frozen=True)
class Wheel:
    """Handle: equal spokes about a hub, with no rim, so that fingers come between them."""

    spokes: int = required(3, 8)
    length: float = required(0.05, 0.09, "m")
    """From the axis to a spoke's tip."""
    radius: float = required(0.0075, 0.012, "m")
    hub_radius: float = required(0.01, 0.03, "m")
    off_door: float = required(0.03, 0.07, "m")

    @property
    def symmetry(self) -> int:
        return self.spokes

    def room_beside_spoke(self, at: float) -> float:
        """Clearance (m) between a finger of the hand about to pinch a spoke at `at` m from the
        axis and the next spoke."""
        angle = 2 * pi / self.spokes
        if at * cos(angle) + OPEN_HAND * sin(angle) < 0:
            return float("inf")  # the next spoke points away
        to_next = at * sin(angle) - OPEN_HAND * cos(angle)  # to the line through the next spoke
        return to_next - self.radius - FINGER / 2

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        spoke = _arm(self.off_door, 0.0, self.length - self.radius, self.radius, main)
        hub = from_parts(X_AXIS[:3, :3], (self.off_door, 0, 0))
        front = self.off_door + self.hub_radius + 0.001
        return (
            *(_turned(spoke, 2 * pi * k / self.spokes) for k in range(self.spokes)),
            _stem(self.off_door, main, self.symmetry),
            Shape("sphere", (self.hub_radius,), hub, main, facets=_facets(self.symmetry)),
            _disc(front, 0.5 * self.hub_radius, 0.006, trim, self.symmetry),
        )


def _arm(x: float, start: float, end: float, radius: float, material: Material) -> Shape:
    """A capsule along z, `x` off the door, its straight part from z = start to end."""
    return capsule_between((x, 0, start), (x, 0, end), radius, material=material)


def _check_even(name: str, value: int) -> None:
    if value % 2:
        raise RuleSafeError(
            f"{name} must be even, not {value}: a pinch needs two faces opposite each other"
        )


KNOBS = (Bar, Grip, Fluted)
HANDLES = (Lever, Tee, Wheel)
