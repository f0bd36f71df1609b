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


EXACT = 1e-9
"""Difference of velocities (rad/s) that is a rounding error, so that a path is followed exactly."""


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
    """Moves a command along a path of targets within limits of position, velocity, acceleration.

    A path within the limits is followed without lag. Otherwise the command moves as fast as it can
    without passing the path: the parabola of full braking from the next command must not cross the
    targets ahead, so that it stops at a target without overshoot. If the path is changed against
    the motion, the command brakes. For any path and any time steps, v^2 / 2a is at most the
    distance to the position limit, so that the command can always brake before it.
    """

    def __init__(self, limits: MotionLimits) -> None:
        self.limits = limits
        self.reset(np.clip(0.0, limits.lower, limits.upper))

    def reset(self, position: ArrayLike) -> None:
        """Set the command to `position` (n,), rad, at rest. A position outside the limits, as it
        may be measured, may stay or move inside, but not farther out."""
        self.position = np.array(position, np.float64)
        self.velocity = np.zeros_like(self.position)
        self._lower = np.minimum(self.limits.lower, self.position)
        self._upper = np.maximum(self.limits.upper, self.position)

    def halt(self) -> None:
        """Set the stored velocity to 0; call it before commanding again after a pause."""
        self.velocity = np.zeros_like(self.position)

    def step(self, target: ArrayLike, dt: float) -> NDArray[np.float64]:
        """Return the command (n,), rad, after `dt` (s) of moving towards the constant `target`
        (n,), rad; see `follow`."""
        return self.follow(np.zeros(1), np.asarray(target, np.float64)[None], dt)

    def follow(
        self, times: NDArray[np.float64], targets: NDArray[np.float64], dt: float
    ) -> NDArray[np.float64]:
        """Return the command (n,), rad, after `dt` (s) of moving along a path.

        Args:
            times: (k,) s, increasing, from 0, which is the time of the returned command.
            targets: (k, n) rad, linear in time in between; the last one is constant from then on.
            dt: s.

        Raises:
            RuleSafeError: a target is not finite or dt is not positive; the command is unchanged.
        """
        if not np.isfinite(targets).all():
            bad = targets[int(np.argmax(~np.isfinite(targets).all(axis=1)))]
            raise RuleSafeError(f"targets must be finite, got {_non_finite(bad)}")
        distances = targets - self.position  # may lead beyond the limits, which `_move` keeps
        slopes = np.empty(distances.shape)
        slopes[:-1] = (distances[1:] - distances[:-1]) / (times[1:] - times[:-1])[:, None]
        slopes[-1] = 0.0
        gap = distances[0]
        wanted = gap / self._checked(dt)
        fastest, slowest = self._not_passing(times, distances, slopes, dt)
        velocity = _limited(wanted, slowest, fastest)
        if (slowest > fastest).any():  # the bound that brakes the present motion counts
            up = np.where(self.velocity == 0, gap, self.velocity) > 0
            braking = np.where(up, fastest, slowest)
            velocity = np.where(slowest > fastest, braking, velocity)
        return self._move(velocity, dt)

    def _not_passing(
        self,
        times: NDArray[np.float64],
        distances: NDArray[np.float64],
        slopes: NDArray[np.float64],
        dt: float,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the largest and the smallest velocity (n,), rad/s, of the next `dt` (s) from which
        full braking neither passes the path nor gets farther from it than the command is now.

        With the velocity v, full braking is at v u - a (u - dt)^2 / 2 at the time u from now. It
        stays below the line c + s (u - dt) if v is below c' / u + s' + a u / 2, with
        c' = c - s dt + a dt^2 / 2 and s' = s - a dt, whose minimum is at u^2 = 2 c' / a.

        Args:
            times: (k,) s.
            distances: (k, n) rad, of the targets from the command.
            slopes: (k, n) rad/s, after each target.
            dt: s.
        """
        a, gap = self.limits.acceleration, distances[0]
        edges = np.empty((len(times) + 1, 1))
        edges[:-1, 0], edges[-1] = times + dt, np.inf
        starts, ends = edges[:-1], edges[1:]
        above = distances - slopes * starts
        lines = np.empty((2, *above.shape))  # above the command, and below it with opposite sign
        np.subtract(above, np.minimum(gap, 0.0), out=lines[0])
        np.subtract(np.maximum(gap, 0.0), above, out=lines[1])
        half = 0.5 * a
        lines += half * (dt * dt)
        u = _limited(np.sqrt(np.maximum(lines, 0.0) / half), starts, ends)
        bounds = lines / u + half * u
        bounds[0] += slopes
        bounds[1] -= slopes
        upwards, downwards = bounds.min(axis=1) - a * dt + EXACT
        return upwards, -downwards

    def brake(self, dt: float) -> NDArray[np.float64]:
        """Return the command (n,), rad, after `dt` (s) of braking as fast as the limits allow."""
        self._checked(dt)
        return self._move(np.zeros_like(self.velocity), dt)

    def _checked(self, dt: float) -> float:
        if not dt > 0:
            raise RuleSafeError(f"dt must be greater than 0 s, got {dt:g} s")
        return dt

    def _brakeable(self, distance: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        """Return the largest v (..., n) with v dt + v^2 / 2a = distance (..., n), so that the joint
        can still stop after `dt`, for any dt of the next steps."""
        a = self.limits.acceleration
        return a * (np.sqrt(dt * dt + distance * (2 / a)) - dt)

    def _move(self, target_velocity: NDArray[np.float64], dt: float) -> NDArray[np.float64]:
        limits, max_change = self.limits, self.limits.acceleration * dt
        velocity = _limited(target_velocity, -limits.velocity, limits.velocity)
        velocity = _limited(velocity, self.velocity - max_change, self.velocity + max_change)
        room = np.array((self.position - self._lower, self._upper - self.position))
        down, up = self._brakeable(np.maximum(room, 0.0), dt)
        velocity = _limited(velocity, -down, up)
        # This limit only removes rounding errors.
        self.position = _limited(self.position + velocity * dt, self._lower, self._upper)
        self.velocity = velocity
        self._lower = np.minimum(limits.lower, self.position)
        self._upper = np.maximum(limits.upper, self.position)
        return self.position.copy()


def _limited(
    values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `np.clip` of the values, which takes several times as long for small arrays."""
    return np.minimum(np.maximum(values, lower), upper)


def _non_finite(values: NDArray[np.float64]) -> str:
    names = ACTION_JOINTS if len(values) == len(ACTION_JOINTS) else map(str, range(len(values)))
    return ", ".join(
        f"{name}: {value}"
        for name, value in zip(names, values, strict=True)
        if not np.isfinite(value)
    )
