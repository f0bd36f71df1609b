"""How a posture becomes a command to the robot: through arm_sdk, or motor by motor.

`OUTPUTS` has the ways by name; a new one is a class with their three methods. Example::

    output = load_output("arm_sdk")
    cmd = output.command(posture, weight=0.5, torque=gravity, mode_machine=6)
"""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.messages import LowCmd
from h1_2_bridge.motors import LEFT_ARM, MOTOR_COUNT, RIGHT_ARM, SLOTS, WAIST, WEIGHT_SLOT, gains
from rulesafe_core.errors import unknown_name

DAMPING = 8.0
"""N m s/rad of each motor while it is damped: what the manufacturer's deployment code of its
learned walking commands then (unitree_rl_gym, deploy_real)."""

ENABLED = 1
"""`mode` of a motor that obeys; 0 leaves it off."""

SERIES = 0
"""`mode_pr`: ankles by pitch and roll, as the description has them."""


class Output(Protocol):
    """Attributes:
    topic: the ROS topic that it is published to.
    motors: indices of the motors that it commands.
    kp, kd: (35,) gains at full weight, N m/rad and N m s/rad.
    ends: whether sending may end once the weight is 0, the robot having its own controller.
    """

    topic: str
    motors: tuple[int, ...]
    kp: NDArray[np.float64]
    kd: NDArray[np.float64]
    ends: bool

    def command(
        self, posture: ArrayLike, weight: float, torque: ArrayLike, mode_machine: int
    ) -> LowCmd:
        """Holds a posture (27,), rad, with the feed-forward `torque` (27,), N m; `weight` 0..1."""

    def damping(self, posture: ArrayLike, weight: float, mode_machine: int) -> LowCmd:
        """No stiffness and no torque: motors are only braked. `posture` (27,), rad, has no effect
        on the robot, and is what was commanded last."""


class _Body:
    """What both ways share: which motors, their gains, the message's frame."""

    topic: str
    motors: tuple[int, ...]
    ends: bool
    _gains: str

    def __init__(self) -> None:
        figures = gains(self._gains)
        self._selected = np.zeros(SLOTS, bool)
        self._selected[list(self.motors)] = True
        self.kp, self.kd = self._slots(figures.kp), self._slots(figures.kd)

    def _slots(self, values: ArrayLike) -> NDArray[np.float64]:
        """(27,) to (35,), 0 for the motors that are not commanded."""
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
            mode=np.where(self._selected, ENABLED, 0).astype(np.uint8),
            q=self._slots(posture).astype(np.float32),
            kp=kp.astype(np.float32),
            kd=kd.astype(np.float32),
            tau=tau.astype(np.float32),
        )


class ArmSdkOutput(_Body):
    """Arms and waist beside the robot's own controller, which keeps its balance.

    The robot mixes: what is commanded here by the weight, its own command by the rest. The legs'
    entries are zero.
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
    """All 27 motors, in debug mode: the robot's own controller is off, and it must hang.

    There is no weight. Instead stiffness and torque grow with it, from damping alone at 0.
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
"""Ways to command the robot, by name."""


def load_output(name: str) -> Output:
    """The output of that name in OUTPUTS. Errors: RuleSafeError, listing the names."""
    if name not in OUTPUTS:
        raise unknown_name("output", name, OUTPUTS)
    return OUTPUTS[name]()
