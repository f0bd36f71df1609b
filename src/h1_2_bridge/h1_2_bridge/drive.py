"""Commanded posture, its weight, and the resulting message. This module does not depend on the
state of the bridge; core.py calls one motion method per tick.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.gravity import ArmGravity
from h1_2_bridge.limits import ARM, MotionFilter, action_limits
from h1_2_bridge.messages import LowCmd, LowState
from h1_2_bridge.motors import LEFT_ARM, MOTOR_COUNT, MOTOR_JOINTS, RIGHT_ARM, motors
from h1_2_bridge.outputs import Output
from h1_2_bridge.safety import CommandGuard
from h1_2_bridge.watchdogs import measured_posture
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import HOME

OUTSIDE = 0.03
"""Angle (rad) by which a measured joint may exceed the limits of the robot description when
engaging; the commanded position is then the limit."""

ZEROS = 0.2
"""Time (s) for which weight 0 is sent after the ramp, so that one lost message has no effect."""


class Drive:
    """Computes the commands to the body.

    Attributes:
        weight: weight of the last command, 0..1.
        posture: the last commanded posture (27,), rad, by motor index.
        muted: whether publishing is suspended, because another program may have taken over.
        mode_machine: `mode_machine` of the robot when `begin` was called.
    """

    def __init__(self, config: BridgeConfig, output: Output) -> None:
        self._config, self._output = config, output
        self._motion = MotionFilter(action_limits(config))
        self._guard = CommandGuard(config, output)
        self._gravity = [(list(arm), ArmGravity(arm)) for arm in (LEFT_ARM, RIGHT_ARM)]
        self._begun = False
        self._zeros = 0.0  # time since the weight reached 0, s
        self.muted = False
        self.weight = 0.0
        self.posture = np.zeros(MOTOR_COUNT)
        self.mode_machine = 0

    def begin(self, state: LowState, fingers: ArrayLike | None) -> None:
        """Start at the measured posture, at rest and with weight 0.

        Args:
            state: state of the robot.
            fingers: (6,) measured positions of the right hand, rad; None without a hand.

        Raises:
            RuleSafeError: a commanded joint is outside its limits; nothing has changed.
        """
        limits, measured = motors(), measured_posture(state)
        inside = np.clip(measured, limits.lower, limits.upper)
        used = list(self._output.motors)
        outside = np.abs(inside - measured)[used]
        if outside.max() > OUTSIDE:
            i = used[int(outside.argmax())]
            raise RuleSafeError(
                f"{MOTOR_JOINTS[i]} is measured at {measured[i]:.2f} rad, outside its limits "
                f"{limits.lower[i]:g} to {limits.upper[i]:g} rad: move the joint into its limits "
                "or check its zero position"
            )
        if fingers is None:
            fingers = [HOME[name] for name in HAND_JOINTS]  # published, never sent to a hand
        self.posture = inside
        self._motion.reset(np.r_[inside[list(RIGHT_ARM)], fingers])
        self._guard.restart()
        self._begun, self.muted, self.weight, self._zeros = True, False, 0.0, 0.0
        self.mode_machine = state.mode_machine

    def set_fingers(self, fingers: ArrayLike) -> None:
        """Continue from measured finger positions (6,), rad, at rest."""
        velocity = self._motion.velocity[:ARM].copy()
        self._motion.reset(np.r_[self._motion.position[:ARM], np.asarray(fingers)])
        self._motion.velocity[:ARM] = velocity

    @property
    def command(self) -> NDArray[np.float64]:
        """Commanded positions (13,), rad, in the order of ACTION_JOINTS."""
        return self._motion.position.copy()

    @property
    def fingers(self) -> NDArray[np.float64]:
        """Commanded finger positions (6,), rad."""
        return self._motion.position[ARM:].copy()

    def end(self) -> None:
        """Stop commanding."""
        self._begun, self.muted, self.weight = False, False, 0.0

    def unmute(self) -> None:
        """Publish again, from the last command of this bridge and at rest."""
        self.muted = False
        self.halt()

    def released(self) -> bool:
        """Return whether the weight was never raised, or has been 0 for at least ZEROS."""
        return not self._begun or (self.weight == 0 and self._zeros >= ZEROS)

    def silent(self) -> bool:
        """Return whether nothing is to be sent: before `begin`, after `end`, while muted, and once
        released if the robot has its own controller."""
        return not self._begun or self.muted or (self._output.ends and self.released())

    # Motions: call exactly one per control tick; `dt` is the time since the last tick, s ------

    def move(self, target: NDArray[np.float64], dt: float) -> None:
        """Move towards a constant target (13,), rad, within the limits."""
        self._set_arm(self._motion.step(target, dt))

    def follow(self, times: NDArray[np.float64], targets: NDArray[np.float64], dt: float) -> None:
        """Move along a path within the limits; see `MotionFilter.follow`."""
        self._set_arm(self._motion.follow(times, targets, dt))

    def brake(self, dt: float) -> None:
        """Brake as fast as the limits allow."""
        self._set_arm(self._motion.brake(dt))

    def halt(self) -> None:
        """Set the stored velocity to 0; call it before sending again after a pause."""
        self._motion.halt()
        self._guard.halt()

    def _set_arm(self, command: NDArray[np.float64]) -> None:
        self.posture = self.posture.copy()
        self.posture[list(RIGHT_ARM)] = command[:ARM]

    def raise_weight(self, dt: float) -> None:
        """Ramp the weight towards 1 for one tick."""
        self.weight = min(1.0, self.weight + dt / self._config.ramp)
        self._zeros = 0.0

    def lower_weight(self, dt: float) -> None:
        """Ramp the weight towards exactly 0 for one tick."""
        if self.weight == 0:
            self._zeros += dt
        self.weight = max(0.0, self.weight - dt / self._config.ramp)

    # Messages -----------------------------------------------------------------------------

    def message(self, dt: float) -> LowCmd:
        """Return the command of the posture. Raises RuleSafeError if it violates a limit."""
        cmd = self._output.command(self.posture, self.weight, self._torque(), self.mode_machine)
        self._guard.check(cmd, dt, self.mode_machine)
        return cmd

    def damping_message(self, dt: float) -> LowCmd:
        """Return a command with damping only: no stiffness, no torque.

        Raises:
            RuleSafeError: the command violates a limit.
        """
        self._motion.halt()
        cmd = self._output.damping(self.posture, self.weight, self.mode_machine)
        self._guard.check_damping(cmd, dt, self.mode_machine)
        return cmd

    def _torque(self) -> NDArray[np.float64]:
        torque = np.zeros(MOTOR_COUNT)
        for arm, gravity in self._gravity:
            torque[arm] = self._config.gravity * gravity.torque(self.posture[arm])
        return torque
