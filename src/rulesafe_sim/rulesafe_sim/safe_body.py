"""The geometry of a safe: converts a `Safe` to a `Body`.

The frame of the root link `body` is the safe frame: origin at the centre of the closed door's
front, x out of the door towards the robot, z up, y to the right as seen by the robot.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rulesafe_core.body import Body, Inertial, Joint, Link, Material, Shape
from rulesafe_core.meshes import MeshShape, scaled_hull
from rulesafe_core.transforms import about_axis, apply, from_parts, from_xyz_rpy
from rulesafe_sim.safe import Case, Part, RotaryPart, Safe
from rulesafe_sim.safe_meshes import Shell

CASE_DENSITY = 2500.0
"""Density of the case in kg/m^3. It is used only in the URDF, since the case is fixed."""


def safe_body(safe: Safe) -> Body:
    """Build the body of a safe: links body, door, knob, handle; joints door_joint, knob_joint,
    handle_joint (rad, 0 = closed, upper limit = fully open)."""
    hinge, case = safe.hinge_point, safe.case
    body_shapes = case.meshes.mesh_shapes() if isinstance(case, Shell) else _case(safe, case)
    links = [
        Link("body", body_shapes, inertial_of(body_shapes, CASE_DENSITY * _volume(body_shapes))),
        _link("door", _door(safe), safe.door),
    ]
    joints = [_joint("door", "body", from_parts(np.eye(3), hinge), safe.door)]
    for name, part in safe.turners.items():
        material = getattr(safe.looks, name)
        links.append(_link(name, part.shape.shapes(material, safe.looks.trim), part))
        # Clockwise as seen from the front is negative about x, which points towards the viewer.
        origin = from_parts(np.eye(3), np.subtract(safe.axis_point(name), hinge))
        origin = origin @ about_axis((1, 0, 0), -part.closed_angle)
        joints.append(_joint(name, "door", origin, part))
    return Body(safe.id, tuple(links), tuple(joints))


def _joint(name: str, parent: str, origin, part: Part) -> Joint:
    return Joint(
        f"{name}_joint",
        parent,
        name,
        origin,
        axis=part.motion_axis,
        lower=0.0,
        upper=part.range,
        effort=100.0,
        velocity=10.0,
        damping=part.damping,
    )


def _link(name: str, shapes: Sequence[Shape], part: Part) -> Link:
    inertial = inertial_of(shapes, part.mass)
    if isinstance(part, RotaryPart):
        inertial = _balanced(inertial, part.rotor_inertia)
    return Link(name, tuple(shapes), inertial)


def _balanced(inertial: Inertial, rotor_inertia: float) -> Inertial:
    """Add the mechanism behind the door, which balances the part: the centre of mass is on the
    axis, since otherwise the weight of a lever would exceed the detent torque."""
    x, y, z = inertial.com
    arm = np.array([0.0, y, z])
    off_axis = inertial.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    # Equal about all axes: only that about x has an effect, and this is best for the solver.
    inertia = inertial.inertia + off_axis + rotor_inertia * np.eye(3)
    return Inertial(inertial.mass, (x, 0.0, 0.0), inertia)


def box(low: ArrayLike, high: ArrayLike, material: Material, collides: bool = True) -> Shape:
    """Build a box from its lowest to its highest corner (m)."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    pose = from_parts(np.eye(3), (low + high) / 2)
    return Shape("box", tuple((high - low).tolist()), pose, material, collides)


def _case(safe: Safe, case: Case) -> tuple[Shape, ...]:
    """Build four walls, a back and the interior."""
    looks = safe.looks
    y, z, wall, back = case.width / 2, case.height / 2, case.wall, -case.depth
    skin = 0.002
    walls = [
        box((back, -y, z - wall), (0, y, z), looks.case),
        box((back, -y, -z), (0, y, wall - z), looks.case),
        box((back, -y, wall - z), (0, wall - y, z - wall), looks.case),
        box((back, y - wall, wall - z), (0, y, z - wall), looks.case),
        box((back, wall - y, wall - z), (back + wall, y - wall, z - wall), looks.case),
    ]
    # A lining without collision; it starts behind the door, so that it does not overlap its edge.
    front, inner_y, inner_z, rear = -case.door_thickness, y - wall, z - wall, back + wall
    lining = [
        box((rear, -inner_y, -inner_z), (rear + skin, inner_y, inner_z), looks.interior, False),
        box((rear, -inner_y, -inner_z), (front, skin - inner_y, inner_z), looks.interior, False),
        box((rear, inner_y - skin, -inner_z), (front, inner_y, inner_z), looks.interior, False),
        box((rear, -inner_y, -inner_z), (front, inner_y, skin - inner_z), looks.interior, False),
        box((rear, -inner_y, inner_z - skin), (front, inner_y, inner_z), looks.interior, False),
    ]
    shelf_front = front - 0.04
    shelf = box((rear, -inner_y, -0.005), (shelf_front, inner_y, 0.005), looks.interior, False)
    contents = _CONTENTS[case.contents](
        np.array([(rear + shelf_front) / 2, 0.0, skin - inner_z]),
        np.array([(rear + shelf_front) / 2, 0.0, 0.005]),
    )
    return (*walls, *lining, shelf, *contents, *_hinges(safe, case))


def _hinges(safe: Safe, case: Case) -> list[Shape]:
    """Build two hinge pins in the gap next to the door, without collision."""
    y = safe.hinge_side * (case.door_width / 2 + case.gap / 2)
    return [
        Shape(
            "cylinder",
            (0.006, 0.05),
            from_parts(np.eye(3), (0.0, y, z)),
            safe.looks.trim,
            collides=False,
        )
        for z in (-0.3 * case.height, 0.3 * case.height)
    ]


GOLD = Material((0.83, 0.50, 0.07), roughness=0.3, metallic=0.6)
PAPER = Material((0.80, 0.76, 0.66), roughness=0.9)
LEATHER = Material((0.16, 0.05, 0.02), roughness=0.7)
FOLDERS = tuple(
    Material(color, roughness=0.8)
    for color in ((0.55, 0.07, 0.05), (0.06, 0.19, 0.42), (0.07, 0.30, 0.14), (0.75, 0.52, 0.09))
)


def _at(centre: np.ndarray, xyz: tuple[float, float, float], size, material: Material) -> Shape:
    """Build a box without collision whose bottom is at `centre` + `xyz`."""
    middle = centre + np.array(xyz) + (0, 0, size[2] / 2)
    return Shape("box", size, from_parts(np.eye(3), middle), material, collides=False)


def _gold(floor: np.ndarray, shelf: np.ndarray) -> list[Shape]:
    size = (0.07, 0.034, 0.022)
    pile = [
        _at(floor, (0, (i - (3 - row) / 2) * 0.038, 0.023 * row), size, GOLD)
        for row in range(4)
        for i in range(4 - row)
    ]
    papers = [_at(shelf, (0, 0.05, 0), (0.11, 0.09, 0.02), PAPER)]
    return pile + papers


def _folders(floor: np.ndarray, shelf: np.ndarray) -> list[Shape]:
    upright = [
        _at(floor, (0, -0.10 + 0.022 * i, 0), (0.12, 0.016, 0.10 + 0.01 * (i % 3)), FOLDERS[i % 4])
        for i in range(8)
    ]
    lying = [_at(shelf, (0, -0.04, 0.018 * i), (0.11, 0.15, 0.015), FOLDERS[i]) for i in range(3)]
    return upright + lying


def _chest(floor: np.ndarray, shelf: np.ndarray) -> list[Shape]:
    return [
        _at(floor, (0, 0, 0), (0.11, 0.17, 0.075), LEATHER),
        _at(floor, (0, 0, 0.055), (0.114, 0.174, 0.008), GOLD),
        _at(floor, (0.056, 0, 0.04), (0.006, 0.024, 0.03), GOLD),
        *(
            _at(shelf, (0, -0.08 + 0.05 * i, 0), (0.05, 0.04, 0.012 * (1 + i % 3)), GOLD)
            for i in range(4)
        ),
    ]


_CONTENTS = {"gold": _gold, "folders": _folders, "chest": _chest}


def _door(safe: Safe) -> Sequence[Shape]:
    """Return the meshes of the door, or build the panel with decorative border, rosettes and bolts,
    in the hinge frame."""
    case, looks = safe.case, safe.looks
    if safe.door.meshes:
        return safe.door.meshes.mesh_shapes()
    assert isinstance(case, Case)  # checked by Safe
    y, z = case.door_width / 2, case.door_height / 2
    edge, free = 0.016, -safe.hinge_side
    shapes = [
        box((-case.door_thickness, -y, -z), (0, y, z), looks.door),
        *_field_border(y - edge, z - edge, looks.trim),
    ]
    along_x, along_y = from_xyz_rpy(rpy=(0, np.pi / 2, 0)), from_xyz_rpy(rpy=(np.pi / 2, 0, 0))
    for name in safe.turners:
        pose = from_parts(along_x[:3, :3], safe.axis_point(name))
        shapes.append(Shape("cylinder", (0.02, 0.006), pose, looks.trim, collides=False))
    for height in (-0.5, 0.0, 0.5):
        middle = (-case.door_thickness / 2, free * (y - 0.01), height * z)
        bolt = from_parts(along_y[:3, :3], middle)
        length = 2 * (0.01 + case.gap)
        shapes.append(Shape("cylinder", (0.006, length), bolt, looks.trim, collides=False))
    to_hinge = from_parts(np.eye(3), np.negative(safe.hinge_point))
    return [replace(shape, pose=to_hinge @ shape.pose) for shape in shapes]


def _field_border(y: float, z: float, material: Material) -> list[Shape]:
    """Build four thin strips on the door's front around the rectangle -y..y, -z..z."""
    width, depth = 0.003, 0.001
    return [
        box((0, -y, z - width), (depth, y, z), material, False),
        box((0, -y, -z), (depth, y, width - z), material, False),
        box((0, -y, -z), (depth, width - y, z), material, False),
        box((0, y - width, -z), (depth, y, z), material, False),
    ]


def volume(shape: Shape) -> float:
    """Compute the volume of a primitive or a convex mesh in m^3."""
    if isinstance(shape, MeshShape):
        return scaled_hull(shape).volume
    if shape.kind == "box":
        return float(np.prod(shape.size))
    radius = shape.size[0]
    ball = 4 / 3 * np.pi * radius**3
    straight = np.pi * radius**2 * (shape.size[1] if len(shape.size) > 1 else 0.0)
    return straight + (ball if shape.kind in ("sphere", "capsule") else 0.0)


def _volume(shapes: Sequence[Shape]) -> float:
    return sum(volume(shape) for shape in shapes if shape.collides)


def inertial_of(shapes: Sequence[Shape], mass: float) -> Inertial:
    """Distribute a mass (kg) evenly over the colliding shapes.

    Each shape is approximated by a box of equal volume; the error of some percent is small enough
    for a simulated safe.
    """
    solid = [shape for shape in shapes if shape.collides]
    weights = np.array([volume(shape) for shape in solid])
    masses = mass * weights / weights.sum()
    centres = np.array([_centre(shape) for shape in solid])
    com = masses @ centres / mass
    inertia = np.zeros((3, 3))
    for shape, part, centre in zip(solid, masses, centres, strict=True):
        squares = np.square(_extents(shape))
        local = np.diag(part / 12 * (squares.sum() - squares))
        rotation, arm = shape.pose[:3, :3], centre - com
        inertia += rotation @ local @ rotation.T
        inertia += part * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Inertial(mass, (float(com[0]), float(com[1]), float(com[2])), (inertia + inertia.T) / 2)


def _centre(shape: Shape) -> np.ndarray:
    if isinstance(shape, MeshShape):
        return apply(shape.pose, scaled_hull(shape).centroid)
    return shape.pose[:3, 3]


def _extents(shape: Shape) -> tuple[float, ...]:
    if isinstance(shape, MeshShape):
        hull = scaled_hull(shape)
        sides = np.ptp(hull.vertices, axis=0)
        return tuple((sides * np.cbrt(hull.volume / sides.prod())).tolist())
    if shape.kind == "box":
        return shape.size
    if shape.kind == "sphere":
        return (1.6 * shape.size[0],) * 3
    side = 1.77 * shape.size[0]  # side of a square with the area of the circle
    return side, side, shape.size[1] + (1.33 * shape.size[0] if shape.kind == "capsule" else 0.0)
