"""The simulation: robot, safe and lock stepped together. No ROS, and no rendering unless asked."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.body import hold, merge_fixed
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTED, ACTION_JOINTS, ALL_JOINTS, ARM_JOINTS
from rulesafe_core.robot import HELD, HOME, h1_2
from rulesafe_core.transforms import Transform, from_xyz_rpy
from rulesafe_core.urdf_reader import robot_from_urdf
from rulesafe_locks.rules import PARTS, Rule, load_rule
from rulesafe_locks.scores import Progress
from rulesafe_sim import articulations, physics
from rulesafe_sim.config import Placement, SimulationConfig
from rulesafe_sim.contacts import sense_contacts
from rulesafe_sim.episode import TaskSnapshot
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.safe import Safe
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safes import load_safe
from rulesafe_sim.stand import stand_shapes
from rulesafe_sim.variation import Variation, vary_safe

ROBOT = h1_2()
LOWER = np.array([ROBOT.joint(name).lower for name in ACTION_JOINTS])  # (13,) rad
UPPER = np.array([ROBOT.joint(name).upper for name in ACTION_JOINTS])  # (13,) rad
VELOCITY = np.array([ROBOT.joint(name).velocity for name in ACTION_JOINTS])  # (13,) rad/s
HOME_ACTION = np.array([HOME[name] for name in ACTION_JOINTS])  # (13,) rad


@dataclass(frozen=True)
class SimulationState:
    """What is known at one instant; the fields from `part_positions` on are privileged."""

    time: float  # s since reset
    frame: int  # completed 0.1 s frames since reset
    joint_positions: NDArray[np.float64]  # (39,) rad, order of ALL_JOINTS
    joint_velocities: NDArray[np.float64]  # (39,) rad/s
    part_positions: Mapping[str, float]  # rad, 0 = closed
    part_open: Mapping[str, bool]
    part_locked: Mapping[str, bool]
    pose_safe_in_pelvis: Transform
    contact_forces: Mapping[str, float]  # N, the robot against each of CONTACT_NAMES

    @property
    def action_positions(self) -> NDArray[np.float64]:
        """Positions (13,) of the commanded joints, rad, order of ACTION_JOINTS."""
        return self.joint_positions[ACTED]


@dataclass(frozen=True)
class Joints:
    """Every joint of the scene in the physics' own single precision: what pictures depend on."""

    robot_joints: tuple[str, ...]  # J names: the joints of the scene's robot, mimics included
    robot_positions: NDArray[np.float32]  # (J,) rad
    robot_velocities: NDArray[np.float32]  # (J,) rad/s
    safe_positions: NDArray[np.float32]  # (3,) rad: knob, handle, door


def placement_pose(placement: Placement) -> Transform:
    """Pose of the safe frame (x out of the door) in the pelvis frame."""
    return from_xyz_rpy(placement.xyz, (0, 0, np.pi + placement.yaw))


def start_action(variation: Variation) -> NDArray[np.float64]:
    """The targets (13,) of the posture that an episode begins with: HOME and the variation's
    offsets, within the joints' limits, rad."""
    offsets = np.zeros(len(ACTION_JOINTS))
    offsets[: len(ARM_JOINTS)] = variation.arm
    return np.clip(HOME_ACTION + offsets, LOWER, UPPER)


def check_action(action: ArrayLike) -> NDArray[np.float64]:
    """The action as (13,) float64. Errors: wrong shape, NaN or infinity."""
    targets = np.asarray(action, np.float64)
    if targets.shape != (len(ACTION_JOINTS),):
        raise RuleSafeError(
            f"an action has shape (13,), one target in rad for each of {', '.join(ACTION_JOINTS)}; "
            f"got shape {targets.shape}"
        )
    if not np.isfinite(targets).all():
        bad = [name for name, ok in zip(ACTION_JOINTS, np.isfinite(targets), strict=True) if not ok]
        raise RuleSafeError(f"the action is not finite for {', '.join(bad)}")
    return targets


class Simulation:
    """One robot and one safe in contact physics.

    `reset` builds the scene anew, so that an episode depends on its arguments and actions alone;
    nothing else may be called before it.
    """

    scene: physics.sapien.Scene

    def __init__(self, config: SimulationConfig = SimulationConfig(), *, render: bool = False):
        self.config = config
        self.split = load_split(config.split)
        self._render = render
        robot = robot_from_urdf(config.robot_urdf) if config.robot_urdf else ROBOT
        self._robot_body = merge_fixed(hold(robot, HELD))

    def reset(
        self, rule: str | Rule, safe: str | Safe, seed: int, variation: Variation | None = None
    ) -> None:
        """Start an episode in `variation`, or in the one that the split of the configuration has
        for `seed`. `self.safe` then has the variation's colours and resistances.

        Errors: RuleSafeError for an unknown rule or safe, a negative seed, or resistances with
        which a part would not rest; the episode that runs goes on then.
        """
        config = self.config.physics
        new_rule, new_safe = load_rule(rule), load_safe(safe)
        if seed < 0:
            raise RuleSafeError(f"a seed is a whole number >= 0, not {seed}")
        if variation is None:
            variation = sample_variation(self.split.randomisation, new_safe, seed)
        self.rule, self.safe, self.seed = new_rule, vary_safe(new_safe, variation), seed
        self.variation = variation
        self.pose_safe_in_pelvis = placement_pose(self.placement)
        self.scene = physics.make_scene(config, render=self._render)
        self._build_robot()
        self._safe_body = safe_shape = safe_body(self.safe)
        stand = physics.build_static(
            self.scene,
            "stand",
            stand_shapes(safe_shape, self.pose_safe_in_pelvis),
            config.friction,
            physics.Groups.SAFE,
        )
        self._safe = articulations.LockableSafe(
            physics.build_body(
                self.scene,
                safe_shape,
                self.pose_safe_in_pelvis,
                config.friction,
                physics.Groups.SAFE,
            ),
            config.lock_play,
        )
        self._contacts = sense_contacts(self.scene, self._robot, self._safe, stand)
        self.progress = Progress(self.rule)
        self._open = dict.fromkeys(PARTS, False)
        self._command = start_action(variation)
        self._controls = 0
        self.clipped_actions = 0
        self._digest = hashlib.blake2b(digest_size=16)
        self._update_lock()

    def _build_robot(self) -> None:
        config = self.config.physics
        loaded = physics.build_body(
            self.scene,
            self._robot_body,
            np.eye(4),
            config.friction,
            {link.name: physics.robot_group(link.name) for link in self._robot_body.links},
        )
        self._robot = articulations.DrivenRobot(loaded, ROBOT, config.gains)
        posture = dict(zip(ACTION_JOINTS, start_action(self.variation).tolist(), strict=True))
        self._robot.place(HOME | posture)

    def step(self, action: ArrayLike) -> None:
        """One frame (0.1 s): the command moves linearly to the action (13,), rad.

        Out-of-limit targets are clipped and counted in `clipped_actions`; NaN raises.
        """
        start, count = self._command.copy(), self.config.physics.controls_per_frame
        targets = check_action(action)
        if ((targets < LOWER) | (targets > UPPER)).any():
            self.clipped_actions += 1
            targets = np.clip(targets, LOWER, UPPER)
        for i in range(1, count + 1):
            self.control(start + (targets - start) * (i / count))

    def control(self, action: ArrayLike) -> None:
        """One control step (10 ms) towards the targets (13,), rad, at most as fast as the joints'
        velocity limits allow and within their limits."""
        config = self.config.physics
        targets = np.clip(check_action(action), LOWER, UPPER)
        reach = VELOCITY / config.control_hz
        self._command = self._command + np.clip(targets - self._command, -reach, reach)
        self._robot.command(dict(zip(ACTION_JOINTS, self._command.tolist(), strict=True)))
        self.advance(lambda robot: robot.compensate_gravity())

    def advance(self, drive: Callable[[articulations.DrivenRobot], None]) -> None:
        """One control step in which `drive` is called before each step of the physics: for who
        stands for the motors. It must set every torque of the robot anew."""
        for _ in range(self.config.physics.substeps):
            drive(self._robot)
            self._safe.apply_torques(self.safe.torques(self._safe.part_positions()))
            self.scene.step()
        self._controls += 1
        self._update_lock()
        self._digest.update(self._robot.articulation.qpos.tobytes())
        self._digest.update(self._safe.articulation.qpos.tobytes())

    def _update_lock(self) -> None:
        self._positions = self._safe.part_positions()
        for name in PARTS:
            part = self.safe.parts[name]
            fraction = self._positions[name] / part.range
            if fraction > part.open_above:
                self._open[name] = True
            elif fraction < part.closed_below:
                self._open[name] = False
        self._locked = self.progress.update(self._open)
        for name in PARTS:
            self._safe.set_stop(name, self._locked[name], self._open[name], self._positions[name])

    @property
    def placement(self) -> Placement:
        """Where the safe stands."""
        return self.variation.placement

    @property
    def time(self) -> float:
        """Simulated seconds since reset."""
        return self._controls / self.config.physics.control_hz

    @property
    def frame(self) -> int:
        """Completed frames (0.1 s) since reset."""
        return self._controls // self.config.physics.controls_per_frame

    @property
    def digest(self) -> str:
        """Hash of every joint position since reset: equal traces have equal digests."""
        return self._digest.hexdigest()

    @property
    def command(self) -> NDArray[np.float64]:
        """The targets (13,) that the drives now follow, rad."""
        return self._command.copy()

    @property
    def success(self) -> bool:
        """Whether the door was opened after the lock had freed it."""
        return self.progress.success

    def state(self) -> SimulationState:
        positions = dict(HELD) | dict(zip(self._robot.names, self._robot.positions, strict=True))
        velocities = dict(zip(self._robot.names, self._robot.velocities, strict=True))
        return SimulationState(
            time=self.time,
            frame=self.frame,
            joint_positions=np.array([positions[name] for name in ALL_JOINTS]),
            joint_velocities=np.array([velocities.get(name, 0.0) for name in ALL_JOINTS]),
            part_positions=dict(self._positions),
            part_open=dict(self._open),
            part_locked=dict(self._locked),
            pose_safe_in_pelvis=self.pose_safe_in_pelvis,
            contact_forces=self._contacts.forces(),
        )

    def snapshot(self) -> TaskSnapshot:
        """The state of the task at this instant."""
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
        """The joints at this instant, exactly."""
        parts = self._safe.part_positions()
        return Joints(
            robot_joints=self._robot.names,
            robot_positions=self._robot.positions.astype(np.float32),
            robot_velocities=self._robot.velocities.astype(np.float32),
            safe_positions=np.array([parts[part] for part in PARTS], np.float32),
        )

    def show(self, joints: Joints) -> None:
        """Puts robot and safe where they were, for pictures only: time, lock and drives stay as
        they are, so reset before the next step.

        Errors: RuleSafeError where these are the joints of another robot.
        """
        if joints.robot_joints != self._robot.names:
            raise RuleSafeError(
                f"these are joints {', '.join(joints.robot_joints)}; this robot has "
                f"{', '.join(self._robot.names)}"
            )
        robot = zip(self._robot.names, joints.robot_positions.tolist(), strict=True)
        self._robot.set_positions(dict(robot))
        parts = zip(PARTS, joints.safe_positions.tolist(), strict=True)
        self._safe.set_positions({f"{part}_joint": position for part, position in parts})

    def show_links(self) -> None:
        """Puts what pictures show exactly where the joints are.

        The physics' own poses of links differ in their last bits by the way that led there; after
        this, a picture depends on the joints alone, and can be made again from stored ones.
        """
        robot = dict(zip(self._robot.names, self._robot.positions.tolist(), strict=True))
        self._robot.show_links(self._robot_body.link_poses(robot))
        safe = dict(zip(self._safe.names, self._safe.positions.tolist(), strict=True))
        in_safe = self._safe_body.link_poses(safe)
        self._safe.show_links({k: self.pose_safe_in_pelvis @ pose for k, pose in in_safe.items()})
