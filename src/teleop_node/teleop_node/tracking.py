"""Arm postures that follow a target pose of the hand within limits of speed, space and lag."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transforms3d.axangles import axangle2mat, mat2axangle

from planner_node.collision import CollisionWorld
from planner_node.constraints import pose_goals
from planner_node.hand import PINCH, PINCH_POINT, PRE_PINCH
from planner_node.inverse_kinematics import Solution, descend
from planner_node.kinematics import Arm
from planner_node.motion import FRAME
from planner_node.primitives import FINGER_SPEED
from rulesafe_core.body import Body, Link
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform, from_parts
from teleop_node.settings import TeleopParameters

POSITION_TOLERANCE = 2e-5
"""Distance of the hand from its target, m, within which it is reached. Small, since the errors of
many small steps add up."""

ANGLE_TOLERANCE = 2e-4
"""Angle between hand and target, rad, within which it is reached."""

SHARES = (1.0, 0.5, 0.25, 0.1)
"""Fractions of a step that are tried if the complete step is not possible."""


@dataclass(frozen=True)
class CommandPath:
    """Commanded positions over time, linear between its points.

    `times`: ns, increasing. `positions`: of ACTION_JOINTS, rad.
    """

    times: NDArray[np.int64]  # (n,)
    positions: NDArray[np.float64]  # (n, 13)

    @property
    def end(self) -> int:
        """Time of the last point, ns."""
        return int(self.times[-1])

    def sample(self, time: int) -> NDArray[np.float64]:
        """Return the positions (13,) at a time, ns; outside the path, those of the nearer end."""
        i = int(np.searchsorted(self.times, time, side="right"))
        if i in (0, len(self.times)):
            return self.positions[max(i - 1, 0)]
        share = (time - self.times[i - 1]) / (self.times[i] - self.times[i - 1])
        start, end = self.positions[i - 1 : i + 1]
        return np.asarray(start + share * (end - start))


@dataclass(frozen=True)
class Target:
    """What the operator commands.

    Attributes:
        pose: pose of the hand's base frame in the pelvis frame; None: the hand stays.
        grip: 0 (open for a pinch) to 1 (pinched); None: the fingers stay.
    """

    pose: Transform | None = None
    grip: float | None = None


def pinch_point(pose: Transform) -> NDArray[np.float64]:
    """Return the pinch point (3,), in the pelvis frame, of a pose of the hand."""
    return pose[:3, :3] @ PINCH_POINT + pose[:3, 3]


def at_pinch_point(rotation: NDArray[np.float64], point: NDArray[np.float64]) -> Transform:
    """Return the pose of the hand with this rotation (3, 3) and pinch point (3,)."""
    return from_parts(rotation, point - rotation @ PINCH_POINT)


def difference(start: Transform, end: Transform) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the displacement (3,) of the pinch point, m, and the rotation vector (3,), rad,
    between two poses of the hand."""
    axis, angle = mat2axangle(end[:3, :3] @ start[:3, :3].T)
    return pinch_point(end) - pinch_point(start), np.asarray(axis) * angle


def moved(pose: Transform, shift: NDArray[np.float64], turn: NDArray[np.float64]) -> Transform:
    """Return the pose after a displacement of the pinch point (3,), m, and a rotation about it,
    given by a rotation vector (3,), rad."""
    angle = float(np.linalg.norm(turn))
    rotation = pose[:3, :3] if angle < 1e-9 else axangle2mat(turn / angle, angle) @ pose[:3, :3]
    return at_pinch_point(rotation, pinch_point(pose) + shift)


def ahead(
    hand: Transform,
    linear: NDArray[np.float64],
    angular: NDArray[np.float64],
    limits: TeleopParameters,
) -> Transform:
    """Return the pose that a hand reaches in one step of 0.1 s with a velocity of its pinch point
    (3,), m/s, and an angular velocity (3,), rad/s, in the pelvis frame, which are limited."""
    speeds = np.linalg.norm(linear) / limits.linear_speed, np.linalg.norm(angular)
    excess = max(1.0, float(speeds[0]), float(speeds[1]) / limits.angular_speed)
    return moved(hand, linear * FRAME / excess, angular * FRAME / excess)


def check_target(pose: Transform, hand: Transform, limits: TeleopParameters) -> None:
    """Raise RuleSafeError if a target pose is too far from the hand's pose.

    A device that starts, or that was moved while its input was off, must not pull the arm along.
    """
    shift, turn = difference(hand, pose)
    distance, angle = float(np.linalg.norm(shift)), float(np.linalg.norm(turn))
    if distance > limits.max_distance or angle > limits.max_rotation:
        raise RuleSafeError(
            f"the target is {distance:.2f} m and {np.degrees(angle):.0f} deg from the hand; valid: "
            f"up to {limits.max_distance:g} m and {np.degrees(limits.max_rotation):.0f} deg: begin "
            "at the pose on /teleop/hand_pose"
        )


class PoseTracker:
    """Computes the next joint targets from the current ones."""

    def __init__(self, limits: TeleopParameters):
        low, high = np.array(limits.workspace_low), np.array(limits.workspace_high)
        if not (low < high).all():
            raise RuleSafeError(
                f"workspace_low {limits.workspace_low} must be below workspace_high "
                f"{limits.workspace_high}"
            )
        self._limits, self._low, self._high = limits, low, high
        self.arm = Arm()
        self._robot = CollisionWorld(Body("no_safe", (Link("body"),), ()))

    def hand_pose(self, command: NDArray[np.float64]) -> Transform:
        """Return the pose of the hand's base in the pelvis frame for joint targets (13,)."""
        return self.arm.hand_pose(command[:7])

    def within_workspace(self, pose: Transform) -> tuple[Transform, bool]:
        """Return the pose with its pinch point moved into the workspace, and whether it moved."""
        point = pinch_point(pose)
        inside = np.clip(point, self._low, self._high)
        return at_pinch_point(pose[:3, :3], inside), bool((inside != point).any())

    def path(
        self,
        command: NDArray[np.float64],
        target: Target,
        measured: NDArray[np.float64],
        steps: int,
    ) -> tuple[NDArray[np.float64], str]:
        """Return the joint targets of the next steps of 0.1 s, and why the target is not followed.

        Args:
            command: current joint targets (13,), rad.
            target: pose and grip to reach.
            measured: measured positions (13,), rad.
            steps: number of steps, n.

        Returns:
            Joint targets (n, 13), rad, and a reason, empty if there is none.
        """
        targets, reason = [], ""
        pose, limited = (None, False)
        if target.pose is not None:
            pose, limited = self.within_workspace(target.pose)
        for number in range(steps):
            arm, fingers = command[:7], command[7:]
            if pose is not None and not reason:
                # The arm follows later steps later.
                lag = command[:7] - measured[:7] if number == 0 else np.zeros(7)
                arm, reason = self._arm_step(command, pose, lag)
            if target.grip is not None:
                fingers = _finger_step(fingers, target.grip)
            command = np.concatenate([arm, fingers])
            targets.append(command)
        return np.array(targets), reason or ("limit of the workspace" if limited else "")

    def _arm_step(
        self, command: NDArray[np.float64], pose: Transform, lag: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], str]:
        """Return the arm joints (7,) after a step towards a pose; unchanged, with the reason, if no
        step is possible. `lag` (7,): how far the arm is behind its targets, rad."""
        arm, limits = command[:7], self._limits
        here = self.arm.hand_pose(arm)
        shift, turn = difference(here, pose)
        distance, angle = float(np.linalg.norm(shift)), float(np.linalg.norm(turn))
        if distance < POSITION_TOLERANCE and angle < ANGLE_TOLERANCE:
            return arm, ""
        part = min(
            1.0,
            limits.linear_speed * FRAME / max(distance, 1e-9),
            limits.angular_speed * FRAME / max(angle, 1e-9),
        )
        reason = ""
        for share in SHARES:
            there = moved(here, share * part * shift, share * part * turn)
            goals = pose_goals(there, POSITION_TOLERANCE, ANGLE_TOLERANCE)
            found = descend(self.arm, arm, goals, iterations=10)
            reason = self._obstacle(found, command, lag)
            if not reason:
                return found.arm, ""
        return arm, reason

    def _obstacle(
        self, found: Solution, command: NDArray[np.float64], lag: NDArray[np.float64]
    ) -> str:
        """Return why the arm must not move to a solution; empty if it may."""
        arm, fingers = command[:7], command[7:]
        if not found.feasible:
            return "out of the arm's reach"
        if np.abs(found.arm - arm).max() > self._limits.joint_speed * FRAME:
            return "near a singular posture: the joints would move too fast"
        after = np.abs(lag + found.arm - arm)
        if ((after > self._limits.max_lag) & (after > np.abs(lag))).any():
            return f"blocked: the arm lags {np.abs(lag).max():.2f} rad behind"
        if self._robot.collides(found.arm, fingers) and not self._robot.collides(arm, fingers):
            pairs = sorted(self._robot.contacts(found.arm, fingers))
            return "near itself: {} and {}".format(*pairs[0])
        return ""


def _finger_step(fingers: NDArray[np.float64], grip: float) -> NDArray[np.float64]:
    """Return the fingers (6,) after a step towards a grip."""
    goal = PRE_PINCH + min(max(grip, 0.0), 1.0) * (PINCH - PRE_PINCH)
    reach = FINGER_SPEED * FRAME
    return fingers + np.clip(goal - fingers, -reach, reach)
