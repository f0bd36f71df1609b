"""Checks that the hand can operate a safe, in addition to the checks of types and ranges.

Every check raises a RuleSafeError with the key, its value and the valid values.
"""

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import Material, Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape, scaled_hull
from rulesafe_core.transforms import apply, inverse
from rulesafe_sim.safe import GraspConfig, RotaryPart, Safe
from rulesafe_sim.safe_families import FINGER, Wheel
from rulesafe_sim.safe_meshes import Mesh, Shell

PINCH_WIDTH = (0.015, 0.036)
"""Widths (m) that a pinch can hold; for smaller ones the pinch direction is not stable."""

BESIDE_CASE = 0.03
"""How far (m) the parts of an imported safe may reach beyond the outline of its case."""

SPOKE_CLEARANCE = 0.005
"""Minimum clearance (m) between a finger of the open hand around a spoke and the next spoke."""


def check_safe(safe: Safe) -> None:
    """Raise a RuleSafeError for the first failed check."""
    _check_axes(safe)
    _check_layout(safe)
    for name, part in safe.turners.items():
        where = f"parts.{name}.grasp"
        if part.grasp.link != name:
            raise RuleSafeError(f"{where}.link must be {name}, not {part.grasp.link}")
        _check_grasp(part.grasp, part, where)
    link = safe.door.grasp.link
    _check_grasp(safe.door.grasp, safe.turners[link], "parts.door.grasp")


def _check_axes(safe: Safe) -> None:
    for name, part in safe.turners.items():
        if part.motion_axis not in ((1, 0, 0), (-1, 0, 0)):
            raise RuleSafeError(
                f"parts.{name}.motion_axis must be [-1, 0, 0] (opens clockwise as seen from the "
                f"front) or [1, 0, 0] (counterclockwise), not {list(part.motion_axis)}"
            )
    outwards = (0, 0, safe.hinge_side)
    if safe.door.motion_axis != outwards:
        raise RuleSafeError(
            f"parts.door.motion_axis must be {list(outwards)} for a {safe.hinge} hinge, so that "
            f"the door opens outwards, not {list(safe.door.motion_axis)}"
        )


def _check_layout(safe: Safe) -> None:
    discs = {name: swept_discs(safe, name) for name in safe.turners}
    half = np.array([safe.case.door_width, safe.case.door_height]) / 2
    if isinstance(safe.case, Shell):  # levers of real safes reach beyond the door
        half = np.array([safe.case.width, safe.case.height]) / 2 + BESIDE_CASE
    for name, swept in discs.items():
        overlap = (np.abs(swept[:, :2]) + swept[:, 2:] - half).max(axis=0)
        if overlap.max() > 0:
            edge = ("side", "top or bottom")[int(np.argmax(overlap))]
            raise RuleSafeError(
                f"parts.{name}: it moves {overlap.max():.3f} m beyond the {edge} of the door; "
                "change its size, from_free_edge_m, above_centre_m or closed_angle_deg"
            )
    knob, handle = discs["knob"], discs["handle"]
    distance = np.linalg.norm(knob[:, None, :2] - handle[None, :, :2], axis=2)
    clearance = float((distance - knob[:, None, 2] - handle[None, :, 2]).min())
    if clearance < FINGER:
        raise RuleSafeError(
            f"parts.knob and parts.handle: the clearance over their ranges is {clearance:.3f} m; "
            f"a finger needs {FINGER:g} m"
        )


def swept_discs(safe: Safe, name: str) -> NDArray[np.float64]:
    """Cover the area swept by the knob or handle over its range, on the closed door.

    Returns:
        Discs (N, 3): y, z, radius in m, in the safe frame.
    """
    part = safe.turners[name]
    local = np.concatenate([_discs(shape) for shape in solid_shapes(part)])
    centre = np.array(safe.axis_point(name))[1:]
    rows = []
    for position in np.linspace(0.0, part.range, 13):
        angle = part.motion_axis[0] * position - part.closed_angle
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        rows.append(np.column_stack([local[:, :2] @ turn.T + centre, local[:, 2]]))
    return np.concatenate(rows)


def _discs(shape: Shape) -> NDArray[np.float64]:
    """Return discs along the axis of a round shape or points on a box's edges: (N, 3) y, z, r."""
    steps = np.linspace(-0.5, 0.5, 11)
    if isinstance(shape, MeshShape):
        points = apply(shape.pose, scaled_hull(shape).vertices)
        return np.column_stack([points[:, 1:], np.zeros(len(points))])
    if shape.kind == "box":
        ends = np.array([e for s in steps for e in ((s, 0.5), (s, -0.5), (0.5, s), (-0.5, s))])
        local = np.column_stack([np.zeros(len(ends)), ends]) * shape.size
        radius = 0.0
    else:
        radius, length = shape.size[0], shape.size[1] if len(shape.size) > 1 else 0.0
        local = np.outer(steps * length, (0.0, 0.0, 1.0))
    points = apply(shape.pose, local)
    return np.column_stack([points[:, 1:], np.full(len(points), radius)])


def solid_shapes(part: RotaryPart) -> list[Shape]:
    """Return the colliding shapes of a knob or handle, in its link frame."""
    grey = Material()
    return [shape for shape in part.shape.shapes(grey, grey) if shape.collides]


def _check_grasp(note: GraspConfig, part: RotaryPart, where: str) -> None:
    closing, approach = np.array(note.closing), np.array(note.approach)
    for name, axis in (("closing", closing), ("approach", approach)):
        if abs(np.linalg.norm(axis) - 1) > 1e-3:
            raise RuleSafeError(f"{where}.{name} must have length 1, not {np.linalg.norm(axis):g}")
    if abs(closing @ approach) > 1e-3:
        raise RuleSafeError(f"{where}: closing and approach must be perpendicular")
    low, high = PINCH_WIDTH
    for point in note.points:
        width = pinched_width(part, point, closing, approach)
        if not low <= width <= high:
            raise RuleSafeError(
                f"{where}: at {list(point)} the part is {width:.3f} m thick along the closing "
                f"axis {list(note.closing)}; valid: {low:g} .. {high:g} m"
            )
        wheel = part.shape.grip if isinstance(part.shape, Mesh) else part.shape
        if isinstance(wheel, Wheel):
            _check_clearance(wheel, float(np.hypot(*point[1:])), where)


def _check_clearance(wheel: Wheel, radius: float, where: str) -> None:
    clearance = wheel.spoke_clearance(radius)
    if clearance < SPOKE_CLEARANCE:
        raise RuleSafeError(
            f"{where}: {radius:.3f} m from the axis of {wheel.spokes} spokes, the open hand around "
            f"a spoke has {clearance:.3f} m clearance to the next one, but needs "
            f"{SPOKE_CLEARANCE:g} m: use fewer or thinner spokes, or a point farther from the axis"
        )


def pinched_width(part: RotaryPart, point, closing, approach) -> float:
    """Return the thickness (m) of a part at position 0 along `closing` at `point` (m, link frame).

    It is the maximum within a fingertip's length of `point` along `approach`.
    """
    solid = solid_shapes(part)
    along = np.linspace(-0.05, 0.05, 401)
    widths = []
    for depth in np.linspace(-0.01, 0.01, 9):
        line = np.asarray(point) + depth * np.asarray(approach) + np.outer(along, closing)
        inside = np.any([contains(shape, line) for shape in solid], axis=0)
        gaps = np.flatnonzero(~inside)
        middle = len(along) // 2
        if inside[middle] and len(gaps):
            left, right = gaps[gaps < middle], gaps[gaps > middle]
            if len(left) and len(right):
                widths.append(along[right[0] - 1] - along[left[-1] + 1])
            else:
                widths.append(float(np.ptp(along)))
    return float(max(widths, default=0.0))


def contains(shape: Shape, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask (N,) of the points (N, 3) inside a primitive or a convex mesh."""
    local = apply(inverse(shape.pose), points)
    if isinstance(shape, MeshShape):
        hull = scaled_hull(shape)
        offsets = np.einsum("ij,ij->i", hull.normals, hull.vertices[hull.triangles[:, 0]])
        return np.all(local @ hull.normals.T <= offsets + 1e-9, axis=1)
    if shape.kind == "box":
        return np.all(np.abs(local) <= np.array(shape.size) / 2 + 1e-9, axis=1)
    radius = shape.size[0]
    half = shape.size[1] / 2 if len(shape.size) > 1 else 0.0
    if shape.kind == "cylinder":
        flat = np.hypot(local[:, 0], local[:, 1]) <= radius
        return flat & (np.abs(local[:, 2]) <= half)
    local[:, 2] -= np.clip(local[:, 2], -half, half)
    return np.linalg.norm(local, axis=1) <= radius + 1e-9
