"""What the robot's motors make of the commands that reach it: /arm_sdk beside its own controller,
or /lowcmd alone. No ROS and no simulation here.

Arrays (27,) are by motor index. A motor's torque is tau + kp (q - q') + kd (dq - dq'), as the
manufacturer's SDK describes it. What a command may not be is what the robot refuses too: a wrong
CRC, another robot's mode_machine. What is not finite is refused here; a robot may not be so kind.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS, RIGHT_ARM, WEIGHT_SLOT
from h1_2_bridge.wire import LowCmd, decode_low_cmd
from rulesafe_core.errors import RuleSafeError, unknown_name

MODE_MACHINE = 6
"""Kind of robot that the H1-2 names in its states (its value in the manufacturer's examples)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Drives:
    """What the motors do until told otherwise, each (27,): rad, rad/s, N m, N m/rad, N m s/rad."""

    q: Array
    dq: Array
    tau: Array
    kp: Array
    kd: Array


def own_gains() -> tuple[Array, Array]:
    """kp and kd (27,) with which the robot holds itself: those that xr_teleoperate gives the H1-2
    (shoulder and elbow 140 and 3, wrist 50 and 2, ankle pitch 140 and 3, the rest 300 and 5)."""

    def pair(joint: str) -> tuple[float, float]:
        if "wrist" in joint:
            return 50.0, 2.0
        if "shoulder" in joint or "elbow" in joint or "ankle_pitch" in joint:
            return 140.0, 3.0
        return 300.0, 5.0

    kp, kd = np.array([pair(joint) for joint in MOTOR_JOINTS]).T
    return kp, kd


def holding(posture: Array, gravity: Array) -> Drives:
    """The robot's own controller: it stands at `posture` (27,), rad, and bears `gravity` (27,),
    N m."""
    kp, kd = own_gains()
    return Drives(posture, np.zeros(MOTOR_COUNT), gravity, kp, kd)


class Controller:
    """What listens on one of the robot's topics.

    Attributes:
        topic: on which commands come.
        counts: commands "accepted", and those refused by reason: "size", "crc", "mode_machine",
            "not finite".
    """

    topic = ""

    def __init__(self, mode_machine: int = MODE_MACHINE) -> None:
        self.counts: Counter[str] = Counter()
        self._mode_machine = mode_machine
        self._command: LowCmd | None = None

    def receive(self, raw: bytes) -> None:
        """Takes a command, or refuses it and goes on with the last one."""
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
        """Commands that were refused, whatever the reason."""
        return self.counts.total() - self.counts["accepted"]

    @property
    def share(self) -> float:
        """How much of the right arm the commands have, 0 to 1."""
        raise NotImplementedError

    @property
    def enabled(self) -> NDArray[np.uint8]:
        """(27,) 1 where a motor is on, as the robot reports it."""
        raise NotImplementedError

    def drives(self, own: Drives) -> Drives:
        """What the motors do now; `own` is what the robot would do by itself."""
        raise NotImplementedError


def _commanded(command: LowCmd) -> Drives:
    names = ("q", "dq", "tau", "kp", "kd")
    return Drives(*(getattr(command, name)[:MOTOR_COUNT].astype(np.float64) for name in names))


class ArmSdkController(Controller):
    """/arm_sdk beside the robot's own controller: arms and waist do a mixture of both by the weight
    in slot 27, the legs are the robot's own. After the last command it stays in force: whether the
    robot waits for another one is not known."""

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
        told = _commanded(self._command)
        weight = np.full(MOTOR_COUNT, self.share)
        weight[:12] = 0.0  # legs
        return _mixed(own, told, weight)


class LowCmdController(Controller):
    """/lowcmd in debug mode: the robot's own controller is off. A motor that is not enabled, or was
    never told anything, brakes and bears nothing."""

    topic = "/lowcmd"

    BRAKE = 2.0
    """Damping of a motor that is not enabled, N m s/rad: so that a fall is slow; an assumption."""

    @property
    def share(self) -> float:
        return float(self.enabled[list(RIGHT_ARM)].all())

    @property
    def enabled(self) -> NDArray[np.uint8]:
        if self._command is None:
            return np.zeros(MOTOR_COUNT, np.uint8)
        return (self._command.mode[:MOTOR_COUNT] == 1).astype(np.uint8)

    def drives(self, own: Drives) -> Drives:
        nothing = np.zeros(MOTOR_COUNT)
        limp = Drives(own.q, nothing, nothing, nothing, np.full(MOTOR_COUNT, self.BRAKE))
        if self._command is None:
            return limp
        return _mixed(limp, _commanded(self._command), self.enabled.astype(np.float64))


def _mixed(own: Drives, told: Drives, weight: Array) -> Drives:
    """The drives whose torques are (1 - weight) times the one's and weight times the other's."""
    kp = (1 - weight) * own.kp + weight * told.kp
    kd = (1 - weight) * own.kd + weight * told.kd
    pull = (1 - weight) * own.kp * own.q + weight * told.kp * told.q
    drag = (1 - weight) * own.kd * own.dq + weight * told.kd * told.dq
    tau = (1 - weight) * own.tau + weight * told.tau
    q = np.divide(pull, kp, out=own.q.copy(), where=kp > 0)
    dq = np.divide(drag, kd, out=np.zeros(MOTOR_COUNT), where=kd > 0)
    return Drives(q, dq, tau, kp, kd)


CONTROLLERS: dict[str, type[Controller]] = {"arm_sdk": ArmSdkController, "lowcmd": LowCmdController}
"""What the robot listens to, by name."""


def load_controller(name: str) -> type[Controller]:
    """The controller of that name in CONTROLLERS. Errors: RuleSafeError, listing the names."""
    if name not in CONTROLLERS:
        raise unknown_name("controller", name, CONTROLLERS)
    return CONTROLLERS[name]
