"""Convert a posture to a command message for arm_sdk or lowcmd.

To add an output, write a class that implements `Output` and add it to `OUTPUTS`. Example::

    output = load_output("arm_sdk")
    cmd = output.command(posture, weight=0.5, torque=gravity, mode_machine=6)
"""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.messages import SLOTS, LowCmd
from h1_2_bridge.motors import LEFT_ARM, MOTOR_COUNT, RIGHT_ARM, WAIST, WEIGHT_SLOT, gains
from rulesafe_core.errors import unknown_name

DAMPING = 8.0
"""Damping gain of all motors in DAMPING, N m s/rad, as in the manufacturer's deployment code of its
learned walking policy (unitree_rl_gym, deploy_real)."""

ENABLED = 1
"""`mode` of an enabled motor; 0 disables it."""

SERIES = 0
"""`mode_pr`: ankles are commanded by pitch and roll, as in the robot description."""


class Output(Protocol):
    """Command interface of the body.

    Attributes:
        topic: ROS topic of the commands.
        motors: indices of the commanded motors.
        kp, kd: (35,) gains at full weight, N m/rad and N m s/rad.
        ends: whether sending ends at weight 0 because the robot has its own controller.
    """

    topic: str
    motors: tuple[int, ...]
    kp: NDArray[np.float64]
    kd: NDArray[np.float64]
    ends: bool

    def command(
        self, posture: ArrayLike, weight: float, torque: ArrayLike, mode_machine: int
    ) -> LowCmd:
        """Return the command of a posture (27,), rad, with feed-forward `torque` (27,), N m, and
        `weight` 0..1."""

    def damping(self, posture: ArrayLike, weight: float, mode_machine: int) -> LowCmd:
        """Return a command with damping but no stiffness and no torque. `posture` (27,), rad, is
        the last commanded one and has no effect on the robot."""


class _Body:
    """Common part of both outputs: motors, gains and message layout."""

    topic: str
    motors: tuple[int, ...]
    ends: bool
    _gains: str

    def __init__(self) -> None:
        gain_set = gains(self._gains)
        self._selected = np.zeros(SLOTS, bool)
        self._selected[list(self.motors)] = True
        self._mode = np.where(self._selected, ENABLED, 0).astype(np.uint8)
        self.kp, self.kd = self._slots(gain_set.kp), self._slots(gain_set.kd)

    def _slots(self, values: ArrayLike) -> NDArray[np.float64]:
        """Expand (27,) to (35,), with 0 for motors that are not commanded."""
        slots = np.zeros(SLOTS)
        slots[:MOTOR_COUNT] = values
        return np.where(self._selected, slots, 0.0)

    def _message(
        self,
        posture: ArrayLike,
        mode_machine: int,
        kp: NDArray[np.float64],
        kd: NDArray[np.float64],
        tau: NDArray[np.float64],
    ) -> LowCmd:
        return LowCmd(
            mode_pr=SERIES,
            mode_machine=mode_machine,
            mode=self._mode.copy(),
            q=self._slots(posture).astype(np.float32),
            kp=kp.astype(np.float32),
            kd=kd.astype(np.float32),
            tau=tau.astype(np.float32),
        )


class ArmSdkOutput(_Body):
    """Commands arms and waist while the robot's own controller keeps the balance.

    The robot blends this command, scaled by the weight, with its own, scaled by 1 - weight. Entries
    of the legs are zero.
    """

    topic = "/arm_sdk"
    motors = (WAIST, *LEFT_ARM, *RIGHT_ARM)
    ends = True
    _gains = "arm_sdk"

    def command(
        self, posture: ArrayLike, weight: float, torque: ArrayLike, mode_machine: int
    ) -> LowCmd:
        cmd = self._message(posture, mode_machine, kp=self.kp, kd=self.kd, tau=self._slots(torque))
        cmd.q[WEIGHT_SLOT] = weight
        return cmd

    def damping(self, posture: ArrayLike, weight: float, mode_machine: int) -> LowCmd:
        none, kd = np.zeros(SLOTS), np.where(self._selected, DAMPING, 0.0)
        cmd = self._message(posture, mode_machine, kp=none, kd=kd, tau=none)
        cmd.q[WEIGHT_SLOT] = weight
        return cmd


class LowCmdOutput(_Body):
    """Commands all 27 motors in debug mode: the robot's own controller is off; it must hang.

    The message has no weight. Instead, stiffness and torque are scaled by the weight, so that the
    motors only damp at weight 0.
    """

    topic = "/lowcmd"
    motors = tuple(range(MOTOR_COUNT))
    ends = False
    _gains = "lowcmd"

    def command(
        self, posture: ArrayLike, weight: float, torque: ArrayLike, mode_machine: int
    ) -> LowCmd:
        damping = np.where(self._selected, DAMPING, 0.0)
        return self._message(
            posture,
            mode_machine,
            kp=weight * self.kp,
            kd=weight * self.kd + (1 - weight) * damping,
            tau=weight * self._slots(torque),
        )

    def damping(self, posture: ArrayLike, weight: float, mode_machine: int) -> LowCmd:
        none, kd = np.zeros(SLOTS), np.where(self._selected, DAMPING, 0.0)
        return self._message(posture, mode_machine, kp=none, kd=kd, tau=none)


OUTPUTS: dict[str, type[Output]] = {"arm_sdk": ArmSdkOutput, "lowcmd": LowCmdOutput}
"""Outputs by name."""


def load_output(name: str) -> Output:
    """Return the output called `name` in OUTPUTS. Raises RuleSafeError for unknown names."""
    if name not in OUTPUTS:
        raise unknown_name("output", name, OUTPUTS)
    return OUTPUTS[name]()
