"""Articulations in a SAPIEN scene: the driven robot, and the safe with its stops.

Angles in rad, torques in N m; joints are addressed by name. PhysX uses single precision.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
import sapien
from numpy.typing import NDArray

from rulesafe_core.body import Body, Mimic, joint_position
from rulesafe_sim.config import DriveGains

STOP_STEP = 1e-3
"""Minimum change (rad) of a mechanical stop that follows a part."""


class Articulation:
    """A SAPIEN articulation addressed by joint names, with a double-precision interface."""

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
        """Set joint positions at zero velocity; joints not named are set to 0. Use it only to
        initialise a scene, never during an episode."""
        qpos = [positions.get(name, 0.0) for name in self.names]
        self.articulation.set_qpos(np.array(qpos, np.float32))
        self.articulation.set_qvel(np.zeros(len(qpos), np.float32))

    def bodies(self, *names: str) -> list[sapien.physx.PhysxArticulationLinkComponent]:
        """Return the bodies of the named links (default: all)."""
        return [link for link in self.articulation.links if not names or link.name in names]


class Motor(NamedTuple):
    """Motor command: torque = tau + kp (q - q') + kd (dq - dq') with measured q' and dq'. Units:
    rad, rad/s, N m, N m/rad, N m s/rad."""

    q: float
    dq: float
    tau: float
    kp: float
    kd: float


class _TargetSetter(NamedTuple):
    """Sets the drive target of a joint, from the target of `source` and by the mimic rule if the
    joint is not driven itself."""

    set_target: Callable[[float], None]
    source: str
    mimic: Mimic | None


class DrivenRobot(Articulation):
    """The robot with position drives and gravity compensation.

    The drive target of a mimic joint is computed from that of its parent by the mimic rule, with an
    error below 1e-3 rad.
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
        self._setters: dict[tuple[str, ...], list[_TargetSetter]] = {}
        for name, joint in self.joints.items():
            gain = gains[self._followed.get(name, name)]
            effort = min(gain.effort, body.joint(name).effort)
            joint.set_armature(np.array([gain.armature], np.float32))
            self._drives.append((joint, gain, effort))
        self._properties = [
            (joint.set_drive_properties, gain.stiffness, gain.damping, effort)
            for joint, gain, effort in self._drives
        ]

    def place(self, positions: Mapping[str, float]) -> None:
        """Set the joint positions at zero velocity, and the same positions as drive targets."""
        full = {
            name: joint_position(self._mimics[name], positions)
            if name in self._mimics
            else positions.get(name, 0.0)
            for name in self.names
        }
        self.set_positions(full)
        self.command(positions)

    def command(self, targets: Mapping[str, float]) -> None:
        """Set drive targets (rad) of the named joints and of their mimics."""
        names = tuple(targets)
        if names not in self._setters:
            self._setters[names] = self._setters_of(names)
        for set_target, source, mimic in self._setters[names]:
            target = targets[source]
            set_target(mimic.multiplier * float(target) + mimic.offset if mimic else target)

    def _setters_of(self, names: Collection[str]) -> list[_TargetSetter]:
        """Return how the targets of the named joints and of their mimics are set."""
        setters = []
        for name, joint in self.joints.items():
            mimic = self._mimics[name].mimic if name in self._mimics else None
            if name in names:
                setters.append(_TargetSetter(joint.set_drive_target, name, None))
            elif mimic and mimic.joint in names:
                setters.append(_TargetSetter(joint.set_drive_target, mimic.joint, mimic))
        return setters

    def compensate_gravity(self) -> None:
        """Apply the passive forces as feed-forward torque, like the controller of the real arm; the
        drives are limited to the rest of the motor torque."""
        passive = self.articulation.compute_passive_force(True, True)  # gravity, Coriolis forces
        self.articulation.set_qf(passive)
        drives = zip(self._properties, passive.tolist(), strict=True)
        for (set_properties, stiffness, damping, effort), torque in drives:
            limit = effort - abs(torque)
            set_properties(stiffness, damping, limit if limit > 0.0 else 0.0)

    def passive_torques(self) -> NDArray[np.float32]:
        """Return the torques (n,) that compensate gravity at the current positions, N m, in the
        order of `names`."""
        return self.articulation.compute_passive_force(gravity=True, coriolis_and_centrifugal=False)

    def obey(self, motors: Mapping[str, Motor], passive: NDArray[np.float32]) -> None:
        """Apply motor commands to the named joints, without gravity compensation.

        The other joints keep their drives and get the torques `passive` (n,), N m. The feed-forward
        torque of a command has priority; its gains are limited to the rest of the motor's effort.
        """
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
    """The joints of the safe: torques of detents and springs, and stops that the lock sets."""

    def __init__(self, articulation: sapien.physx.PhysxArticulation, play: float):
        super().__init__(articulation)
        self._play = play
        self._parts = [name.removesuffix("_joint") for name in self.names]
        limits = (joint.get_limits()[0].tolist() for joint in self.joints.values())
        self._range = dict(zip(self._parts, limits, strict=True))
        self._stops = {part: list(limits) for part, limits in self._range.items()}

    def part_positions(self) -> dict[str, float]:
        """Return the positions of knob, handle and door in rad, 0 = closed."""
        return dict(zip(self._parts, self.articulation.qpos.tolist(), strict=True))

    def apply_torques(self, torques: Mapping[str, float]) -> None:
        """Apply a torque (N m, positive opens) to each part until the next call."""
        qf = [torques.get(part, 0.0) for part in self._parts]
        self.articulation.set_qf(np.array(qf, np.float32))

    def set_stop(self, part: str, locked: bool, is_open: bool, position: float) -> None:
        """Set the mechanical stop of a part.

        A free part has its full range, a locked one `play` rad at the end of its phase. A part that
        is outside this play when it is locked can only move towards it, as with a ratchet.
        """
        lower, upper = self._range[part]
        nearest, furthest = self._stops[part]
        if locked and is_open:
            lower = max(nearest, min(position, upper - self._play))
        elif locked:
            upper = min(furthest, max(position, lower + self._play))
        if max(abs(lower - nearest), abs(upper - furthest)) > STOP_STEP:
            self._stops[part] = [lower, upper]
            self.joints[f"{part}_joint"].set_limits(np.array([[lower, upper]], np.float32))
