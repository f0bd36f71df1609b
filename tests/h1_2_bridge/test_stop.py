"""The software stop: the bridge and its supervisor obey a topic that needs no reply."""

from dataclasses import replace

import numpy as np
import pytest
from supervised import SupervisedWorld
from virtual import World, usual

from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.outputs import DAMPING
from h1_2_bridge.states import ControlState
from h1_2_bridge.wire import encode_low_cmd
from rulesafe_core.chunks import SECOND

PATIENCE = 0.2


def stiff(command):
    return bool(command.cmd.kp.any() and command.cmd.q[WEIGHT_SLOT] > 0)


def started(state: ControlState, seed: int = 0) -> SupervisedWorld:
    rng = np.random.default_rng(seed)
    world = SupervisedWorld(patience=PATIENCE, ramp=0.4, damping_timeout=1.0)
    world.run(0.2)
    if state is ControlState.IDLE:
        return world
    world.core.engage(world.now)
    world.until(state)
    if state is ControlState.ACTIVE:
        world.keep_moving()
    world.run(rng.uniform(0.02, 0.3))
    return world


def test_a_stop_during_a_reset_cancels_it(world):
    world.core.stop("a test")
    world.run(0.1)
    world.core.reset()
    world.run(0.2)
    assert 0 < world.core.weight < 1
    world.core.stop("another")
    weight = world.core.weight
    world.run(2)
    assert (world.state, world.core.weight) == (ControlState.DAMPING, weight)
    world.assert_not_engaged("DAMPING")
    world.reset()


def test_a_held_stop_button_does_not_prevent_the_shutdown(world):
    for _ in range(round(250 * (world.config.ramp + 1))):
        world.core.stop("a button")
        world.core.shut_down(world.now)
        world.core.stop("a button")
        world.step()
    assert world.core.weight == 0


@pytest.mark.episode
@pytest.mark.parametrize("seed", usual(range(25), *range(25, 100)))
def test_after_a_stop_no_command_has_stiffness(seed):
    """100 stops in any state, under load: the bridge loses messages, is paused, or is dead."""
    rng = np.random.default_rng(seed)
    state = ControlState[rng.choice(["ENGAGING", "ACTIVE", "ACTIVE", "HOLDING", "IDLE"])]
    world = started(state, seed)
    lost, paused = bool(rng.random() < 0.3), bool(rng.random() < 0.4)
    pause = float(rng.choice([0.05, 0.3, 5.0])) if paused else 0.0
    world.stopped = paused
    world.run(rng.uniform(0, 0.3) if paused else 0)
    requested = world.now
    world.request_stop(bridge=not lost)
    world.run(pause)
    world.stopped = False
    if paused and not lost:
        world.core.stop("stop requested by a test")  # from its queue
    for _ in range(25):
        world.step(int(rng.choice([2, 4, 9, 40])))
    world.run(1.5)
    late = requested + round((PATIENCE + 0.05) * SECOND)
    after = [command for command in world.commands if command.time > late]
    assert not any(stiff(command) for command in after), (state, lost, pause)
    if state is not ControlState.IDLE:
        assert not stiff(world.commands[-1])
        assert world.state in (ControlState.DAMPING, ControlState.FAULT)
        world.assert_not_engaged("reset")


def test_the_bridge_damps_with_its_next_command():
    world = started(ControlState.ACTIVE)
    world.request_stop()
    world.step()
    assert not stiff(world.commands[-1]) and world.sources[-1] == "bridge"
    world.run(1.0)
    assert set(world.sources) == {"bridge"}, "the supervisor does not interfere"
    world.reset()
    world.run(1.2)
    world.engage()
    assert set(world.sources) == {"bridge"}, "nor after the reset"


def test_the_supervisor_stops_a_bridge_that_does_not_obey():
    """It damps and ramps the weight down, and the bridge, which hears it, is silent."""
    world = started(ControlState.ACTIVE)
    world.reports_stop = False
    world.request_stop(bridge=False)
    world.run(PATIENCE + 0.02)
    sent = len(world.commands)
    world.run(1.0)
    assert set(world.sources[sent:]) == {"supervisor"} and world.state is ControlState.FAULT
    last = [command.cmd for command in world.commands[sent:]]
    assert not any(cmd.kp.any() or cmd.tau.any() for cmd in last)
    assert all((cmd.kd[12:27] == DAMPING).all() and not cmd.kd[:12].any() for cmd in last)
    assert last[-1].q[WEIGHT_SLOT] == 0.0
    assert (np.diff([cmd.q[WEIGHT_SLOT] for cmd in last]) <= 0).all()


def test_a_stop_of_a_dead_bridge_turns_the_takeover_into_damping():
    world = started(ControlState.ACTIVE)
    world.stopped = True
    world.run(PATIENCE + 0.05)
    assert stiff(world.commands[-1]) and world.sources[-1] == "supervisor"
    world.request_stop()
    world.run(0.02)
    assert not stiff(world.commands[-1]) and world.weights[-1] > 0.5


@pytest.mark.parametrize("seconds", usual([0.3, 0.6], 3.0))
@pytest.mark.parametrize("both", [True, False])
def test_after_a_stop_a_pause_does_not_bring_stiffness_back(seconds, both):
    """As on a suspended machine: the arm has sunk since the last stiff command."""
    world = started(ControlState.ACTIVE)
    world.request_stop()
    world.run(1.0)
    before = len(world.commands)
    world.supervisor_alive = not both
    world.stop_for(seconds)
    world.supervisor_alive = True
    world.run(1.5)
    assert world.state is ControlState.DAMPING
    world.reset()
    assert not any(stiff(command) for command in world.commands[before:])
    assert world.weights[-1] == 0


def test_without_a_supervisor_a_reset_after_a_stop_and_a_pause_only_damps():
    world = started(ControlState.ACTIVE)
    world.request_stop()
    world.run(0.1)
    world.supervisor_alive = False
    before = len(world.commands)
    world.stop_for(0.3)
    world.run(0.1)
    world.reset()
    assert not any(stiff(command) for command in world.commands[before:])


@pytest.mark.parametrize("period", usual([0.02, 0.2], 0.1))
@pytest.mark.parametrize("dead", [True, False])
def test_further_requests_do_not_delay_the_supervisor(period, dead):
    """As those of `rulesafe bridge stop`, of several people, or of a node that repeats them."""
    world = started(ControlState.ACTIVE)
    world.stopped, world.reports_stop = dead, False
    begin = due = world.now
    while world.now < begin + SECOND:
        if world.now >= due:
            due += round(period * SECOND)
            world.request_stop(bridge=False)
        world.step()
    late = begin + round((PATIENCE + 0.05) * SECOND)
    assert not any(stiff(command) for command in world.commands if command.time > late)
    assert world.weights[-1] == 0, "and it is released"


def test_lowcmd_damps_when_another_program_has_become_silent():
    world = World("lowcmd").moving(0.5)
    raw = encode_low_cmd(replace(world.commands[-1].cmd, q=world.commands[-1].cmd.q + 1e-3))
    world.core.overhear(raw, world.now)
    world.run(0.5)
    assert world.core.reason == "another program publishes on /lowcmd: a program to end"
    world.core.overhear(raw, world.now)
    sent = len(world.commands)
    assert "when the other program has been silent for 1 s" in world.core.stop("a test")
    world.run(0.9)
    assert len(world.commands) == sent, "never two publishers"
    world.run(0.2)
    assert world.state is ControlState.DAMPING
    assert len(world.commands) > sent and not world.commands[-1].cmd.kp.any()


def test_a_bridge_that_lost_the_request_learns_of_it_from_the_heartbeat():
    world = started(ControlState.ACTIVE)
    world.request_stop(bridge=False)
    world.run(0.1)
    assert world.state is ControlState.DAMPING and "the supervisor received" in world.core.reason
    world.run(1.0)
    assert set(world.sources) == {"bridge"}, "the supervisor need not take over"
    world.reset()
    world.engage()


def test_while_a_request_is_pending_the_bridge_does_not_engage():
    world = started(ControlState.IDLE)
    world.request_stop(bridge=False)
    world.run(0.1)
    world.assert_not_engaged("a stop was requested: engage a second after")
    world.run(1.0)
    world.engage()


def test_a_bridge_that_engages_just_after_a_lost_request_stops():
    """It does not receive the supervisor's commands either, so that both would publish."""
    world = started(ControlState.IDLE)
    world.bridge_receives = False
    world.request_stop(bridge=False)
    world.core.engage(world.now)
    world.run(1.0)
    assert world.state is ControlState.DAMPING and set(world.sources) == {"bridge"}
    world.assert_no_jump()
