"""Check every command that reached the robot against the limits, independently of the bridge.

Joint limits, velocities and efforts are those of the robot description; the largest gains are those
of the manufacturer's programs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.joints import BODY_JOINTS
from rulesafe_core.robot import h1_2

WEIGHT_SLOT = 27
MODE_MACHINE = 6
MOVED = list(range(20, 27))
"""The right arm: the only motors whose commands may change while the robot is commanded."""

JOINTS = [h1_2().joint(name) for name in BODY_JOINTS]
LOWER = np.array([joint.lower for joint in JOINTS])
UPPER = np.array([joint.upper for joint in JOINTS])
EFFORT = np.array([joint.effort for joint in JOINTS])
VELOCITY = np.array([joint.velocity for joint in JOINTS])
LARGEST_GAINS = (300.0, 8.0)
"""Largest kp and kd of the manufacturer's programs; 8 is their damping."""

SLACK = 0.05
"""Timing tolerance of a process with its own processor core, s."""

BUSY = 0.5
"""Timing tolerance of a process that shares cores, s: it may be preempted between computing and
sending a command. Exact times are tested in virtual time."""


@dataclass(frozen=True)
class Record:
    """All n commands that reached the robot, in order of arrival.

    Attributes:
        time: (n,) s of the robot's monotonic clock (the machine's).
        sent: (n,) s, system time at which the bridge published it (DDS source timestamp).
        topic: (n,) "arm_sdk" or "lowcmd".
        valid: (n,) whether the CRC agrees with that of the SDK.
        mode_pr, mode_machine: (n,).
        motors: (n, 35, 7) mode, q, dq, tau, kp, kd, reserve.
        reserve: (n,) sum of the reserve words of the message.
    """

    time: NDArray[np.float64]
    sent: NDArray[np.float64]
    topic: NDArray
    valid: NDArray[np.bool_]
    mode_pr: NDArray[np.int64]
    mode_machine: NDArray[np.int64]
    motors: NDArray[np.float64]
    reserve: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.time)

    @property
    def weight(self) -> NDArray[np.float64]:
        """Weight of arm_sdk (n,), 0..1."""
        return self.motors[:, WEIGHT_SLOT, 1]

    @property
    def q(self) -> NDArray[np.float64]:
        """Commanded positions (n, 27), rad."""
        return self.motors[:, :27, 1]

    @property
    def late(self) -> NDArray[np.bool_]:
        """Whether each command arrived after one that was published later (n,): its publisher was
        paused while it sent the command."""
        newest = np.maximum.accumulate(self.sent) if len(self) else self.sent
        return self.sent < newest - SLACK

    def of(self, topic: str) -> "Record":
        """Return the commands of one topic."""
        return self.where(self.topic == topic)

    def where(self, chosen: NDArray[np.bool_]) -> "Record":
        """Return some of the commands, `chosen` (n,)."""
        return Record(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


def assert_within_limits(
    record: Record,
    speed: float,
    ramp: float,
    margin: float = 0.0,
    complete: bool = True,
    slack: float = SLACK,
    late: int = 0,
) -> None:
    """Assert that every command of a record is well-formed and within all limits.

    Args:
        speed: scale of the velocity limits.
        ramp: time of the weight from 0 to 1, s.
        margin: of the arm's commands to the joint limits, rad.
        complete: whether the record has the first command sent, whose weight must not jump.
        slack: s by which two messages may be sent closer together than they were computed.
        late: number of commands that may arrive after a newer one, which must follow within
            `slack`; the limits of changes do not apply to them.
    """
    if len(record) == 0:
        return
    assert record.late.sum() <= late
    for i in np.flatnonzero(record.late):
        assert i + 1 < len(record), "an old command remained in effect"
        assert record.time[i + 1] - record.time[i] <= slack, "an old command remained in effect"
    assert record.valid.all()
    assert (record.mode_machine == MODE_MACHINE).all()
    assert (record.mode_pr == 0).all()
    assert (record.reserve == 0).all()
    motors = record.motors
    assert np.isfinite(motors).all()
    assert (motors[:, :, 6] == 0).all()
    assert np.isin(motors[:, :, 0], (0, 1)).all()
    assert (np.abs(motors[:, :27, 3]) <= EFFORT + 1e-4).all()
    for column, largest in zip((4, 5), LARGEST_GAINS, strict=True):
        assert (motors[:, :, column] >= 0).all()
        assert (motors[:, :, column] <= largest).all()
    # Entries beyond the robot's motors are zero, except the weight.
    assert (motors[:, WEIGHT_SLOT + 1 :] == 0).all()
    record = record.where(~record.late)
    for topic in np.unique(record.topic):
        one = record.of(topic)
        held = one.weight > 0 if topic == "arm_sdk" else np.ones(len(one), bool)
        _assert_positions(one, held, margin)
        _assert_motion(one, held, speed, slack)
        if topic == "arm_sdk":
            _assert_weight(one, ramp, complete, slack)


def _assert_positions(record: Record, held: NDArray[np.bool_], margin: float) -> None:
    arm = record.q[held][:, MOVED]
    lower, upper = LOWER[MOVED] + margin, UPPER[MOVED] - margin
    assert (arm >= lower - 1e-4).all()
    assert (arm <= upper + 1e-4).all()


def _assert_motion(record: Record, held: NDArray[np.bool_], speed: float, slack: float) -> None:
    """Assert for each uninterrupted series of commands that the arm is not too fast between any two
    commands and that the other motors do not move."""
    others = [i for i in range(27) if i not in MOVED]
    edges = np.flatnonzero(np.diff(np.r_[False, held, False].astype(int)))
    for first, last in edges.reshape(-1, 2):
        q, time = record.q[first:last], record.sent[first:last]
        if len(q) < 2:
            continue
        assert np.ptp(q[:, others], axis=0).max() < 1e-6
        for distance in (1, 5, 20, 100):
            if len(q) <= distance:
                break
            moved = np.abs(q[distance:] - q[:-distance])[:, MOVED]
            allowed = (
                speed * VELOCITY[MOVED] * (time[distance:] - time[:-distance] + slack)[:, None]
            )
            assert (moved <= allowed + 1e-4).all()


def _assert_weight(record: Record, ramp: float, complete: bool, slack: float) -> None:
    weight, time = record.weight, record.sent
    assert weight.min() >= 0
    assert weight.max() <= 1
    if complete:
        assert weight[0] <= SLACK / ramp + 1e-6  # the first weight must not jump
    steps = np.abs(np.diff(weight))
    assert (steps <= (np.diff(time) + slack) / ramp + 1e-6).all()
