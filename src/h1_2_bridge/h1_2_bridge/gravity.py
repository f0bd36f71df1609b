"""Gravity compensation torques of the arm motors; needs only numpy.

Without them the elbow would hang 0.09 rad below its command in the posture `HOME` (4.5 N m at
50 N m/rad), which is 5 cm at the fingertips. Masses are those of `rulesafe_core.robot`. The pelvis
is assumed to be upright, as it is while the robot stands.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.motors import LEFT_ARM, MOTOR_JOINTS
from rulesafe_core.body import fix_joints, merge_fixed
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.robot import HOME, h1_2

GRAVITY = 9.81
"""Gravitational acceleration, m/s^2."""

RESOLUTION = 0.01
"""Joint motion (rad) after which torques are recomputed: less than 0.2 N m at a shoulder."""


class ArmGravity:
    """Gravity torques of one arm with 7 joints, with the fingers at `HOME`.

    Args:
        joints: motor indices (7,) of one arm, from the shoulder to the hand.
    """

    def __init__(self, joints: tuple[int, ...] = LEFT_ARM) -> None:
        names = [MOTOR_JOINTS[i] for i in joints]
        others = {name: HOME[name] for name in ALL_JOINTS if name not in names}
        body = merge_fixed(fix_joints(h1_2(), others))
        links = {link.name: link for link in body.links}
        chain = [body.joint(name) for name in names]
        inertials = [links[joint.child].inertial for joint in chain]
        assert all(inertials)
        self._origins = [joint.origin for joint in chain]
        self._axes = np.array([joint.axis for joint in chain])
        crosses = [_cross_matrix(axis) for axis in self._axes]
        # Rodrigues' formula with the joint origin's rotation: A + sin(q) B + (1 - cos(q)) C.
        self._turns = [
            (o[:3, :3], o[:3, :3] @ cross, o[:3, :3] @ cross @ cross)
            for o, cross in zip(self._origins, crosses, strict=True)
        ]
        self._masses = np.array([i.mass for i in inertials if i])
        self._coms = [np.array(i.com) for i in inertials if i]
        self._at = np.full(len(chain), np.inf)
        self._torque = np.zeros(len(chain))

    def torque(self, positions: ArrayLike) -> NDArray[np.float64]:
        """Return the torques (7,), N m, that hold the arm at `positions` (7,), rad."""
        at = np.asarray(positions, np.float64)
        if np.abs(at - self._at).max() > RESOLUTION:
            self._torque, self._at = self._compute(at), at.copy()
        return self._torque

    def _compute(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        count = len(positions)
        points, axes, coms = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3))
        rotation, point = np.eye(3), np.zeros(3)
        sines, versines = np.sin(positions), 1 - np.cos(positions)
        for i, (origin, first, second) in enumerate(self._turns):
            point = point + rotation @ self._origins[i][:3, 3]
            rotation = rotation @ (origin + sines[i] * first + versines[i] * second)
            points[i], axes[i] = point, rotation @ self._axes[i]
            coms[i] = point + rotation @ self._coms[i]
        carried = np.cumsum(self._masses[::-1])[::-1]
        moments = np.cumsum((self._masses[:, None] * coms)[::-1], axis=0)[::-1]
        arms = (
            moments - carried[:, None] * points
        )  # kg m, mass times lever of all links that a joint carries
        # axis . (arm x up) g, with `up` along z.
        return GRAVITY * (axes[:, 0] * arms[:, 1] - axes[:, 1] * arms[:, 0])


def _cross_matrix(axis: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y, z = axis
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
