"""Convert the states of the robot and the bridge to ROS messages."""

from array import array

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from sensor_msgs.msg import Imu, JointState

from h1_2_bridge.core import BridgeCore
from h1_2_bridge.hand_watch import HandWatch
from h1_2_bridge.messages import LowState
from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS
from h1_2_bridge.states import ControlState
from rulesafe_core.convert import to_header
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_interfaces.msg import BridgeState

LEVELS = {
    ControlState.DISCONNECTED: DiagnosticStatus.WARN,
    ControlState.IDLE: DiagnosticStatus.OK,
    ControlState.ENGAGING: DiagnosticStatus.OK,
    ControlState.ACTIVE: DiagnosticStatus.OK,
    ControlState.HOLDING: DiagnosticStatus.WARN,
    ControlState.DAMPING: DiagnosticStatus.ERROR,
    ControlState.FAULT: DiagnosticStatus.ERROR,
}
"""Level on /diagnostics for each state."""


def to_joint_state(state: LowState, hand: HandWatch | None, time: int) -> JointState:
    """Return the 27 body joints and, if the hands have responded, their 12 joints.

    Units are rad and rad/s; with hands the order is that of ALL_JOINTS. `time`: ROS time, ns.
    """
    positions = np.asarray(state.q, np.float64)[:MOTOR_COUNT]
    velocities = np.asarray(state.dq, np.float64)[:MOTOR_COUNT]
    names: tuple[str, ...] = MOTOR_JOINTS
    if hand is not None and hand.last is not None:
        order = [hand.joints.index(name) for name in ALL_JOINTS[MOTOR_COUNT:]]
        names = ALL_JOINTS
        positions = np.r_[positions, np.asarray(hand.last.positions, np.float64)[order]]
        velocities = np.r_[velocities, hand.velocities[order]]
    return JointState(
        header=to_header(time, "pelvis"),
        name=names,
        position=array("d", positions.tobytes()),
        velocity=array("d", velocities.tobytes()),
    )


def to_targets(joints: tuple[str, ...], targets: NDArray[np.float64], time: int) -> JointState:
    """Return the finite hand targets of `targets` (n,), rad."""
    commanded = np.isfinite(targets)
    return JointState(
        header=to_header(time, "pelvis"),
        name=[name for name, is_set in zip(joints, commanded, strict=True) if is_set],
        position=targets[commanded].tolist(),
    )


def to_imu(state: LowState, time: int) -> Imu:
    """Return the data of the IMU in the torso; its covariances are unknown."""
    message = Imu(header=to_header(time, "imu_link"))
    w, x, y, z = np.asarray(state.quat_wxyz, np.float64).tolist()
    message.orientation.w, message.orientation.x = w, x
    message.orientation.y, message.orientation.z = y, z
    for field, values in (
        (message.angular_velocity, state.gyroscope),
        (message.linear_acceleration, state.accelerometer),
    ):
        field.x, field.y, field.z = np.asarray(values, np.float64).tolist()
    return message


def to_bridge_state(
    core: BridgeCore, now: int, time: int, *, output: str, hand: str, dry_run: bool
) -> BridgeState:
    """Return the /bridge/state message. `now`: steady clock, `time`: ROS time, both in ns."""
    watch, last = core.watch, core.watch.last
    counts = {f"states_{name}": getattr(watch.counts, name) for name in _COUNTS}
    return BridgeState(
        header=to_header(time, "pelvis"),
        state=core.state.value,
        reason=core.reason,
        output=output,
        hand=hand,
        hand_trouble="" if core.hand is None else core.hand.trouble(now),
        dry_run=dry_run,
        weight=core.weight,
        mode_machine=0 if last is None else last.mode_machine,
        state_rate=watch.rate_at(now),
        state_age=-1.0 if last is None else watch.age(now),
        state_complaint=watch.last_error,
        episode=core.episode,
        chunks_accepted=core.accepted,
        chunks_refused=core.refused,
        refusal=core.refusal,
        rows_clipped=core.clipped,
        command=core.drive.command,
        **counts,
    )


_COUNTS = ("good", "malformed", "wrong_crc", "repeated", "reordered", "late")


def to_report(core: BridgeCore | None, now: int) -> tuple[bytes, str, dict[str, object]]:
    """Return level, text and values for /diagnostics. `now`: steady clock, ns."""
    if core is None:
        return DiagnosticStatus.OK, "not configured", {}
    values: dict[str, object] = {
        "weight": f"{core.weight:.3f}",
        "state rate (Hz)": f"{core.watch.rate_at(now):.1f}",
        "chunks accepted": core.accepted,
        "chunks refused": core.refused,
        "last refusal": core.refusal,
    }
    return LEVELS[core.state], f"{core.state.value}: {core.reason}", values
