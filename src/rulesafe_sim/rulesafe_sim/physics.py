"""Creation of scenes and bodies in SAPIEN; articulations.py controls them.

Lengths in m, angles in rad, torques in N m. PhysX uses single precision.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.body import Body, Inertial, Joint, Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape
from rulesafe_core.transforms import (
    Transform,
    from_parts,
    from_xyz_rpy,
    rotation_between,
    to_quat_wxyz,
)
from rulesafe_sim.config import PhysicsConfig
from rulesafe_sim.sapien_import import ActorBuilder, ArticulationBuilder, LinkBuilder, sapien

Z_TO_X = from_xyz_rpy(rpy=(0, np.pi / 2, 0))
"""Rotation from our capsules and cylinders (along z) to those of SAPIEN (along x)."""


DECIMALS = 7
"""Lengths (m), masses (kg) and quaternions are rounded to this number of decimals for PhysX. Their
last bits depend on the processor, since libraries choose other instructions on each."""

SWEEPS = 10
"""Sweeps of Jacobi's method; after five, 3 x 3 matrices are diagonal to machine precision."""

INERTIA_DECIMALS = 13
"""The same for moments of inertia (kg m^2), the smallest of which are about 1e-7."""


def to_pose(transform: Transform) -> sapien.Pose:
    """Return a pose for PhysX, equal on all processors."""
    quaternion = _rounded(to_quat_wxyz(transform))
    # A rotation by half a turn has two quaternions.
    sign = next(value for value in quaternion if value) > 0
    return sapien.Pose(_rounded(transform[:3, 3]), quaternion if sign else -quaternion)


def _rounded(values: ArrayLike) -> NDArray[np.float64]:
    return np.round(np.asarray(values, float), DECIMALS) + 0.0  # no negative zeros


GRAVITY = 9.81  # m/s^2


class Groups:
    """PhysX collision groups (type, affinity, ignore, id): shapes with a common bit in the third
    value do not collide with each other."""

    TORSO = (1, 1, 0b001, 0)
    UPPER_ARM = (1, 1, 0b011, 0)  # its shapes overlap those of the torso at the shoulder
    HAND = (1, 1, 0b010, 0)
    SAFE = (1, 1, 0b100, 0)


def robot_group(link: str) -> tuple[int, int, int, int]:
    """Return the collision group of a robot link.

    The hand does not collide with itself, and the upper arm does not collide with the torso, which
    it overlaps; forearm and hand collide with the torso.
    """
    if link.startswith(("R_", "right_wrist", "right_elbow")):
        return Groups.HAND
    if link.startswith("right_shoulder"):
        return Groups.UPPER_ARM
    return Groups.TORSO


def make_scene(config: PhysicsConfig) -> sapien.Scene:
    """Create an empty scene."""
    sapien.physx.set_scene_config(
        gravity=np.array([0, 0, -GRAVITY], np.float32), enable_enhanced_determinism=True
    )
    sapien.physx.set_body_config(solver_position_iterations=config.position_iterations)
    scene = sapien.Scene([sapien.physx.PhysxCpuSystem()])
    scene.set_timestep(config.timestep)
    return scene


def build_body(
    scene: sapien.Scene,
    body: Body,
    pose: Transform,
    friction: float,
    groups: Mapping[str, Sequence[int]] | Sequence[int],
) -> sapien.physx.PhysxArticulation:
    """Add a body to the scene with its root fixed at `pose` (world frame).

    `groups`: collision groups for all links, or by link name.
    """
    builder = ArticulationBuilder().set_scene(scene)
    builder.set_initial_pose(to_pose(pose))
    material = sapien.physx.PhysxMaterial(friction, friction, 0.0)
    links: dict[str, LinkBuilder] = {}
    joints = {joint.child: joint for joint in body.joints}
    for link in body.links:
        joint = joints.get(link.name)
        part = builder.create_link_builder(links[joint.parent] if joint else None)
        part.set_name(link.name)
        part.collision_groups = list(groups[link.name] if isinstance(groups, Mapping) else groups)
        if joint:
            _set_joint(part, joint)
        if link.inertial:
            _set_inertial(part, link.inertial)
        _add_collisions(part, link.shapes, material)
        links[link.name] = part
    articulation = builder.build(fix_root_link=True)
    for moving in articulation.active_joints:
        moving.set_friction(0.0)  # SAPIEN's default of 0.05 can exceed the detent torque
    articulation.set_qpos(np.zeros(articulation.dof, np.float32))
    return articulation


def build_static(
    scene: sapien.Scene, name: str, shapes: Sequence[Shape], friction: float, group: Sequence[int]
) -> sapien.physx.PhysxRigidStaticComponent:
    """Add static shapes to the scene; their poses are in the world frame."""
    builder = scene.create_actor_builder()
    builder.collision_groups = list(group)
    _add_collisions(builder, shapes, sapien.physx.PhysxMaterial(friction, friction, 0.0))
    entity = builder.build_static(name=name)
    return entity.find_component_by_type(sapien.physx.PhysxRigidStaticComponent)


def _set_joint(part: LinkBuilder, joint: Joint) -> None:
    # SAPIEN's joint axis is the x axis of the joint frame.
    frame = from_parts(rotation_between((1, 0, 0), joint.axis), (0, 0, 0))
    part.set_joint_name(joint.name)
    part.set_joint_properties(
        joint.kind,
        [[joint.lower, joint.upper]] if joint.kind != "fixed" else [],
        to_pose(joint.origin @ frame),
        to_pose(frame),
        0.0,
        joint.damping,
    )


def _set_inertial(part: LinkBuilder, inertial: Inertial) -> None:
    moments, axes = _principal_axes(np.round(inertial.inertia, INERTIA_DECIMALS))
    pose = to_pose(from_parts(axes, inertial.com))
    part.set_mass_and_inertia(round(float(inertial.mass), DECIMALS), pose, moments)


def _principal_axes(inertia: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
    """Return the principal moments (3,) and the axes (3, 3) as columns of a rotation matrix.

    Jacobi's method (Golub and Van Loan, Matrix Computations, section 8.5) in plain floats: where
    moments are equal, the axes that LAPACK returns depend on the processor.
    """
    a: list[list[float]] = inertia.tolist()
    axes: list[list[float]] = np.eye(3).tolist()
    for _ in range(SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            if not a[p][q]:
                continue
            ratio = (a[q][q] - a[p][p]) / (2 * a[p][q])
            tangent = math.copysign(1, ratio) / (abs(ratio) + math.sqrt(ratio * ratio + 1))
            cosine = 1 / math.sqrt(tangent * tangent + 1)
            sine = tangent * cosine
            for row in (*a, *axes):
                row[p], row[q] = cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]
            a[p], a[q] = (
                [cosine * x - sine * y for x, y in zip(a[p], a[q], strict=True)],
                [sine * x + cosine * y for x, y in zip(a[p], a[q], strict=True)],
            )
            a[p][q] = a[q][p] = 0.0
    return np.array([a[i][i] for i in range(3)]), np.array(axes)


def _add_collisions(part: ActorBuilder, shapes: Iterable[Shape], material) -> None:
    for shape in shapes:
        if isinstance(shape, MeshShape):
            if shape.collides:
                _add_hull(part, shape, material)
            continue
        along_z = shape.kind in ("capsule", "cylinder")
        pose = to_pose(shape.pose @ Z_TO_X if along_z else shape.pose)
        size: dict[str, object]
        if shape.kind == "box":
            size = {"half_size": _rounded(shape.size) / 2}
        elif shape.kind == "sphere":
            size = {"radius": _rounded(shape.size[0])}
        else:
            radius, length = _rounded(shape.size)
            size = {"radius": radius, "half_length": length / 2}
        if shape.collides:
            getattr(part, f"add_{shape.kind}_collision")(pose, material=material, **size)


def _add_hull(part: ActorBuilder, mesh: MeshShape, material) -> None:
    file = str(mesh.path)
    with _mesh_errors(mesh):  # the builder silently omits a mesh that it cannot read
        sapien.physx.PhysxCollisionShapeConvexMesh(file, mesh.size, material)
    part.add_convex_collision_from_file(file, to_pose(mesh.pose), mesh.size, material)


@contextmanager
def _mesh_errors(mesh: MeshShape) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise RuleSafeError(f"cannot use the mesh {mesh.path}: {error}") from error
