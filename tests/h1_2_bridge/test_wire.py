"""Encoding of Unitree's messages, compared with the manufacturer's own code."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from h1_2_bridge.wire import (
    LowCmd,
    LowState,
    MotorCmds,
    MotorStates,
    _crc32_mpeg2,
    decode_low_cmd,
    decode_low_state,
    decode_motor_cmds,
    decode_motor_states,
    encode_low_cmd,
    encode_low_state,
    encode_motor_cmds,
    encode_motor_states,
)
from rulesafe_core.errors import RuleSafeError

REFERENCE = Path(__file__).parents[3] / "shared/reference/unitree_lowlevel.json"

VECTOR = LowCmd(
    mode_machine=6,
    **{
        name: np.where(np.arange(35) < 27, value, 0)
        for name, value in {"mode": 1, "tau": 0.5, "kp": 100, "kd": 2}.items()
    },
    q=np.where(np.arange(35) < 27, 0.01 * np.arange(35), 0),
    reserve=np.array([1, 2, 3, 4]),
)
"""The reference's second vector."""


@pytest.fixture(scope="module")
def sdk():
    """The manufacturer's SDK: default messages and CRC."""
    pytest.importorskip("unitree_sdk2py")
    from unitree_sdk2py.idl import default
    from unitree_sdk2py.utils.crc import CRC

    class Sdk:
        low_cmd = staticmethod(default.unitree_hg_msg_dds__LowCmd_)
        low_state = staticmethod(default.unitree_hg_msg_dds__LowState_)
        crc = staticmethod(CRC().Crc)

    return Sdk


def random_floats(rng, *shape):
    return rng.normal(0, 3, shape).astype(np.float32)


def random_command(seed: int) -> LowCmd:
    rng = np.random.default_rng(seed)
    floats = {name: random_floats(rng, 35) for name in ("q", "dq", "tau", "kp", "kd")}
    mode, reserve = rng.integers(0, 256, 35, np.uint8), rng.integers(0, 2**32, 4, np.uint32)
    return LowCmd(1, int(rng.integers(256)), mode, **floats, reserve=reserve)


def random_state(seed: int) -> LowState:
    rng = np.random.default_rng(seed)
    sizes = {"quat_wxyz": 4, "gyroscope": 3, "accelerometer": 3, "rpy": 3}
    sizes |= dict.fromkeys(("q", "dq", "ddq", "tau", "voltage"), 35)
    return LowState(
        mode_pr=1,
        mode_machine=6,
        tick=int(rng.integers(2**32)),
        **{name: random_floats(rng, size) for name, size in sizes.items()},
        temperature=rng.integers(-99, 99, (35, 2)).astype(np.int16),
        motor_mode=rng.integers(0, 256, 35, np.uint8),
        motor_fault=rng.integers(0, 2**32, 35, np.uint32),
        remote=rng.bytes(40),
        imu_temperature=-7,
        version=rng.integers(0, 2**32, 2, np.uint32),
    )


def random_hands() -> tuple[MotorCmds, MotorStates]:
    rng, mode = np.random.default_rng(0), np.arange(12, dtype=np.uint8)
    cmds = MotorCmds(mode, *(random_floats(rng, 12) for _ in range(5)))
    floats = [random_floats(rng, 12) for _ in range(3)]
    return cmds, MotorStates(mode, *floats, mode + np.uint8(30), np.arange(12, dtype=np.uint32))


def assert_same(a, b, *except_for):
    for field in fields(a):
        if field.name not in except_for:
            np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))


def test_checksum_of_the_catalogue():
    """The check value of CRC-32/MPEG-2 in CRC catalogues."""
    assert _crc32_mpeg2(b"123456789") == 0x0376E6E7


@pytest.mark.parametrize(("command", "crc"), [(LowCmd(), 0xFE172F9F), (VECTOR, 0x73E34B32)])
def test_checksums_of_the_reference(command, crc):
    assert decode_low_cmd(encode_low_cmd(command)).crc == crc


def test_the_reference_has_these_checksums():
    if not REFERENCE.is_file():
        pytest.skip("the reference files are not available")
    vectors = json.loads(REFERENCE.read_text())["crc"]["test_vectors"]
    assert [int(value, 16) for value in vectors.values()] == [0xFE172F9F, 0x73E34B32]


@pytest.mark.parametrize("seed", range(5))
def test_command_comes_back(seed):
    command = random_command(seed)
    back = decode_low_cmd(encode_low_cmd(command))
    assert back.valid
    assert_same(command, back, "crc", "valid")


@pytest.mark.parametrize("seed", range(5))
def test_state_comes_back(seed):
    state = random_state(seed)
    back = decode_low_state(encode_low_state(state))
    assert back.valid
    assert_same(state, back, "crc", "valid")


@pytest.mark.parametrize(
    ("raw", "decode", "padding"),
    [
        (
            encode_low_cmd(random_command(7)),
            decode_low_cmd,
            {7, *(4 + 28 * i + k for i in range(1, 35) for k in (1, 2, 3))},
        ),
        (
            encode_low_state(random_state(7)),
            decode_low_state,
            {14, 15, 75, *(72 + 56 * i + k for i in range(1, 35) for k in (1, 2, 3))},
        ),
    ],
)
def test_every_changed_bit_is_noticed(raw, decode, padding):
    """Except padding, which the CRC takes as zero."""
    rng = np.random.default_rng(0)
    assert decode(raw).valid
    for position in rng.permutation(np.arange(4, len(raw)))[:300]:
        broken = bytearray(raw)
        broken[position] ^= 1 << rng.integers(8)
        found = decode(bytes(broken))
        assert found.valid == (position in padding), position
        assert found.crc == int.from_bytes(broken[-4:], "little")


def test_padding_of_any_content_is_no_fault():
    """A sender may leave any bytes in the padding: C++ does not clear it."""
    raw = bytearray(encode_low_state(random_state(3)))
    raw[4 + 10] = raw[4 + 11] = raw[4 + 71] = 0xAA
    raw[4 + 125 : 4 + 128] = b"\xaa\xbb\xcc"
    state = decode_low_state(bytes(raw))
    assert state.valid
    assert_same(state, random_state(3), "crc", "valid")


@pytest.mark.parametrize(
    ("decode", "raw"),
    [
        (decode_low_cmd, b""),
        (decode_low_cmd, encode_low_state(LowState())),
        (decode_low_state, encode_low_cmd(LowCmd())),
        (decode_low_state, encode_low_state(LowState())[:-1]),
        (decode_low_state, b"\0\0" + encode_low_state(LowState())[2:]),  # big-endian
        (
            decode_motor_cmds,
            b"\0\1\0\0\3\0\0\0" + bytes(36),
        ),  # three entries announced, one present
        (decode_motor_states, b"\0\1\0\0"),
    ],
)
def test_what_is_no_such_message_is_refused(decode, raw):
    with pytest.raises(RuleSafeError, match="valid"):
        decode(raw)


def test_wrong_shapes_are_refused():
    with pytest.raises(RuleSafeError, match=r"q has shape \(27,\)"):
        encode_low_cmd(LowCmd(q=np.zeros(27)))


def test_hand_messages_come_back():
    cmds, states = random_hands()
    assert_same(cmds, decode_motor_cmds(encode_motor_cmds(cmds)))
    assert_same(states, decode_motor_states(encode_motor_states(states)))


# The manufacturer's code --------------------------------------------------------------------


def test_the_sdk_reads_our_command(sdk):
    command = random_command(1)
    theirs = type(sdk.low_cmd()).deserialize(encode_low_cmd(command))
    assert sdk.crc(theirs) == theirs.crc
    for name in ("mode", "q", "dq", "tau", "kp", "kd"):
        ours = getattr(command, name)
        assert [getattr(motor, name) for motor in theirs.motor_cmd] == ours.tolist()
    assert list(theirs.reserve) == command.reserve.tolist()
    assert (theirs.mode_pr, theirs.mode_machine) == (command.mode_pr, command.mode_machine)
    assert [motor.reserve for motor in theirs.motor_cmd] == [0] * 35


def test_we_read_the_sdks_state(sdk):
    theirs = type(sdk.low_state()).deserialize(encode_low_state(random_state(2)))
    for i, motor in enumerate(theirs.motor_state):  # fields that LowState does not have
        motor.sensor, motor.reserve = [i, 2 * i], [i, 7, 7, 7]
    theirs.reserve = [9, 8, 7, 6]
    theirs.crc = sdk.crc(theirs)
    ours = decode_low_state(bytes(theirs.serialize()))
    assert ours.valid
    assert_same(ours, random_state(2), "crc", "valid")


def test_the_sdk_reads_our_hands(sdk):
    from unitree_sdk2py.idl.unitree_go.msg.dds_ import MotorCmds_, MotorStates_

    cmds, states = random_hands()
    theirs = MotorCmds_.deserialize(encode_motor_cmds(cmds))
    assert [motor.q for motor in theirs.cmds] == cmds.q.tolist()
    assert [motor.kd for motor in theirs.cmds] == cmds.kd.tolist()
    again = MotorStates_.deserialize(encode_motor_states(states))
    assert_same(states, decode_motor_states(bytes(again.serialize())))
    assert [motor.lost for motor in again.states] == list(range(12))


# ROS ----------------------------------------------------------------------------------------


def test_ros_reads_what_we_write():
    """Our message packages, or the official ones, have the same bytes."""
    messages = pytest.importorskip("unitree_hg.msg", reason="the messages are not built")
    hands = pytest.importorskip("unitree_go.msg")
    from rclpy.serialization import deserialize_message, serialize_message

    command, state = random_command(4), random_state(4)
    theirs = deserialize_message(encode_low_cmd(command), messages.LowCmd)
    assert theirs.motor_cmd[26].kd == command.kd[26]
    assert decode_low_cmd(serialize_message(theirs)).valid
    theirs = deserialize_message(encode_low_state(state), messages.LowState)
    assert bytes(theirs.wireless_remote) == state.remote
    assert_same(decode_low_state(serialize_message(theirs)), state, "crc", "valid")
    cmds, states = random_hands()
    theirs = deserialize_message(encode_motor_cmds(cmds), hands.MotorCmds)
    assert_same(decode_motor_cmds(serialize_message(theirs)), cmds)
    theirs = deserialize_message(encode_motor_states(states), hands.MotorStates)
    assert_same(decode_motor_states(serialize_message(theirs)), states)
