"""Controllers of the simulated robot."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h1_2_bridge.messages import SLOTS
from h1_2_bridge.motors import MOTOR_COUNT, RIGHT_ARM, WEIGHT_SLOT
from h1_2_bridge.wire import LowCmd, encode_low_cmd
from h1_2_sim.controllers import (
    CONTROLLERS,
    MODE_MACHINE,
    ArmSdkController,
    Drives,
    LowCmdController,
    holding,
    load_controller,
)
from rulesafe_core.errors import RuleSafeError

OWN = holding(np.linspace(-1, 1, MOTOR_COUNT), np.linspace(0, 5, MOTOR_COUNT))


def command(weight: float = 1.0, seed: int = 0, **changes) -> LowCmd:
    """Return a random command of all motors with a weight."""
    rng = np.random.default_rng(seed)
    values = {name: rng.normal(size=SLOTS).astype(np.float32) for name in ("q", "dq", "tau")}
    gains = {name: rng.uniform(1, 99, SLOTS).astype(np.float32) for name in ("kp", "kd")}
    values["q"][WEIGHT_SLOT] = weight
    drives_of = LowCmd(mode_machine=MODE_MACHINE, mode=np.ones(SLOTS, np.uint8), **values, **gains)
    return replace(drives_of, **changes)


def torque(drives: Drives, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
    return drives.tau + drives.kp * (drives.q - q) + drives.kd * (drives.dq - dq)


def drives_of(low_cmd: LowCmd) -> Drives:
    names = ("q", "dq", "tau", "kp", "kd")
    return Drives(*(getattr(low_cmd, name)[:MOTOR_COUNT].astype(float) for name in names))


def test_without_a_command_the_robot_holds_itself():
    assert ArmSdkController().drives(OWN) is OWN
    assert ArmSdkController().share == 0


@given(st.floats(0, 1, width=32), st.integers(0, 99))
def test_torques_of_arms_and_waist_are_mixed_by_the_weight(weight, seed):
    sent = command(weight, seed)
    controller = ArmSdkController()
    controller.receive(encode_low_cmd(sent))
    rng = np.random.default_rng(seed)
    q, dq = rng.normal(size=(2, MOTOR_COUNT))
    mixed = (1 - weight) * torque(OWN, q, dq) + weight * torque(drives_of(sent), q, dq)
    found = torque(controller.drives(OWN), q, dq)
    np.testing.assert_allclose(found[12:], mixed[12:], atol=1e-4)
    np.testing.assert_allclose(found[:12], torque(OWN, q, dq)[:12], rtol=1e-9)
    assert controller.share == pytest.approx(weight)


def test_a_weight_beyond_its_range_is_cut():
    controller = ArmSdkController()
    for weight, share in ((7.0, 1.0), (-1.0, 0.0)):
        controller.receive(encode_low_cmd(command(weight)))
        assert controller.share == share


@pytest.mark.parametrize("kind", CONTROLLERS.values())
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda c: encode_low_cmd(c)[:-1], "size"),
        (lambda c: encode_low_cmd(c)[:40] + b"\1" + encode_low_cmd(c)[41:], "crc"),
        (lambda c: encode_low_cmd(replace(c, mode_machine=1)), "mode_machine"),
        (lambda c: encode_low_cmd(replace(c, tau=np.full(SLOTS, np.nan, "f4"))), "not finite"),
    ],
)
def test_what_is_refused_changes_nothing(kind, spoil, reason):
    controller = kind()
    controller.receive(encode_low_cmd(command(0.5, seed=1)))
    before = controller.drives(OWN)
    controller.receive(spoil(command(0.9, seed=2)))
    np.testing.assert_array_equal(controller.drives(OWN).q, before.q)
    assert controller.counts == {"accepted": 1, reason: 1}
    assert controller.refused == 1


def test_in_debug_mode_only_enabled_motors_obey():
    controller = LowCmdController()
    assert not controller.drives(OWN).kp.any() and not controller.drives(OWN).tau.any()
    mode = np.zeros(SLOTS, np.uint8)
    mode[list(RIGHT_ARM)] = 1
    sent = command(mode=mode)
    controller.receive(encode_low_cmd(sent))
    drives, expected = controller.drives(OWN), drives_of(sent)
    on = controller.enabled.astype(bool)
    assert np.flatnonzero(on).tolist() == list(RIGHT_ARM)
    np.testing.assert_allclose(drives.kp[on], expected.kp[on])
    np.testing.assert_allclose(drives.q[on], expected.q[on], rtol=1e-6)
    assert not drives.kp[~on].any()
    assert (drives.kd[~on] == LowCmdController.BRAKE).all()
    assert controller.share == 1.0


def test_an_unknown_controller_is_named():
    with pytest.raises(RuleSafeError, match="arm_sdk, lowcmd"):
        load_controller("sport")
