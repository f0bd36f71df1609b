"""Motor indices, gains, gravity torques and the two outputs."""

import json
from pathlib import Path

import numpy as np
import pytest
from sdk_motors import Robot

from h1_2_bridge.gravity import ArmGravity
from h1_2_bridge.messages import SLOTS
from h1_2_bridge.motors import (
    LEFT_ARM,
    LEGS,
    MOTOR_COUNT,
    MOTOR_JOINTS,
    RIGHT_ARM,
    WAIST,
    WEIGHT_SLOT,
    gains,
    motors,
)
from h1_2_bridge.outputs import DAMPING, OUTPUTS, load_output
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS

REFERENCE = Path(__file__).parents[3] / "shared/reference"


def reference(name):
    path = REFERENCE / name
    if not path.exists():
        pytest.skip(f"the manufacturer's figures are not here: {name}")
    return json.loads(path.read_text("utf-8"))


def test_motor_indices_and_limits_are_the_manufacturers():
    joints = reference("h1_2_kinematics.json")["h1_2_dfx"]["joints"]
    figures = motors()
    by_index = {joint["motor_index"]: name for name, joint in joints.items() if _moves(joint)}
    assert tuple(by_index[i] for i in range(MOTOR_COUNT)) == MOTOR_JOINTS
    for i, name in enumerate(MOTOR_JOINTS):
        limit = joints[name]["limit"]
        assert limit["lower"] == figures.lower[i] and limit["upper"] == figures.upper[i]
        assert limit["velocity"] == figures.velocity[i] and limit["effort"] == figures.effort[i]


def _moves(joint):
    return joint.get("motor_index") is not None


def test_gains_and_the_weights_slot_are_the_manufacturers():
    figures = reference("unitree_lowlevel.json")
    example = figures["gains"]["h1_2_arm_sdk_example"]
    arm_sdk, lowcmd = gains("arm_sdk"), gains("lowcmd")
    for arm in (LEFT_ARM, RIGHT_ARM):
        assert arm_sdk.kp[list(arm)].tolist() == example["kp"]
        assert arm_sdk.kd[list(arm)].tolist() == example["kd"]
    assert [arm_sdk.kp[WAIST], arm_sdk.kd[WAIST]] == example["waist"]
    teleoperation = figures["gains"]["xr_teleoperate_H1_2"]
    for i, name in enumerate(MOTOR_JOINTS):
        kind = "legs_waist"
        if "ankle" in name:
            kind = "ankle_pitch"
        elif "wrist" in name:
            kind = "wrist3"
        elif "shoulder" in name or "elbow" in name:
            kind = "shoulder_elbow"
        assert [lowcmd.kp[i], lowcmd.kd[i]] == teleoperation[kind], name
    assert figures["arm_sdk"]["weight_slot"] == WEIGHT_SLOT


def test_the_action_moves_the_right_arm():
    assert tuple(MOTOR_JOINTS[i] for i in RIGHT_ARM) == ARM_JOINTS
    assert tuple(range(20, 27)) == RIGHT_ARM and MOTOR_JOINTS[23] == "right_elbow_joint"
    assert {*LEGS, WAIST, *LEFT_ARM, *RIGHT_ARM} == set(range(MOTOR_COUNT))


def test_unknown_names_list_the_valid_ones():
    for call, match in (
        (lambda: gains("soft"), "unknown gain set 'soft'; valid: arm_sdk, lowcmd"),
        (lambda: load_output("sport"), "unknown output 'sport'; valid: arm_sdk, lowcmd"),
    ):
        with pytest.raises(RuleSafeError, match=match):
            call()


@pytest.mark.parametrize("arm", [LEFT_ARM, RIGHT_ARM])
def test_gravity_agrees_with_pinocchio(arm):
    """An independent computation with the same masses at random postures and other fingers."""
    robot, rng, index = Robot(), np.random.default_rng(0), list(arm)
    figures = motors()
    for _ in range(50):
        robot.q = rng.uniform(figures.lower, figures.upper)
        robot.q[:13] = 0  # legs and waist, which do not change the direction of gravity at the arms
        robot.q[WAIST] = rng.uniform(-2, 2)
        expected = robot.gravity()[index]
        assert np.abs(ArmGravity(arm).torque(robot.q[index]) - expected).max() < 0.2
    assert np.abs(expected).max() > 1.0


def test_gravity_is_computed_anew_as_the_arm_moves():
    gravity, fresh = ArmGravity(RIGHT_ARM), ArmGravity(RIGHT_ARM)
    posture = np.zeros(7)
    for step in range(200):
        posture = posture + 0.007 * np.cos(0.1 * step)
        exact = fresh._compute(posture)
        assert np.abs(gravity.torque(posture) - exact).max() < 0.2


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_command_enables_its_motors_alone_and_keeps_reserves_at_zero(name):
    output = load_output(name)
    posture, torque = np.linspace(-0.2, 0.2, MOTOR_COUNT), np.linspace(-3, 3, MOTOR_COUNT)
    used = list(output.motors)
    rest = [i for i in range(SLOTS) if i not in (*used, WEIGHT_SLOT)]
    for cmd in (
        output.command(posture, 0.25, torque, 6),
        output.damping(posture, 0.25, 6),
    ):
        assert np.flatnonzero(cmd.mode).tolist() == used and set(cmd.mode[used]) == {1}
        for field in (cmd.q, cmd.dq, cmd.tau, cmd.kp, cmd.kd):
            assert not field[rest].any()
        assert np.allclose(cmd.q[used], posture[used])
        assert not cmd.dq.any() and not cmd.reserve.any()
        assert (cmd.mode_pr, cmd.mode_machine) == (0, 6)
    damping = output.damping(posture, 0.25, 6)
    assert set(damping.kd[used]) == {DAMPING} == {8.0}
    assert np.count_nonzero(damping.kd) == len(used)
    assert not damping.kp.any() and not damping.tau.any()
    assert damping.q[WEIGHT_SLOT] == (0.25 if output.ends else 0)
    command = output.command(posture, 0.25, torque, 6)
    if name == "arm_sdk":
        assert command.q[WEIGHT_SLOT] == 0.25
        assert np.allclose(command.tau[used], torque[used])
        assert not command.kp[list(LEGS)].any() and command.kp[23] == 50
    else:
        assert command.q[WEIGHT_SLOT] == 0
        assert np.allclose(command.tau[used], 0.25 * torque)
        assert command.kp[0] == 0.25 * 300


def test_the_weight_scales_the_gains_of_lowcmd_only():
    posture = np.zeros(MOTOR_COUNT)
    arm_sdk, lowcmd = load_output("arm_sdk"), load_output("lowcmd")
    assert arm_sdk.ends and not lowcmd.ends
    for weight in (0.0, 0.25, 1.0):
        cmd = arm_sdk.command(posture, weight, posture, 6)
        np.testing.assert_allclose(cmd.kp, arm_sdk.kp)
        np.testing.assert_allclose(cmd.kd, arm_sdk.kd)
        cmd = lowcmd.command(posture, weight, posture, 6)
        np.testing.assert_allclose(cmd.kp, weight * lowcmd.kp)
        np.testing.assert_allclose(
            cmd.kd[:MOTOR_COUNT],
            weight * gains("lowcmd").kd + (1 - weight) * DAMPING,
            rtol=1e-6,
        )


def test_a_change_of_one_command_has_no_effect_on_the_next_one():
    output, posture = load_output("arm_sdk"), np.zeros(MOTOR_COUNT)
    output.command(posture, 1.0, posture, 6).mode[:] = 0
    assert output.command(posture, 1.0, posture, 6).mode.any()
