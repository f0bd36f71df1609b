"""Joints transformed as if the safe were at another pose, so that a policy need not learn poses.

A network that maps a safe's pose to postures learns the arm's kinematics from as many poses as
there are demonstrations, roughly within their range and not at all beyond it. Kinematics are known.
If a scene encoder estimates the safe's pose, each posture is replaced by the nearest one with the
hand's pose relative to the safe unchanged and the safe at one fixed pose. The network receives and
predicts such postures, which are transformed back. Two demonstrations at different poses of the
safe then contain nearly the same motion.

    frame = SafeFrame(0.60, -0.30, 0.28, -0.17)
    inside = frame.enter(joints, pose)        # (N, 13), of a safe at `pose` (4,)
    joints = frame.leave(inside, pose)
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import hold
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import HELD, h1_2
from rulesafe_core.transforms import about_axis

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

HAND = "R_hand_base_link"

ROUNDS = 8
"""Gauss-Newton steps towards a posture."""

CLOSE = 1e-6
"""m and rad: tolerance of the hand's pose."""

DAMPING = 3e-2
"""Of these steps (m and rad per rad), for postures near a singularity."""

STEP = 0.2
"""rad that a joint moves in one of these steps at most."""

MARGIN = 0.01
"""rad that postures keep from the joints' limits."""


@dataclass(frozen=True)
class SafeFrame:
    """The fixed pose of the safe: m in the pelvis frame, and rad."""

    x: float
    y: float
    z: float
    yaw: float

    @property
    def pose(self) -> Doubles:
        """x, y, z, yaw as (4,)."""
        return np.array([self.x, self.y, self.z, self.yaw])

    def enter(self, joints: Floats, pose: NDArray[np.floating]) -> Floats:
        """Transform joints (N, 13), rad, in the order of ACTION_JOINTS, from a safe at a pose (4,)
        to one at the fixed pose. The result may exceed the joints' limits."""
        return self._follow(joints, _motion(np.asarray(pose, float), self.pose), False)

    def leave(self, joints: Floats, pose: NDArray[np.floating]) -> Floats:
        """Return the inverse within the joints' limits: as near as the arm reaches."""
        return self._follow(joints, _motion(self.pose, np.asarray(pose, float)), True)

    def _follow(self, joints: Floats, motion: Doubles, limited: bool) -> Floats:
        count = len(ARM_JOINTS)
        arm, _ = self._arm.follow(joints[:, :count].astype(float), motion, limited)
        return np.concatenate([arm, joints[:, count:]], axis=1).astype(np.float32)

    @cached_property
    def _arm(self) -> "ArmChain":
        return ArmChain()


def _motion(before: Doubles, after: Doubles) -> Doubles:
    """The rigid motion (4, 4) that brings a safe from one pose to another."""
    motion = about_axis((0, 0, 1), float(after[3] - before[3]), before[:3])
    motion[:3, 3] += after[:3] - before[:3]
    return motion


class ArmChain:
    """The right arm in many postures at once, in the pelvis frame.

    Computed as arrays, since demonstrations have 10^5 postures.
    """

    def __init__(self) -> None:
        body = hold(h1_2(), HELD)
        parents = {joint.child: joint for joint in body.joints}
        chain, link = [], HAND
        while link in parents:
            chain.append(parents[link])
            link = chain[-1].parent
        moving = [joint for joint in chain[::-1] if joint.kind != "fixed"]
        if tuple(joint.name for joint in moving) != ARM_JOINTS:
            raise AssertionError(f"arm joints out of order: {[joint.name for joint in moving]}")
        # With all joints at 0: the frames of joints differ by what is fixed between them.
        poses = body.link_poses({})
        frames = [np.eye(4), *(poses[joint.child] for joint in moving), poses[HAND]]
        steps = [np.linalg.inv(before) @ after for before, after in pairwise(frames)]
        *self._steps, self._hand = steps
        self._axes = [np.array(joint.axis, float) for joint in moving]
        self.lower = np.array([joint.lower for joint in moving]) + MARGIN
        self.upper = np.array([joint.upper for joint in moving]) - MARGIN

    def reach(self, arm: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Of arms (N, 7), rad: the hand's rotations (N, 3, 3), places (N, 3), m, and Jacobians
        (N, 6, 7) along the pelvis axes, linear over angular."""
        turn, place = np.broadcast_to(np.eye(3), (len(arm), 3, 3)), np.zeros((len(arm), 3))
        axes, pivots = [], []
        for step, axis, angle in zip(self._steps, self._axes, arm.T, strict=True):
            place = place + turn @ step[:3, 3]
            turn = turn @ step[:3, :3]
            axes.append(turn @ axis)
            pivots.append(place)
            turn = turn @ _about(axis, angle)
        place = place + turn @ self._hand[:3, 3]
        about, levers = np.stack(axes, -1), place[..., None] - np.stack(pivots, -1)
        jacobian = np.concatenate([np.cross(about, levers, axis=1), about], axis=1)
        return turn @ self._hand[:3, :3], place, jacobian

    def follow(self, arm: Doubles, motion: Doubles, limited: bool) -> tuple[Doubles, Doubles]:
        """Return postures (N, 7) near these with the hand moved by a rigid motion (4, 4), and the
        error of its pose (N,), m or rad, whichever is more; limited: within the joints' limits."""
        turn, place, _ = self.reach(arm)
        wanted, aim = motion[:3, :3] @ turn, place @ motion[:3, :3].T + motion[:3, 3]
        found, off = self._go(arm, wanted, aim, -np.inf, np.inf)
        if limited and ((found < self.lower) | (found > self.upper)).any():
            found, off = self._go(found, wanted, aim, self.lower, self.upper)
        return found, np.abs(off).max(axis=1)

    def _go(
        self,
        arm: Doubles,
        wanted: Doubles,
        aim: Doubles,
        lower: Doubles | float,
        upper: Doubles | float,
    ) -> tuple[Doubles, Doubles]:
        """From arms (N, 7) to ones between limits whose hands are at `aim` (N, 3), turned as
        `wanted` (N, 3, 3), as near as they come; and what is missing (N, 6), m and rad."""
        found = np.clip(arm, lower, upper)
        for left in range(ROUNDS, -1, -1):
            turn, place, jacobian = self.reach(found)
            off = np.concatenate([aim - place, _between(turn, wanted)], axis=1)
            if not left or np.abs(off).max() < CLOSE:
                break
            step = _step(jacobian, off)
            # Once more, without the joints that would exceed their limits.
            stuck = (found + step < lower) | (found + step > upper)
            if stuck.any():
                step = np.where(stuck, 0, _step(jacobian * ~stuck[:, None], off))
            found = np.clip(found + np.clip(step, -STEP, STEP), lower, upper)
        return found, off


def _step(jacobian: Doubles, off: Doubles) -> Doubles:
    """Damped least squares: steps (N, 7) of the joints that reduce the error `off` (N, 6)."""
    across = jacobian.transpose(0, 2, 1)
    square = jacobian @ across + DAMPING**2 * np.eye(6)
    step: Doubles = (across @ np.linalg.solve(square, off[..., None]))[..., 0]
    return step


def _about(axis: Doubles, angles: Doubles) -> Doubles:
    """Rotations (N, 3, 3) about a unit axis (3,) by angles (N,), rad (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    turned: Doubles = np.eye(3) + sine * cross + (1 - cosine) * (cross @ cross)
    return turned


def _between(source: Doubles, target: Doubles) -> Doubles:
    """Rotation vectors (N, 3), rad, from rotations to others that are near."""
    skew = target @ source.transpose(0, 2, 1)
    twice = skew - skew.transpose(0, 2, 1)
    return 0.5 * np.stack([twice[:, 2, 1], twice[:, 0, 2], twice[:, 1, 0]], axis=1)
