"""Kinematics of the right arm with Pinocchio: hand pose, Jacobian and joint limits."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from planner_node.constraints import cross
from planner_node.hand import HAND_FRAME
from rulesafe_core.body import Body, fix_joints
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS, h1_2
from rulesafe_core.transforms import Transform
from rulesafe_core.urdf import to_urdf

LIMIT_MARGIN = 0.03
"""Distance (rad) that planned motions keep from the arm's joint limits."""


@cache
def upper_body() -> Body:
    """Return the robot with all joints fixed but the 13 commanded ones and their mimics."""
    return fix_joints(h1_2(), FIXED_POSITIONS)


@dataclass(frozen=True)
class PositionLimits:
    """Bounds (7,) of the arm's joint positions, rad, that every solution keeps."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def clip(self, arm: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.minimum(np.maximum(arm, self.lower), self.upper)  # np.clip takes twice as long

    def within(self, narrower: "PositionLimits | None") -> "PositionLimits":
        """Return the intersection with `narrower` limits; None leaves these unchanged."""
        if narrower is None:
            return self
        return PositionLimits(
            np.maximum(self.lower, narrower.lower), np.minimum(self.upper, narrower.upper)
        )

    def nearness(self, arm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each joint 0 in the middle of its range, -1 and 1 at its limits."""
        return (2 * arm - self.lower - self.upper) / (self.upper - self.lower)


@cache
def upper_body_model() -> pin.Model:
    """Return Pinocchio's model of `upper_body`, built once per process; not to be changed."""
    return pin.buildModelFromXML(to_urdf(upper_body()))


class Arm:
    """Kinematics of the seven arm joints in the pelvis frame; `limits` are the joint limits reduced
    by LIMIT_MARGIN."""

    def __init__(self) -> None:
        full = upper_body_model()
        fixed = [i for i in range(1, full.njoints) if full.names[i] not in ARM_JOINTS]
        self.model = pin.buildReducedModel(full, fixed, pin.neutral(full))
        if tuple(self.model.names)[1:] != ARM_JOINTS:
            raise AssertionError(f"arm joints out of order: {list(self.model.names)}")
        self.data = self.model.createData()
        self._frame = self.model.getFrameId(HAND_FRAME)
        self.limits = PositionLimits(
            self.model.lowerPositionLimit + LIMIT_MARGIN,
            self.model.upperPositionLimit - LIMIT_MARGIN,
        )

    def hand_pose(self, arm: NDArray[np.float64]) -> Transform:
        """Return the pose of the hand's base frame in the pelvis frame for arm joints (7,)."""
        pin.forwardKinematics(self.model, self.data, arm)
        return pin.updateFramePlacement(self.model, self.data, self._frame).homogeneous.copy()

    def shoulder_distance(self, point: NDArray[np.float64]) -> float:
        """Return the distance of a point (3,), in the pelvis frame, from the first joint, m."""
        return float(np.linalg.norm(point - self.model.jointPlacements[1].translation))

    def longest_reach(self, point: NDArray[np.float64]) -> float:
        """Return an upper bound of the distance between the first joint and a point of the hand
        (3,), in its base frame, m: the length of all links in one line."""
        links = [placement.translation for placement in self.model.jointPlacements.tolist()[2:]]
        links += [self.model.frames[self._frame].placement.translation, point]
        return float(sum(np.linalg.norm(link) for link in links))

    def differentiate(self, arm: NDArray[np.float64]):
        """Return the hand's rotation (3, 3) and translation (3,), and its Jacobian (6, 7) along
        the pelvis axes."""
        pin.computeJointJacobians(self.model, self.data, arm)
        pose = pin.updateFramePlacement(self.model, self.data, self._frame)
        frame = pin.LOCAL_WORLD_ALIGNED
        jacobian = pin.getFrameJacobian(self.model, self.data, self._frame, frame)
        return (pose.rotation, pose.translation), jacobian

    def manipulability(self, arm: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return sqrt(det(J J^T)) (Yoshikawa 1985) and the gradient (7,) of its logarithm."""
        pin.computeJointJacobians(self.model, self.data, arm)
        # With a spatial Jacobian, dJ_j/dq_k = J_k x J_j for k < j and 0 otherwise.
        jacobian = pin.getJointJacobian(self.model, self.data, self.model.njoints - 1, pin.WORLD)
        linear, angular = jacobian[:3].T, jacobian[3:].T  # (7, 3)
        turned = cross(angular[:, None], linear[None]) + cross(linear[:, None], angular[None])
        change = np.concatenate([turned, cross(angular[:, None], angular[None])], axis=2)
        change *= np.triu(np.ones((len(arm), len(arm))), 1)[:, :, None]  # [k, j, 6]
        square = jacobian @ jacobian.T + 1e-12 * np.eye(6)  # regular where the arm is singular
        measure = float(np.sqrt(max(np.linalg.det(square), 0.0)))
        return measure, np.einsum("ja,kja->k", np.linalg.solve(square, jacobian).T, change)
