"""Simulated hands with the messages of the Inspire driver."""

import numpy as np
import pytest

from h1_2_bridge.wire import MotorCmds, decode_motor_states, encode_motor_cmds
from h1_2_sim.hands import ENTRIES, Hands, from_radians, hand_states, to_radians
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2


def encoded_command(q) -> bytes:
    q = np.asarray(q, np.float32)
    zeros = np.zeros(len(q), np.float32)
    return encode_motor_cmds(MotorCmds(np.ones(len(q), np.uint8), q, zeros, zeros, zeros, zeros))


def test_one_is_open_and_zero_is_closed_right_hand_first():
    opened, closed = to_radians(np.ones(ENTRIES)), to_radians(np.zeros(ENTRIES))
    np.testing.assert_allclose(opened[:6], [0, 0, 0, 0, 0, -0.1])
    np.testing.assert_allclose(closed[:6], [1.7, 1.7, 1.7, 1.7, 0.5, 1.3])
    for name, low, high in zip(HAND_JOINTS, opened, closed, strict=False):
        joint = h1_2().joint(name)
        assert joint.lower - 1e-9 <= low < high <= joint.upper + 1e-9


def test_radians_and_back():
    q = np.random.default_rng(0).uniform(size=ENTRIES)
    np.testing.assert_allclose(from_radians(to_radians(q)), q, atol=1e-12)


def test_each_entry_moves_its_own_finger_no_faster_than_it_can():
    for entry in range(ENTRIES):
        hands = Hands(to_radians(np.ones(ENTRIES)))
        start = hands.targets(0.0).copy()
        q = np.ones(ENTRIES)
        q[entry] = 0.0
        hands.receive(encoded_command(q))
        moved = hands.targets(0.1) - start
        assert np.flatnonzero(moved).tolist() == [entry]
        assert moved[entry] == pytest.approx(0.05)  # rad in 0.1 s at 0.5 rad/s
        np.testing.assert_allclose(hands.targets(10.0), to_radians(q))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (encoded_command(np.ones(ENTRIES))[:-4], "size"),
        (encoded_command(np.ones(6)), "entries"),
        (encoded_command([np.nan] * ENTRIES), "not finite"),
    ],
)
def test_what_is_refused_changes_nothing(raw, reason):
    hands = Hands(to_radians(np.full(ENTRIES, 0.5)))
    hands.receive(raw)
    np.testing.assert_allclose(hands.targets(10.0), to_radians(np.full(ENTRIES, 0.5)))
    assert hands.counts == {reason: 1}


def test_states_are_what_a_driver_reports():
    q = np.linspace(0, 1, ENTRIES)
    states = decode_motor_states(hand_states(to_radians(q), np.ones(ENTRIES)))
    np.testing.assert_allclose(states.q, q, atol=1e-6)
    assert (states.dq < 0).all(), "closing takes q down"
