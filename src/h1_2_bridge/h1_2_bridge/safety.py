"""The two checks that a motion passes: a chunk before it is followed, a command before it is sent.

The filter of limits.py makes commands that obey the limits. The guard here is the last thing before
the wire and trusts nobody: it looks at the message as it will be sent, knows nothing of how it came
about, and refuses what breaks a limit.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.limits import ARM, action_limits
from h1_2_bridge.messages import LowCmd
from h1_2_bridge.motors import (
    MOTOR_COUNT,
    MOTOR_JOINTS,
    RIGHT_ARM,
    SLOTS,
    WEIGHT_SLOT,
    motors,
)
from h1_2_bridge.outputs import DAMPING, ENABLED, Output
from rulesafe_core.chunks import SECOND, Chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

ROUNDING = 1e-6
"""rad; float32 holds an angle of 3 rad within 1.2e-7."""

FEED_FORWARD = 0.5
"""Share of a motor's effort that may be fed forward; gravity takes 0.4 of a shoulder's at most."""


def check_chunk(chunk: Chunk, now: int, command: NDArray[np.float64], config: BridgeConfig) -> None:
    """Whether a chunk may be followed from `now` (ns, the graph's clock) on, with the joints
    commanded to `command` (13,), rad.

    Errors: RuleSafeError for one that rests on an old observation, or that jumps: from the command
    to its first row that is still ahead, or between two rows.
    """
    age = (now - chunk.stamp) / SECOND
    if age > config.chunk_age:
        raise RuleSafeError(
            f"the chunk is stale: it rests on an observation {age:.2f} s ago, and at most "
            f"{config.chunk_age:g} s are allowed"
        )
    ahead = chunk.rows[np.searchsorted(chunk.times, now, side="right") :]
    steps = np.abs(np.diff(np.vstack([command, ahead])[:, :ARM], axis=0))
    if (steps > config.max_jump).any():
        row, joint = np.unravel_index(steps.argmax(), steps.shape)
        start = "the command" if row == 0 else f"row {len(chunk.rows) - len(ahead) + row - 1}"
        raise RuleSafeError(
            f"the chunk jumps: {ACTION_JOINTS[joint]} by {steps[row, joint]:.2f} rad from {start} "
            f"to the next row, and at most {config.max_jump:g} rad are allowed"
        )


BEYOND = "leave its limits, to {:.3f} rad"


class CommandGuard:
    """Checks each command against the one before. All numbers are those of the message.

    Args:
        config: of the bridge.
        output: whose motors may be enabled, with its gains at most.
    """

    def __init__(self, config: BridgeConfig, output: Output) -> None:
        limits, figures, arm = action_limits(config), motors(), list(RIGHT_ARM)
        self._ramp = config.ramp
        self._lower, self._upper = figures.lower.copy(), figures.upper.copy()
        self._lower[arm], self._upper[arm] = limits.lower[:ARM], limits.upper[:ARM]
        self._velocity = np.zeros(MOTOR_COUNT)  # motors that no action names do not move
        self._acceleration = np.zeros(MOTOR_COUNT)
        self._velocity[arm] = limits.velocity[:ARM]
        self._acceleration[arm] = limits.acceleration[:ARM]
        self._hard = figures
        self._used = np.isin(np.arange(SLOTS), output.motors)
        self._mode = np.where(self._used, ENABLED, 0)
        self._kp = output.kp + ROUNDING
        self._kd = np.where(self._used, np.maximum(output.kd, DAMPING), 0.0) + ROUNDING
        self._body = self._used[:MOTOR_COUNT]
        self.restart()

    def restart(self) -> None:
        """The next command is a first one: it may have any posture, and no weight yet."""
        self._last: NDArray[np.float64] | None = None
        self._moved = np.zeros(MOTOR_COUNT)  # rad/s
        self._weight = 0.0

    def rested(self) -> None:
        """Nothing was sent for long: the motors stand at the last command."""
        self._moved = np.zeros(MOTOR_COUNT)

    def check(self, cmd: LowCmd, dt: float, mode_machine: int) -> None:
        """Errors: RuleSafeError that says what is wrong with a command `dt` (s) after the last one;
        the last good one stays what the next is compared with."""
        self._check_frame(cmd, dt, mode_machine)
        q = np.asarray(cmd.q, np.float64)[:MOTOR_COUNT]
        last = q if self._last is None else self._last
        # Outside of the margin, as a measured posture may be, it may stay, and come inside.
        lower, upper = np.minimum(self._lower, last), np.maximum(self._upper, last)
        velocity, slack = (q - last) / dt, ROUNDING / dt
        change = np.abs(velocity - self._moved)
        for wrong, what, values in (
            (np.abs(q - np.clip(q, lower, upper)) > ROUNDING, BEYOND, q),
            (np.abs(q - np.clip(q, self._hard.lower, self._hard.upper)) > ROUNDING, BEYOND, q),
            (np.abs(velocity) > self._velocity + slack, "jump, at {:.3f} rad/s", velocity),
            (
                change > self._acceleration * dt + 4 * slack,
                "accelerate at {:.3f} rad/s^2",
                change / dt,
            ),
        ):
            self._refuse(wrong, f"is commanded to {what}", values)
        self._last, self._moved, self._weight = q, velocity, float(cmd.q[WEIGHT_SLOT])

    def check_damping(self, cmd: LowCmd, dt: float, mode_machine: int) -> None:
        """The same of a command that has no stiffness, whose positions therefore do nothing."""
        self._check_frame(cmd, dt, mode_machine)
        if np.any(cmd.kp) or np.any(cmd.tau):
            raise RuleSafeError("a command that is to damp has stiffness or torque")
        self._moved, self._weight = np.zeros(MOTOR_COUNT), float(cmd.q[WEIGHT_SLOT])

    def _check_frame(self, cmd: LowCmd, dt: float, mode_machine: int) -> None:
        """All but the motion."""
        if not np.isfinite(np.concatenate((cmd.q, cmd.dq, cmd.tau, cmd.kp, cmd.kd))).all():
            raise RuleSafeError("a command has a number that is not finite")
        if cmd.mode_machine != mode_machine:
            raise RuleSafeError(
                f"a command has mode_machine {cmd.mode_machine}, and the robot {mode_machine}"
            )
        if np.any(cmd.reserve) or np.any(cmd.dq):
            raise RuleSafeError("a command has a velocity or a reserve that is not zero")
        if (np.asarray(cmd.mode) != self._mode).any():
            raise RuleSafeError("a command enables other motors than those it is to command")
        for values, most in ((cmd.kp, self._kp), (cmd.kd, self._kd)):
            wrong = (np.asarray(values) < 0) | (values > most)
            self._refuse(wrong[:MOTOR_COUNT], "has a gain of {:.3f}", values)
        tau = np.abs(np.asarray(cmd.tau)[:MOTOR_COUNT])
        self._refuse(tau > self._hard.effort * FEED_FORWARD, "is fed {:.3f} N m forward", tau)
        weight = float(cmd.q[WEIGHT_SLOT])
        if not 0 <= weight <= 1 or abs(weight - self._weight) > dt / self._ramp + ROUNDING:
            raise RuleSafeError(
                f"a command's weight goes from {self._weight:g} to {weight:g} within {dt:.4f} s"
            )

    def _refuse(self, wrong: NDArray[np.bool_], what: str, values: ArrayLike) -> None:
        if wrong.any() and (wrong & self._body).any():
            i = int(np.argmax(wrong & self._body))
            raise RuleSafeError(f"{MOTOR_JOINTS[i]} {what.format(np.asarray(values)[i])}")
