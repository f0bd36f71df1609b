"""Task programs: a safe is opened by calls such as `planner.hand_pinch("right")`.

The calls are those of the paper's listings, so that its programs run unchanged. Each call advances
the simulation; a failure raises an error with the step and the reason. Example::

    simulation.reset("rule_002", "safe_02", seed=0)
    planner = TaskPlanner(simulation)
    planner.hand_pre_pinch("right")
    constraints = planner.generate_constraints(obj_name="safe", target_link="knob")
    _, pose = planner.generate_end_effector_pose(constraints)
    planner.move_to_pose(pose)
    planner.hand_pinch("right", pinch_object="safe")
    planner.rotate_hand(hand="right", angle=-60)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner_node.constraints import Goals, Residual, pose_goals
from planner_node.expert import ExpertConfig, with_speed
from planner_node.grasping import RIGID, Operation, pinch_goals
from planner_node.hand import PRE_PINCH, operation
from planner_node.handling import Handling
from planner_node.inverse_kinematics import solve
from planner_node.motion import Path
from planner_node.moves import ExpertObservation, Move, freedom_of
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.transforms import Transform
from rulesafe_sim.episode import AgentError, AgentLog
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.safe import RotaryPart
from rulesafe_sim.simulation import Simulation

HANDS = ("right",)
OBJECTS = ("safe",)
LINKS = ("knob", "handle")

STALE = 0.1
"""Largest distance (rad) between the arm and the start of a path that may still be executed."""


@dataclass(frozen=True)
class PartConstraints:
    """Constraints that align the hand with a part: to grasp it at its present position, or to move
    it to its position when `state_link` is at `openness` (0 closed, 1 open)."""

    target_link: str
    state_link: str | None = None
    openness: float = 0.0


@dataclass(frozen=True)
class EndEffectorPose:
    """A pose of the hand that meets its constraints, and the arm's path to it."""

    pose_hand_in_pelvis: Transform
    arm: NDArray[np.float64]  # (7,) rad
    residuals: tuple[Residual, ...]
    move: Move | None = None  # the part's motion, None for custom constraints
    operation: Operation | None = None  # grasp and arm path; None if the hand holds the part
    path: Path | None = None  # (N, 7) to the operation's standoff, or with the held part


class TaskPlanner:
    """The `planner` of a task program, for a simulation that has just been reset.

    A part that slips is grasped again, in up to `config.attempts` attempts. Angles are in degrees,
    as in the paper's programs.

    Args:
        simulation: has just been reset.
        config: configuration of the expert's motions.
        runtime: executes the actions and calls subscribers; by default a runtime without any.
        seed: seed of the motion planning.
    """

    def __init__(
        self,
        simulation: Simulation,
        config: ExpertConfig = ExpertConfig(),
        runtime: Runtime | None = None,
        seed: int = 0,
    ):
        self.simulation = simulation
        config = with_speed(config, simulation.variation.speed)
        self._on = Handling(runtime or Runtime(simulation), config, seed)

    @property
    def log(self) -> AgentLog:
        """A line for each attempt, the events that happened, and the number of retries."""
        return self._on.log

    @property
    def planning_seconds(self) -> float:
        """Wall time spent on planning so far, s."""
        return self._on.moves.seconds

    # The hand --------------------------------------------------------------------------------

    def hand_pre_pinch(self, hand: str = "right") -> None:
        """Open thumb and index finger for a pinch, the other fingers curled. A held part is
        released first, and the hand retreats."""
        _check("hand", hand, HANDS)
        if self._on.active_grasp:
            self._on.end_step()
        else:
            self._on.posture(PRE_PINCH)

    def hand_pinch(self, hand: str = "right", pinch_object: str = "safe") -> None:
        """Close thumb and index finger on the part that the hand is at."""
        _check("hand", hand, HANDS)
        _check("object", pinch_object, OBJECTS)
        if self._on.active_grasp is None or self._on.active_grasp.pinched:
            raise AgentError("hand_pinch: no part is in the open hand; call move_to_pose first")
        self._on.pinch()

    def hand_release(self, hand: str = "right") -> None:
        """Release the held part and retreat, as `hand_pre_pinch` does."""
        self.hand_pre_pinch(hand)

    def hand_pre_grasp(self, hand: str = "right") -> None:
        """Open all fingers halfway, the thumb opposite them."""
        self._free_posture(hand, "pre_grasp")

    def hand_grasp(self, hand: str = "right", grasp_object: str = "safe") -> None:
        """Close all fingers; the arm stays where it is."""
        _check("object", grasp_object, OBJECTS)
        self._free_posture(hand, "grasp")

    def hand_open(self, hand: str = "right") -> None:
        """Stretch all fingers."""
        self._free_posture(hand, "open")

    def rotate_hand(self, hand: str = "right", angle: float = 0.0) -> None:
        """Turn the held part about its axis by `angle` (deg); positive is clockwise, seen from the
        front. Against a stop the hand presses a little.

        Raises:
            AgentError: if no part is held, the arm cannot follow, or the part slipped in every
                attempt.
        """
        _check("hand", hand, HANDS)
        grasp = self._on.active_grasp
        if grasp is None or not grasp.pinched:
            raise AgentError("rotate_hand: no part is held; call hand_pinch first")
        if abs(angle) < 0.1:
            raise RuleSafeError(
                f"rotate_hand: angle must be 0.1 deg or more in either direction, got {angle}"
            )
        obs, part = self._on.observe(), grasp.move.grasped_part
        start = obs.part_positions[part]
        goal = self._goal(self.simulation.safe.turners[part], start, angle)
        move = Move(part, part, start, goal)
        motion: Path | None = grasp.operation.motion
        planned = grasp.move
        if (
            planned.part != part
            or np.abs([planned.start - start, planned.goal - goal]).max() > 0.05
        ):
            motion = self._on.moves.follow(obs, move, grasp.operation.pinch)
        if motion is None:
            raise AgentError(
                f"rotate_hand: the arm cannot follow the {part} from {np.degrees(start):.0f} to "
                f"{np.degrees(goal):.0f} deg with this pinch"
            )
        self._on.execute(move, motion)

    # The arm ---------------------------------------------------------------------------------

    def generate_constraints(
        self,
        obj_name: str,
        target_link: str,
        state_link: str | None = None,
        openness: float | None = None,
    ) -> PartConstraints:
        """Return the constraints of the hand's next pose: its pinch on the target link ("knob" or
        "handle").

        With `state_link="door"` it is the link's pose with the door at `openness`, from 0 (closed)
        to 1 (open): 0 grasps the handle for pulling, 1 pulls the door open by it.
        """
        _check("object", obj_name, OBJECTS)
        _check("target link", target_link, LINKS)
        if state_link is None and openness is not None:
            raise RuleSafeError('openness is valid only with state_link="door"')
        if state_link is not None:
            _check("state link", state_link, ("door",))
            _check("target link for pulling", target_link, ("handle",))
        if openness is not None and not 0 <= openness <= 1:
            raise RuleSafeError(f"openness must be from 0 (closed) to 1 (open), got {openness}")
        return PartConstraints(target_link, state_link, openness or 0.0)

    def generate_end_effector_pose(
        self, constraints: PartConstraints | Goals, hand_name: str = "right"
    ) -> tuple[tuple[Residual, ...], EndEffectorPose]:
        """Solve the constraints and return the residual of each, and the pose for `move_to_pose`.

        Raises:
            Infeasible: constraints cannot be met; the error says which, and by how much.
            Unreachable: no pinch is within reach.
            NoPath: there is no collision-free path.
        """
        _check("hand", hand_name, HANDS)
        obs, grasp = self._on.observe(), self._on.active_grasp
        if isinstance(constraints, Goals):
            with self._on.moves.timed():
                found = solve(self._on.moves.arm, obs.arm, constraints)
            pose = EndEffectorPose(found.pose_hand_in_pelvis, found.arm, found.residuals)
        elif grasp and grasp.pinched and grasp.move.grasped_part == constraints.target_link:
            pose = self._moved_pose(obs, constraints, grasp.operation)
        else:
            pose = self._grasp_pose(obs, constraints)
        return pose.residuals, pose

    def move_to_pose(self, pose: EndEffectorPose | Transform) -> None:
        """Move the hand to a pose, without collisions or with the part that it holds.

        Args:
            pose: result of `generate_end_effector_pose`, or a pose (4, 4) of the hand's base in the
                pelvis frame.

        Raises:
            AgentError: if the hand is at another part, or the arm has moved since the pose was
                computed.
        """
        if isinstance(pose, np.ndarray):
            _, pose = self.generate_end_effector_pose(pose_goals(pose))
        if pose.path is not None:
            moved = np.abs(pose.path[0] - self.simulation.command[:7]).max()
            if moved > STALE:
                raise AgentError("move_to_pose: the arm has moved since; generate the pose again")
        if pose.move and pose.operation is None:
            self._pull(pose.move, pose.path)
            return
        self._require_free_hand("move_to_pose")
        if pose.move and pose.operation and pose.path is not None:
            self._on.approach(pose.operation, pose.path, pose.move)
        else:
            obs = self._on.observe()
            path = self._on.moves.path(obs, pose.arm, obs.hand)
            self._on.play(self._on.hand.reach(obs, path))

    # Internals -------------------------------------------------------------------------------

    def _grasp_pose(self, obs: ExpertObservation, constraints: PartConstraints) -> EndEffectorPose:
        """Return the pose at which the open hand grasps a part, to turn it or to pull the door."""
        self._require_free_hand("generate_end_effector_pose")
        part = constraints.state_link or constraints.target_link
        move = self._on.moves.move(obs, part, opens=not obs.part_open[part])
        found, path = self._on.plan(obs, move)
        arm = found.motion[0]
        frame = self._on.moves.held_pose(obs, move, move.start) @ found.pinch.frame_in_part
        hand = self._on.moves.arm.hand_pose(arm)
        residuals = pinch_goals(frame, RIGID).residuals(hand)
        return EndEffectorPose(hand, arm, residuals, move, found, path)

    def _moved_pose(
        self, obs: ExpertObservation, constraints: PartConstraints, grasped_part: Operation
    ) -> EndEffectorPose:
        """Return the pose of the hand after it has moved the held part. It has no path if the arm
        cannot follow with the present pinch."""
        moves = self._on.moves
        part = constraints.state_link or constraints.target_link
        start = obs.part_positions[part]
        goal = constraints.openness * moves.door_goal if constraints.state_link else start
        move = Move(part, constraints.target_link, start, goal)
        path = moves.follow(obs, move, grasped_part.pinch)
        arm = obs.arm if path is None else path[-1]
        pose = moves.arm.hand_pose(arm)
        frame = moves.held_pose(obs, move, goal) @ grasped_part.pinch.frame_in_part
        residuals = pinch_goals(frame, freedom_of(move, ()).slack).residuals(pose)
        return EndEffectorPose(pose, arm, residuals, move, None, path)

    def _pull(self, move: Move, path: Path | None) -> None:
        """Pull the door by the held handle, with another pinch if the arm cannot follow."""
        grasp = self._on.active_grasp
        if grasp is None or not grasp.pinched or grasp.move.grasped_part != move.grasped_part:
            raise AgentError(
                f"move_to_pose: the {move.grasped_part} is no longer held; generate the pose again"
            )
        if abs(move.goal - move.start) > 1e-3:
            self._on.execute(move, path)

    def _goal(self, part: RotaryPart, position: float, angle: float) -> float:
        """Return the commanded position (rad): a little past a stop that the angle reaches."""
        turn = part.opening_sign * np.radians(angle)
        goal, over = position + turn, self._on.config.moves.overshoot
        if turn > 0:
            return part.range + over if goal >= part.range - over else float(goal)
        return -over if goal <= over else float(goal)

    def _require_free_hand(self, call: str) -> None:
        if self._on.active_grasp:
            raise AgentError(f"{call}: the hand is at a part; call hand_pre_pinch first")

    def _free_posture(self, hand: str, name: str) -> None:
        _check("hand", hand, HANDS)
        self._require_free_hand(f"hand_{name}")
        self._on.posture(operation(name).joints)


def _check(kind: str, name: str, valid: tuple[str, ...]) -> None:
    if name not in valid:
        raise unknown_name(kind, name, valid)
