"""Unitree's messages as DDS carries them, and as arrays: lossless for what a bridge needs.

rclpy takes milliseconds for a message of 35 nested structs; at 500 Hz they are therefore taken and
published raw. `raw` is a CDR payload with its header of 4 bytes, as rclpy gives with `raw=True` and
publishes as bytes. Layouts: Unitree's IDL files of unitree_hg and unitree_go (BSD-3-Clause).

The CRC is taken over the C struct, whose padding differs from the payload's: C pads the first motor
to 4 bytes, CDR only its first float. Padding counts as zero, whatever a sender left there.
"""

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.crc import crc_of_words
from h1_2_bridge.messages import (
    HAND_COMMAND,
    HAND_STATE,
    LOW_CMD,
    LOW_STATE,
    MOTORS,
    LowCmd,
    LowState,
    MotorCmds,
    MotorStates,
)
from rulesafe_core.errors import RuleSafeError

_HEADER = b"\x00\x01\x00\x00"
_LITTLE_ENDIAN = (b"\x00\x01", b"\x00\x07")
"""Plain CDR and plain CDR2, which agree where nothing has 8 bytes."""


def _payload(raw: bytes, size: int, message: str) -> bytes:
    """The bytes after the header, or a RuleSafeError that says what is wrong."""
    if len(raw) != size + 4:
        raise RuleSafeError(f"{message} of {len(raw)} bytes; valid: {size + 4}")
    if bytes(raw[:2]) not in _LITTLE_ENDIAN:
        raise RuleSafeError(f"{message} begins with {bytes(raw[:2]).hex()}; valid: 0001, 0007")
    return bytes(raw[4:])


def _crc_of(struct: NDArray) -> int:
    """CRC of a C struct, shape (1,), whose last word is the CRC."""
    return crc_of_words(struct.view("<u4")[:-1])


def decode_low_cmd(raw: bytes) -> LowCmd:
    """A `LowCmd` from its payload. Raises a RuleSafeError for a wrong size or byte order."""
    cdr = _payload(raw, 1000, "LowCmd")
    struct = np.frombuffer(bytearray(cdr[:2] + b"\0\0" + cdr[2:4] + b"\0\0" + cdr[4:]), LOW_CMD)
    motors = struct["motors"][0]
    motors["mode"] &= 0xFF
    head, crc = struct[0], int(struct["crc"][0])
    return LowCmd(
        mode_pr=int(head["mode_pr"]),
        mode_machine=int(head["mode_machine"]),
        mode=motors["mode"].astype(np.uint8),
        **{name: motors[name] for name in ("q", "dq", "tau", "kp", "kd")},
        reserve=head["reserve"],
        crc=crc,
        valid=_crc_of(struct) == crc,
    )


def encode_low_cmd(cmd: LowCmd) -> bytes:
    """The payload of a command, its CRC computed. Raises a RuleSafeError for wrong shapes."""
    struct = np.zeros(1, LOW_CMD)
    head, motors = struct[0], struct["motors"][0]
    head["mode_pr"], head["mode_machine"] = cmd.mode_pr, cmd.mode_machine
    for name in ("mode", "q", "dq", "tau", "kp", "kd"):
        motors[name] = _shaped(getattr(cmd, name), (MOTORS,), name)
    head["reserve"] = _shaped(cmd.reserve, (4,), "reserve")
    head["crc"] = _crc_of(struct)
    c = struct.tobytes()
    return _HEADER + c[:2] + c[4:5] + b"\0" + c[8:]


def decode_low_state(raw: bytes) -> LowState:
    """A `LowState` from its payload. Raises a RuleSafeError for a wrong size or byte order."""
    cdr = _payload(raw, 2088, "LowState")
    c = cdr[:10] + b"\0\0" + cdr[12:70] + b"\0\0" + cdr[70:72] + b"\0\0" + cdr[72:]
    struct = np.frombuffer(bytearray(c), LOW_STATE)
    motors = struct["motors"][0]
    motors["mode"] &= 0xFF
    head, crc = struct[0], int(struct["crc"][0])
    arrays = ("quat_wxyz", "gyroscope", "accelerometer", "rpy", "version")
    return LowState(
        mode_pr=int(head["mode_pr"]),
        mode_machine=int(head["mode_machine"]),
        tick=int(head["tick"]),
        **{name: head[name] for name in arrays},
        **{name: motors[name] for name in ("q", "dq", "ddq", "tau", "temperature", "voltage")},
        motor_mode=motors["mode"].astype(np.uint8),
        motor_fault=motors["fault"],
        remote=head["remote"].tobytes(),
        imu_temperature=int(head["imu_temperature"]),
        crc=crc,
        valid=_crc_of(struct) == crc,
    )


def encode_low_state(state: LowState) -> bytes:
    """The payload of a state, its CRC computed. Raises a RuleSafeError for wrong shapes."""
    struct = np.zeros(1, LOW_STATE)
    head, motors = struct[0], struct["motors"][0]
    for name in ("mode_pr", "mode_machine", "tick", "imu_temperature"):
        head[name] = getattr(state, name)
    sizes = {"quat_wxyz": 4, "gyroscope": 3, "accelerometer": 3, "rpy": 3, "version": 2}
    for name, size in sizes.items():
        head[name] = _shaped(getattr(state, name), (size,), name)
    for name in ("q", "dq", "ddq", "tau", "voltage"):
        motors[name] = _shaped(getattr(state, name), (MOTORS,), name)
    motors["temperature"] = _shaped(state.temperature, (MOTORS, 2), "temperature")
    motors["mode"] = _shaped(state.motor_mode, (MOTORS,), "motor_mode")
    motors["fault"] = _shaped(state.motor_fault, (MOTORS,), "motor_fault")
    remote = np.frombuffer(state.remote, np.uint8)
    head["remote"] = _shaped(remote, (40,), "remote")
    head["crc"] = _crc_of(struct)
    c = struct.tobytes()
    return _HEADER + c[:70] + c[72:73] + b"\0" + c[76:]


def _shaped(array: NDArray, shape: tuple[int, ...], name: str) -> NDArray:
    array = np.asarray(array)
    if array.shape != shape:
        raise RuleSafeError(f"{name} has shape {array.shape}; valid: {shape}")
    return array


def decode_motor_cmds(raw: bytes) -> MotorCmds:
    """`MotorCmds` from their payload. Raises a RuleSafeError for a wrong size or byte order."""
    motors = _sequence(raw, HAND_COMMAND, "MotorCmds")
    return MotorCmds(
        mode=motors["mode"].astype(np.uint8),
        **{name: motors[name] for name in ("q", "dq", "tau", "kp", "kd")},
    )


def encode_motor_cmds(cmds: MotorCmds) -> bytes:
    """The payload of n commands. Raises a RuleSafeError for wrong shapes."""
    motors = np.zeros(len(cmds.q), HAND_COMMAND)
    for name in ("mode", "q", "dq", "tau", "kp", "kd"):
        motors[name] = _shaped(getattr(cmds, name), motors.shape, name)
    return _HEADER + len(motors).to_bytes(4, "little") + motors.tobytes()


def decode_motor_states(raw: bytes) -> MotorStates:
    """`MotorStates` from their payload. Raises a RuleSafeError for a wrong size or byte order."""
    motors = _sequence(raw, HAND_STATE, "MotorStates")
    return MotorStates(
        mode=motors["mode"].astype(np.uint8),
        **{name: motors[name] for name in ("q", "dq", "tau", "temperature", "lost")},
    )


def encode_motor_states(states: MotorStates) -> bytes:
    """The payload of n states. Raises a RuleSafeError for wrong shapes."""
    motors = np.zeros(len(states.q), HAND_STATE)
    for name in ("mode", "q", "dq", "tau", "temperature", "lost"):
        motors[name] = _shaped(getattr(states, name), motors.shape, name)
    return _HEADER + len(motors).to_bytes(4, "little") + motors.tobytes()


def _sequence(raw: bytes, entry: np.dtype, message: str) -> NDArray:
    """(n,) structs of a payload that is one sequence; all have 4-byte alignment throughout."""
    count = int.from_bytes(bytes(raw[4:8]), "little")
    cdr = _payload(raw, 4 + count * entry.itemsize, message)
    motors = np.frombuffer(bytearray(cdr[4:]), entry)
    motors["mode"] &= 0xFF
    return motors
