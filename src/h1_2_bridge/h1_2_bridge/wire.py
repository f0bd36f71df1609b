"""Encode and decode Unitree's messages as CDR payloads, with their CRC.

rclpy needs milliseconds to convert a message of 35 nested structs. At 500 Hz, messages are
therefore received and published raw. `raw` is a CDR payload with its 4-byte header, as rclpy
returns with `raw=True` and publishes as bytes. Layouts: Unitree's IDL files of unitree_hg and
unitree_go (BSD-3-Clause).

The CRC is CRC-32/MPEG-2 over the little-endian words of the C struct, most significant bit first.
Padding differs between the struct and the payload: C aligns the first motor to 4 bytes, CDR only
its first float. Padding counts as zero in the CRC.
"""

import zlib

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.messages import (
    HAND_COMMAND,
    HAND_STATE,
    LOW_CMD,
    LOW_STATE,
    SLOTS,
    LowCmd,
    LowState,
    MotorCmds,
    MotorStates,
)
from rulesafe_core.errors import RuleSafeError

_HEADER = b"\x00\x01\x00\x00"
_LITTLE_ENDIAN = (b"\x00\x01", b"\x00\x07")
"""Headers of plain CDR and plain CDR2, which are equal for fields of up to 4 bytes."""

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
"""Each byte with its bits in reverse order."""


def _payload(raw: bytes, size: int, message: str) -> bytes:
    """Return the bytes after the header. Raises RuleSafeError for a wrong size or byte order."""
    if len(raw) != size + 4:
        raise RuleSafeError(f"{message} has {len(raw)} bytes; valid: {size + 4}")
    if bytes(raw[:2]) not in _LITTLE_ENDIAN:
        raise RuleSafeError(
            f"{message} has the CDR header {bytes(raw[:2]).hex()}; valid: 0001, 0007"
        )
    return bytes(raw[4:])


def _crc32_mpeg2(data: bytes) -> int:
    # CRC-32/MPEG-2 is zlib's CRC without reflection and final XOR, so bits are reversed on input
    # and output.
    reflected = zlib.crc32(data.translate(_REVERSED)) ^ 0xFFFFFFFF
    return int.from_bytes(reflected.to_bytes(4, "little").translate(_REVERSED), "big")


def _crc_of(struct: NDArray) -> int:
    """Return the CRC-32 of a C struct, shape (1,), without its last word, the CRC field."""
    return _crc32_mpeg2(struct.view("<u4")[:-1].astype(">u4").tobytes())


def decode_low_cmd(raw: bytes) -> LowCmd:
    """Decode a `LowCmd`. Raises RuleSafeError for a wrong size or byte order."""
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
    """Encode a command and compute its CRC. Raises RuleSafeError for wrong shapes."""
    struct = np.zeros(1, LOW_CMD)
    head, motors = struct[0], struct["motors"][0]
    head["mode_pr"], head["mode_machine"] = cmd.mode_pr, cmd.mode_machine
    for name in ("mode", "q", "dq", "tau", "kp", "kd"):
        motors[name] = _shaped(getattr(cmd, name), (SLOTS,), name)
    head["reserve"] = _shaped(cmd.reserve, (4,), "reserve")
    head["crc"] = _crc_of(struct)
    c = struct.tobytes()
    return _HEADER + c[:2] + c[4:5] + b"\0" + c[8:]


def decode_low_state(raw: bytes) -> LowState:
    """Decode a `LowState`. Raises RuleSafeError for a wrong size or byte order."""
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
    """Encode a state and compute its CRC. Raises RuleSafeError for wrong shapes."""
    struct = np.zeros(1, LOW_STATE)
    head, motors = struct[0], struct["motors"][0]
    for name in ("mode_pr", "mode_machine", "tick", "imu_temperature"):
        head[name] = getattr(state, name)
    sizes = {"quat_wxyz": 4, "gyroscope": 3, "accelerometer": 3, "rpy": 3, "version": 2}
    for name, size in sizes.items():
        head[name] = _shaped(getattr(state, name), (size,), name)
    for name in ("q", "dq", "ddq", "tau", "voltage"):
        motors[name] = _shaped(getattr(state, name), (SLOTS,), name)
    motors["temperature"] = _shaped(state.temperature, (SLOTS, 2), "temperature")
    motors["mode"] = _shaped(state.motor_mode, (SLOTS,), "motor_mode")
    motors["fault"] = _shaped(state.motor_fault, (SLOTS,), "motor_fault")
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
    """Decode `MotorCmds`. Raises RuleSafeError for a wrong size or byte order."""
    motors = _sequence(raw, HAND_COMMAND, "MotorCmds")
    return MotorCmds(
        mode=motors["mode"].astype(np.uint8),
        **{name: motors[name] for name in ("q", "dq", "tau", "kp", "kd")},
    )


def encode_motor_cmds(cmds: MotorCmds) -> bytes:
    """Encode n commands. Raises RuleSafeError for wrong shapes."""
    motors = np.zeros(len(cmds.q), HAND_COMMAND)
    for name in ("mode", "q", "dq", "tau", "kp", "kd"):
        motors[name] = _shaped(getattr(cmds, name), motors.shape, name)
    return _HEADER + len(motors).to_bytes(4, "little") + motors.tobytes()


def decode_motor_states(raw: bytes) -> MotorStates:
    """Decode `MotorStates`. Raises RuleSafeError for a wrong size or byte order."""
    motors = _sequence(raw, HAND_STATE, "MotorStates")
    return MotorStates(
        mode=motors["mode"].astype(np.uint8),
        **{name: motors[name] for name in ("q", "dq", "tau", "temperature", "lost")},
    )


def encode_motor_states(states: MotorStates) -> bytes:
    """Encode n states. Raises RuleSafeError for wrong shapes."""
    motors = np.zeros(len(states.q), HAND_STATE)
    for name in ("mode", "q", "dq", "tau", "temperature", "lost"):
        motors[name] = _shaped(getattr(states, name), motors.shape, name)
    return _HEADER + len(motors).to_bytes(4, "little") + motors.tobytes()


def _sequence(raw: bytes, entry: np.dtype, message: str) -> NDArray:
    """Return the structs (n,) of a payload that is one sequence of 4-byte aligned structs."""
    count = int.from_bytes(bytes(raw[4:8]), "little")
    cdr = _payload(raw, 4 + count * entry.itemsize, message)
    return np.frombuffer(bytearray(cdr[4:]), entry)
