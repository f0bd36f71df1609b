"""The posture that is commanded, its weight, and the message that says so. No state of the bridge
is known here; core.py calls one of the motions each tick.
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
"""rad by which a measured posture may be outside of the description's limits and still be one to
begin with: the limit itself is commanded then."""

ZEROS = 0.2
"""s for which the weight 0 is sent after the ramp, so that a lost message changes nothing."""


class Drive:
    """Attributes:
    weight: 0..1, of the last command.
    posture: (27,) rad, by motor index: what was commanded last.
    mode_machine: of the robot when this began.
    """

    def __init__(self, config: BridgeConfig, output: Output) -> None:
        self._config, self._output = config, output
        self._motion = MotionFilter(action_limits(config))
        self._guard = CommandGuard(config, output)
        self._gravity = [(list(arm), ArmGravity(arm)) for arm in (LEFT_ARM, RIGHT_ARM)]
        self._begun = False
        self._zeros = 0.0  # s for which the weight has fallen to 0
        self.weight = 0.0
        self.posture = np.zeros(MOTOR_COUNT)
        self.mode_machine = 0

    def begin(self, state: LowState, fingers: ArrayLike | None) -> None:
        """The measured posture, at rest and without weight; `fingers` (6,), rad, where a hand is.

        Errors: RuleSafeError if a commanded joint is out of bounds; nothing has changed then.
        """
        figures, measured = motors(), measured_posture(state)
        inside = np.clip(measured, figures.lower, figures.upper)
        used = list(self._output.motors)
        outside = np.abs(inside - measured)[used]
        if outside.max() > OUTSIDE:
            i = used[int(outside.argmax())]
            raise RuleSafeError(
                f"{MOTOR_JOINTS[i]} is measured at {measured[i]:.2f} rad, outside of its limits "
                f"{figures.lower[i]:g} to {figures.upper[i]:g}: move it, or check its zero"
            )
        if fingers is None:
            fingers = [HOME[name] for name in HAND_JOINTS]  # only said, never sent
        self.posture = inside
        self._motion.reset(np.r_[inside[list(RIGHT_ARM)], fingers])
        self._guard.restart()
        self._begun, self.weight, self._zeros = True, 0.0, 0.0
        self.mode_machine = state.mode_machine

    @property
    def command(self) -> NDArray[np.float64]:
        """The 13 joints (13,) as commanded, rad, order of ACTION_JOINTS."""
        return self._motion.position.copy()

    @property
    def fingers(self) -> NDArray[np.float64]:
        """The six fingers (6,) as commanded, rad."""
        return self._motion.position[ARM:].copy()

    def end(self) -> None:
        """Commands nothing any more."""
        self._begun = False

    def released(self) -> bool:
        """Whether the weight has been 0 for long enough after it fell, or never rose."""
        return not self._begun or (self.weight == 0 and self._zeros >= ZEROS)

    def silent(self) -> bool:
        """Whether nothing is to be sent: before `begin`, after `end`, and where the robot has its
        own controller, which has got it back."""
        return not self._begun or (self._output.ends and self.released())

    # Motions: one of them a tick, `dt` (s) after the last -----------------------------------

    def move(self, target: NDArray[np.float64], dt: float) -> None:
        """Towards a target (13,), rad, within the limits."""
        self._pose(self._motion.step(target, dt))

    def brake(self, dt: float) -> None:
        """To rest, as fast as the limits allow."""
        self._pose(self._motion.brake(dt))

    def halt(self) -> None:
        """Has come to rest: nothing was sent for long."""
        self._motion.halt()
        self._guard.rested()

    def _pose(self, command: NDArray[np.float64]) -> None:
        self.posture = self.posture.copy()
        self.posture[list(RIGHT_ARM)] = command[:ARM]

    def rise(self, dt: float) -> None:
        """A step of the weight towards 1."""
        self.weight = min(1.0, self.weight + dt / self._config.ramp)
        self._zeros = 0.0

    def fall(self, dt: float) -> None:
        """A step of the weight towards exactly 0."""
        if self.weight == 0:
            self._zeros += dt
        self.weight = max(0.0, self.weight - dt / self._config.ramp)

    # Messages -----------------------------------------------------------------------------

    def message(self, dt: float) -> LowCmd:
        """The command that holds the posture. Errors: RuleSafeError if it breaks a limit."""
        cmd = self._output.command(self.posture, self.weight, self._torque(), self.mode_machine)
        self._guard.check(cmd, dt, self.mode_machine)
        return cmd

    def damped(self, dt: float) -> LowCmd:
        """The command that only damps. Errors: RuleSafeError if it breaks a limit."""
        self._motion.halt()
        cmd = self._output.damping(self.posture, self.weight, self.mode_machine)
        self._guard.check_damping(cmd, dt, self.mode_machine)
        return cmd

    def _torque(self) -> NDArray[np.float64]:
        torque = np.zeros(MOTOR_COUNT)
        for arm, gravity in self._gravity:
            torque[arm] = self._config.gravity * gravity.torque(self.posture[arm])
        return torque
