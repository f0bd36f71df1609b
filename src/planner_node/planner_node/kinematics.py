"""The right arm in Pinocchio: where the hand is, and which joint positions bring it somewhere."""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from rulesafe_sim.body import Body, hold
from rulesafe_sim.joints import ARM_JOINTS
from rulesafe_sim.robot import HELD, h1_2
from rulesafe_sim.transforms import Transform
from rulesafe_sim.urdf import to_urdf

HAND_FRAME = "R_hand_base_link"


def upper_body() -> Body:
    """The robot with everything but the 13 commanded joints (and their mimics) held."""
    return hold(h1_2(), HELD)


@dataclass(frozen=True)
class Goal:
    """A hand pose and how far from it still serves.

    `slack`: rotations (rad) about the columns of `axes` (in the hand's frame) that are free;
    `position` and `rotation` (m, rad) are the errors beyond the slack that a solution may keep.
    """

    pose_hand_in_pelvis: Transform
    axes: NDArray[np.float64] = field(default_factory=lambda: np.eye(3))
    slack: tuple[float, float, float] = (0.0, 0.0, 0.0)
    position: float = 0.003
    rotation: float = 0.03


@dataclass(frozen=True)
class Solution:
    """Result of an inverse kinematics solve: arm joints (7,) in rad and the errors left beyond
    the goal's slack."""

    arm: NDArray[np.float64]
    position_error: float  # m
    rotation_error: float  # rad
    reached: bool

    @property
    def error(self) -> float:
        """One number to compare by: m, with 0.1 m a rad."""
        return self.position_error + 0.1 * self.rotation_error


class Arm:
    """Forward and inverse kinematics of the seven arm joints, in the pelvis frame.

    Damped least squares on the pose error with the joint limits as bounds: a joint that a step
    would push past its limit (less `margin`) is taken out of that step.
    """

    def __init__(self, body: Body | None = None, margin: float = 0.03):
        full = pin.buildModelFromXML(to_urdf(body or upper_body()))
        fixed = [i for i in range(1, full.njoints) if full.names[i] not in ARM_JOINTS]
        self.model = pin.buildReducedModel(full, fixed, pin.neutral(full))
        if tuple(self.model.names)[1:] != ARM_JOINTS:
            raise AssertionError(f"arm joints out of order: {list(self.model.names)}")
        self.data = self.model.createData()
        self._frame = self.model.getFrameId(HAND_FRAME)
        self.lower = self.model.lowerPositionLimit + margin
        self.upper = self.model.upperPositionLimit - margin

    def hand_pose(self, arm: NDArray[np.float64]) -> Transform:
        """Pose of the hand's base frame in the pelvis frame for arm joints (7,)."""
        pin.forwardKinematics(self.model, self.data, arm)
        return pin.updateFramePlacement(self.model, self.data, self._frame).homogeneous.copy()

    def solve(
        self,
        goal: Goal,
        start: NDArray[np.float64],
        iterations: int = 60,
        damping: float = 1e-3,
        max_step: float = 0.25,
    ) -> Solution:
        """Arm joints that bring the hand to a goal, from `start` (7,); `reached` and the errors
        tell whether it got there."""
        target = pin.SE3(goal.pose_hand_in_pelvis)
        slack = np.array(goal.slack)
        arm = np.clip(start, self.lower, self.upper)
        best = Solution(arm, np.inf, np.inf, False)
        stalled = 0
        for _ in range(iterations):
            pin.computeJointJacobians(self.model, self.data, arm)
            pose = pin.updateFramePlacement(self.model, self.data, self._frame)
            position = pose.rotation.T @ (target.translation - pose.translation)
            turn = goal.axes.T @ pin.log3(pose.rotation.T @ target.rotation)
            excess = turn - np.clip(turn, -slack, slack)
            distance, angle = float(np.linalg.norm(position)), float(np.linalg.norm(excess))
            stalled = 0 if distance + 0.1 * angle < 0.98 * best.error else stalled + 1
            if distance + 0.1 * angle < best.error:
                reached = distance <= goal.position and angle <= goal.rotation
                best = Solution(arm.copy(), distance, angle, reached)
            if distance < 0.2 * goal.position and angle < 0.2 * goal.rotation:
                break
            if stalled > 6:
                break
            error = np.concatenate([position, goal.axes @ excess])
            jacobian = pin.getFrameJacobian(self.model, self.data, self._frame, pin.LOCAL)
            step = self._bounded_step(arm, jacobian, error, damping)
            largest = np.abs(step).max()
            if largest > max_step:
                step *= max_step / largest
            arm = np.clip(arm + step, self.lower, self.upper)
        return best

    def _bounded_step(self, arm, jacobian, error, damping):
        free = np.ones(7, bool)
        for _ in range(3):
            part = jacobian[:, free]
            step = np.zeros(7)
            step[free] = part.T @ np.linalg.solve(part @ part.T + damping * np.eye(6), error)
            blocked = ((arm <= self.lower + 1e-9) & (step < 0)) | (
                (arm >= self.upper - 1e-9) & (step > 0)
            )
            if not (blocked & free).any():
                break
            free &= ~blocked
        return step

    def limit_cost(self, arm: NDArray[np.float64]) -> float:
        """0 in the middle of every joint's range, 1 where one of them is at its limit."""
        centred = (2 * arm - self.lower - self.upper) / (self.upper - self.lower)
        return float(np.max(np.abs(centred)))
