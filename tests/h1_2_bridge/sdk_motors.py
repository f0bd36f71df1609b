"""Motor model of the robot: 27 motors with inertia, friction and gravity, pelvis fixed.

Gravity is computed by Pinocchio with the masses of the robot description, independently of the
bridge.
"""

from functools import cache

import numpy as np
import pinocchio as pin

from rulesafe_core.body import fix_joints
from rulesafe_core.joints import BODY_JOINTS, HAND_JOINTS, LEFT_HAND_JOINTS
from rulesafe_core.robot import HOME, h1_2
from rulesafe_core.urdf import to_urdf

MOTORS = len(BODY_JOINTS)
UPPER_BODY = slice(12, 27)
"""Motors of arm_sdk: waist and arms."""

STEP = 0.002
"""Integration step, s."""


@cache
def model() -> pin.Model:
    """Return the robot with fixed fingers."""
    hands = dict.fromkeys((*HAND_JOINTS, *LEFT_HAND_JOINTS), 0.0)
    return pin.buildModelFromXML(to_urdf(fix_joints(h1_2(), hands)))


class Robot:
    """Integrates joint torques.

    The robot's own controller holds the initial posture with gravity compensation; a command
    replaces it by its weight (arm_sdk) or completely (lowcmd).

    Attributes:
        q, dq, tau: (27,) rad, rad/s, N m.
        home: (27,) posture of the robot's own controller, rad.
    """

    def __init__(self) -> None:
        self._model = model()
        self._data = self._model.createData()
        self._index = [self._model.joints[self._model.getJointId(n)].idx_q for n in BODY_JOINTS]
        joints = [h1_2().joint(name) for name in BODY_JOINTS]
        self._effort = np.array([joint.effort for joint in joints])
        self._lower = np.array([joint.lower for joint in joints])
        self._upper = np.array([joint.upper for joint in joints])
        self.home = np.array([HOME[name] for name in BODY_JOINTS])
        self.q, self.dq, self.tau = self.home.copy(), np.zeros(MOTORS), np.zeros(MOTORS)
        self._inertia = np.full(MOTORS, 0.15)
        self._inertia[:13] = 1.0

    def gravity(self) -> np.ndarray:
        """Return the gravity torques (27,), N m, of the current posture."""
        full = np.zeros(self._model.nq)
        full[self._index] = self.q
        return pin.computeGeneralizedGravity(self._model, self._data, full)[self._index]

    def step(self, seconds: float, command: dict[str, np.ndarray], share: np.ndarray) -> None:
        """Integrate. `command`: q, dq, tau, kp, kd, each (27,); `share` (27,), 0..1: its part of
        each motor's torque; the robot's own controller has the rest."""
        q, dq, tau, kp, kd = (command[name] for name in ("q", "dq", "tau", "kp", "kd"))
        for _ in range(max(1, round(seconds / STEP))):
            gravity = self.gravity()
            own = gravity + 300 * (self.home - self.q) - 12 * self.dq
            theirs = tau + kp * (q - self.q) + kd * (dq - self.dq)
            torque = share * theirs + (1 - share) * own
            torque = np.minimum(np.maximum(torque, -self._effort), self._effort)
            acceleration = (torque - gravity - 2.0 * self.dq) / self._inertia
            self.dq = self.dq + STEP * acceleration
            self.q = self.q + STEP * self.dq
            stopped = (self.q < self._lower) | (self.q > self._upper)
            if stopped.any():
                self.q, self.dq = np.clip(self.q, self._lower, self._upper), self.dq * ~stopped
            self.tau = torque
