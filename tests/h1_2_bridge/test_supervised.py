"""The bridge requires a living supervisor that receives its commands, and releases without it."""

import numpy as np
import pytest
from supervised import SupervisedWorld
from virtual import MS, World, assert_safe, with_fields

from h1_2_bridge.motors import MOTOR_COUNT, WEIGHT_SLOT
from h1_2_bridge.states import ControlState
from rulesafe_core.chunks import SECOND


def test_without_a_supervisor_engaging_is_refused():
    world = SupervisedWorld()
    world.supervisor_alive = False
    world.run(1.0)
    world.assert_not_engaged("no heartbeat of h1_2_bridge_supervisor")
    assert world.state is ControlState.IDLE and not world.commands
    world.supervisor_alive = True
    world.engaged()


def test_a_supervisor_that_does_not_reach_the_robot_is_of_no_use():
    world = SupervisedWorld()
    world.receivers = 0
    world.run(1.0)
    world.assert_not_engaged("the supervisor does not reach the robot")
    world.receivers = 1
    world.run(0.1)
    world.engaged()
    world.receivers = 0
    assert world.until(ControlState.FAULT) < 0.1
    assert "does not reach the robot" in world.core.reason
    world.run(1.0)
    assert world.weights[-1] == 0


@pytest.mark.parametrize("state", ["ENGAGING", "ACTIVE", "HOLDING"])
def test_a_supervisor_that_dies_leads_to_a_release_in_any_state(state):
    world = SupervisedWorld(ramp=1.0)
    world.run(0.2)
    world.core.engage(world.now)
    if state != "ENGAGING":
        world.until(ControlState[state])
    if state == "ACTIVE":
        world.keep_moving()
    world.run(0.3)
    assert world.state is ControlState[state]
    world.supervisor_alive = False
    died = world.now
    world.until(ControlState.FAULT, seconds=0.6)
    assert (world.now - died) / 1e9 >= 0.4 and "no heartbeat" in world.core.reason
    world.run(1.5)
    assert world.weights[-1] == 0.0
    world.assert_no_jump()
    assert_safe(world)


def test_a_supervisor_that_dies_while_the_arm_is_damped_leads_to_a_release():
    world = SupervisedWorld(ramp=1.0).engaged()
    world.core.stop("a test")
    world.run(1.0)
    assert world.weights[-1] == 1.0, "constant until the reset"
    world.supervisor_alive = False
    world.run(1.0)
    assert 0 < world.weights[-1] < 1 and not world.commands[-1].cmd.kp.any()
    world.run(1.0)
    assert world.weights[-1] == 0.0 and world.state is ControlState.DAMPING
    world.assert_no_jump()
    assert_safe(world)


def test_a_supervisor_that_does_not_receive_the_commands_is_lost_too():
    world = SupervisedWorld(ramp=1.0)
    world.supervisor_receives = False
    world.run(0.2)
    world.core.engage(world.now)
    world.until(ControlState.FAULT)
    assert "the supervisor does not receive the commands" in world.core.reason
    assert max(command.cmd.q[WEIGHT_SLOT] for command in world.commands) < 0.8
    world.run(1.5)
    assert world.weights[-1] == 0.0
    assert_safe(world)


def test_a_patience_below_the_gap_timeout_is_refused():
    """It would take over before the bridge knows of its own gap."""
    world = SupervisedWorld(patience=0.15)
    world.run(0.2)
    world.assert_not_engaged(r"patience is 0\.15 s; it must be above gap_timeout")


def test_a_supervisor_is_needed_with_arm_sdk_only():
    assert World("lowcmd", supervisor_timeout=0.5).core.supervisor is None
    assert World("arm_sdk", supervisor_timeout=0.5).core.supervisor is not None


def test_a_lasting_engagement_with_all_ramps_agrees_with_the_supervisor():
    for ramp in (0.2, 3.0):
        world = SupervisedWorld(ramp=ramp).engaged()
        world.run(1.0)
        world.disengage()
        assert not any(state is ControlState.FAULT for _, state, _ in world.states)
        assert np.isclose(world.weights[-1], 0.0)


def test_a_refused_damping_command_leads_to_a_release(monkeypatch):
    world = SupervisedWorld(patience=0.2, ramp=0.3).engaged()
    output = world.core.drive._output
    stiff = output.command(
        world.core.drive.posture, 1.0, np.zeros(MOTOR_COUNT), world.core.drive.mode_machine
    )
    monkeypatch.setattr(output, "damping", lambda *args: stiff)
    world.core.stop("test")
    world.run(0.17)
    assert world.core.drive.muted and world.supervisor.counts.takeovers == 0
    world.run(1.0)
    assert world.core.drive.muted and world.supervisor.counts.takeovers == 1
    assert world.weights[-1] == 0


@pytest.mark.parametrize("patience", [0.5, 10.0])
def test_a_restarted_bridge_does_not_engage_while_the_robot_executes_earlier_commands(patience):
    """The supervisor has not taken over yet, or the bridge does not receive its commands."""
    world = SupervisedWorld(patience=patience, ramp=1.0).engaged()
    world.bridge_receives = False
    world.stop_for(0.2 if patience > 1 else 0.8)
    world.start_bridge()
    world.run(0.3)
    world.assert_not_engaged(r"still executes earlier commands: .* weight [01]\.")
    world.run(patience + 1.5)
    world.engaged()
    world.assert_no_jump()


def test_refused_calls_to_engage_do_not_delay_the_detection_of_a_deaf_supervisor():
    world = SupervisedWorld().engaged()
    world.alter = with_fields(temperature=np.full((35, 2), 90, np.int16))
    world.run(0.5)
    assert world.state is ControlState.HOLDING
    world.start_supervisor()
    world.supervisor_receives = False
    begin = world.now
    while world.state is ControlState.HOLDING and world.now - begin < 3 * SECOND:
        world.assert_not_engaged("90")
        world.run(0.1)
    assert world.state is ControlState.FAULT and world.now - begin < 0.7 * SECOND


@pytest.mark.parametrize("again", [False, True])
def test_a_stop_just_before_engaging_that_the_bridge_loses_is_obeyed(again):
    world = SupervisedWorld(ramp=0.3).engaged()
    if again:
        world.core.disengage(world.now)
        world.until(ControlState.IDLE)
        world.run(1.0)
    else:
        world = SupervisedWorld(ramp=0.3)
        world.run(0.3)
    world.reports_stop = False
    world.request_stop(bridge=False)
    requested = world.now
    world.run(0.5)
    world.core.engage(world.now)
    engaged = world.now
    world.run(2.0)
    after = [c for c in world.commands if c.time > engaged and c.cmd.kp.any()]
    assert requested < engaged and all(c.time - engaged <= 50 * MS for c in after)
    assert world.weights[-1] == 0
