"""Shapes of the pedestal under a safe, from the floor to the underside of the safe.

Used by the simulation, the renderer and the planner's collision model.
"""

from dataclasses import replace

import numpy as np

from rulesafe_core.body import Body, Joint, Link, Material, Shape
from rulesafe_core.meshes import MeshShape, scaled_hull
from rulesafe_core.transforms import Transform, apply, from_parts, inverse
from rulesafe_sim.safe import Safe
from rulesafe_sim.safe_body import safe_body

FLOOR_Z = -1.03
"""Height of the floor in the pelvis frame of a standing H1-2, m."""

GAP = 0.001  # distance between stand and safe, m, so that they have no contact
FRONT_INSET = 0.06  # m behind the safe's front, leaves space for a forearm below the safe
SIDE_INSET = 0.06
BACK_INSET = 0.03
COLUMN_INSET = np.array([0.05, 0.05])  # m, from the edges of the plates
PLATE = 0.015  # m, thickness of the plates at both ends

COLUMN = Material((0.16, 0.17, 0.19), roughness=0.55, metallic=0.3)
PLATES = Material((0.09, 0.095, 0.105), roughness=0.5, metallic=0.3)


def stand_shapes(safe: Body, pose_safe_in_pelvis: Transform) -> tuple[Shape, ...]:
    """Build a column between two plates under the safe's root link, in the pelvis frame.

    It is narrower than the safe on every side. The safe must be upright (z parallel to that of the
    pelvis).
    """
    lowest, highest = bounds(safe.links[0])
    floor = FLOOR_Z - pose_safe_in_pelvis[2, 3]
    inset_low, inset_high = np.array([BACK_INSET, SIDE_INSET]), np.array([FRONT_INSET, SIDE_INSET])
    scale = _inset_scale(highest - lowest, inset_low + inset_high)
    low = np.array([*(lowest[:2] + scale * inset_low), floor])
    high = np.array([*(highest[:2] - scale * inset_high), lowest[2] - GAP])
    column_inset = np.array([*(_inset_scale(high - low, 2 * COLUMN_INSET) * COLUMN_INSET), 0.0])

    def box(near: np.ndarray, far: np.ndarray, material: Material) -> Shape:
        pose = pose_safe_in_pelvis @ from_parts(np.eye(3), (near + far) / 2)
        return Shape("box", tuple((far - near).tolist()), pose, material)

    floor_plate = box(low, np.array([high[0], high[1], low[2] + PLATE]), PLATES)
    top_plate = box(np.array([low[0], low[1], high[2] - PLATE]), high, PLATES)
    plate = np.array([0.0, 0.0, PLATE])
    column = box(low + column_inset + plate, high - column_inset - plate, COLUMN)
    return floor_plate, column, top_plate


def _inset_scale(size: np.ndarray, insets: np.ndarray) -> np.ndarray:
    """Return the factors (2,) of insets (2,) in x and y, so that at least 30 % of a size (3,)
    remain: 1, except for a shallow or narrow safe, such as a door in a frame."""
    return np.minimum(1.0, 0.7 * size[:2] / insets)


def safe_on_stand(safe: Safe, pose_safe_in_pelvis: Transform) -> Body:
    """Return the body of a safe (see `safe_body`) with the link `stand` fixed to its root, for
    visualisation of a safe at this pose."""
    body = safe_body(safe)
    to_safe = inverse(pose_safe_in_pelvis)
    shapes = tuple(
        replace(shape, pose=to_safe @ shape.pose)
        for shape in stand_shapes(body, pose_safe_in_pelvis)
    )
    root = body.links[0].name
    fixed = Joint("stand_joint", root, "stand", np.eye(4), kind="fixed")
    stand = Link("stand", shapes)
    return replace(body, links=(*body.links, stand), joints=(*body.joints, fixed))


def bounds(link: Link) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest corner (3,) of a link's shapes in the link frame, m;
    visual meshes are not included."""
    corners = []
    for shape in link.shapes:
        if isinstance(shape, MeshShape):
            if shape.collides:
                corners.append(apply(shape.pose, scaled_hull(shape).vertices))
            continue
        half = _half_extents(shape)
        signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).T.reshape(-1, 3)
        corners.append(apply(shape.pose, signs * half))
    points = np.concatenate(corners)
    return points.min(0), points.max(0)


def _half_extents(shape: Shape) -> np.ndarray:
    if shape.kind == "box":
        return np.array(shape.size) / 2
    radius = shape.size[0]
    if shape.kind == "sphere":
        return np.full(3, radius)
    caps = radius if shape.kind == "capsule" else 0.0
    return np.array([radius, radius, shape.size[1] / 2 + caps])
