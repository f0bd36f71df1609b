"""Families of knobs and handles: primitive shapes from their sizes.

The frame of the link of a part: origin at the intersection of the part's axis with the door's
front, x out of the door along the axis, z along the arm (lever, spoke, long side) or along an edge,
so that opposite faces for a pinch are at +y and -y. Lengths in m.

Collision shapes are boxes, capsules and spheres. Cylinders are only visual: PhysX approximates a
cylinder by facets, and a pinch would turn it even without friction. Symmetric copies are rotated
copies of one shape, and round shapes along x have `_facets` corners, so that images are symmetric
too.
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
"""Distance from the pinch point to the centre of the outer finger of the open hand (m)."""

STEM_RADIUS = 0.008
X = (1.0, 0.0, 0.0)
X_AXIS = from_xyz_rpy(rpy=(0, pi / 2, 0))
"""Rotates the z axis of a shape to x."""


class PartFamily(Protocol):
    """Geometry of a knob or handle."""

    @property
    def symmetry(self) -> int:
        """Order of rotational symmetry: a rotation by 360 / symmetry degrees is not visible."""

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        """Return the shapes in the link frame of the part."""


def _box_along_x(face: float, depth: float, y: float, z: float, **kwargs) -> Shape:
    """Build a box centred on the x axis with its front at x = `face`."""
    return Shape("box", (depth, y, z), from_parts(np.eye(3), (face - depth / 2, 0, 0)), **kwargs)


def _facets(symmetry: int) -> int:
    """Return the number of corners of a round shape on the axis of a part: at least 24 and a
    multiple of its symmetry, so that its rotation is not visible."""
    return symmetry * ceil(24 / symmetry)


def _disc(x: float, radius: float, thickness: float, material: Material, symmetry: int) -> Shape:
    """Build a visual cylinder around the x axis with its front at `x`."""
    pose = from_parts(X_AXIS[:3, :3], (x - thickness / 2, 0, 0))
    facets = _facets(symmetry)
    return Shape("cylinder", (radius, thickness), pose, material, collides=False, facets=facets)


def _turned(shape: Shape, angle: float) -> Shape:
    return replace(shape, pose=about_axis(X, angle) @ shape.pose)


def _stem(end: float, material: Material, symmetry: int, radius: float = STEM_RADIUS) -> Shape:
    """Build a stem along the axis from x = 0 to x = `end`."""
    facets = _facets(symmetry)
    return capsule_between((0, 0, 0), (end, 0, 0), radius, material=material, facets=facets)


@dataclass(frozen=True)
class Bar:
    """Knob: a flat bar with an inlaid line on one half, which shows its position."""

    length: float = required(0.03, 0.08, "m")
    width: float = required(0.015, 0.036, "m")
    depth: float = required(0.015, 0.04, "m")
    face: float = required(0.03, 0.08, "m")

    @property
    def symmetry(self) -> int:
        return 1  # the inlay distinguishes the halves

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        inlay = from_parts(np.eye(3), (self.face, 0, self.length / 4 - 0.002))
        return (
            _box_along_x(self.face, self.depth, self.width, self.length, material=main),
            _stem(self.face - self.depth, main, self.symmetry),
            Shape("box", (0.001, 0.004, self.length / 2 - 0.004), inlay, trim, collides=False),
        )


@dataclass(frozen=True)
class Grip:
    """Knob: a prism with an even number of equal faces."""

    sides: int = required(4, 12)
    across: float = required(0.02, 0.036, "m")
    """Distance between opposite faces."""
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
        """Build a regular prism as the union of boxes, each between two opposite sides."""
        side = across * tan(pi / self.sides)
        slab = _box_along_x(face, depth, across, side, material=main)
        return [_turned(slab, 2 * pi * k / self.sides) for k in range(self.sides // 2)]


@dataclass(frozen=True)
class Fluted:
    """Knob: equal round ridges around a core; a fingertip fits into the flute between two."""

    ridges: int = required(4, 10)
    across: float = required(0.02, 0.04, "m")
    """Distance between the tops of opposite ridges."""
    ridge_radius: float = required(0.003, 0.008, "m")
    depth: float = required(0.015, 0.04, "m")
    face: float = required(0.03, 0.08, "m")

    def __post_init__(self) -> None:
        _check_even("ridges", self.ridges)
        if self.depth < self.across - 2 * self.ridge_radius:
            raise RuleSafeError(
                f"depth_m is {self.depth:g}; it must be at least across_m - 2 * ridge_radius_m = "
                f"{self.across - 2 * self.ridge_radius:g}"
            )

    @property
    def symmetry(self) -> int:
        return self.ridges

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        r, ring = self.ridge_radius, self.across / 2 - self.ridge_radius
        front, back = self.face - r, self.face - self.depth + r
        ridge = capsule_between((back, ring, 0), (front, ring, 0), r, material=main)
        return (
            # The flutes are at +y and -y.
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
    """Handle: a single arm."""

    length: float = required(0.06, 0.14, "m")
    """Distance from the axis to the tip."""
    radius: float = required(0.0075, 0.018, "m")
    off_door: float = required(0.03, 0.07, "m")
    """Distance from the door to the centre line of the arm."""

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
    """Distance between the tips."""
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
    """Handle: equal spokes around a hub, without a rim, so that fingers fit between them."""

    spokes: int = required(3, 8)
    length: float = required(0.05, 0.09, "m")
    """Distance from the axis to the tip of a spoke."""
    radius: float = required(0.0075, 0.012, "m")
    hub_radius: float = required(0.01, 0.03, "m")
    off_door: float = required(0.03, 0.07, "m")

    @property
    def symmetry(self) -> int:
        return self.spokes

    def spoke_clearance(self, distance: float) -> float:
        """Return the clearance (m) between the next spoke and a finger of the open hand around a
        spoke, at `distance` m from the axis."""
        angle = 2 * pi / self.spokes
        if distance * cos(angle) + OPEN_HAND * sin(angle) < 0:
            return float("inf")  # the next spoke points away
        to_next = distance * sin(angle) - OPEN_HAND * cos(angle)  # to the next spoke's centre line
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
    """Build a capsule along z at distance `x` from the door, straight from z = start to end."""
    return capsule_between((x, 0, start), (x, 0, end), radius, material=material)


def _check_even(name: str, value: int) -> None:
    if value % 2:
        raise RuleSafeError(f"{name} must be even, not {value}: a pinch needs two opposite faces")


KnobShape = Bar | Grip | Fluted
HandleShape = Lever | Tee | Wheel
