"""Safety checks of a chunk before it is executed and of a command before it is sent.

The filter in limits.py computes commands within the limits. The guard in this module is the last
check before a message is sent and independent of the filter: it checks only the message itself
against the message before, and refuses a message that violates a limit.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.limits import ARM, action_limits
from h1_2_bridge.messages import SLOTS, LowCmd
from h1_2_bridge.motors import (
    MOTOR_COUNT,
    MOTOR_JOINTS,
    RIGHT_ARM,
    WEIGHT_SLOT,
    motors,
)
from h1_2_bridge.outputs import DAMPING, ENABLED, Output
from rulesafe_core.chunks import AHEAD, PERIOD, SECOND, Chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

ROUNDING = 1e-6
"""Tolerance for rounding errors, rad; float32 stores an angle of 3 rad within 1.2e-7."""

FEED_FORWARD = 0.5
"""Largest feed-forward torque as a share of a motor's effort limit; gravity at a shoulder needs at
most 0.4."""


def check_chunk(chunk: Chunk, now: int, command: NDArray[np.float64], config: BridgeConfig) -> None:
    """Check that a chunk may be executed from `now` (ns, ROS clock) on, after the current joint
    command (13,), rad.

    Raises:
        RuleSafeError: the observation is too old, the chunk has too many steps, begins or ends too
            late, or an arm joint jumps between two future steps or from the command to the first
            future step.
    """
    if len(chunk.steps) > MOST_STEPS:
        raise RuleSafeError(f"the chunk has {len(chunk.steps)} steps; valid: up to {MOST_STEPS}")
    if (horizon := (chunk.end - now) / SECOND) > config.chunk_horizon:
        raise RuleSafeError(
            f"the chunk ends {horizon:.2f} s from now, the limit (chunk_horizon) is "
            f"{config.chunk_horizon:g} s"
        )
    age = (now - chunk.stamp) / SECOND
    if age > config.chunk_age:
        raise RuleSafeError(
            f"the chunk is stale: its observation is {age:.2f} s old, the limit (chunk_age) is "
            f"{config.chunk_age:g} s"
        )
    first = int(np.searchsorted(chunk.times, now, side="right"))
    ahead = chunk.steps[first:]
    begin = max(config.chunk_timeout, 2 * PERIOD / SECOND)  # the first step of a period may be late
    # The executor refuses a stamp that is farther ahead, and names the clock as the cause.
    if (
        len(ahead)
        and chunk.stamp <= now + AHEAD
        and (wait := (chunk.times[first] - now) / SECOND) > begin
    ):
        raise RuleSafeError(
            f"the chunk begins {wait:.2f} s from now, the limit (chunk_timeout) is {begin:g} s"
        )
    steps = np.abs(np.diff(np.vstack([command, ahead])[:, :ARM], axis=0))
    if (steps > config.max_jump).any():
        row, joint = np.unravel_index(steps.argmax(), steps.shape)
        start = "the command" if row == 0 else f"step {len(chunk.steps) - len(ahead) + row - 1}"
        raise RuleSafeError(
            f"the chunk jumps: {ACTION_JOINTS[joint]} by {steps[row, joint]:.2f} rad from {start} "
            f"to the next step, the limit (max_jump) is {config.max_jump:g} rad"
        )


MOST_STEPS = 500
"""Largest number of steps of a chunk; policies of this project publish up to 50."""

INVALID = {
    "q": "has the position {:.3f} rad",
    "dq": "has the velocity {:.3f} rad/s; dq of the command must be 0",
    "tau": "has an excessive feed-forward torque of {:.3f} N m",
    "kp": "has an invalid gain of {:.3f} N m/rad",
    "kd": "has an invalid gain of {:.3f} N m s/rad",
}
"""Fields of each motor in a command, and the message for a value outside its limits."""

BEYOND = "is commanded to leave its limits, to {:.3f} rad"


def _bounds(output: Output) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest values (175,) of the fields of a command, in the order of
    INVALID; positions only have to be finite."""
    used = np.isin(np.arange(SLOTS), output.motors)
    zero, torque = np.zeros(SLOTS), np.zeros(SLOTS)
    torque[:MOTOR_COUNT] = np.where(used[:MOTOR_COUNT], motors().effort * FEED_FORWARD, 0.0)
    finite = np.full(SLOTS, np.finfo(np.float32).max)
    damping = np.where(used, np.maximum(output.kd, DAMPING), 0.0)
    bounds = {
        "q": (-finite, finite),
        "dq": (zero, zero),
        "tau": (-torque, torque),
        "kp": (zero, output.kp + ROUNDING),
        "kd": (zero, damping + ROUNDING),
    }
    least, most = (np.concatenate([bounds[name][end] for name in INVALID]) for end in (0, 1))
    return least, most


def may_be_repeated(cmd: LowCmd, output: Output) -> bool:
    """Return whether a command, of any program, is within the limits of torque, gains and joints
    and enables exactly the motors of the output."""
    least, most = _bounds(output)
    values = np.concatenate([np.asarray(getattr(cmd, name), np.float64) for name in INVALID])
    used, limits = np.isin(np.arange(SLOTS), output.motors), motors()
    q, ours = np.asarray(cmd.q, np.float64)[:MOTOR_COUNT], used[:MOTOR_COUNT]
    inside = (q >= limits.lower - ROUNDING) & (q <= limits.upper + ROUNDING)
    return bool(
        ((values >= least) & (values <= most)).all()  # NaN is not
        and (inside | ~ours).all()
        and (cmd.mode == np.where(used, ENABLED, 0)).all()
    )


class CommandGuard:
    """Checks each command message against the limits and against the message before.

    Args:
        config: configuration of the bridge.
        output: defines which motors may be enabled and their largest gains.
    """

    def __init__(self, config: BridgeConfig, output: Output) -> None:
        limits, hard, arm = action_limits(config), motors(), list(RIGHT_ARM)
        used = np.isin(np.arange(SLOTS), output.motors)
        unused = ~used[:MOTOR_COUNT]  # their positions have no effect
        self._ramp = config.ramp
        self._stop_lower, self._stop_upper = hard.lower - ROUNDING, hard.upper + ROUNDING
        self._lower, self._upper = hard.lower.copy(), hard.upper.copy()
        self._lower[arm], self._upper[arm] = limits.lower[:ARM], limits.upper[:ARM]
        self._velocity = np.zeros(MOTOR_COUNT)  # motors that are not in an action do not move
        self._acceleration = np.zeros(MOTOR_COUNT)
        self._velocity[arm] = limits.velocity[:ARM]
        self._acceleration[arm] = limits.acceleration[:ARM]
        for least in (self._lower, self._stop_lower):
            least[unused] = -np.inf
        for most in (self._upper, self._stop_upper, self._velocity, self._acceleration):
            most[unused] = np.inf
        self._mode = np.where(used, ENABLED, 0)
        self._least, self._most = _bounds(output)
        self.restart()

    def restart(self) -> None:
        """Accept any posture in the next command, whose weight must rise from 0."""
        self._last: NDArray[np.float64] | None = None
        self._last_velocity = np.zeros(MOTOR_COUNT)  # rad/s
        self._weight = 0.0

    def halt(self) -> None:
        """Set the stored joint velocity to 0; call it before sending again after a pause."""
        self._last_velocity = np.zeros(MOTOR_COUNT)

    def check(self, cmd: LowCmd, dt: float, mode_machine: int) -> None:
        """Check a command that is sent `dt` (s) after the last one.

        Raises:
            RuleSafeError: the command violates a limit; the next one is compared with the last
                valid one.
        """
        self._check_frame(cmd, dt, mode_machine)
        q = np.asarray(cmd.q, np.float64)[:MOTOR_COUNT]
        last = q if self._last is None else self._last
        velocity, slack = (q - last) / dt, ROUNDING / dt
        change = np.abs(velocity - self._last_velocity)
        # A posture outside the margin, as measured when engaging, may stay there or move inside.
        margin = (q < np.minimum(self._lower, last) - ROUNDING) | (
            q > np.maximum(self._upper, last) + ROUNDING
        )
        stops = (q < self._stop_lower) | (q > self._stop_upper)
        fast = np.abs(velocity) > self._velocity + slack
        sudden = change > self._acceleration * dt + 4 * slack
        if (margin | stops | fast | sudden).any():
            _refuse(margin | stops, BEYOND, q)
            _refuse(fast, "is commanded to jump, at {:.3f} rad/s", velocity)
            _refuse(sudden, "is commanded to accelerate at {:.3f} rad/s^2", change / dt)
        self._last, self._last_velocity, self._weight = q, velocity, float(cmd.q[WEIGHT_SLOT])

    def check_damping(self, cmd: LowCmd, dt: float, mode_machine: int) -> None:
        """Check a damping command, whose positions have no effect without stiffness."""
        self._check_frame(cmd, dt, mode_machine)
        if np.any(cmd.kp) or np.any(cmd.tau):
            raise RuleSafeError("a damping command has stiffness or torque; both must be 0")
        self._last_velocity, self._weight = np.zeros(MOTOR_COUNT), float(cmd.q[WEIGHT_SLOT])

    def _check_frame(self, cmd: LowCmd, dt: float, mode_machine: int) -> None:
        """Check everything except the motion."""
        values = np.concatenate([getattr(cmd, name) for name in INVALID])
        valid = (values >= self._least) & (values <= self._most)  # NaN is not
        if not valid.all():
            if not np.isfinite(values).all():
                raise RuleSafeError("the command has a value that is not finite")
            for i, message in enumerate(INVALID.values()):
                field = slice(i * SLOTS, (i + 1) * SLOTS)
                _refuse(~valid[field], message, values[field])
        if cmd.mode_machine != mode_machine:
            raise RuleSafeError(
                f"the command has mode_machine {cmd.mode_machine}, the robot has {mode_machine}"
            )
        if np.any(cmd.reserve):
            raise RuleSafeError("reserve of the command must be 0")
        if (cmd.mode != self._mode).any():
            raise RuleSafeError("the enabled motors are not exactly those of the output")
        weight = float(cmd.q[WEIGHT_SLOT])
        if not 0 <= weight <= 1 or abs(weight - self._weight) > dt / self._ramp + ROUNDING:
            raise RuleSafeError(
                f"the weight changes from {self._weight:g} to {weight:g} within {dt:.4f} s; valid: "
                f"0 to 1, and {self._ramp:g} s for a change by 1"
            )


def _refuse(wrong: NDArray[np.bool_], what: str, values: ArrayLike) -> None:
    """Raise RuleSafeError for the first motor whose entry in `wrong` is true, if there is one."""
    if wrong.any():
        i = int(np.argmax(wrong))
        name = MOTOR_JOINTS[i] if i < MOTOR_COUNT else f"motor entry {i}"
        raise RuleSafeError(f"{name} {what.format(np.asarray(values)[i])}")
