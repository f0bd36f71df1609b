"""Simulated low-level controllers: blend /arm_sdk with the robot's own controller, or execute only
/lowcmd. This module imports neither ROS nor the simulation.

Arrays (27,) are by motor index. A motor's torque is tau + kp (q - q') + kd (dq - dq'), as described
by the manufacturer's SDK. Commands with a wrong CRC or mode_machine are refused, as by the robot.
Values that are not finite are refused, too; it is not known whether the robot refuses them.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.motors import LEGS, MOTOR_COUNT, MOTOR_JOINTS, RIGHT_ARM, WEIGHT_SLOT
from h1_2_bridge.wire import LowCmd, decode_low_cmd
from rulesafe_core.errors import RuleSafeError, unknown_name

MODE_MACHINE = 6
"""Robot type in the states of the H1-2 (value of the manufacturer's examples)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Drives:
    """Motor targets and gains, each (27,): rad, rad/s, N m, N m/rad, N m s/rad."""

    q: Array
    dq: Array
    tau: Array
    kp: Array
    kd: Array


@cache
def own_gains() -> tuple[Array, Array]:
    """Return kp and kd (27,) of the robot's own controller: those of xr_teleoperate for the H1-2
    (shoulder and elbow 140 and 3, wrist 50 and 2, ankle pitch 140 and 3, others 300 and 5)."""

    def pair(joint: str) -> tuple[float, float]:
        if "wrist" in joint:
            return 50.0, 2.0
        if "shoulder" in joint or "elbow" in joint or "ankle_pitch" in joint:
            return 140.0, 3.0
        return 300.0, 5.0

    kp, kd = np.array([pair(joint) for joint in MOTOR_JOINTS]).T
    return kp, kd


def holding(posture: Array, gravity: Array) -> Drives:
    """Return the drives of the robot's own controller, which holds `posture` (27,), rad, with
    the feed-forward torque `gravity` (27,), N m."""
    kp, kd = own_gains()
    return Drives(posture, np.zeros(MOTOR_COUNT), gravity, kp, kd)


class Controller:
    """Executes the commands of one topic.

    Attributes:
        topic: topic of the commands.
        counts: number of "accepted" commands, and of refused ones by reason: "size", "crc",
            "mode_machine", "not finite".
    """

    topic = ""

    def __init__(self, mode_machine: int = MODE_MACHINE) -> None:
        self.counts: Counter[str] = Counter()
        self._mode_machine = mode_machine
        self._command: LowCmd | None = None

    def receive(self, raw: bytes) -> None:
        """Accept a command, or refuse it and continue with the last one."""
        try:
            command = decode_low_cmd(raw)
        except RuleSafeError:
            self.counts["size"] += 1
            return
        if reason := self._fault(command):
            self.counts[reason] += 1
            return
        self.counts["accepted"] += 1
        self._command = command

    def _fault(self, command: LowCmd) -> str:
        if not command.valid:
            return "crc"
        if command.mode_machine != self._mode_machine:
            return "mode_machine"
        values = (command.q, command.dq, command.tau, command.kp, command.kd)
        return "" if all(np.isfinite(value).all() for value in values) else "not finite"

    @property
    def refused(self) -> int:
        """Number of refused commands."""
        return self.counts.total() - self.counts["accepted"]

    @property
    def share(self) -> float:
        """Weight of the commands in the drives of the right arm, 0 to 1."""
        raise NotImplementedError

    @property
    def enabled(self) -> NDArray[np.uint8]:
        """Enabled motors (27,) as reported by the robot: 1 enabled, 0 disabled."""
        raise NotImplementedError

    def drives(self, own: Drives) -> Drives:
        """Return the current drives; `own` are the drives of the robot's built-in controller."""
        raise NotImplementedError


def _drives_of(command: LowCmd) -> Drives:
    names = ("q", "dq", "tau", "kp", "kd")
    return Drives(*(getattr(command, name)[:MOTOR_COUNT].astype(np.float64) for name in names))


class ArmSdkController(Controller):
    """Blends the commands of /arm_sdk with the robot's built-in controller.

    For arms and waist the weight is in slot 27; the built-in controller always controls the legs.
    The last command stays in effect without a timeout; whether the robot has a timeout is not
    known.
    """

    topic = "/arm_sdk"

    @property
    def share(self) -> float:
        if self._command is None:
            return 0.0
        return float(np.clip(self._command.q[WEIGHT_SLOT], 0.0, 1.0))

    @property
    def enabled(self) -> NDArray[np.uint8]:
        return np.ones(MOTOR_COUNT, np.uint8)

    def drives(self, own: Drives) -> Drives:
        if self._command is None or not self.share:
            return own
        commanded = _drives_of(self._command)
        weight = np.full(MOTOR_COUNT, self.share)
        weight[list(LEGS)] = 0.0
        return _blend(own, commanded, weight)


class LowCmdController(Controller):
    """Executes /lowcmd in debug mode, in which the robot's built-in controller is off. Motors that
    are disabled or have received no command are only damped (kp and torque are 0)."""

    topic = "/lowcmd"

    BRAKE = 2.0
    """Assumed damping of a disabled motor, N m s/rad."""

    @property
    def share(self) -> float:
        return float(self.enabled[list(RIGHT_ARM)].all())

    @property
    def enabled(self) -> NDArray[np.uint8]:
        if self._command is None:
            return np.zeros(MOTOR_COUNT, np.uint8)
        return (self._command.mode[:MOTOR_COUNT] == 1).astype(np.uint8)

    def drives(self, own: Drives) -> Drives:
        zeros = np.zeros(MOTOR_COUNT)
        damped = Drives(own.q, zeros, zeros, zeros, np.full(MOTOR_COUNT, self.BRAKE))
        if self._command is None:
            return damped
        return _blend(damped, _drives_of(self._command), self.enabled.astype(np.float64))


def _blend(own: Drives, other: Drives, weight: Array) -> Drives:
    """Return drives with the torque (1 - weight) * own + weight * other."""
    kp = (1 - weight) * own.kp + weight * other.kp
    kd = (1 - weight) * own.kd + weight * other.kd
    pull = (1 - weight) * own.kp * own.q + weight * other.kp * other.q
    drag = (1 - weight) * own.kd * own.dq + weight * other.kd * other.dq
    tau = (1 - weight) * own.tau + weight * other.tau
    q = np.divide(pull, kp, out=own.q.copy(), where=kp > 0)
    dq = np.divide(drag, kd, out=np.zeros(MOTOR_COUNT), where=kd > 0)
    return Drives(q, dq, tau, kp, kd)


CONTROLLERS: dict[str, type[Controller]] = {"arm_sdk": ArmSdkController, "lowcmd": LowCmdController}
"""Controllers by name of the command topic."""


def load_controller(name: str) -> type[Controller]:
    """Return the controller class called `name`. Raises RuleSafeError for unknown names."""
    if name not in CONTROLLERS:
        raise unknown_name("controller", name, CONTROLLERS)
    return CONTROLLERS[name]
