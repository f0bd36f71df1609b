"""The simulation of robot, safe and lock, without ROS and images."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_INDICES, ACTION_JOINTS, ALL_JOINTS, ARM_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS, HOME
from rulesafe_core.transforms import Transform
from rulesafe_locks.rules import PARTS, Rule, load_rule
from rulesafe_locks.scores import Progress
from rulesafe_sim import articulations, physics
from rulesafe_sim.bodies import ROBOT, EpisodeBodies, Joints, columns_of, load_robot
from rulesafe_sim.config import Placement, SimulationConfig
from rulesafe_sim.contacts import sense_contacts
from rulesafe_sim.episode import TaskSnapshot
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe
from rulesafe_sim.variation import Variation


def _inwards(limits: Sequence[float], towards: float) -> NDArray[np.float64]:
    """Return limits in single precision, rounded towards the inside: `towards` +-inf."""
    exact, single = np.array(limits), np.array(limits, np.float32)
    outside = (single > exact) if towards < 0 else (single < exact)
    inner = np.nextafter(single, np.float32(towards))
    return np.where(outside, inner, single).astype(np.float64)


LOWER = _inwards([ROBOT.joint(name).lower for name in ACTION_JOINTS], np.inf)  # (13,) rad
UPPER = _inwards([ROBOT.joint(name).upper for name in ACTION_JOINTS], -np.inf)  # (13,) rad
VELOCITY = np.array([ROBOT.joint(name).velocity for name in ACTION_JOINTS])  # (13,) rad/s
FIXED = np.array([FIXED_POSITIONS.get(name, 0.0) for name in ALL_JOINTS])  # (39,) rad
HOME_ACTION = np.array([HOME[name] for name in ACTION_JOINTS])  # (13,) rad


@dataclass(frozen=True)
class SimulationState:
    """State of the simulation at one time; the fields from `part_positions` on are privileged."""

    time: float  # simulated time since the reset, s
    frame: int  # completed 0.1 s frames since reset
    joint_positions: NDArray[np.float64]  # (39,) rad, order of ALL_JOINTS
    joint_velocities: NDArray[np.float64]  # (39,) rad/s
    part_positions: Mapping[str, float]  # rad, 0 = closed
    part_open: Mapping[str, bool]
    part_locked: Mapping[str, bool]
    pose_safe_in_pelvis: Transform
    contact_forces: Mapping[str, float]  # N, between the robot and each of CONTACT_NAMES

    @property
    def action_positions(self) -> NDArray[np.float64]:
        """Positions (13,) of the action joints, rad, in the order of ACTION_JOINTS."""
        return self.joint_positions[ACTION_INDICES]


def start_action(variation: Variation) -> NDArray[np.float64]:
    """Return the joint targets (13,) at the start of an episode, rad: HOME plus the offsets of the
    variation, clipped to the joint limits."""
    offsets = np.zeros(len(ACTION_JOINTS))
    offsets[: len(ARM_JOINTS)] = variation.arm
    return np.clip(HOME_ACTION + offsets, LOWER, UPPER)


def check_action(action: ArrayLike) -> NDArray[np.float64]:
    """Return the action as (13,) float64; raise RuleSafeError on a wrong shape, NaN or infinity."""
    targets = np.asarray(action, np.float64)
    if targets.shape != (len(ACTION_JOINTS),):
        raise RuleSafeError(
            "an action must have shape (13,), one target in rad for each of "
            f"{', '.join(ACTION_JOINTS)}; got shape {targets.shape}"
        )
    if not np.isfinite(targets).all():
        bad = [name for name, ok in zip(ACTION_JOINTS, np.isfinite(targets), strict=True) if not ok]
        raise RuleSafeError(f"the action is not finite for {', '.join(bad)}")
    return targets


class Simulation:
    """Contact physics of one robot and one safe.

    Call `reset` first. It rebuilds the scene, so that an episode depends only on its arguments and
    actions.

    Attributes:
        external_torques: torque (N m, positive opens) on some parts besides those of detents and
            springs, for example of a disturbance; empty after a reset.
        bodies: robot, safe and stand of the episode.
    """

    scene: physics.sapien.Scene

    bodies: EpisodeBodies

    def __init__(self, config: SimulationConfig = SimulationConfig()):
        self.config = config
        self.split = load_split(config.split)
        self._model = load_robot(config.robot_urdf)
        count = config.physics.controls_per_frame
        self._fractions = np.arange(1, count + 1)[:, None] / count  # of a frame, (controls, 1)
        self._reach = VELOCITY / config.physics.control_hz  # rad per control step

    def reset(
        self, rule: str | Rule, safe: str | Safe, seed: int, variation: Variation | None = None
    ) -> None:
        """Start an episode. On an error the current episode continues.

        Args:
            rule, safe: ids, file paths, or loaded objects.
            seed: seed of the episode, >= 0.
            variation: scene variation; None: sampled from the configured split with `seed`. Its
                colours and resistances are applied to `safe`.

        Raises:
            RuleSafeError: the rule or safe is unknown, the seed is negative, or a part with these
                resistances would not stay in its phase.
        """
        config = self.config.physics
        new_rule, new_safe = load_rule(rule), load_safe(safe)
        if seed < 0:
            raise RuleSafeError(f"seed is {seed}; valid: an integer >= 0")
        if variation is None:
            variation = sample_variation(self.split.randomisation, new_safe, seed)
        bodies = EpisodeBodies(self._model, new_safe, variation)
        self.rule, self.seed, self.bodies = new_rule, seed, bodies
        self.scene = physics.make_scene(config)
        self._step_physics, self._substeps = self.scene.physx_system.step, config.substeps
        self._build_robot()
        (stand,) = bodies.stand.links
        floor = physics.build_static(
            self.scene, stand.name, stand.shapes, config.friction, physics.Groups.SAFE
        )
        self._safe = articulations.LockableSafe(
            physics.build_body(
                self.scene,
                bodies.safe_body,
                bodies.pose_safe_in_pelvis,
                config.friction,
                physics.Groups.SAFE,
            ),
            bodies.safe.parts,
            config.lock_play,
        )
        self._part_columns = [self._safe.index[f"{part}_joint"] for part in PARTS]
        self._contacts = sense_contacts(self.scene, self._robot, self._safe, floor)
        self.progress = Progress(self.rule)
        self._open = dict.fromkeys(PARTS, False)
        self.external_torques: Mapping[str, float] = {}
        self._controls = 0
        self.clipped_actions = 0
        self._digest = hashlib.blake2b(digest_size=16)
        self._safe_qpos = b""  # the lock is not updated yet
        self._update_lock()

    def restart(self) -> None:
        """Start the episode again from the current positions of robot and parts: the lock, its
        score, the time and the count of clipped actions are reset."""
        self.progress = Progress(self.rule)
        self._controls = 0
        self.clipped_actions = 0
        self._safe_qpos = b""
        self._update_lock()

    def _build_robot(self) -> None:
        config = self.config.physics
        loaded = physics.build_body(
            self.scene,
            self._model.body,
            np.eye(4),
            config.friction,
            {link.name: physics.robot_group(link.name) for link in self._model.body.links},
        )
        self._robot = articulations.DrivenRobot(
            loaded, self._model.body, config.gains, config.weightless
        )
        self._moving, self._columns = columns_of(self._robot.names)
        self._command = start_action(self.variation)
        posture = dict(zip(ACTION_JOINTS, self._command.tolist(), strict=True))
        self._robot.place(HOME | posture)
        self._drives = articulations.DriveTargets(self._robot, ACTION_JOINTS)

    def step(self, action: ArrayLike) -> None:
        """Simulate one frame (0.1 s) in which the command moves linearly to the action (13,), rad.

        Targets outside the joint limits are clipped and counted in `clipped_actions`; NaN raises.
        Targets are rounded to single precision, in which actions are stored, so that a replay is
        bit-identical.
        """
        start = self._command
        with np.errstate(over="ignore"):  # infinity is clipped
            targets = check_action(action).astype(np.float32).astype(np.float64)
        if ((targets < LOWER) | (targets > UPPER)).any():
            self.clipped_actions += 1
            targets = np.clip(targets, LOWER, UPPER)
        path = start + (targets - start) * self._fractions  # (controls, 13)
        self._follow(np.minimum(np.maximum(path, LOWER), UPPER))

    def control(self, action: ArrayLike) -> None:
        """Simulate one control step (10 ms) towards the targets (13,), rad, within the position
        and velocity limits of the joints."""
        self._follow(np.clip(check_action(action), LOWER, UPPER)[None])

    def _follow(self, path: NDArray[np.float64]) -> None:
        """Simulate one control step for each row of targets (n, 13) within the position limits,
        rad, at no more than the velocity limits."""
        reach = self._reach
        before = np.concatenate((self._command[None], path[:-1]))
        # np.minimum and np.maximum take a third of the time of np.clip for 13 joints.
        limited = np.minimum(np.maximum(path, before - reach), before + reach)
        if (limited != path).any():  # then later rows start elsewhere
            command = self._command
            for row, targets in enumerate(path):
                command = np.minimum(np.maximum(targets, command - reach), command + reach)
                limited[row] = command
        drives = self._drives
        for targets in drives.of(limited):
            drives.set(targets)
            self.advance()
        self._command = limited[-1]

    def advance(self, drive: Callable[[articulations.DrivenRobot], None] | None = None) -> None:
        """Simulate one control step with the drive targets that are set.

        Args:
            drive: function that is called before each physics step, for a custom motor model.
        """
        robot, safe = self._robot, self._safe
        for _ in range(self._substeps):
            if drive:
                drive(robot)
            safe.update_torques(self.external_torques)
            self._step_physics()
        self._controls += 1
        self._digest.update(robot.articulation.qpos.tobytes())
        self._update_lock()
        self._digest.update(self._safe_qpos)

    def _update_lock(self) -> None:
        """Update phases, lock and stops if a part has moved since the last update."""
        qpos = self._safe.articulation.qpos.tobytes()
        if qpos == self._safe_qpos:
            return
        self._safe_qpos = qpos
        self._positions = self._safe.part_positions()
        for name, part in self.safe.parts.items():
            fraction = self._positions[name] / part.range
            if fraction > part.open_above:
                self._open[name] = True
            elif fraction < part.closed_below:
                self._open[name] = False
        self._locked = self.progress.update(self._open)
        for name in PARTS:
            self._safe.set_stop(name, self._locked[name], self._open[name], self._positions[name])

    @property
    def safe(self) -> Safe:
        """The safe, with the colours and resistances of the variation."""
        return self.bodies.safe

    @property
    def variation(self) -> Variation:
        """The scene variation of the episode."""
        return self.bodies.variation

    @property
    def pose_safe_in_pelvis(self) -> Transform:
        """Pose of the safe frame."""
        return self.bodies.pose_safe_in_pelvis

    @property
    def placement(self) -> Placement:
        """Pose of the safe."""
        return self.variation.placement

    @property
    def controls(self) -> int:
        """Completed control steps since reset."""
        return self._controls

    @property
    def time(self) -> float:
        """Simulated time since reset, s."""
        return self._controls / self.config.physics.control_hz

    @property
    def frame(self) -> int:
        """Completed frames (0.1 s) since reset."""
        return self._controls // self.config.physics.controls_per_frame

    @property
    def digest(self) -> str:
        """Hash of all joint positions since reset; it is equal for bit-identical trajectories."""
        return self._digest.hexdigest()

    @property
    def command(self) -> NDArray[np.float64]:
        """The current drive targets (13,), rad."""
        return self._command.copy()

    @property
    def success(self) -> bool:
        """Whether the door was opened after the lock had released it."""
        return self.progress.success

    @property
    def joint_positions(self) -> NDArray[np.float64]:
        """Joint positions (39,), rad, in the order of ALL_JOINTS."""
        positions = FIXED.copy()
        positions[self._moving] = self._robot.positions[self._columns]
        return positions

    def state(self) -> SimulationState:
        velocities = np.zeros(len(ALL_JOINTS))
        velocities[self._moving] = self._robot.velocities[self._columns]
        return SimulationState(
            time=self.time,
            frame=self.frame,
            joint_positions=self.joint_positions,
            joint_velocities=velocities,
            part_positions=dict(self._positions),
            part_open=dict(self._open),
            part_locked=dict(self._locked),
            pose_safe_in_pelvis=self.pose_safe_in_pelvis,
            contact_forces=self._contacts.forces(),
        )

    def snapshot(self) -> TaskSnapshot:
        """Return the current state of the task."""
        progress = self.progress
        return TaskSnapshot(
            rule=self.rule.id,
            safe=self.safe.id,
            seed=self.seed,
            plan=tuple(progress.plan),
            steps_done=progress.steps_done,
            process_score=progress.process_score,
            order_free_score=progress.order_free_score,
            part_open=dict(self._open),
            success=progress.success,
            frame=self.frame,
            time=self.time,
            clipped_actions=self.clipped_actions,
            state_digest=self.digest,
        )

    def joints(self) -> Joints:
        """Return the current joint states at the precision of the physics."""
        robot = self._robot.articulation
        return Joints(
            robot_joints=self._robot.names,
            robot_positions=robot.qpos,
            robot_velocities=robot.qvel,
            safe_positions=self._safe.articulation.qpos[self._part_columns],
        )
