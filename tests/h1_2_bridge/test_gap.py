"""Gaps between the bridge's commands: what the robot receives from the bridge and its supervisor.

After each test the commands of both publishers are checked as the robot received them.
"""

import numpy as np
import pytest
from supervised import SupervisedWorld
from virtual import MS, World, assert_safe, usual

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.core import BridgeCore
from h1_2_bridge.motors import RIGHT_ARM, WEIGHT_SLOT
from h1_2_bridge.outputs import load_output
from h1_2_bridge.states import ControlState
from h1_2_bridge.wire import LowCmd, encode_low_cmd
from rulesafe_core.errors import RuleSafeError


@pytest.fixture
def world():
    found = SupervisedWorld(ramp=1.0).moving(0.5)
    yield found
    found.assert_no_jump()


@pytest.mark.parametrize("seconds", usual([0.16, 0.25, 0.9, 2.0], 0.4, 1.2, 8.0))
def test_after_a_pause_the_robot_never_gets_the_old_weight(world, seconds):
    """Paused for longer than the supervisor's patience, the bridge does not publish again, and the
    weight falls to exactly 0."""
    before = len(world.commands)
    world.stop_for(seconds)
    world.run(2.5)
    assert world.state is ControlState.FAULT
    assert "no command was published for" in world.core.reason or "another program" in (
        world.core.reason
    )
    assert set(world.sources[before:]) == {"supervisor"}
    assert world.weights[-1] == 0.0 and world.core.weight == 0.0
    assert (np.diff(world.weights[before:]) <= 0).all()


def test_after_the_gap_it_engages_from_weight_0_at_the_measured_posture(world):
    world.stop_for(1.0)
    world.step()
    world.assert_not_engaged("reset")
    world.run(2.5)
    world.reset()
    with pytest.raises(RuleSafeError, match="another program publishes commands"):
        world.core.topic.foreign_time = world.now
        world.core.engage(world.now)
    world.run(1.1)
    world.robot.q[23] = world.robot.home[23] = world.robot.q[23] + 0.3  # moved in the meantime
    world.step()
    sent = len(world.commands)
    world.core.engage(world.now)
    world.step()
    first = world.commands[sent].cmd
    assert first.q[WEIGHT_SLOT] == pytest.approx(0.004, abs=1e-6)
    assert first.q[23] == pytest.approx(world.robot.q[23], abs=0.01)
    world.until(ControlState.ACTIVE)
    world.commands = world.commands[sent:]


def test_reset_is_no_way_around_a_supervisor_that_still_ramps(world):
    world.stop_for(0.5)
    world.run(0.1)
    assert 0 < world.core.weight < 0.9 and world.core.topic.foreign
    world.core.reset()
    world.step()
    world.assert_not_engaged("another program publishes commands")
    world.run(3.0)
    assert world.weights[-1] == 0.0


def test_the_reported_weight_is_the_executed_one_also_after_a_reset(world):
    world.stop_for(0.5)
    world.run(0.1)
    world.core.reset()
    world.step()
    assert world.state is ControlState.IDLE and "another program" in world.core.reason
    assert world.weights[-1] > 0.5
    while world.weights[-1]:
        assert world.core.weight == pytest.approx(world.weights[-1], abs=0.03)
        world.step()
    world.run(0.5)
    assert world.core.weight == 0.0


def test_a_command_computed_before_a_gap_is_not_sent_after_it(world):
    before = len(world.commands)
    world.send_delay = 300  # paused between computing and sending
    world.step()
    world.send_delay = 0
    assert len(world.commands) == before
    world.step()
    assert world.state is ControlState.FAULT and world.core.drive.silent()


def test_a_pause_during_the_publication_is_found_too(world):
    """The process was paused after the last check: the command was sent late."""
    core = world.core
    sent = core.tick(world.now + 4 * MS, world.clock + 4 * MS)
    raw = encode_low_cmd(sent.body)
    assert core.in_time(world.now + 5 * MS)
    core.published(raw, world.now + 400 * MS)
    core.receive(b"", world.now)
    assert core.tick(world.now + 404 * MS, world.clock).body is None
    assert world.state is ControlState.FAULT


@pytest.mark.parametrize("seconds", usual([0.05, 0.16, 0.3, 0.9], 0.19, 8.0))
@pytest.mark.parametrize("first", ["robot", "supervisor", "none"])
@pytest.mark.parametrize("killed", [False, True])
def test_an_old_command_of_a_bridge_paused_while_it_sends_has_no_lasting_effect(
    world, seconds, first, killed
):
    """DDS sends to one receiver after the other, and nothing can be checked in between."""
    before = len(world.commands)
    world.pause_in_send(seconds, first == "robot", first == "supervisor")
    if killed:
        world.stopped = True
    else:
        world.run(0.02)
    follows = [i + 1 for i, command in enumerate(world.commands) if command.late]
    assert len(follows) == (first != "robot")
    world.run(2.5)
    for i in follows:
        in_effect = world.commands[i].time - world.commands[i - 1].time
        assert in_effect <= 214 * MS  # the supervisor's patience and period, a step of the test
        if seconds > 0.25:
            assert world.sources[i] == "supervisor", "the takeover continues"
            assert in_effect <= 14 * MS
    if killed or seconds > 0.15:
        assert world.weights[-1] == 0.0
        in_time = [c.cmd.q[WEIGHT_SLOT] for c in world.commands[before:] if not c.late]
        assert (np.diff(in_time) <= 0).all()
    else:
        assert world.state is ControlState.ACTIVE and world.weights[-1] == 1.0


@pytest.mark.parametrize("seconds", usual([0.6, 3.0], 60.0))
def test_bridge_and_supervisor_paused_together(world, seconds):
    """A suspended machine: neither knows what the other did, and no other program commands."""
    before = len(world.commands)
    world.supervisor_alive = False
    world.stop_for(seconds)
    world.supervisor_alive = True
    world.run(2.5)
    assert world.state is ControlState.FAULT and "was paused, too" in world.core.reason
    assert set(world.sources[before:]) == {"bridge"}
    assert world.weights[-1] == 0.0 and (np.diff(world.weights[before:]) <= 0).all()


@pytest.mark.parametrize("seconds", usual([0.3, 0.6], 3.0))
@pytest.mark.parametrize("both", [True, False])
def test_interrupted_after_a_pause_it_does_not_end_before_the_robot_is_released(
    world, seconds, both
):
    """A signal that arrived in the pause: the first tick after it mutes the bridge."""
    world.supervisor_alive = not both
    world.stop_for(seconds)
    world.supervisor_alive = True
    for _ in range(2000):
        world.core.shut_down(world.now)
        world.step()
        if world.core.released:
            break
    else:
        pytest.fail("it does not end")
    world.stopped = True
    world.run(2.0)
    assert world.supervisor.idle(bridge=False)
    assert world.weights[-1] == 0


def test_a_paused_supervisor_does_not_return_with_an_old_weight(world):
    world.supervisor_alive = False
    world.run(2.5)
    assert world.weights[-1] == 0.0
    before = len(world.commands)
    world.supervisor_alive = True
    world.run(2.0)
    assert len(world.commands) == before


def test_without_a_supervisor_a_reset_ramps_down_from_the_last_command(world):
    """The supervisor dies with the pause: the robot keeps the last command until the reset."""
    world.supervisor_alive = False
    world.stop_for(1.0)
    world.run(1.0)
    assert world.core.drive.silent() and world.core.weight == 1.0
    last = world.commands[-1].cmd
    world.commands = world.commands[-1:]
    world.core.reset()
    world.step()
    assert np.abs(world.commands[-1].cmd.q - last.q)[list(RIGHT_ARM)].max() == 0
    world.commands = world.commands[1:]
    world.until(ControlState.IDLE)
    assert world.weights[-1] == 0.0


@pytest.mark.parametrize("seconds", usual([0.3, 0.9], 8.0))
@pytest.mark.parametrize("delay", usual([0.0, 3.0], 0.1))
@pytest.mark.parametrize("act", ["reset", "stop"])
def test_a_takeover_that_the_bridge_did_not_receive(world, seconds, delay, act):
    """The states of the robot filled the socket's buffer during the pause. The supervisor's
    heartbeat reports the weight that the robot executes."""
    before = len(world.commands)
    world.bridge_receives = False
    world.stop_for(seconds)
    world.run(delay)
    world.step()
    assert not world.core.topic.foreign and world.state is ControlState.FAULT
    if act == "stop":
        world.core.stop("a test")
    else:
        world.core.reset()
    world.run(3.0)
    assert set(world.sources[before:]) == {"supervisor"}
    assert world.weights[-1] == 0.0 and world.core.weight == 0.0
    if act == "stop":
        world.reset()
    before = len(world.commands)
    world.engage()
    assert world.weights[before] <= 0.004 + 1e-6


def test_after_a_takeover_that_it_did_not_receive_the_bridge_does_not_engage_at_once(world):
    """The supervisor still repeats weight 0, and the weights of both would alternate."""
    world.bridge_receives = False
    world.stop_for(2.0)
    world.step()
    world.reset()
    world.assert_not_engaged("another program publishes commands")
    world.run(1.1)
    world.engage()


def test_stop_damps_after_a_gap_unless_the_supervisor_commands(world):
    world.supervisor_alive = False
    world.stop_for(0.5)
    world.step()
    assert world.core.drive.silent()
    world.core.stop("a test")
    world.run(0.4)
    assert world.core.drive.silent(), "the supervisor may still send a heartbeat"
    world.run(0.2)
    assert world.state is ControlState.DAMPING and not world.commands[-1].cmd.kp.any()
    world.commands = []


def test_a_command_of_another_program_silences_the_bridge(world):
    q = np.zeros(35, np.float32)
    q[WEIGHT_SLOT] = 1.0
    before = len(world.commands)
    world.core.overhear(encode_low_cmd(LowCmd(0, 6, np.ones(35, np.uint8), q=q)), world.now)
    world.step()
    assert world.state is ControlState.FAULT
    assert "another program publishes on /arm_sdk" in world.core.reason
    assert set(world.sources[before:]) <= {"supervisor"}


@pytest.mark.parametrize("receives_own", [True, False])
def test_the_first_copy_of_a_command_silences_the_bridge(receives_own):
    world = World(receives_own=receives_own).engaged()
    world.run(0.5)
    assert world.state is ControlState.ACTIVE
    world.core.overhear(encode_low_cmd(world.commands[-1].cmd), world.now)
    assert world.state is ControlState.FAULT and world.core.drive.muted


def test_by_default_the_bridge_receives_its_own_commands():
    core = BridgeCore(BridgeConfig(), load_output("arm_sdk"))
    raw = encode_low_cmd(LowCmd(0, 6, np.ones(35, np.uint8)))
    core.tick(0, 0)
    core.published(raw, 0)
    core.overhear(raw, 0)
    assert not core.topic.foreign


def test_lowcmd_damps_after_a_gap():
    """Without the robot's own controller and a supervisor, damping is the safe command."""
    world = World("lowcmd").moving(0.5)
    world.step(400)
    assert world.state is ControlState.DAMPING
    assert "no command was published for 0.40 s (gap_timeout is 0.15 s)" in world.core.reason
    assert not world.commands[-1].cmd.kp.any()
    assert_safe(world)
