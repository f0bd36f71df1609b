"""Articulations in a SAPIEN scene: the driven robot, and the safe with its stops.

Angles in rad, torques in N m; joints are addressed by name. PhysX uses single precision.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import Body, joint_position
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_sim.config import DriveGains
from rulesafe_sim.physics import GRAVITY
from rulesafe_sim.safe import Part
from rulesafe_sim.sapien_import import sapien

STOP_STEP = 1e-3
"""Minimum change (rad) of a mechanical stop that follows a part."""

TORQUE_STEP = 1e-4
"""Motion (rad) of a part after which the torques of detents and springs are computed again."""


def gravity_torques(body: Body) -> dict[str, float]:
    """Return an upper bound of the torque of gravity on each moving joint in any posture, N m.

    The links beyond a joint's child are taken to be stretched out at a right angle to the axis.
    """
    own = {
        link.name: (link.inertial.mass, link.inertial.com) if link.inertial else (0.0, (0, 0, 0))
        for link in body.links
    }
    mass = {name: mass for name, (mass, _) in own.items()}  # with all links beyond, kg
    moment = {name: mass * _length(com) for name, (mass, com) in own.items()}  # about its origin
    bounds: dict[str, float] = {}
    children: dict[str, list[tuple[str, list[float]]]] = {link.name: [] for link in body.links}
    for joint in reversed(body.joints):  # children first
        child, origin = joint.child, joint.origin[:3, 3].tolist()
        link_mass, com = own[child]
        bound = link_mass * _distance(joint.axis, com)
        for grandchild, offset in children[child]:
            bound += moment[grandchild] + mass[grandchild] * _distance(joint.axis, offset)
        if joint.kind != "fixed":
            bounds[joint.name] = round(GRAVITY * bound, 3)
        children[joint.parent].append((child, origin))
        mass[joint.parent] += mass[child]
        moment[joint.parent] += moment[child] + mass[child] * _length(origin)
    return bounds


def _length(vector: Sequence[float]) -> float:
    return sqrt(sum(value * value for value in vector))


def _distance(axis: Sequence[float], point: Sequence[float]) -> float:
    """Return the distance of a point (m) from the line through the origin along a unit vector."""
    along = sum(a * p for a, p in zip(axis, point, strict=True))
    return _length([p - along * a for a, p in zip(axis, point, strict=True)])


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


class DriveTargets:
    """Sets the drive targets of some joints, and of their mimics by the mimic rule.

    Args:
        robot: the robot.
        names: n joints.
    """

    def __init__(self, robot: "DrivenRobot", names: Sequence[str]):
        self._setters, sources, rules = [], [], []
        for name, joint in robot.joints.items():
            mimic = robot.body.joint(name).mimic
            if name in names:
                source, rule = name, (1.0, 0.0)
            elif mimic and mimic.joint in names:
                source, rule = mimic.joint, (mimic.multiplier, mimic.offset)
            else:
                continue
            self._setters.append(joint.set_drive_target)
            sources.append(names.index(source))
            rules.append(rule)
        self._sources = np.array(sources, int)
        self._multipliers, self._offsets = np.array(rules, float).reshape(-1, 2).T

    def of(self, positions: NDArray[np.float64]) -> list:
        """Return the targets of the joints and their mimics, as nested lists (..., m), from those
        of the named joints (..., n), rad."""
        targets: list = (positions[..., self._sources] * self._multipliers + self._offsets).tolist()
        return targets

    def set(self, targets: Sequence[float]) -> None:
        """Set targets (m,) that `of` has returned."""
        for set_target, target in zip(self._setters, targets, strict=True):
            set_target(target)


class DrivenRobot(Articulation):
    """The robot with position drives.

    The drive target of a mimic joint is computed from that of its parent by the mimic rule, with an
    error below 1e-3 rad. A drive is limited to the motor's effort less the torque of gravity in the
    least favourable posture: the limit is constant, and drive and gravity compensation together
    never exceed the effort.

    Args:
        articulation: the robot's articulation.
        body: its links and joints.
        gains: gains of the drives by joint name, except of mimics.
        weightless: simulate ideal gravity compensation by links without weight.

    Raises:
        RuleSafeError: a motor cannot hold its links in every posture.
    """

    def __init__(
        self,
        articulation: sapien.physx.PhysxArticulation,
        body: Body,
        gains: Mapping[str, DriveGains],
        weightless: bool = True,
    ):
        super().__init__(articulation)
        self.body = body
        for link in articulation.links:
            link.disable_gravity = weightless
        self._efforts: list[float] = []  # N m
        gravity = gravity_torques(body)
        for name, joint in self.joints.items():
            model = body.joint(name)
            gain = gains[model.mimic.joint if model.mimic else name]
            effort = min(gain.effort, model.effort)
            if gravity[name] >= effort:
                raise RuleSafeError(
                    f"the effort limit of {name} is {effort:g} N m; valid: more than "
                    f"{gravity[name]:g} N m, the torque of gravity on its links"
                )
            self._efforts.append(effort)
            joint.set_armature(np.array([gain.armature], np.float32))
            joint.set_drive_properties(gain.stiffness, gain.damping, effort - gravity[name])

    def place(self, positions: Mapping[str, float]) -> None:
        """Set the joint positions at zero velocity, and the same positions as drive targets."""
        full = {name: joint_position(self.body.joint(name), positions) for name in self.names}
        self.set_positions(full)
        self.command(full)

    def command(self, targets: Mapping[str, float]) -> None:
        """Set drive targets (rad) of the named joints and of their mimics."""
        drives = DriveTargets(self, tuple(targets))
        drives.set(drives.of(np.array([*targets.values()], float)))

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
            joint, effort = self.joints[name], self._efforts[i]
            qf[i] = torque = min(max(motor.tau, -effort), effort)
            joint.set_drive_properties(motor.kp, motor.kd, effort - abs(torque))
            joint.set_drive_target(motor.q)
            joint.set_drive_velocity_target(motor.dq)
        self.articulation.set_qf(qf)


class LockableSafe(Articulation):
    """The joints of the safe: torques of detents and springs, and stops that the lock sets.

    While no part moves, nothing is set, so that PhysX lets the safe sleep, which saves time.
    Contact, a changed stop or a changed external torque wakes it.

    Args:
        articulation: the safe's articulation.
        parts: knob, handle and door by name.
        play: range in which a locked part can move, rad.
    """

    def __init__(
        self,
        articulation: sapien.physx.PhysxArticulation,
        parts: Mapping[str, Part],
        play: float,
    ):
        super().__init__(articulation)
        self._play = play
        self._parts = {name.removesuffix("_joint"): name for name in self.names}
        self._part_models = [parts[part] for part in self._parts]
        limits = (joint.get_limits()[0].tolist() for joint in self.joints.values())
        self._range = dict(zip(self._parts, limits, strict=True))
        self._stops = {part: list(limits) for part, limits in self._range.items()}
        self._link = articulation.links[-1]  # all links of an articulation sleep together
        self._applied: list[float] | None = None  # positions at which the torques were computed
        self._external: Mapping[str, float] = {}

    def part_positions(self) -> dict[str, float]:
        """Return the positions of knob, handle and door in rad, 0 = closed."""
        return dict(zip(self._parts, self.articulation.qpos.tolist(), strict=True))

    def update_torques(self, external: Mapping[str, float]) -> None:
        """Apply the torques of detents and springs at the current positions.

        Args:
            external: additional torques by part, N m, positive opens.

        Raises:
            RuleSafeError: there is no such part.
        """
        changed = external != self._external
        if self._link.sleeping and not changed:
            return
        for name in external:
            if name not in self._parts:
                raise unknown_name("part", name, self._parts)
        positions: list[float] = self.articulation.qpos.tolist()
        if self._applied and not changed:
            pairs = zip(positions, self._applied, strict=True)
            # Setting the torques keeps a part awake that moves slower than PhysX lets bodies sleep.
            if all(abs(now - then) < TORQUE_STEP for now, then in pairs):
                return
        self._applied, self._external = positions, dict(external)
        own = zip(self._parts, self._part_models, positions, strict=True)
        qf = [model.torque(at) + external.get(name, 0.0) for name, model, at in own]
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
            self.joints[self._parts[part]].set_limits(np.array([[lower, upper]], np.float32))
            self._link.wake_up()
