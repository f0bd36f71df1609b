"""Articulations in a SAPIEN scene: the driven robot, and the safe with its stops.

Angles in rad, torques in N m; joints are addressed by name. PhysX keeps single precision.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import sapien
from numpy.typing import NDArray

from rulesafe_core.body import Body, joint_position
from rulesafe_core.transforms import Transform, to_quat_wxyz
from rulesafe_sim.config import DriveGains

STOP_STEP = 1e-3
"""A ratchet's stop follows a part in steps of at least this (rad)."""


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
        """Places the joints at rest, those not named at 0: for a scene's start, and to show what
        was recorded; no part is moved so in an episode."""
        qpos = [positions.get(name, 0.0) for name in self.names]
        self.articulation.set_qpos(np.array(qpos, np.float32))
        self.articulation.set_qvel(np.zeros(len(qpos), np.float32))

    def bodies(self, *names: str) -> list[sapien.physx.PhysxArticulationLinkComponent]:
        """The bodies of the named links, of all where none is named."""
        return [link for link in self.articulation.links if not names or link.name in names]

    def show_links(self, poses: Mapping[str, Transform]) -> None:
        """Shows the links at these poses (world frame) in pictures; the next physics step takes
        this back. The root stays: it is fixed, and moving it would be physics."""
        for link in self.articulation.links[1:]:
            link.entity.set_pose(_pose(poses[link.name]))

    def link_pose(self, name: str) -> Transform:
        """Pose of a link in the world frame."""
        pose = self.articulation.find_link_by_name(name).entity_pose
        return pose.to_transformation_matrix().astype(np.float64)


def _pose(transform: Transform) -> sapien.Pose:
    return sapien.Pose(transform[:3, 3], to_quat_wxyz(transform))


class Motor(NamedTuple):
    """What a motor does until it is told otherwise, torque = tau + kp (q - q') + kd (dq - dq'):
    rad, rad/s, N m, N m/rad, N m s/rad."""

    q: float
    dq: float
    tau: float
    kp: float
    kd: float


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
        mimics = [(j, j.mimic) for j in body.joints if j.mimic and j.name in self.joints]
        self._mimics = {joint.name: joint for joint, _ in mimics}
        self._followed = {joint.name: mimic.joint for joint, mimic in mimics}
        self._drives: list[tuple[sapien.physx.PhysxArticulationJoint, DriveGains, float]] = []
        for name, joint in self.joints.items():
            gain = gains[self._followed.get(name, name)]
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
            elif self._followed.get(name) in targets:
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

    def passive_torques(self) -> NDArray[np.float32]:
        """What (n,), N m, each joint in the order of `names` needs to bear gravity where the robot
        stands."""
        return self.articulation.compute_passive_force(gravity=True, coriolis_and_centrifugal=False)

    def obey(self, motors: Mapping[str, Motor], passive: NDArray[np.float32]) -> None:
        """The named joints are motors that hear commands, and bear gravity only as far as these
        say so; the others bear it with `passive` (n,), and keep their drives. A command's torque
        counts first, its gains have what that leaves of the motor's effort."""
        qf = passive.copy()
        for name, motor in motors.items():
            i = self.index[name]
            joint, _, effort = self._drives[i]
            qf[i] = torque = min(max(motor.tau, -effort), effort)
            joint.set_drive_properties(motor.kp, motor.kd, effort - abs(torque))
            joint.set_drive_target(motor.q)
            joint.set_drive_velocity_target(motor.dq)
        self.articulation.set_qf(qf)


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
