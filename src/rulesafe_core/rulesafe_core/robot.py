"""The Unitree H1-2 with two Inspire DFX hands, as a `Body` of primitives.

Kinematics, limits and the masses of the body are the manufacturer's values (data/h1_2.json, from
unitree_ros, BSD-3-Clause). Two things differ:

Shapes. Each mesh is replaced by capsules that fill its oriented bounding box: one capsule along
the longest side, or two parallel ones if the box is clearly wider than thick. The hull of the
finger capsules is within 10 % of the convex volume of the meshes. The shapes of the torso (whose
box includes the head), the forearms, the feet and the palms are defined manually.

Hand masses. The manufacturer's URDF gives the hand 0.20 kg in total (0.14 kg of it in the palm)
and the finger links a few grams each, with inertias rounded to 1e-7; a real Inspire hand weighs
about 0.54 kg. Therefore 0.54 kg is distributed over the hand links by convex volume (one density,
about 1150 kg/m^3, plausible for aluminium shells full of gears and motors). Centres of mass are
unchanged. Inertias are those of a solid box of the mesh's size plus 1e-6 kg m^2, which accounts for
the gear inertia and limits the ratio of principal inertias for the physics solver.
"""

import json
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rulesafe_core.body import Body, Inertial, Joint, Link, Material, Mimic, Shape, capsule_between
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.transforms import from_parts, from_xyz_rpy

HAND_MASS = 0.54
"""Mass of one Inspire DFX hand in kg, as published by its manufacturer."""

GEAR_INERTIA = 1e-6
"""Inertia that is added to each principal inertia of the hand links, kg m^2."""

SHELL = Material((0.50, 0.51, 0.53), roughness=0.45, metallic=0.2)
FRAME = Material((0.045, 0.047, 0.052), roughness=0.5, metallic=0.1)
HAND = Material((0.10, 0.105, 0.115), roughness=0.5, metallic=0.2)
FINGER = Material((0.022, 0.023, 0.026), roughness=0.6)
VISOR = Material((0.006, 0.006, 0.008), roughness=0.12)
SOLE = Material((0.02, 0.02, 0.02), roughness=0.9)

_DARK_LINKS = ("pelvis", "hip_yaw", "hip_pitch", "ankle", "shoulder_pitch", "wrist_pitch")

_RELAXED_HAND = {
    "pinky_proximal": 0.4,
    "ring_proximal": 0.4,
    "middle_proximal": 0.4,
    "index_proximal": 0.4,
    "thumb_proximal_pitch": 0.1,
    "thumb_proximal_yaw": 1.174,
}

_HOME = {
    **{f"{side}_hip_pitch_joint": -0.1 for side in ("left", "right")},
    **{f"{side}_knee_joint": 0.2 for side in ("left", "right")},
    **{f"{side}_ankle_pitch_joint": -0.1 for side in ("left", "right")},
    "left_shoulder_pitch_joint": 0.15,
    "left_shoulder_roll_joint": 0.2,
    "left_elbow_joint": 1.0,
    "right_shoulder_pitch_joint": 0.3,
    "right_shoulder_roll_joint": -0.35,
    "right_elbow_joint": -0.2,
    **{f"{side}_{name}_joint": angle for side in "LR" for name, angle in _RELAXED_HAND.items()},
}

HOME: dict[str, float] = {name: _HOME.get(name, 0.0) for name in ALL_JOINTS}
"""Home position of each motor, rad: standing, left arm down, right hand in front of the body."""

FIXED_POSITIONS: dict[str, float] = {
    name: HOME[name] for name in ALL_JOINTS if name not in ACTION_JOINTS
}
"""Positions of the joints that do not move: legs, waist, left arm and left hand (rad)."""


def robot_data() -> dict[str, Any]:
    """Return the manufacturer's data from which the body is built (see its key `_meta`)."""
    return json.loads((resources.files("rulesafe_core") / "data/h1_2.json").read_text("utf-8"))


@lru_cache(maxsize=1)
def h1_2() -> Body:
    """Build the robot: root `pelvis`, 39 motors, 12 mimic joints, fixed mounts."""
    data = robot_data()
    density = {side: _hand_density(data["links"], side) for side in "LR"}
    links = tuple(
        Link(name, _shapes(name, link), _inertial(name, link, density))
        for name, link in data["links"].items()
    )
    joints = tuple(_joint(name, joint) for name, joint in data["joints"].items())
    return Body("h1_2", links, joints)


def _joint(name: str, data: dict[str, Any]) -> Joint:
    limit, mimic = data.get("limit", {}), data.get("mimic")
    return Joint(
        name,
        data["parent"],
        data["child"],
        from_xyz_rpy(data["origin_xyz"], data["origin_rpy"]),
        kind=data["type"],
        axis=tuple(data.get("axis", (0.0, 0.0, 1.0))),
        mimic=Mimic(**mimic) if mimic else None,
        **limit,
    )


def _is_hand(link: str) -> bool:
    return link[:2] in ("L_", "R_")


def _hand_density(links: dict[str, Any], side: str) -> float:
    hand = [link for name, link in links.items() if name.startswith(f"{side}_")]
    return HAND_MASS / sum(link["mesh"]["volume"] for link in hand)


def _inertial(name: str, data: dict[str, Any], density: dict[str, float]) -> Inertial | None:
    if "mass" not in data:
        return None
    if _is_hand(name):
        obb = data["mesh"]["obb"]
        mass = density[name[0]] * data["mesh"]["volume"]
        squares = np.square(obb["extents"])
        principal = mass / 12 * (squares.sum() - squares) + GEAR_INERTIA
        axes = np.array(obb["axes"])
        inertia = axes @ np.diag(principal) @ axes.T
        return Inertial(mass, tuple(data["com"]), (inertia + inertia.T) / 2)
    xx, xy, xz, yy, yz, zz = data["inertia"]
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertial(data["mass"], tuple(data["com"]), inertia)


def _shapes(name: str, data: dict[str, Any]) -> tuple[Shape, ...]:
    if "mesh" not in data:
        return ()
    if name == "torso_link":
        return _torso()
    low, high = np.array(data["mesh"]["aabb"])
    if name == "logo_link":  # lettering on the chest
        return (_box((0.06, -0.05, low[2] + 0.03), (high[0], 0.05, high[2] - 0.03), VISOR),)
    if name.endswith("ankle_roll_link"):
        return _foot(low, high)
    if name.endswith("hand_base_link"):
        return _palm(low, high)
    if name.endswith("elbow_link"):
        return _forearm(low, high)
    return _fill(data["mesh"], _material(name))


def _material(link: str) -> Material:
    if _is_hand(link):
        return HAND if link.endswith(("proximal", "base")) else FINGER
    return FRAME if any(part in link for part in _DARK_LINKS) else SHELL


def _fill(mesh: dict[str, Any], material: Material) -> tuple[Shape, ...]:
    """Fill a mesh's oriented box with one capsule, or with two if it is clearly wider than thick.

    A box without collision fills the groove of a few mm between two capsules.
    """
    extents, axes = np.array(mesh["obb"]["extents"]), np.array(mesh["obb"]["axes"])
    center, (low, high) = np.array(mesh["obb"]["center"]), np.array(mesh["aabb"])
    thickness, width, length = extents.tolist()
    across, along = axes[:, 1], axes[:, 2]
    radius = thickness / 2
    offset = across * (width / 2 - radius)
    two = width >= 1.2 * thickness
    # Outside the axis-aligned box, the corners of the oriented box are not part of the mesh.
    low, high = low + 0.8 * radius, high - 0.8 * radius
    shapes = []
    for middle in (center - offset, center + offset) if two else (center,):
        start, end = _clip(middle, along, length / 2 - radius, low, high)
        shapes.append(capsule_between(start, end, radius, material=material))
    if two:
        pose = from_parts(np.column_stack([across, np.cross(along, across), along]), center)
        size = (width - thickness, thickness, min(shape.size[1] for shape in shapes))
        shapes.append(Shape("box", size, pose, material, collides=False))
    return tuple(shapes)


def _clip(
    middle: np.ndarray, along: np.ndarray, half: float, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Clip the segment middle +- half * along to the box from `low` to `high`; return its ends."""
    slope = np.where(np.abs(along) < 1e-9, 1e-9, along)
    cuts = np.sort([(low - middle) / slope, (high - middle) / slope], axis=0)
    start, end = max(-half, cuts[0].max()), min(half, cuts[1].min())
    return middle + start * along, middle + end * along


def _box(low: ArrayLike, high: ArrayLike, material: Material) -> Shape:
    low, high = np.asarray(low, float), np.asarray(high, float)
    pose = from_parts(np.eye(3), (low + high) / 2)
    return Shape("box", tuple((high - low).tolist()), pose, material)


def _torso() -> tuple[Shape, ...]:
    """Build waist, belly, chest, shoulders, neck and head in the mesh's box (z -0.002..0.760).

    The camera mount (x 0.111, z 0.688) is outside the visor.
    """
    return (
        capsule_between((0, 0, 0.062), (0, 0, 0.13), 0.062, material=FRAME),
        *(
            capsule_between((0, y, 0.165), (0, y, 0.30), 0.06, material=FRAME)
            for y in (-0.035, 0.035)
        ),
        *(
            capsule_between((0, y, 0.265), (0, y * 1.25, 0.425), 0.066, material=SHELL)
            for y in (-0.06, 0.06)
        ),
        _box((-0.066, -0.07, 0.235), (0.066, 0.07, 0.465), SHELL),
        capsule_between((0, -0.105, 0.425), (0, 0.105, 0.425), 0.053, material=SHELL),
        capsule_between((0.0, 0, 0.46), (0.02, 0, 0.62), 0.036, material=FRAME),
        capsule_between((0.026, 0, 0.655), (0.026, 0, 0.684), 0.075, material=SHELL),
        capsule_between(
            (0.048, -0.014, 0.676), (0.048, 0.014, 0.676), 0.058, material=VISOR, collides=False
        ),
    )


def _forearm(low: np.ndarray, high: np.ndarray) -> tuple[Shape, ...]:
    """Build a capsule from elbow to wrist roll along x (the mesh's oriented box is tilted)."""
    radius = (high[1] - low[1]) / 2
    start, end = (np.array([x, (low[1] + high[1]) / 2, -0.004]) for x in (low[0], high[0]))
    inset = np.array([radius, 0, 0])
    return (capsule_between(start + inset, end - inset, float(radius), material=SHELL),)


def _foot(low: np.ndarray, high: np.ndarray) -> tuple[Shape, ...]:
    """Build a sole over the complete outline and an instep below the ankle."""
    return (
        _box(low, (high[0], high[1], low[2] + 0.03), SOLE),
        capsule_between((-0.03, 0, 0), (0.08, 0, -0.014), 0.028, material=FRAME),
    )


def _palm(low: np.ndarray, high: np.ndarray) -> tuple[Shape, ...]:
    """Build a flat palm with round edges, y from the knuckles (-0.14) to the wrist (0), and a heel.

    It is 36 mm thick, less than the mesh's box, whose corners are empty by its convex volume.
    """
    radius = 0.018
    near, far = high[1] - radius, low[1] + radius
    edges = (low[2] + radius, high[2] - radius)
    heel = 0.026
    return (
        *(capsule_between((0, near, z), (0, far, z), radius, material=HAND) for z in edges),
        _box((-radius, far, edges[0]), (radius, near, edges[1]), HAND),
        capsule_between((0, -heel, low[2] + heel), (0, -heel, high[2] - heel), heel, material=HAND),
    )
