"""State transitions of the bridge, from the first robot state to the last weight of 0."""

import numpy as np
import pytest
from virtual import World, assert_safe, encode_remote, with_fields

from h1_2_bridge.drive import ZEROS
from h1_2_bridge.motors import LEFT_ARM, MOTOR_JOINTS, RIGHT_ARM, WEIGHT_SLOT, motors
from h1_2_bridge.outputs import DAMPING
from h1_2_bridge.states import ControlState
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError


def test_nothing_is_sent_before_engage_and_chunks_are_refused():
    world = World(hand=True)
    assert world.state is ControlState.DISCONNECTED
    world.run(2.0)
    assert world.state is ControlState.IDLE
    with pytest.raises(RuleSafeError, match="IDLE"):
        world.send(world.moved({3: 0.1}))
    world.run(1.0)
    assert not world.commands and not world.hand_targets
    assert world.core.refused == 1 and "IDLE" in world.core.refusal


def test_engage_starts_from_the_measured_posture_and_ramps_the_weight():
    world = World(ramp=2.0)
    world.robot.q[list(RIGHT_ARM)] += [0.1, -0.1, 0.2, 0.3, -0.2, 0.1, 0.1]
    world.robot.home = world.robot.q.copy()
    world.run(0.1)
    measured = world.robot.q.copy()
    world.core.engage(world.now)
    assert world.state is ControlState.ENGAGING
    took = world.until(ControlState.ACTIVE)
    assert took == pytest.approx(2.0, abs=0.008)
    postures = np.array([command.cmd.q[:27] for command in world.commands])
    used = list(world.output.motors)
    assert np.abs(postures[:, used] - measured[used]).max() < 1e-3
    assert (postures == postures[0]).all(), "the posture does not move while the weight rises"
    rising = world.weights
    assert 0 < rising[0] <= 0.004 / 2 + 1e-6 and rising[-1] == 1
    assert np.allclose(np.diff(rising)[:-1], 0.004 / 2, atol=1e-6)
    assert np.abs(world.robot.q - measured).max() < 0.01, "and the robot stays where it is"
    assert_safe(world)


@pytest.mark.parametrize("milliseconds", [60, 90, 200])
def test_a_late_first_tick_does_not_begin_the_ramp_with_a_jump(milliseconds):
    world = World(ramp=1.0)
    world.run(0.1)
    world.core.engage(world.now)
    world.step(milliseconds)
    assert world.weights[0] == pytest.approx(0.004, abs=1e-6)
    assert_safe(world)


def test_run_and_disengage_leave_the_weight_at_exactly_0(world):
    world.send(world.moved({0: -0.2, 3: 0.3}, 30))
    world.run(2.0)
    world.core.disengage(world.now)
    assert world.state is ControlState.HOLDING and "disengaging" in world.core.reason
    began = world.now
    world.until(ControlState.IDLE)
    assert (world.now - began) / SECOND == pytest.approx(world.config.ramp + ZEROS, abs=0.02)
    falling = world.weights
    last = falling[-int(ZEROS * 250) :]
    assert (last == 0.0).all() and last.size >= 40
    sent = len(world.commands)
    world.run(1.0)
    assert len(world.commands) == sent, "IDLE sends nothing"


def test_disengaging_goes_on_without_chunks_and_takes_none():
    world = World(damping_timeout=0.5).engaged()
    world.core.disengage(world.now)
    with pytest.raises(RuleSafeError, match="HOLDING: disengaging"):
        world.send(world.moved({3: 0.1}))
    world.assert_not_engaged("ramping down")
    world.until(ControlState.IDLE)
    assert ControlState.DAMPING not in [state for _, state, _ in world.states]


def test_disengage_in_the_middle_of_the_ramp():
    world = World(ramp=3.0)
    world.run(0.1)
    world.core.engage(world.now)
    world.run(1.5)
    assert world.core.drive.weight == pytest.approx(0.5, abs=0.01)
    assert world.disengage() == pytest.approx(1.5 + ZEROS, abs=0.02)
    assert world.weights[-1] == 0.0
    assert_safe(world)


def test_disengage_before_the_first_tick_sends_nothing_with_a_weight():
    world = World()
    world.run(0.1)
    world.core.engage(world.now)
    world.disengage()
    assert not world.weights.any()


def test_each_refusal_to_engage_says_why_and_changes_nothing():
    world = World(hand=True)
    world.assert_not_engaged("no valid state received from the robot yet")
    world.hand_answers = False
    world.run(0.1)
    world.assert_not_engaged("no state received from the hands yet")
    world.hand_answers = True
    world.run(0.1)
    hot = np.full((35, 2), 40, np.int16)
    hot[22, 1] = 81
    world.alter = with_fields(temperature=hot)
    world.run(0.1)
    world.assert_not_engaged(r"right_shoulder_yaw_joint is at 81 deg C.* limit is 80")
    q = world.low_state().q
    q[25] = 0.6
    world.alter = with_fields(q=q)
    world.run(0.1)
    world.assert_not_engaged(r"right_wrist_pitch_joint is measured at 0\.60")
    assert world.state is ControlState.IDLE and not world.commands
    world.alter = lambda state: state
    world.run(0.1)
    world.core.engage(world.now)


def test_a_posture_just_outside_its_limits_is_commanded_at_the_limit_and_may_only_come_inside():
    world = World()
    upper = motors().upper[25]
    world.robot.q[25] = world.robot.home[25] = upper
    q = world.low_state().q
    q[25] = upper + 0.02  # an encoder with an offset
    world.alter = with_fields(q=q)
    world.engaged()
    assert world.commands[0].cmd.q[25] == pytest.approx(upper, abs=1e-6)
    world.alter = lambda state: state
    world.send(world.moved({5: -0.1}))
    world.run(1.2)
    world.send(world.moved({5: 0.1}))
    world.run(1.4)
    margin = upper - world.config.margin
    assert world.core.drive.command[5] == pytest.approx(margin, abs=1e-4)
    assert_safe(world)


def test_stop_damps_until_a_reset_which_lets_go():
    world = World(hand=True).moving(1.0)
    world.core.stop("a test")
    world.step()
    damped = world.commands[-1].cmd
    assert world.state is ControlState.DAMPING and world.core.reason == "a test"
    assert not damped.kp.any() and not damped.tau.any()
    assert (damped.kd[list(world.output.motors)] == DAMPING).all()
    assert damped.q[WEIGHT_SLOT] == 1
    assert np.allclose(world.hand_targets[-1][:6], world.fingers[:6], atol=0.003)
    for call in (world.core.engage, world.core.disengage):
        with pytest.raises(RuleSafeError, match="DAMPING: a test"):
            call(world.now)
    with pytest.raises(RuleSafeError, match="DAMPING: a test"):
        world.send(world.moved({3: 0.1}))
    world.run(3.0)
    assert np.abs(world.robot.dq[list(RIGHT_ARM)]).max() < 2.0, "it sinks slowly"
    sent = len(world.commands)
    world.reset()
    assert world.weights[-1] == 0.0
    assert not any(command.cmd.kp.any() for command in world.commands[sent:])
    assert_safe(world)


@pytest.mark.parametrize(
    ("combinations", "buttons", "stops"),
    [
        *(("select, L2+B", each, True) for each in ("select", "L2 B", "L2 B up")),
        *(("select, L2+B", each, False) for each in ("L2", "B", "L2 A", "R2 B")),
        *(("A", each, each == "A") for each in ("A", "B L2 select")),
    ],
)
def test_the_remote_stops(combinations, buttons, stops):
    world = World(stop_buttons=combinations).engaged()
    world.alter = with_fields(remote=encode_remote(buttons.split()))
    world.step()
    assert world.state is (ControlState.DAMPING if stops else ControlState.ACTIVE)
    assert ("pressed on the remote" in world.core.reason) == stops
    assert world.commands[-1].cmd.kp.any() != stops


@pytest.mark.parametrize("output", ["arm_sdk", "lowcmd"])
def test_stop_before_engage_sends_nothing_and_forbids_to_engage(output):
    world = World(output)
    world.run(0.1)
    world.core.stop("a test")
    world.run(0.5)
    world.assert_not_engaged("reset")
    world.core.reset()
    world.run(0.5)
    assert world.state is ControlState.IDLE and not world.commands


def test_lowcmd_grows_stiff_and_ends_in_damping():
    world = World("lowcmd", ramp=1.0)
    world.run(0.1)
    world.engage()
    first, full = world.commands[0].cmd, world.commands[-1].cmd
    assert first.kp.max() < 0.01 * full.kp.max()
    assert np.allclose(full.kp, world.output.kp) and np.allclose(full.kd, world.output.kd)
    assert first.kd[:27] == pytest.approx(DAMPING, rel=0.01)
    assert first.mode[:27].all() and not first.mode[27:].any()
    assert not any(command.cmd.q[WEIGHT_SLOT] for command in world.commands)
    world.send(world.moved({3: 0.2}))
    world.run(1.0)
    world.disengage()
    last = world.commands[-1].cmd
    assert not last.kp.any() and not last.tau.any() and (last.kd[:27] == DAMPING).all()
    assert_safe(world)


def test_lowcmd_goes_on_damping_after_a_fault():
    world = World("lowcmd", ramp=0.5).engaged()
    world.alter = lambda state: None
    world.run(2.0)
    assert world.state is ControlState.FAULT
    last = world.commands[-1]
    assert last.time == world.now, "there is no other controller to take over"
    assert not last.cmd.kp.any() and (last.cmd.kd[:27] == DAMPING).all()


def test_the_other_arm_and_the_waist_hold_and_the_legs_are_not_commanded():
    world = World(speed=0.3).moving(4.0)
    q = np.array([command.cmd.q[:27] for command in world.commands])
    held = [12, *LEFT_ARM]
    assert np.ptp(q[:, held], axis=0).max() == 0
    assert np.ptp(q[:, list(RIGHT_ARM)], axis=0).max() > 0.1
    modes = np.array([command.cmd.mode for command in world.commands])
    assert not modes[:, :12].any() and modes[:, 12:27].all() and not modes[:, 27:].any()
    assert not any(command.cmd.kp[:12].any() for command in world.commands)


@pytest.mark.parametrize("joint", range(7))
def test_each_joint_of_an_action_moves_its_own_motor_and_no_other(world, joint):
    before = world.core.drive.posture.copy()
    world.send(world.moved({joint: 0.15}, 10))
    world.run(1.2)
    moved = world.core.drive.posture - before
    index = 20 + joint
    assert MOTOR_JOINTS[index].startswith("right_")
    assert moved[index] == pytest.approx(0.15, abs=0.01)
    assert not np.delete(moved, index).any()
    assert world.robot.q[index] - before[index] == pytest.approx(0.15, abs=0.02)


@pytest.mark.parametrize("finger", range(6))
def test_each_finger_of_an_action_moves_its_own_finger_of_the_right_hand(finger):
    world = World(hand=True).engaged()
    world.send(world.moved({7 + finger: 0.05}, 10))
    world.run(1.2)
    told = world.hand_targets[-1]
    assert np.isnan(told[6:]).all(), "the left hand holds its position"
    assert told[finger] == pytest.approx(0.35, abs=0.01)
    assert np.allclose(np.delete(told[:6], finger), 0.3)


def test_the_gravity_of_both_arms_is_fed_forward():
    world = World().engaged()
    world.run(0.3)
    tau, gravity = world.commands[-1].cmd.tau[:27], world.robot.gravity()
    arms = [*LEFT_ARM, *RIGHT_ARM]
    assert np.abs(tau[arms] - gravity[arms]).max() < 0.35, "other fingers, a little other torque"
    assert not np.delete(tau, arms).any()
    error = np.abs(world.robot.q - world.core.drive.posture)
    assert error[list(RIGHT_ARM)].max() < 0.01
    world = World(gravity=0.0).engaged()
    assert not world.commands[-1].cmd.tau.any()
    world.run(0.3)
    assert np.abs(world.robot.q - world.core.drive.posture)[23] > 0.05, "the elbow hangs"


def test_an_episode_begins_with_each_engagement_and_not_after_a_hold(world):
    assert world.core.episode == 1
    q = world.low_state().q
    q[23] += 0.5
    world.alter = with_fields(q=q)
    world.run(0.5)
    assert world.state is ControlState.HOLDING
    world.alter = lambda state: state
    world.step()
    world.engage()
    assert world.core.episode == 1
    world.disengage()
    world.engage()
    assert world.core.episode == 2


@pytest.mark.parametrize(("output", "weight"), [("arm_sdk", 1.0), ("lowcmd", 0.0)])
def test_the_stored_weight_of_the_command_topic(output, weight):
    """Commands of lowcmd have no weight."""
    assert World(output).engaged().core.topic.weight == weight


def test_a_change_of_the_returned_finger_positions_has_no_effect():
    drive = World().engaged().core.drive
    before = drive.command
    drive.fingers[:] = 9
    assert (drive.command == before).all()


def test_the_timeout_of_chunks_begins_again_with_each_activation():
    world = World(chunk_timeout=0.4).engaged()
    for _ in range(2):
        assert world.until(ControlState.HOLDING) == pytest.approx(0.4, abs=0.02)
        assert "no new chunk within 0.4 s" in world.core.reason
        world.engage()


def test_two_ticks_at_the_same_time_are_one_period_apart(world):
    for _ in range(2):
        assert world.core.tick(world.now, world.clock).body is not None
    assert world.state is ControlState.ACTIVE


def test_a_stop_of_a_bridge_that_is_not_engaged_does_not_command_the_hand():
    world = World(hand=True)
    world.run(0.2)
    assert world.state is ControlState.IDLE
    world.core.stop("a test")
    assert all(world.step().hand is None for _ in range(10))
