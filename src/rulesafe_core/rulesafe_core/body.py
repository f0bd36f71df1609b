"""Data model of articulated bodies (robot and safes).

A `Body` is a tree of links with primitive shapes. The URDF writer, the SAPIEN scene and the
planner's collision model are all built from it and are therefore consistent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.transforms import (
    Transform,
    about_axis,
    apply,
    from_parts,
    rotation_between,
)

Color = tuple[float, float, float]


def srgb_to_linear(value: float) -> float:
    """Convert an sRGB channel value to linear, both in 0..1 (IEC 61966-2-1)."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def linear_to_srgb(value: float) -> float:
    """Convert a linear channel value to sRGB; the inverse of `srgb_to_linear`."""
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


@dataclass(frozen=True)
class Material:
    """Appearance of a shape: linear RGB, roughness and metallic, all in 0..1."""

    color: Color = (0.5, 0.5, 0.5)
    roughness: float = 0.6
    metallic: float = 0.0


@dataclass(frozen=True)
class Shape:
    """A primitive in its link's frame.

    `kind` and `size`: box (x, y, z full extents); sphere (radius,); capsule (radius, length of
    the straight part) and cylinder (radius, length), both along the z axis of `pose`.
    `facets`: number of corners of a round cross-section in rendered images; 0: chosen by radius.
    """

    kind: str
    size: tuple[float, ...]
    pose: Transform = field(default_factory=lambda: np.eye(4))
    material: Material = Material()
    collides: bool = True
    visible: bool = True
    facets: int = 0

    def __post_init__(self) -> None:
        expected = {"box": 3, "sphere": 1, "capsule": 2, "cylinder": 2}
        if self.kind not in expected:
            raise unknown_name("shape", self.kind, expected)
        if len(self.size) != expected[self.kind] or min(self.size) < 0:
            raise RuleSafeError(
                f"a {self.kind} needs {expected[self.kind]} sizes >= 0, got {self.size}"
            )


@dataclass(frozen=True)
class Inertial:
    """Mass (kg), centre of mass in the link frame (m), and the inertia tensor about the centre of
    mass in the axes of the link frame (kg m^2)."""

    mass: float
    com: tuple[float, float, float]
    inertia: np.ndarray  # (3, 3)


@dataclass(frozen=True)
class Link:
    name: str
    shapes: tuple[Shape, ...] = ()
    inertial: Inertial | None = None


@dataclass(frozen=True)
class Mimic:
    """Mimic rule: position = multiplier * position of `joint` + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint from `parent` to `child`; `origin` is the joint frame in the parent link's frame.

    Limits in rad, effort in N m, velocity in rad/s, damping in N m s/rad.
    """

    name: str
    parent: str
    child: str
    origin: Transform
    kind: str = "revolute"  # or "fixed"
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    lower: float = 0.0
    upper: float = 0.0
    effort: float = 0.0
    velocity: float = 0.0
    damping: float = 0.0
    mimic: Mimic | None = None


class _Chain(NamedTuple):
    """Arrays of a body with L links, for its forward kinematics.

    The pose of a link in its parent is the joint's origin times the rotation
    1 + sin(q) K + (1 - cos(q)) K^2, where K is the cross product of the axis (Rodrigues). The
    products along the tree take log2(depth) rounds: after the first, a pose is that in the
    grandparent, after the second, that in the link four joints nearer to the root, and so on.
    """

    names: list[str]  # the root, then the child of each joint
    moving: list[Joint | None]  # (L,) the joint above each link if it moves
    ancestors: list[NDArray[np.intp]]  # (L,) for each round; the root is its own
    origins: NDArray[np.float64]  # (4, 4, L)
    by_sine: NDArray[np.float64]  # (4, 4, L): origin K
    by_versine: NDArray[np.float64]  # (4, 4, L): origin K^2


@dataclass(frozen=True)
class Body:
    """A tree of links; `links[0]` is the root and every joint's parent comes before its child."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]

    def joint(self, name: str) -> Joint:
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise unknown_name("joint", name, (j.name for j in self.joints))

    @property
    def moving_joints(self) -> tuple[Joint, ...]:
        """The joints that are not fixed, in tree order."""
        return tuple(joint for joint in self.joints if joint.kind != "fixed")

    def joint_frames(self, positions: Mapping[str, float]) -> Iterator[tuple[Joint, Transform]]:
        """Yield each joint with the pose of its child link in the parent link's frame; `positions`
        as for `link_poses`."""
        for joint in self.joints:
            pose = joint.origin
            if joint.kind != "fixed":
                pose = pose @ about_axis(joint.axis, joint_position(joint, positions))
            yield joint, pose

    def link_poses(
        self, positions: Mapping[str, float], root: Transform | None = None
    ) -> dict[str, Transform]:
        """Compute the pose of each link (forward kinematics).

        Args:
            positions: rad by joint name. A missing joint is at the position given by its mimic
                rule, or at 0.
            root: pose of the root; None: the poses are in the root frame.
        """
        chain = self._chain
        angles = [joint and joint_position(joint, positions) for joint in chain.moving]
        sines = np.array([sin(angle) if angle else 0.0 for angle in angles])
        versines = np.array([1 - cos(angle) if angle else 0.0 for angle in angles])
        # Of each link in its parent. The link is the last axis: NumPy is fast along it.
        poses = chain.origins + chain.by_sine * sines + chain.by_versine * versines
        for ancestors in chain.ancestors:
            # Without BLAS, whose last bits depend on the processor.
            poses = np.einsum("ijn,jkn->ikn", poses.take(ancestors, axis=2), poses)
        if root is not None:
            poses = np.einsum("ij,jkn->ikn", root, poses)
        return dict(zip(chain.names, np.ascontiguousarray(np.moveaxis(poses, 2, 0)), strict=True))

    @cached_property
    def _chain(self) -> "_Chain":
        names = [self.links[0].name, *(joint.child for joint in self.joints)]
        parents = np.array([0, *(names.index(joint.parent) for joint in self.joints)])
        ancestors = []
        while parents.any():
            ancestors.append(parents)
            parents = parents[parents]
        origins = np.array([np.eye(4), *(joint.origin for joint in self.joints)])
        moving = [None, *(None if joint.kind == "fixed" else joint for joint in self.joints)]
        cross = np.zeros((len(names), 4, 4))
        for row, joint in enumerate(moving):
            x, y, z = joint.axis if joint else (0, 0, 0)
            cross[row, :3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        by_sine = origins @ cross
        arrays = (np.moveaxis(array, 0, 2).copy() for array in (origins, by_sine, by_sine @ cross))
        return _Chain(names, moving, ancestors, *arrays)


def joint_position(joint: Joint, positions: Mapping[str, float]) -> float:
    """Return a joint's position in rad: from `positions`, else from its mimic rule, else 0."""
    if joint.name in positions:
        return float(positions[joint.name])
    if joint.mimic:
        mimic = joint.mimic
        return mimic.multiplier * float(positions.get(mimic.joint, 0.0)) + mimic.offset
    return 0.0


def fix_joints(body: Body, positions: Mapping[str, float]) -> Body:
    """Return the body with the named joints and their mimics fixed at these positions (rad)."""
    joints = []
    for joint in body.joints:
        named = joint.name in positions or (joint.mimic and joint.mimic.joint in positions)
        if named and joint.kind != "fixed":
            turn = about_axis(joint.axis, joint_position(joint, positions))
            joint = replace(joint, kind="fixed", origin=joint.origin @ turn, mimic=None)
        joints.append(joint)
    return replace(body, joints=tuple(joints))


def capsule_between(start, end, radius: float, **kwargs) -> Shape:
    """Return a capsule whose straight part runs from point `start` to point `end` (m)."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    rotation = rotation_between((0, 0, 1), end - start) if length > 1e-9 else np.eye(3)
    return Shape("capsule", (radius, length), from_parts(rotation, (start + end) / 2), **kwargs)


def fixed_links(body: Body) -> dict[str, tuple[str, Transform]]:
    """Return, for each link, the link into which `merge_fixed` merges it (itself if it moves), and
    its pose in that link's frame."""
    found = {body.links[0].name: (body.links[0].name, np.eye(4))}
    for joint in body.joints:
        target, offset = found[joint.parent]
        fixed = joint.kind == "fixed"
        found[joint.child] = (target, offset @ joint.origin) if fixed else (joint.child, np.eye(4))
    return found


def merge_fixed(body: Body) -> Body:
    """Return the body with the child of every fixed joint merged into its parent: fewer links,
    same shapes, masses and motion."""
    links, merged_into = {link.name: link for link in body.links}, fixed_links(body)
    parts: dict[str, list[tuple[Transform, Link]]] = {}
    for name, (target, pose) in merged_into.items():
        parts.setdefault(target, []).append((pose, links[name]))
    joints = []
    for joint in body.joints:
        if joint.kind != "fixed":
            target, offset = merged_into[joint.parent]
            joints.append(replace(joint, parent=target, origin=offset @ joint.origin))
    merged = tuple(_merge_links(name, members) for name, members in parts.items())
    return replace(body, links=merged, joints=tuple(joints))


def _merge_links(name: str, members: list[tuple[Transform, Link]]) -> Link:
    shapes = tuple(
        replace(shape, pose=pose @ shape.pose) for pose, link in members for shape in link.shapes
    )
    inertials = [(pose, link.inertial) for pose, link in members if link.inertial]
    if not inertials:
        return Link(name, shapes)
    mass = sum(inertial.mass for _, inertial in inertials)
    coms = [apply(pose, inertial.com) for pose, inertial in inertials]
    com = np.sum([i.mass * c for (_, i), c in zip(inertials, coms, strict=True)], axis=0) / mass
    inertia = np.zeros((3, 3))
    for (pose, part), part_com in zip(inertials, coms, strict=True):
        rotation, arm = pose[:3, :3], part_com - com
        parallel_axis = part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        inertia += rotation @ part.inertia @ rotation.T + parallel_axis
    return Link(name, shapes, Inertial(mass, (com[0], com[1], com[2]), inertia))
