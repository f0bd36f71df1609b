"""Annotated images: the right hand in an operation, a safe with its parts' axes and grasps.

They are drawn from the data that the planner uses: data/hand.yaml, the safes' files and the bodies
built from them.
"""

from collections.abc import Mapping, Sequence
from math import degrees, pi

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from planner_node.hand import HandOperation
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.transforms import Transform, about_axis, apply, from_parts, from_xyz_rpy
from rulesafe_sim.safe import Grasp, Safe
from rulesafe_sim.safe_body import safe_body
from rulesafe_urdf.sketch import HALO, QUIET, Color, Key, Sketch, caption
from rulesafe_urdf.views import View, corners, framed, right_hand, take_views

SIDE = 620  # pixels of a panel
FINE = 2  # factor by which images are drawn larger before they are reduced
LINE = 2.4 * FINE  # pixels, before that

BLUE: Color = (22, 96, 200)
GREEN: Color = (20, 138, 78)
ORANGE: Color = (206, 104, 8)
RED: Color = (196, 28, 66)
VIOLET: Color = (112, 48, 170)
AXIS_COLORS = (BLUE, GREEN, ORANGE)

HAND_POSE = from_parts(np.column_stack([(0, -1, 0), (0, 0, -1), (1, 0, 0)]), (0.3, -0.2, 0.1))
"""Pose of the hand in the world: fingers up, thumb towards the light."""

HAND_SIDES = {
    "seen from the thumb's side": (-0.3, -0.2, -1.0),
    "seen from the palm's side": (-1.0, -0.15, -0.75),
}
"""Directions from the hand to the viewpoint, frame R_hand_base_link."""

HAND_AXIS = 0.055  # m, length of an axis as drawn

SAFE_POSE = from_xyz_rpy((0.6, -0.24, 0.28), (0, 0, pi))
"""Pose of the safe in the world: facing the robot, as in an episode."""


def hand_views(operation: HandOperation) -> dict[str, View]:
    """Return views of the right hand in an operation's posture, root R_hand_base_link."""
    body, joints = right_hand(), dict(zip(HAND_JOINTS, operation.joints, strict=True))
    hand = corners(body, joints, (link.name for link in body.links))
    points = np.concatenate([hand, *(axis_ends(operation, axis) for axis in operation.axes)])
    viewpoints = [framed(name, direction, points, 0.9) for name, direction in HAND_SIDES.items()]
    return take_views(body, joints, HAND_POSE, viewpoints, SIDE * FINE)


def axis_ends(operation: HandOperation, axis: str) -> NDArray[np.float64]:
    """Return the ends (2, 3) of an axis as drawn, from the operation's first key point."""
    origin = next(iter(operation.points.values()))
    return np.array([origin, origin + HAND_AXIS * operation.axes[axis]])


def hand_sheet(operation: HandOperation) -> Image.Image:
    """Return the sheet of a hand operation: its key points and axes from two sides."""
    colors = dict(zip(operation.axes, AXIS_COLORS, strict=True))
    views = hand_views(operation)
    panels = [_hand_panel(operation, view, name, colors) for name, view in views.items()]
    joints = ", ".join(
        f"{name[2:-6].replace('_proximal', '').replace('_', ' ')} {degrees(angle):.0f}"
        for name, angle in zip(HAND_JOINTS, operation.joints, strict=True)
    )
    keys = [Key("arrow", color, _MEANING.get(name, name)) for name, color in colors.items()]
    keys.append(Key("dot", VIOLET, "key point, in the frame R_hand_base_link"))
    lines = [
        operation.about,
        f"Commanded posture; a held part stops the fingers earlier. Joints, deg: {joints}.",
    ]
    return _sheet(f"Right hand: {operation.name}", lines, keys, panels)


_MEANING = {
    "approach": "approach: direction in which the hand approaches",
    "closing": "closing: from the fingers to the thumb",
    "pull": "pull: direction in which the hand pulls",
    "fingers": "fingers: along the fingers",
    "normal": "normal: the cross product of the other two",
}


def _hand_panel(
    operation: HandOperation, view: View, name: str, colors: Mapping[str, Color]
) -> Image.Image:
    sketch = Sketch(view.rgb, LINE)
    if "bar" in operation.points:
        bar = operation.points["bar"] + 0.06 * np.outer((-1, 1), operation.axes["normal"])
        sketch.dashed(view.project(bar), QUIET)
    for axis in operation.axes:
        sketch.arrow(view.project(axis_ends(operation, axis)), colors[axis], axis)
    for point, at in operation.points.items():
        sketch.dot(view.project(at), VIOLET, point.replace("_", " "))
    return _named(sketch, name)


def safe_views(safe: Safe) -> dict[str, View]:
    """Return views of a closed safe, root `body`: one of the complete safe, one of its parts."""
    body, side = safe_body(safe), safe.hinge_side
    poses = body.link_poses({})
    arcs = [motion(safe, part, poses[part])[1] for part in safe.parts]
    overview = np.concatenate([corners(body, {}, poses), *arcs])
    near = np.concatenate([corners(body, {}, ("knob", "handle")), *arcs[:2]])
    viewpoints = (
        framed("complete safe", (1.0, -0.45 * side, 0.4), overview, 1.8),
        framed("knob and handle", (1.0, 0.45 * side, 0.35), near, 1.2),
    )
    return take_views(body, {}, SAFE_POSE, viewpoints, SIDE * FINE)


def safe_sheet(safe: Safe) -> Image.Image:
    """Return the sheet of a safe: axes and directions of its parts' motions, and its grasps."""
    overview, near = safe_views(safe).items()
    panels = [_motions(safe, overview[1], overview[0]), _grasps(safe, near[1], near[0])]
    ranges = ", ".join(f"{name} {degrees(part.range):.0f}" for name, part in safe.parts.items())
    keys = [
        Key("axis", RED, "axis of a part's motion"),
        Key("arrow", RED, "from closed to fully open"),
        Key("dot", VIOLET, "where a pinch holds the part to turn it"),
        Key("dot", ORANGE, "where a pinch holds the part to pull the door"),
        Key("arrow", BLUE, "approach: direction in which the hand approaches"),
        Key("axis", GREEN, "closing: the line along which thumb and finger close"),
    ]
    lines = [f"{safe.title}; hinge on the {safe.hinge}.", f"Ranges, deg: {ranges}."]
    return _sheet(f"Safe: {safe.id}", lines, keys, panels)


def _motions(safe: Safe, view: View, name: str) -> Image.Image:
    sketch = Sketch(view.rgb, LINE)
    poses = safe_body(safe).link_poses({})
    for part in ("knob", "handle", "door"):
        axis, arc = motion(safe, part, poses[part])
        sketch.dashed(view.project(axis), RED)
        sketch.arrow(view.project(arc), RED)
        outer = arc[len(arc) // 2]
        away = view.project(outer) - view.project(axis[0])
        sketch.label(part, view.project(outer), RED, float(np.arctan2(away[1], away[0])))
    return _named(sketch, name)


def motion(safe: Safe, part: str, pose: Transform) -> tuple[NDArray, NDArray]:
    """Return the ends (2, 3) of a part's axis and an arc (N, 3) about it, from closed to fully
    open; m, safe frame. `pose`: that of the part's link, closed."""
    data = safe.parts[part]
    if part == "door":
        height = safe.case.door_height / 2
        ends = [(0.0, 0.0, 1.12 * height), (0.0, 0.0, -1.12 * height)]
        start = np.array([0.0, -safe.hinge_side * 0.62 * safe.case.door_width, height])
    else:
        point = data.grasp.points[0]
        ends = [(point[0] + 0.05, 0.0, 0.0), (0.0, 0.0, 0.0)]
        reach = max(float(np.hypot(point[1], point[2])), 0.032) + 0.012
        start = np.array([point[0] + 0.02, 0.0, reach])
    angles = np.linspace(0.0, data.range, 25)
    arc = [apply(about_axis(data.motion_axis, angle), start) for angle in angles]
    return apply(pose, ends), apply(pose, arc)


def _grasps(safe: Safe, view: View, name: str) -> Image.Image:
    sketch = Sketch(view.rgb, LINE)
    poses = safe_body(safe).link_poses({})
    for held in ("knob", "handle"):
        _draw_grasps(sketch, view, poses[held], safe.grasps(held, "turn"), VIOLET, f"turn {held}")
    held = safe.door.grasp.link
    _draw_grasps(sketch, view, poses[held], safe.grasps(held, "pull"), ORANGE, "pull door")
    return _named(sketch, name)


def _draw_grasps(
    sketch: Sketch, view: View, pose: Transform, grasps: Sequence[Grasp], color: Color, text: str
) -> None:
    """Draw the points of all grasps, and the approach and closing axis of the first grasp."""
    first = grasps[0]
    point = np.array(first.point)
    across = point + 0.028 * np.outer((-1, 1), first.closing)
    sketch.dashed(view.project(apply(pose, across)), GREEN)
    way = point - np.outer((0.07, 0.008), first.approach)
    sketch.arrow(view.project(apply(pose, way)), BLUE)
    for grasp in grasps[1:]:
        sketch.dot(view.project(apply(pose, grasp.point)), color)
    sketch.dot(view.project(apply(pose, first.point)), color, text)


def _named(sketch: Sketch, name: str) -> Image.Image:
    sketch.corner(name, QUIET)
    return sketch.finish()


def _sheet(
    title: str, lines: Sequence[str], keys: Sequence[Key], panels: Sequence[Image.Image]
) -> Image.Image:
    width = sum(panel.width for panel in panels)
    head = caption(width, title, lines, keys, LINE)
    sheet = Image.new("RGB", (width, head.height + panels[0].height), HALO)
    sheet.paste(head, (0, 0))
    for i, panel in enumerate(panels):
        sheet.paste(panel, (i * panel.width, head.height))
    return sheet


def stack(sheets: Sequence[Image.Image]) -> Image.Image:
    """Return the sheets, one below the other, reduced to their final size."""
    stacked = Image.new("RGB", (sheets[0].width, sum(sheet.height for sheet in sheets)), HALO)
    top = 0
    for sheet in sheets:
        stacked.paste(sheet, (0, top))
        top += sheet.height
    return stacked.reduce(FINE)
