"""The bodies of an episode without physics: robot, safe and stand, their meshes and poses."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import Body, Link, fix_joints, fixed_links, merge_fixed
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS, h1_2
from rulesafe_core.transforms import Transform, from_xyz_rpy
from rulesafe_core.urdf_reader import robot_from_urdf
from rulesafe_locks.rules import PARTS
from rulesafe_render.scene import RenderLink, RenderScene, link_meshes
from rulesafe_sim.config import Placement
from rulesafe_sim.room import add_room
from rulesafe_sim.safe import Safe
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.stand import stand_shapes
from rulesafe_sim.variation import Variation, vary_safe

ROBOT = h1_2()

_FIXED = np.array([FIXED_POSITIONS.get(name, 0.0) for name in ALL_JOINTS], np.float32)  # (39,) rad


@dataclass(frozen=True)
class Joints:
    """All joints of the scene in single precision, as in the physics; they determine the images."""

    robot_joints: tuple[str, ...]  # J names: the joints of the scene's robot, including mimics
    robot_positions: NDArray[np.float32]  # (J,) rad
    robot_velocities: NDArray[np.float32]  # (J,) rad/s
    safe_positions: NDArray[np.float32]  # (3,) rad: knob, handle, door

    def all_positions(self) -> NDArray[np.float32]:
        """Return the positions (39,) of ALL_JOINTS, rad; joints that the robot lacks are fixed."""
        positions = _FIXED.copy()
        joints, columns = columns_of(self.robot_joints)
        positions[joints] = self.robot_positions[columns]
        return positions


@cache
def columns_of(names: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Return the indices in ALL_JOINTS, and those in `names`, of the joints in both."""
    found = [(ALL_JOINTS.index(name), i) for i, name in enumerate(names) if name in ALL_JOINTS]
    joints, columns = zip(*found, strict=True) if found else ((), ())
    return [*joints], [*columns]


@dataclass(frozen=True, eq=False)
class RobotModel:
    """The robot with its fixed joints merged.

    Attributes:
        body: the body.
        mounts: link of `body`, and pose in it, of each link of the robot.
    """

    body: Body
    mounts: Mapping[str, tuple[str, Transform]]

    @cached_property
    def joints(self) -> frozenset[str]:
        """Names of the moving joints."""
        return frozenset(joint.name for joint in self.body.moving_joints)

    @cached_property
    def meshes(self) -> list[RenderLink]:
        """Meshes of the links."""
        return link_meshes(self.body)


def load_robot(urdf: str = "") -> RobotModel:
    """Return the robot of a URDF file; empty: the built-in primitives.

    Raises:
        RuleSafeError: see `robot_from_urdf`.
    """
    return _load_robot(urdf, Path(urdf).stat().st_mtime_ns if Path(urdf).is_file() else 0)


@cache
def _load_robot(urdf: str, changed: int) -> RobotModel:
    posed = fix_joints(robot_from_urdf(urdf) if urdf else ROBOT, FIXED_POSITIONS)
    return RobotModel(merge_fixed(posed), fixed_links(posed))


def placement_pose(placement: Placement) -> Transform:
    """Return the pose of the safe frame (x out of the door) in the pelvis frame."""
    return from_xyz_rpy(placement.xyz, (0, 0, np.pi + placement.yaw))


class EpisodeBodies:
    """Robot, safe and stand of an episode.

    Attributes:
        robot: the robot.
        safe: the safe with the colours and resistances of the variation.
        safe_body: its links and joints.
        stand: the body of the stand, in the pelvis frame.
        pose_safe_in_pelvis: pose of the safe frame.
        variation: the scene variation.

    Raises:
        RuleSafeError: a part with these resistances would not stay in its phase.
    """

    def __init__(self, robot: RobotModel, safe: Safe, variation: Variation):
        self.robot, self.variation = robot, variation
        self.safe = vary_safe(safe, variation)
        self.pose_safe_in_pelvis = placement_pose(variation.placement)
        self.safe_body = safe_body(self.safe)
        shapes = stand_shapes(self.safe_body, self.pose_safe_in_pelvis)
        self.stand = Body("stand", (Link("stand", shapes),), ())

    def render_scene(self) -> RenderScene:
        """Return the scene with robot, safe, stand, room and lights.

        Raises:
            RuleSafeError: the file of a mesh or texture cannot be read.
        """
        scene = RenderScene()
        scene.add_links(self.robot.meshes)
        for body in (self.safe_body, self.stand):
            scene.add_links(link_meshes(body))
        add_room(scene, self.variation.lighting, self.variation.colours)
        return scene

    def link_poses(self, joints: Joints) -> dict[str, Transform]:
        """Return the pose of each link of robot, safe and stand in the pelvis frame.

        They depend only on the joint positions: the last bits of the physics' link poses depend on
        the motion before, and images can be rendered again from stored joints.

        Raises:
            RuleSafeError: the joints are those of another robot.
        """
        robot = dict(zip(joints.robot_joints, joints.robot_positions.tolist(), strict=True))
        known = self.robot.joints
        if robot.keys() != known:
            raise RuleSafeError(
                f"the recorded joints {', '.join(robot)} differ from those of this robot: "
                f"{', '.join(sorted(known))}"
            )
        parts = zip(PARTS, joints.safe_positions.tolist(), strict=True)
        safe = {f"{part}_joint": at for part, at in parts}
        return {
            **self.robot.body.link_poses(robot),
            **self.safe_body.link_poses(safe, self.pose_safe_in_pelvis),
            "stand": np.eye(4),
        }
