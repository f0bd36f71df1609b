"""What the 13 joints may do, and the filter that makes every motion obey it. numpy alone.

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
"""The first 7 of the 13 joints are the arm's."""

ARM_VELOCITY = 9.0
"""rad/s that no arm joint exceeds at speed 1: the shoulder's figure, the smallest of the arm."""

FINGER_ACCELERATION = 10.0
"""rad/s^2; the hand's own controller has its own, and this only smooths its targets."""


@dataclass(frozen=True)
class MotionLimits:
    """Limits of n joints, each (n,): positions in rad, rad/s, rad/s^2."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    velocity: NDArray[np.float64]
    acceleration: NDArray[np.float64]


def action_limits(config: BridgeConfig) -> MotionLimits:
    """The limits of the 13 joints, order of ACTION_JOINTS. The arm keeps `config.margin` from its
    stops; a finger may go to its stops, which is how a hand closes."""
    figures, arm = motors(), list(RIGHT_ARM)
    fingers = [h1_2().joint(name) for name in HAND_JOINTS]
    return MotionLimits(
        lower=np.r_[figures.lower[arm] + config.margin, [j.lower for j in fingers]],
        upper=np.r_[figures.upper[arm] - config.margin, [j.upper for j in fingers]],
        velocity=np.r_[
            np.minimum(figures.velocity[arm], ARM_VELOCITY) * config.speed,
            np.array([j.velocity for j in fingers]) * config.hand_speed,
        ],
        acceleration=np.r_[
            figures.acceleration[arm] * config.speed, np.full(len(fingers), FINGER_ACCELERATION)
        ],
    )


class MotionFilter:
    """Moves a command towards its target within limits of position, velocity and acceleration.

    A target that obeys the limits itself is followed without a lag. Whatever the target does and
    however uneven the steps in time are, at every step v^2 / 2a is no more than the way that is
    left to the limit, so that it can always brake before it.
    """

    def __init__(self, limits: MotionLimits) -> None:
        self.limits = limits
        self.reset(np.clip(0.0, limits.lower, limits.upper))

    def reset(self, position: ArrayLike) -> None:
        """Stands still at `position` (n,), rad. Where that is outside of the limits, as a measured
        posture may be, it may stay there and come inside, never go further out."""
        self.position = np.array(position, np.float64)
        self.velocity = np.zeros_like(self.position)
        self._target = self.position.copy()
        self._lower = np.minimum(self.limits.lower, self.position)
        self._upper = np.maximum(self.limits.upper, self.position)

    def halt(self) -> None:
        """It has come to rest where it is: after a time in which nothing was commanded."""
        self.velocity = np.zeros_like(self.position)
        self._target = self.position.copy()

    def step(self, target: ArrayLike, dt: float) -> NDArray[np.float64]:
        """The command (n,), rad, `dt` (s) later, on its way to `target` (n,), rad.

        Errors: RuleSafeError for a target that is not finite, or a time that does not go on;
        nothing has moved then.
        """
        wanted = np.asarray(target, np.float64)
        if not np.isfinite(wanted).all():
            raise RuleSafeError(f"targets must be finite, got {_named(wanted)}")
        wanted = np.clip(wanted, self._lower, self._upper)
        moving = (wanted - self._target) / self._checked(dt)
        # On top of the target's own velocity, what closes the gap and can be braked again.
        gap = self._target - self.position
        moving = moving + np.sign(gap) * self._brakeable(np.abs(gap), dt)
        self._target = wanted
        return self._move(moving, dt)

    def brake(self, dt: float) -> NDArray[np.float64]:
        """The command (n,), rad, `dt` (s) later, coming to rest as fast as it may."""
        self._checked(dt)
        position = self._move(np.zeros_like(self.velocity), dt)
        self._target = position.copy()
        return position

    def _checked(self, dt: float) -> float:
        if not dt > 0:
            raise RuleSafeError(f"a step takes more than 0 s, got {dt:g} s")
        return dt

    def _brakeable(self, way: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        """The largest v with v dt + v^2 / 2a = way, so that after `dt` it can still stop in time,
        whatever the next steps' dt."""
        a = self.limits.acceleration
        return a * (np.sqrt(dt * dt + 2 * way / a) - dt)

    def _move(self, wanted: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        limits, reach = self.limits, self.limits.acceleration * dt
        velocity = np.clip(wanted, -limits.velocity, limits.velocity)
        velocity = np.clip(velocity, self.velocity - reach, self.velocity + reach)
        below = np.maximum(self.position - self._lower, 0.0)
        above = np.maximum(self._upper - self.position, 0.0)
        velocity = np.clip(velocity, -self._brakeable(below, dt), self._brakeable(above, dt))
        # The last clip is for rounding alone.
        self.position = np.clip(self.position + velocity * dt, self._lower, self._upper)
        self.velocity = velocity
        self._lower = np.minimum(limits.lower, self.position)
        self._upper = np.maximum(limits.upper, self.position)
        return self.position.copy()


def _named(values: NDArray[np.float64]) -> str:
    names = ACTION_JOINTS if len(values) == len(ACTION_JOINTS) else map(str, range(len(values)))
    return ", ".join(
        f"{name}: {value}"
        for name, value in zip(names, values, strict=True)
        if not np.isfinite(value)
    )
