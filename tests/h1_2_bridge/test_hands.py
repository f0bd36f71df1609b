"""Hand drivers: order, calibration, limits at connection, and loss of a hand."""

import time

import numpy as np
import pytest
from waiting import wait_for

pytest.importorskip("pymodbus")

from ftp_server import ANGLE_SET, FORCE_SET, NO_CHANGE, SPEED_SET, FtpServer, free_port
from pymodbus.client import ModbusTcpClient

from h1_2_bridge import ftp
from h1_2_bridge.commands import identify
from h1_2_bridge.config import BridgeParameters
from h1_2_bridge.dfx import COMMAND_AGE
from h1_2_bridge.drivers import DRIVERS, load_driver
from h1_2_bridge.hands import DFX, DRIVER_JOINTS, FTP
from h1_2_bridge.realtime import steady_ns
from h1_2_bridge.wire import MotorStates, decode_motor_cmds, encode_motor_states
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS, LEFT_HAND_JOINTS

SECOND = 10**9
OPEN = np.array(DFX.open * 2)
CLOSED = np.array(DFX.closed * 2)
PATIENCE = 30.0


def dfx_states(shares) -> bytes:
    zeros = np.zeros(len(shares), np.float32)
    shares = np.asarray(shares, np.float32)
    flags = zeros.astype(np.uint8)
    return encode_motor_states(
        MotorStates(flags, shares, zeros, zeros, flags, zeros.astype(np.uint32))
    )


# Calibration --------------------------------------------------------------------------------


@pytest.mark.parametrize("calibration", [DFX, FTP])
def test_one_is_open_and_zero_is_closed(calibration):
    np.testing.assert_allclose(calibration.to_hand(calibration.open), 1)
    np.testing.assert_allclose(calibration.to_hand(calibration.closed), 0)
    shares = np.linspace(0.05, 0.95, 6)
    np.testing.assert_allclose(calibration.to_hand(calibration.from_hand(shares)), shares)


def test_what_is_out_of_range_is_clipped_and_nan_stays():
    shares = DFX.to_hand([-9, 9, np.nan, 0.85, 0.25, 0.6])
    np.testing.assert_allclose(shares, [1, 0, np.nan, 0.5, 0.5, 0.5])


def test_hands_are_chosen_by_name():
    with pytest.raises(RuleSafeError, match="dfx, ftp, none"):
        load_driver(BridgeParameters(hand="glove"), print)
    assert load_driver(BridgeParameters(hand="none"), print) is None
    assert DRIVERS == ("dfx", "ftp", "none")
    assert (
        load_driver(BridgeParameters(), print).joints
        == DRIVER_JOINTS
        == HAND_JOINTS + LEFT_HAND_JOINTS
    )


# DFX ----------------------------------------------------------------------------------------


@pytest.fixture
def dfx():
    sent = []
    return load_driver(BridgeParameters(), lambda raw: sent.append(decode_motor_cmds(raw))), sent


@pytest.mark.parametrize("finger", range(12))
def test_dfx_order_each_finger_alone(dfx, finger):
    """The right hand is 0 to 5, the left 6 to 11; within a hand pinky, ring, middle, index, thumb
    bend, thumb rotation."""
    hands, sent = dfx
    names = ["pinky", "ring", "middle", "index", "thumb_proximal_pitch", "thumb_proximal_yaw"]
    assert hands.joints[finger].startswith("RL"[finger // 6] + "_" + names[finger % 6])
    positions = OPEN.copy()
    positions[finger] = CLOSED[finger]
    hands.command(positions, 0)
    assert np.flatnonzero(sent[-1].q == 0).tolist() == [finger]
    assert np.flatnonzero(sent[-1].q == 1).tolist() == [i for i in range(12) if i != finger]
    shares = np.ones(12)
    shares[finger] = 0
    hands.receive(dfx_states(shares), 0)
    np.testing.assert_allclose(hands.state(0).positions, positions, atol=1e-6)


def test_dfx_says_nothing_before_it_knows_every_finger(dfx):
    hands, sent = dfx
    right_only = np.r_[OPEN[:6], np.full(6, np.nan)]
    hands.command(right_only, 0)
    assert sent == []
    assert hands.state(0) is None
    hands.receive(dfx_states(np.full(12, 0.25)), 0)
    hands.command(right_only, 0)
    np.testing.assert_allclose(sent[0].q, [1] * 6 + [0.25] * 6)
    hands.receive(dfx_states(np.full(12, 0.75)), 0)  # a finger moved by an external force
    hands.command(right_only, 0)
    np.testing.assert_allclose(sent[1].q, [1] * 6 + [0.25] * 6)


def test_dfx_does_not_repeat_a_command_of_an_earlier_episode(dfx):
    """The left hand, which is not commanded, was moved by another program meanwhile."""
    hands, sent = dfx
    hands.receive(dfx_states(np.full(12, 0.2)), 0)
    first = np.r_[np.full(6, 0.5), np.full(6, np.nan)]
    hands.command(first, SECOND)
    hands.receive(dfx_states(np.full(12, 0.9)), SECOND)
    for later, left in ((COMMAND_AGE, 0.2), (2 * COMMAND_AGE + 1, 0.9)):
        hands.command(first, SECOND + later)
        np.testing.assert_allclose(sent[-1].q[6:], left, atol=1e-6)


@pytest.mark.parametrize("shares", [np.ones(6), np.full(12, np.nan)])
def test_dfx_refuses_what_is_no_state_of_two_hands(dfx, shares):
    hands, _ = dfx
    with pytest.raises(RuleSafeError, match="12"):
        hands.receive(dfx_states(shares), 0)
    assert hands.state(0) is None


def test_dfx_sends_positions_only_and_limits_what_it_measured(dfx):
    hands, sent = dfx
    hands.receive(dfx_states([1.2, -0.2, *[0.5] * 10]), 0)
    hands.command(np.full(12, np.nan), 0)
    np.testing.assert_allclose(sent[0].q, [1, 0, *[0.5] * 10])
    assert (sent[0].mode == 1).all()
    assert not any(getattr(sent[0], name).any() for name in ("dq", "tau", "kp", "kd"))
    assert hands.close() is None


def test_dfx_state_at_its_timeout(dfx):
    hands, _ = dfx
    hands.receive(dfx_states(np.ones(12)), SECOND)
    assert hands.state(SECOND + SECOND // 2).fault == ""
    state = hands.state(SECOND + SECOND // 2 + SECOND // 100)
    assert state.fault == "no message on /inspire/state for 0.51 s" and state.stamp == SECOND


# FTP, against pymodbus' own server ----------------------------------------------------------


@pytest.fixture
def servers():
    """Start hand servers that run until the end of the test."""
    running = []

    def start(port=0):
        running.append(FtpServer(port))
        return running[-1]

    yield start
    for server in running:
        server.answering = True
        server.stop()


@pytest.fixture
def connect():
    """connect(**parameters) -> hands, which are closed at the end of the test."""
    running = []

    def start(**changes):
        hosts = {"hand_right_host": "127.0.0.1", "hand_left_host": ""}
        hosts["hand_identified"] = "127.0.0.1"
        parameters = BridgeParameters(hand="ftp", hand_timeout=5.0, **{**hosts, **changes})
        running.append(load_driver(parameters, print))
        return running[-1]

    yield start
    for hands in running:
        hands.close()


def good(hands):
    """Wait for a hand state without a fault and return it."""

    def look():
        state = hands.state(steady_ns())
        return state if state and not state.fault else None

    return wait_for(look, "the hands answer")


@pytest.fixture
def patient(monkeypatch):
    """Wait longer for answers: a server on a busy machine may be late."""
    monkeypatch.setattr(ftp, "TIMEOUT", 2.0)


def test_ftp_reads_angles_and_forces(servers, connect):
    server = servers()
    state = good(connect(hand_port=server.port))
    expected = np.array(FTP.closed) * (1 - np.arange(1000, 400, -100) / 1000)
    np.testing.assert_allclose(state.positions[:6], expected)
    assert np.isnan(state.positions[6:]).all()  # the left hand has no address
    assert state.force[:6].tolist() == [10, 20, 30, 40, 50, -60]


def test_ftp_hand_that_stops_answering_is_at_fault_and_comes_back(servers, connect):
    server = servers()
    hands = connect(hand_port=server.port)
    stamp = good(hands).stamp
    server.answering = False
    state = wait_for(lambda: (s := hands.state(steady_ns())).fault and s, "a fault")
    assert "right hand at 127.0.0.1" in state.fault
    assert state.stamp >= stamp
    hands.command(np.full(12, 0.0), 0)  # does not block, and is not sent after reconnecting
    wait_for(lambda: hands._hands[0]._target is None, "the target is dropped")
    server.writes.clear()
    server.answering = True
    assert good(hands).stamp > state.stamp
    time.sleep(0.3)
    addresses = {address for address, _ in server.writes}
    assert {SPEED_SET, FORCE_SET} <= addresses  # a hand that was switched off has lost its limits
    assert ANGLE_SET not in addresses


def test_ftp_hand_must_be_identified(servers, connect):
    """Its fault keeps the bridge from engaging."""
    port = servers().port
    for identified in ("", "192.168.123.210"):
        hands = connect(hand_port=port, hand_identified=identified)
        wait_for(lambda hands=hands: np.isfinite(hands.state(0).positions[:6]).all(), "an answer")
        fault = hands.state(steady_ns()).fault
        assert fault.startswith(
            "the right hand at 127.0.0.1 is not identified: run rulesafe bridge"
        )
    good(connect(hand_port=port))


@pytest.mark.usefixtures("patient")
def test_identify_moves_the_index_finger_and_no_other(servers, capsys):
    server = servers()
    before = list(server.angles)
    identify("127.0.0.1", server.port)
    assert server.angles == before
    moves = [values for address, values in server.writes if address == ANGLE_SET]
    assert [values[3] for values in moves] == [450, 700, 450, 700]
    assert all(values[:3] + values[4:] == [NO_CHANGE] * 5 for values in moves)
    assert {address for address, _ in server.writes[:2]} == {SPEED_SET, FORCE_SET}
    assert "hand_identified to 127.0.0.1" in capsys.readouterr().out
    with pytest.raises(RuleSafeError, match=r"hand at 127\.0\.0\.1"):
        identify("127.0.0.1", free_port())


@pytest.mark.usefixtures("patient")
def test_ftp_hand_with_another_writing_client_is_at_fault(servers, connect):
    server = servers()
    hands = connect(hand_port=server.port)
    good(hands)
    for share in (0.5, 0.25):
        hands.command(np.array(FTP.closed * 2) * share, 0)
        time.sleep(0.3)
        assert not hands.state(steady_ns()).fault, "its own writes are no fault"
    other = ModbusTcpClient("127.0.0.1", port=server.port, timeout=5)
    assert other.connect()
    other.write_registers(ANGLE_SET, [123] * 6, device_id=1)
    state = wait_for(lambda: (s := hands.state(steady_ns())).fault and s, "a fault")
    assert "another Modbus client writes to it" in state.fault
    other.close()
    good(hands)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"hand_right_open": "1,2"}, r"hand_right_open must be 6 comma-separated numbers \(rad\)"),
        ({"hand_registers": "speed=3"}, "angle_set=NUMBER"),
        ({"hand_registers": "angle_set=x"}, "'angle_set=x'"),
        ({"hand_speed_limit": 2000}, "hand_speed_limit is 2000; valid: 0 to 1000"),
    ],
)
@pytest.mark.parametrize("hand", DRIVERS)
def test_texts_of_parameters_are_checked_whatever_the_hand(hand, parameters, words):
    with pytest.raises(RuleSafeError, match=words):
        load_driver(BridgeParameters(hand=hand, **parameters), print)
