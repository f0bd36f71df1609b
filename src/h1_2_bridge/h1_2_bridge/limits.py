"""Limits of the 13 action joints, and the filter that keeps commands within them; needs only numpy.

Example::

    motion = MotionFilter(action_limits(BridgeConfig()))
    motion.reset(measured)
    command = motion.step(target, dt=0.004)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.motors import RIGHT_ARM, motors
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, HAND_JOINTS
from rulesafe_core.robot import h1_2

ARM = len(RIGHT_ARM)
"""Number of arm joints, which are the first of the 13 action joints."""

ARM_VELOCITY = 9.0
"""Velocity limit of all arm joints at speed 1, rad/s: the shoulder's, the smallest of the arm."""

FINGER_ACCELERATION = 10.0
"""Maximum acceleration of finger targets, rad/s^2. It smooths them; the hand has its own limit."""


@dataclass(frozen=True)
class MotionLimits:
    """Limits of n joints, each (n,): positions in rad, rad/s, rad/s^2."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    velocity: NDArray[np.float64]
    acceleration: NDArray[np.float64]


def action_limits(config: BridgeConfig) -> MotionLimits:
    """Return the limits of the 13 joints in the order of ACTION_JOINTS. Arm joints keep
    `config.margin` from their limits; fingers may reach theirs, since a closing hand does."""
    limits, arm = motors(), list(RIGHT_ARM)
    fingers = [h1_2().joint(name) for name in HAND_JOINTS]
    return MotionLimits(
        lower=np.r_[limits.lower[arm] + config.margin, [j.lower for j in fingers]],
        upper=np.r_[limits.upper[arm] - config.margin, [j.upper for j in fingers]],
        velocity=np.r_[
            np.minimum(limits.velocity[arm], ARM_VELOCITY) * config.speed,
            np.array([j.velocity for j in fingers]) * config.hand_speed,
        ],
        acceleration=np.r_[
            limits.acceleration[arm] * config.speed, np.full(len(fingers), FINGER_ACCELERATION)
        ],
    )


class MotionFilter:
    """Moves a command towards its target within limits of position, velocity and acceleration.

    A target within the limits is followed without lag. For any target and any time steps, v^2 / 2a
    is at most the distance to the position limit, so that the command can always brake before it.
    """

    def __init__(self, limits: MotionLimits) -> None:
        self.limits = limits
        self.reset(np.clip(0.0, limits.lower, limits.upper))

    def reset(self, position: ArrayLike) -> None:
        """Set the command to `position` (n,), rad, at rest. A position outside the limits, as it
        may be measured, may stay or move inside, but not farther out."""
        self.position = np.array(position, np.float64)
        self.velocity = np.zeros_like(self.position)
        self._target = self.position.copy()
        self._lower = np.minimum(self.limits.lower, self.position)
        self._upper = np.maximum(self.limits.upper, self.position)

    def halt(self) -> None:
        """Set the stored velocity to 0; call it before commanding again after a pause."""
        self.velocity = np.zeros_like(self.position)
        self._target = self.position.copy()

    def step(self, target: ArrayLike, dt: float) -> NDArray[np.float64]:
        """Return the command (n,), rad, after `dt` (s) of moving towards `target` (n,), rad.

        Raises:
            RuleSafeError: the target is not finite or dt is not positive; the command is unchanged.
        """
        new_target = np.asarray(target, np.float64)
        if not np.isfinite(new_target).all():
            raise RuleSafeError(f"targets must be finite, got {_non_finite(new_target)}")
        new_target = np.clip(new_target, self._lower, self._upper)
        velocity = (new_target - self._target) / self._checked(dt)
        # The target's velocity plus the largest velocity towards it that can still be braked.
        gap = self._target - self.position
        velocity = velocity + np.sign(gap) * self._brakeable(np.abs(gap), dt)
        self._target = new_target
        return self._move(velocity, dt)

    def brake(self, dt: float) -> NDArray[np.float64]:
        """Return the command (n,), rad, after `dt` (s) of braking as fast as the limits allow."""
        self._checked(dt)
        position = self._move(np.zeros_like(self.velocity), dt)
        self._target = position.copy()
        return position

    def _checked(self, dt: float) -> float:
        if not dt > 0:
            raise RuleSafeError(f"dt must be greater than 0 s, got {dt:g} s")
        return dt

    def _brakeable(self, distance: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        """Return the largest v with v dt + v^2 / 2a = distance, so that the joint can still stop
        after `dt`, for any dt of the next steps."""
        a = self.limits.acceleration
        return a * (np.sqrt(dt * dt + 2 * distance / a) - dt)

    def _move(self, target_velocity: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        limits, max_change = self.limits, self.limits.acceleration * dt
        velocity = np.clip(target_velocity, -limits.velocity, limits.velocity)
        velocity = np.clip(velocity, self.velocity - max_change, self.velocity + max_change)
        below = np.maximum(self.position - self._lower, 0.0)
        above = np.maximum(self._upper - self.position, 0.0)
        velocity = np.clip(velocity, -self._brakeable(below, dt), self._brakeable(above, dt))
        # This clip only removes rounding errors.
        self.position = np.clip(self.position + velocity * dt, self._lower, self._upper)
        self.velocity = velocity
        self._lower = np.minimum(limits.lower, self.position)
        self._upper = np.maximum(limits.upper, self.position)
        return self.position.copy()


def _non_finite(values: NDArray[np.float64]) -> str:
    names = ACTION_JOINTS if len(values) == len(ACTION_JOINTS) else map(str, range(len(values)))
    return ", ".join(
        f"{name}: {value}"
        for name, value in zip(names, values, strict=True)
        if not np.isfinite(value)
    )
