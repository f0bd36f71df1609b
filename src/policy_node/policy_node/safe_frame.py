"""Transform joint positions as if the safe were at a fixed pose (canonicalisation of actions).

A network that maps a safe's pose to postures must learn the arm's kinematics from the few safe
poses of the demonstrations, and does not generalise beyond their range. But the kinematics are
known. If a scene encoder estimates the safe's pose, each posture is replaced by the nearest posture
in which the hand has the same pose relative to the safe, with the safe at a fixed pose. The network
receives and predicts such postures; its predictions are transformed back. Demonstrations at
different poses of the safe then contain nearly the same motion.

    frame = SafeFrame(0.60, -0.30, 0.28, -0.17)
    canonical = frame.to_canonical(joints, pose)  # (N, 13), with the safe at `pose` (4,)
    joints = frame.from_canonical(canonical, pose)
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import fix_joints
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS, h1_2
from rulesafe_core.transforms import about_axis

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

HAND = "R_hand_base_link"

ITERATIONS = 8
"""Maximum number of Gauss-Newton steps of the inverse kinematics."""

TOLERANCE = 1e-6
"""Tolerance of the hand's pose, m and rad."""

DAMPING = 3e-2
"""Damping of the Gauss-Newton steps (m and rad per rad), for postures near a singularity."""

MAX_STEP = 0.2
"""Maximum motion of a joint in one Gauss-Newton step, rad."""

MARGIN = 0.01
"""Margin to the joints' limits, rad."""

IDENTITY = np.eye(3)
REGULARISATION = DAMPING**2 * np.eye(6)


@dataclass(frozen=True)
class SafeFrame:
    """The fixed pose of the safe: x, y, z in m and yaw in rad, in the pelvis frame."""

    x: float
    y: float
    z: float
    yaw: float

    @property
    def pose(self) -> Doubles:
        """x, y, z, yaw as (4,)."""
        return np.array([self.x, self.y, self.z, self.yaw])

    def to_canonical(self, joints: Floats, pose: NDArray[np.floating]) -> Floats:
        """Transform joints (N, 13), rad, in the order of ACTION_JOINTS, from a safe at a pose (4,)
        to the safe at the fixed pose. The result may exceed the joints' limits."""
        return self._transform(joints, _motion(np.asarray(pose, float), self.pose), False)

    def from_canonical(self, joints: Floats, pose: NDArray[np.floating]) -> Floats:
        """Transform joints (N, 13), rad, from the safe at the fixed pose to a safe at a pose (4,),
        within the joints' limits, with the hand as near to its pose as possible."""
        return self._transform(joints, _motion(self.pose, np.asarray(pose, float)), True)

    def _transform(self, joints: Floats, motion: Doubles, limited: bool) -> Floats:
        count = len(ARM_JOINTS)
        arm, _ = self._arm.move_hand(joints[:, :count].astype(float), motion, limited)
        return np.concatenate([arm, joints[:, count:]], axis=1).astype(np.float32)

    @cached_property
    def _arm(self) -> "ArmChain":
        return ArmChain()


def _motion(before: Doubles, after: Doubles) -> Doubles:
    """Return the rigid motion (4, 4) from one pose (4,) of a safe to another."""
    motion = about_axis((0, 0, 1), float(after[3] - before[3]), before[:3])
    motion[:3, 3] += after[:3] - before[:3]
    return motion


class ArmChain:
    """Kinematics of the right arm in the pelvis frame, vectorised over postures."""

    def __init__(self) -> None:
        body = fix_joints(h1_2(), FIXED_POSITIONS)
        parents = {joint.child: joint for joint in body.joints}
        chain, link = [], HAND
        while link in parents:
            chain.append(parents[link])
            link = chain[-1].parent
        moving = [joint for joint in chain[::-1] if joint.kind != "fixed"]
        if tuple(joint.name for joint in moving) != ARM_JOINTS:
            raise AssertionError(f"arm joints out of order: {[joint.name for joint in moving]}")
        # With all joints at 0, successive joint frames differ by their fixed transforms only.
        poses = body.link_poses({})
        frames = [np.eye(4), *(poses[joint.child] for joint in moving), poses[HAND]]
        steps = [np.linalg.inv(before) @ after for before, after in pairwise(frames)]
        *self._steps, self._hand = steps
        self._axes = np.array([joint.axis for joint in moving], float)
        self._cross = np.array([_cross_matrix(axis) for axis in self._axes])  # (7, 3, 3)
        self._cross_squared = self._cross @ self._cross
        self.lower = np.array([joint.lower for joint in moving]) + MARGIN
        self.upper = np.array([joint.upper for joint in moving]) - MARGIN

    def hand_pose(self, arm: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Return rotations (N, 3, 3), positions (N, 3), m, and Jacobians (N, 6, 7), linear over
        angular, of the hand in the pelvis frame for arm postures (N, 7), rad."""
        sine, cosine = np.sin(arm)[..., None, None], np.cos(arm)[..., None, None]
        # About each joint's axis (Rodrigues), (N, 7, 3, 3).
        turns = IDENTITY + sine * self._cross + (1 - cosine) * self._cross_squared
        rotation, position = IDENTITY[None], np.zeros(3)
        angular, pivots = np.empty((2, len(arm), 3, len(self._axes)))
        for joint, (step, axis) in enumerate(zip(self._steps, self._axes, strict=True)):
            position = position + rotation @ step[:3, 3]
            rotation = rotation @ step[:3, :3]
            angular[..., joint] = rotation @ axis
            pivots[..., joint] = position
            rotation = rotation @ turns[:, joint]
        position = position + rotation @ self._hand[:3, 3]
        linear = _cross_products(angular, position[..., None] - pivots)
        jacobian = np.concatenate([linear, angular], axis=1)
        return rotation @ self._hand[:3, :3], position, jacobian

    def move_hand(self, arm: Doubles, motion: Doubles, limited: bool) -> tuple[Doubles, Doubles]:
        """Return postures (N, 7) near `arm` (N, 7), rad, with the hand moved by a rigid motion
        (4, 4), and the largest component of each pose error (N,), m or rad.

        Args:
            limited: whether postures must be within the joints' limits.
        """
        pose = rotation, position, _ = self.hand_pose(arm)
        target = motion[:3, :3] @ rotation, position @ motion[:3, :3].T + motion[:3, 3]
        found, error = self._solve(arm, pose, *target, -np.inf, np.inf)
        if limited and ((found < self.lower) | (found > self.upper)).any():
            found = np.clip(found, self.lower, self.upper)
            pose = self.hand_pose(found)
            found, error = self._solve(found, pose, *target, self.lower, self.upper)
        return found, np.abs(error).max(axis=1)

    def _solve(
        self,
        arm: Doubles,
        pose: tuple[Doubles, Doubles, Doubles],
        target_rotation: Doubles,
        target_position: Doubles,
        lower: Doubles | float,
        upper: Doubles | float,
    ) -> tuple[Doubles, Doubles]:
        """Solve inverse kinematics within limits, starting from postures (N, 7) within them and
        their `hand_pose`; return postures and the remaining errors of the hand's pose (N, 6), m and
        rad."""
        found = arm
        for left in range(ITERATIONS, -1, -1):
            rotation, position, jacobian = pose
            turn = _rotation_vectors(rotation, target_rotation)
            error = np.concatenate([target_position - position, turn], axis=1)
            if not left or np.abs(error).max() < TOLERANCE:
                break
            step = _step(jacobian, error)
            # Solve again without the joints that would exceed their limits.
            stuck = (found + step < lower) | (found + step > upper)
            if stuck.any():
                step = np.where(stuck, 0, _step(jacobian * ~stuck[:, None], error))
            found = np.clip(found + np.clip(step, -MAX_STEP, MAX_STEP), lower, upper)
            pose = self.hand_pose(found)
        return found, error


def _step(jacobian: Doubles, error: Doubles) -> Doubles:
    """Return damped least-squares steps (N, 7) of the joints that reduce pose errors (N, 6)."""
    transposed = jacobian.transpose(0, 2, 1)
    square = jacobian @ transposed + REGULARISATION
    step: Doubles = (transposed @ np.linalg.solve(square, error[..., None]))[..., 0]
    return step


def _cross_matrix(axis: Doubles) -> Doubles:
    """Return the matrix (3, 3) of the cross product with `axis` (3,)."""
    x, y, z = axis
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _cross_products(a: Doubles, b: Doubles) -> Doubles:
    """Return the cross products (N, 3, K) over the second axis; faster than np.cross."""
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]


def _rotation_vectors(source: Doubles, target: Doubles) -> Doubles:
    """Return rotation vectors (N, 3), rad, from `source` to `target`; for small angles."""
    skew = target @ source.transpose(0, 2, 1)
    twice = skew - skew.transpose(0, 2, 1)
    return 0.5 * np.stack([twice[:, 2, 1], twice[:, 0, 2], twice[:, 1, 0]], axis=1)
