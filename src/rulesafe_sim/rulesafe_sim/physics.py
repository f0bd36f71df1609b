"""Bodies in SAPIEN. Only this module, cameras.py and visuals.py import it.

Lengths in m, angles in rad, torques in N m. PhysX keeps single precision.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import sapien
from numpy.typing import NDArray
from sapien.wrapper.actor_builder import ActorBuilder
from sapien.wrapper.articulation_builder import ArticulationBuilder, LinkBuilder

from rulesafe_sim import visuals
from rulesafe_sim.body import Body, Inertial, Joint, Shape, joint_position
from rulesafe_sim.cameras import use_shaders
from rulesafe_sim.config import DriveGains, PhysicsConfig
from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.robot_urdf import MeshShape
from rulesafe_sim.transforms import (
    Transform,
    from_parts,
    from_xyz_rpy,
    rotation_between,
    to_quat_wxyz,
)

Z_TO_X = from_xyz_rpy(rpy=(0, np.pi / 2, 0))
"""SAPIEN's capsules and cylinders lie along x, ours along z."""


def to_pose(transform: Transform) -> sapien.Pose:
    return sapien.Pose(transform[:3, 3], to_quat_wxyz(transform))


def to_transform(pose: sapien.Pose) -> Transform:
    return pose.to_transformation_matrix().astype(np.float64)


STOP_STEP = 1e-3
"""A ratchet's stop follows a part in steps of at least this (rad)."""


class Groups:
    """PhysX collision groups (type, affinity, ignore, id): shapes that share a bit of the third
    number do not collide with each other."""

    TORSO = (1, 1, 0b001, 0)
    UPPER_ARM = (1, 1, 0b011, 0)  # its primitives overlap the torso's at the shoulder
    HAND = (1, 1, 0b010, 0)
    SAFE = (1, 1, 0b100, 0)


def make_scene(config: PhysicsConfig, *, render: bool) -> sapien.Scene:
    """An empty scene with the given physics, and a render system only if asked for (physics
    alone needs no Vulkan)."""
    sapien.physx.set_scene_config(
        gravity=np.array([0, 0, -9.81], np.float32), enable_enhanced_determinism=True
    )
    sapien.physx.set_body_config(solver_position_iterations=config.position_iterations)
    systems: list[sapien.System] = [sapien.physx.PhysxCpuSystem()]
    if render:
        use_shaders()
        systems.append(sapien.render.RenderSystem())
    scene = sapien.Scene(systems)
    scene.set_timestep(config.timestep)
    return scene


def has_renderer(scene: sapien.Scene) -> bool:
    """Whether the scene was made for pictures; visual shapes in one that was not abort SAPIEN."""
    try:
        scene.get_system("render")
    except RuntimeError:
        return False
    return True


def build_body(
    scene: sapien.Scene,
    body: Body,
    pose: Transform,
    friction: float,
    groups: Mapping[str, Sequence[int]] | Sequence[int],
) -> sapien.physx.PhysxArticulation:
    """Puts a body into the scene with its root fixed at `pose` (world frame).

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
        moving.set_friction(0.0)  # SAPIEN's default of 0.05 holds a part against its detent
    # Until it is placed, SAPIEN leaves the links' poses at the origin, where pictures show them.
    articulation.set_qpos(np.zeros(articulation.dof, np.float32))
    if has_renderer(scene):
        _show_body(articulation, body)
    return articulation


def build_static(
    scene: sapien.Scene, name: str, shapes: Sequence[Shape], friction: float, group: Sequence[int]
) -> None:
    """Puts shapes that never move into the scene; their poses are in the world frame."""
    builder = scene.create_actor_builder()
    builder.collision_groups = list(group)
    _add_collisions(builder, shapes, sapien.physx.PhysxMaterial(friction, friction, 0.0))
    entity = builder.build_static(name=name)
    if has_renderer(scene):
        visuals.show_shapes(entity, shapes)


def _set_joint(part: LinkBuilder, joint: Joint) -> None:
    # SAPIEN turns joints about the x axis of their frame.
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
    moments, axes = np.linalg.eigh(inertial.inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    part.set_mass_and_inertia(inertial.mass, to_pose(from_parts(axes, inertial.com)), moments)


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
            size = {"half_size": [s / 2 for s in shape.size]}
        elif shape.kind == "sphere":
            size = {"radius": shape.size[0]}
        else:
            size = {"radius": shape.size[0], "half_length": shape.size[1] / 2}
        if shape.collides:
            getattr(part, f"add_{shape.kind}_collision")(pose, material=material, **size)


def _add_hull(part: ActorBuilder, mesh: MeshShape, material) -> None:
    file = str(mesh.path)
    with _reading(mesh):  # the builder would leave out what it cannot read
        sapien.physx.PhysxCollisionShapeConvexMesh(file, mesh.size, material)
    part.add_convex_collision_from_file(file, to_pose(mesh.pose), mesh.size, material)


def _show_body(articulation: sapien.physx.PhysxArticulation, body: Body) -> None:
    primitives: dict[str, list[Shape]] = {}
    for link in body.links:
        entity = articulation.find_link_by_name(link.name).entity
        _show_meshes(entity, [s for s in link.shapes if isinstance(s, MeshShape) and s.visible])
        primitives[link.name] = [s for s in link.shapes if not isinstance(s, MeshShape)]
    visuals.show_body(articulation, primitives)


def _show_meshes(entity: sapien.Entity, meshes: Sequence[MeshShape]) -> None:
    if not meshes:
        return
    shown = sapien.render.RenderBodyComponent()
    for mesh in meshes:
        look = mesh.material
        material = sapien.render.RenderMaterial(
            base_color=[*look.color, 1.0], roughness=look.roughness, metallic=look.metallic
        )
        with _reading(mesh):
            shape = sapien.render.RenderShapeTriangleMesh(str(mesh.path), mesh.size, material)
        for part in shape.parts:
            if not part.get_vertex_normal().any():  # so some programs write STL; seen as black
                part.set_vertex_normal(_facet_normals(part.vertices, part.triangles))
        shape.local_pose = to_pose(mesh.pose)
        shown.attach(shape)
    entity.add_component(shown)


def _facet_normals(vertices: NDArray, triangles: NDArray) -> NDArray:
    """Normals (V, 3) of vertices that no two triangles share."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    normals = np.zeros_like(vertices)
    normals[triangles] = (across / np.maximum(length, 1e-12))[:, None]
    return normals


@contextmanager
def _reading(mesh: MeshShape) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise RuleSafeError(f"cannot use the mesh {mesh.path}: {error}") from error


class Articulation:
    """A SAPIEN articulation addressed by joint names, in double precision outside."""

    def __init__(self, articulation: sapien.physx.PhysxArticulation):
        self.articulation = articulation
        self.joints = {joint.name: joint for joint in articulation.active_joints}
        self.names = tuple(self.joints)
        self.index = {name: i for i, name in enumerate(self.names)}

    @property
    def positions(self) -> NDArray[np.float64]:
        """Joint positions (n,), rad, in the order of `names`."""
        return self.articulation.qpos.astype(np.float64)

    @property
    def velocities(self) -> NDArray[np.float64]:
        """Joint velocities (n,), rad/s."""
        return self.articulation.qvel.astype(np.float64)

    def set_positions(self, positions: Mapping[str, float]) -> None:
        """Places the joints at rest, those not named at 0; only for a scene's start."""
        qpos = [positions.get(name, 0.0) for name in self.names]
        self.articulation.set_qpos(np.array(qpos, np.float32))
        self.articulation.set_qvel(np.zeros(len(qpos), np.float32))

    def link_pose(self, name: str) -> Transform:
        """Pose of a link in the world frame."""
        return to_transform(self.articulation.find_link_by_name(name).entity_pose)


class DrivenRobot(Articulation):
    """The robot behind position drives with gravity compensation.

    Mimic joints are driven at their rule's position of the commanded parent, which holds them
    within 1e-3 rad whatever the tree's shape.
    """

    def __init__(
        self,
        articulation: sapien.physx.PhysxArticulation,
        body: Body,
        gains: Mapping[str, DriveGains],
    ):
        super().__init__(articulation)
        self._mimics = {j.name: j for j in body.joints if j.mimic and j.name in self.joints}
        self._drives: list[tuple[sapien.physx.PhysxArticulationJoint, DriveGains, float]] = []
        for name, joint in self.joints.items():
            source = self._mimics[name].mimic.joint if name in self._mimics else name  # type: ignore[union-attr]
            gain = gains[source]
            effort = min(gain.effort, body.joint(name).effort)
            joint.set_armature(np.array([gain.armature], np.float32))
            self._drives.append((joint, gain, effort))

    def place(self, positions: Mapping[str, float]) -> None:
        """Puts the robot at rest at `positions` and commands it to stay there."""
        full = {
            name: joint_position(self._mimics[name], positions)
            if name in self._mimics
            else positions.get(name, 0.0)
            for name in self.names
        }
        self.set_positions(full)
        self.command(positions)

    def command(self, targets: Mapping[str, float]) -> None:
        """Sets drive targets (rad) of the named joints and of their mimics."""
        for name, joint in self.joints.items():
            if name in targets:
                joint.set_drive_target(targets[name])
            elif name in self._mimics and self._mimics[name].mimic.joint in targets:  # type: ignore[union-attr]
                joint.set_drive_target(joint_position(self._mimics[name], targets))

    def compensate_gravity(self) -> None:
        """Feeds the passive forces forward, as the real arm's controller does; the drives have
        what that leaves of the motors' torque."""
        passive = self.articulation.compute_passive_force(
            gravity=True, coriolis_and_centrifugal=True
        )
        self.articulation.set_qf(passive)
        for (joint, gain, effort), torque in zip(self._drives, passive.tolist(), strict=True):
            limit = max(0.0, effort - abs(torque))
            joint.set_drive_properties(gain.stiffness, gain.damping, limit)


class LockableSafe(Articulation):
    """The safe's joints: torques of detents and springs, and stops that a lock can set."""

    def __init__(self, articulation: sapien.physx.PhysxArticulation, play: float):
        super().__init__(articulation)
        self._play = play
        self._range = {name: joint.get_limits()[0].tolist() for name, joint in self.joints.items()}
        self._stops = {name: list(limits) for name, limits in self._range.items()}

    def part_positions(self) -> dict[str, float]:
        """Position of knob, handle and door in rad, 0 = closed."""
        positions = self.positions
        return {name.removesuffix("_joint"): float(positions[i]) for name, i in self.index.items()}

    def apply_torques(self, torques: Mapping[str, float]) -> None:
        """Applies a torque (N m, positive opens) on each part until the next call."""
        qf = [torques.get(name.removesuffix("_joint"), 0.0) for name in self.names]
        self.articulation.set_qf(np.array(qf, np.float32))

    def set_stop(self, part: str, locked: bool, is_open: bool, position: float) -> None:
        """Moves the mechanical stop of a part: a free one has its whole range, a locked one
        `play` rad on the side of its phase. One that is further away when it is locked may only
        come nearer, as behind a ratchet."""
        name = f"{part}_joint"
        lower, upper = self._range[name]
        nearest, furthest = self._stops[name]
        if locked and is_open:
            lower = max(nearest, min(position, upper - self._play))
        elif locked:
            upper = min(furthest, max(position, lower + self._play))
        if max(abs(lower - nearest), abs(upper - furthest)) > STOP_STEP:
            self._stops[name] = [lower, upper]
            self.joints[name].set_limits(np.array([[lower, upper]], np.float32))


def robot_group(link: str) -> tuple[int, int, int, int]:
    """Collision group of a robot link: the hand does not collide with itself, nor the upper arm
    with the torso it overlaps; forearm and hand do collide with the torso."""
    if link.startswith(("R_", "right_wrist", "right_elbow")):
        return Groups.HAND
    if link.startswith("right_shoulder"):
        return Groups.UPPER_ARM
    return Groups.TORSO
