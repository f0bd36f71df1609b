"""Unitree's low-level messages as arrays, and the memory layout of their C structs.

Source: the IDL files of unitree_hg and unitree_go (BSD-3-Clause). All fields are little-endian and
at most 4 bytes long; a byte followed by padding is declared as a word with zero upper bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SLOTS = 35
"""Motor entries of a body message; the H1-2 uses the first 27."""

Floats = NDArray[np.float32]
Ints = NDArray[np.uint32]

_COMMAND = np.dtype(
    [
        ("mode", "<u4"),  # a byte and its padding
        *((name, "<f4") for name in ("q", "dq", "tau", "kp", "kd")),
        ("reserve", "<u4"),
    ]
)
_STATE = np.dtype(
    [
        ("mode", "<u4"),
        *((name, "<f4") for name in ("q", "dq", "ddq", "tau")),
        ("temperature", "<i2", 2),
        ("voltage", "<f4"),
        ("sensor", "<u4", 2),
        ("fault", "<u4"),
        ("reserve", "<u4", 4),
    ]
)
LOW_CMD = np.dtype(
    [
        ("mode_pr", "u1"),
        ("mode_machine", "u1"),
        ("padding", "u1", 2),
        ("motors", _COMMAND, SLOTS),
        ("reserve", "<u4", 4),
        ("crc", "<u4"),
    ]
)
LOW_STATE = np.dtype(
    [
        ("version", "<u4", 2),
        ("mode_pr", "u1"),
        ("mode_machine", "u1"),
        ("padding", "u1", 2),
        ("tick", "<u4"),
        ("quat_wxyz", "<f4", 4),
        ("gyroscope", "<f4", 3),
        ("accelerometer", "<f4", 3),
        ("rpy", "<f4", 3),
        ("imu_temperature", "<i2"),
        ("padding_2", "u1", 2),
        ("motors", _STATE, SLOTS),
        ("remote", "u1", 40),
        ("reserve", "<u4", 4),
        ("crc", "<u4"),
    ]
)
HAND_COMMAND = np.dtype(
    [
        ("mode", "<u4"),
        *((name, "<f4") for name in ("q", "dq", "tau", "kp", "kd")),
        ("reserve", "<u4", 3),
    ]
)
HAND_STATE = np.dtype(
    [
        ("mode", "<u4"),
        *((name, "<f4") for name in ("q", "dq", "ddq", "tau", "q_raw", "dq_raw", "ddq_raw")),
        ("temperature", "u1"),
        ("padding", "u1", 3),
        ("lost", "<u4"),
        ("reserve", "<u4", 2),
    ]
)


def _zeros(*shape: int, dtype: str = "f4") -> Callable[[], NDArray]:
    return lambda: np.zeros(shape, dtype)


@dataclass(frozen=True)
class LowState:
    """State that the robot publishes at 500 Hz (unitree_hg/LowState).

    Attributes:
        mode_pr: 0 when the ankles are driven by pitch and roll, 1 by their two motors.
        mode_machine: robot type; commands must have the same value.
        tick: the robot's time counter, ms.
        quat_wxyz: (4,) orientation of the IMU.
        gyroscope: (3,) rad/s.
        accelerometer: (3,) m/s^2.
        rpy: (3,) rad.
        q, dq, ddq, tau: (35,) rad, rad/s, rad/s^2, N m (estimated) by motor index.
        temperature: (35, 2) deg C, of the housing and of the winding.
        motor_mode: (35,) 1 for enabled motors.
        motor_fault: (35,) the field `motorstate`, 0 without a fault.
        voltage: (35,) V.
        remote: the 40 bytes of the wireless remote, see `h1_2_bridge.remote`.
        imu_temperature: temperature of the IMU, deg C.
        version: (2,) version of the robot's firmware.
        crc: CRC as received.
        valid: whether the received crc is correct.
    """

    mode_pr: int = 0
    mode_machine: int = 0
    tick: int = 0
    quat_wxyz: Floats = field(default_factory=lambda: np.array([1, 0, 0, 0], np.float32))
    gyroscope: Floats = field(default_factory=_zeros(3))
    accelerometer: Floats = field(default_factory=_zeros(3))
    rpy: Floats = field(default_factory=_zeros(3))
    q: Floats = field(default_factory=_zeros(SLOTS))
    dq: Floats = field(default_factory=_zeros(SLOTS))
    ddq: Floats = field(default_factory=_zeros(SLOTS))
    tau: Floats = field(default_factory=_zeros(SLOTS))
    temperature: NDArray[np.int16] = field(default_factory=_zeros(SLOTS, 2, dtype="i2"))
    motor_mode: NDArray[np.uint8] = field(default_factory=_zeros(SLOTS, dtype="u1"))
    motor_fault: Ints = field(default_factory=_zeros(SLOTS, dtype="u4"))
    voltage: Floats = field(default_factory=_zeros(SLOTS))
    remote: bytes = bytes(40)
    imu_temperature: int = 0
    version: Ints = field(default_factory=_zeros(2, dtype="u4"))
    crc: int = 0
    valid: bool = True


@dataclass(frozen=True)
class LowCmd:
    """Command to the robot (unitree_hg/LowCmd): torque = tau + kp (q - q') + kd (dq - dq').

    Attributes:
        mode_pr, mode_machine: the values in the robot's `LowState`.
        mode: (35,) 1 enables a motor, 0 disables it.
        q, dq, tau, kp, kd: (35,) rad, rad/s, N m, N m/rad, N m s/rad by motor index.
        reserve: (4,) words at the end of the message; the reserve words of motors are zero.
        crc, valid: CRC as received, and whether it is correct; not used when encoding.
    """

    mode_pr: int = 0
    mode_machine: int = 0
    mode: NDArray[np.uint8] = field(default_factory=_zeros(SLOTS, dtype="u1"))
    q: Floats = field(default_factory=_zeros(SLOTS))
    dq: Floats = field(default_factory=_zeros(SLOTS))
    tau: Floats = field(default_factory=_zeros(SLOTS))
    kp: Floats = field(default_factory=_zeros(SLOTS))
    kd: Floats = field(default_factory=_zeros(SLOTS))
    reserve: Ints = field(default_factory=_zeros(4, dtype="u4"))
    crc: int = 0
    valid: bool = True


@dataclass(frozen=True)
class MotorCmds:
    """Targets of n hand motors (unitree_go/MotorCmds); the hand driver defines the units.

    Attributes:
        mode: (n,) 1 enables a motor.
        q, dq, tau, kp, kd: (n,).
    """

    mode: NDArray[np.uint8]
    q: Floats
    dq: Floats
    tau: Floats
    kp: Floats
    kd: Floats


@dataclass(frozen=True)
class MotorStates:
    """States of n hand motors (unitree_go/MotorStates).

    Attributes:
        mode: (n,).
        q, dq, tau: (n,), in units of the hand driver.
        temperature: (n,) deg C.
        lost: (n,) number of packets that the motor lost.
    """

    mode: NDArray[np.uint8]
    q: Floats
    dq: Floats
    tau: Floats
    temperature: NDArray[np.uint8]
    lost: Ints
