"""The bridge's reaction to lost, late, repeated and wrong states of the robot, in virtual time.

After each test `assert_safe` checks every command that was sent.
"""

from dataclasses import replace

import numpy as np
import pytest
from virtual import MS, World, assert_rests, assert_safe, corrupted, with_fields

from h1_2_bridge.drive import ZEROS
from h1_2_bridge.states import ControlState
from h1_2_bridge.wire import encode_low_state
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError


def assert_lets_go_after_a_fault(world):
    """Assert that the weight ramps down to exactly 0 and nothing is sent until a reset."""
    assert world.state is ControlState.FAULT
    world.run(world.config.ramp + ZEROS + 0.1)
    assert world.weights[-1] == 0.0
    assert world.now - world.commands[-1].time > 0.05 * SECOND
    assert world.state is ControlState.FAULT, "only a reset ends it"
    for call in (world.core.engage, world.core.disengage):
        with pytest.raises(RuleSafeError, match="reset"):
            call(world.now)


def test_ankles_in_motor_coordinates_are_not_commanded():
    """With mode_pr 1 the measured ankle positions are not those of the joints."""
    world = World("lowcmd")
    world.alter = lambda state: replace(state, mode_pr=1)
    world.run(0.1)
    world.assert_not_engaged("mode_pr is 1")
    world.alter = lambda state: state
    world.run(0.1)
    world.engage()
    world.alter = lambda state: replace(state, mode_pr=1)
    world.run(0.1)
    assert world.state is ControlState.FAULT and "mode_pr is 1" in world.core.reason
    arms = World("arm_sdk")
    arms.alter = lambda state: replace(state, mode_pr=1)
    arms.engaged().run(0.1)
    assert arms.state is ControlState.ACTIVE, "the legs are not commanded"


def test_states_lost_for_50_ms_are_a_fault(moving):
    moving.alter = lambda state: None
    last = moving.core.watch.stamp
    moving.run(0.048)
    assert moving.state is ControlState.ACTIVE
    moving.step()
    moving.until(ControlState.FAULT)
    assert (moving.now - last) / MS == pytest.approx(52, abs=4.1)
    assert "no valid state received from the robot for 0.05" in moving.core.reason
    assert_rests(moving, 0.4)
    assert_lets_go_after_a_fault(moving)


def test_after_lost_states_the_robot_comes_back_and_a_reset_is_asked_for(moving):
    moving.alter = lambda state: None
    moving.until(ControlState.FAULT)
    moving.core.reset()
    moving.until(ControlState.DISCONNECTED)
    moving.alter = lambda state: state
    moving.until(ControlState.IDLE)
    moving.engage()


def test_single_lost_states_do_nothing(moving):
    rng = np.random.default_rng(0)
    moving.alter = lambda state: None if rng.random() < 0.3 else state
    moving.run(3.0)
    assert moving.state is ControlState.ACTIVE


def test_a_robot_lost_while_idle_is_disconnected_and_comes_back():
    world = World()
    world.run(0.1)
    world.alter = lambda state: None
    world.run(0.1)
    assert world.state is ControlState.DISCONNECTED and "no valid state" in world.core.reason
    world.alter = lambda state: state
    world.step()
    assert world.state is ControlState.IDLE and not world.commands


def delayed(world, milliseconds):
    """Delay all states; their ticks show the delay."""
    waiting = []

    def alter(state):
        waiting.append((world.now, state))
        if world.now - waiting[0][0] < milliseconds * MS:
            return None
        return waiting.pop(0)[1]

    return alter


def test_states_that_come_late_are_a_fault_though_they_come_regularly(moving):
    moving.alter = delayed(moving, 80)
    moving.run(0.3)
    assert moving.state is ControlState.FAULT
    assert moving.core.watch.counts.late > 40
    assert "s late" in moving.core.reason or "no valid state" in moving.core.reason
    assert_lets_go_after_a_fault(moving)


def test_states_a_little_late_do_nothing(moving):
    moving.alter = delayed(moving, 20)
    moving.run(2.0)
    assert moving.state is ControlState.ACTIVE and not moving.core.watch.counts.late


def test_states_that_come_twice_are_used_once(moving):
    def twice():
        moving.core.receive(encode_low_state(moving.low_state()), moving.now)
        return moving.low_state()

    moving.alter = lambda state: twice()
    good = moving.core.watch.counts.good
    moving.run(1.0)
    assert moving.state is ControlState.ACTIVE
    assert moving.core.watch.counts.repeated == 250
    assert moving.core.watch.counts.good - good == 250


def test_overtaken_states_are_left_out(moving):
    """Each pair of states arrives in reverse order: the older one is not used."""
    held = []

    def swap(state):
        held.append(state)
        if len(held) < 2:
            return None
        older, newer = held.copy()
        held.clear()
        moving.core.receive(encode_low_state(newer), moving.now)
        return older

    moving.alter = swap
    moving.run(1.0)
    assert moving.state is ControlState.ACTIVE
    assert moving.core.watch.counts.reordered == 125
    assert moving.core.watch.last.tick == moving.tick


def test_states_with_a_wrong_crc_are_not_used_and_many_are_a_fault(moving):
    moving.alter = corrupted
    moving.step()
    assert moving.core.watch.counts.wrong_crc == 1 and moving.state is ControlState.ACTIVE
    moving.until(ControlState.FAULT)
    assert "wrong CRC" in moving.core.reason
    assert_lets_go_after_a_fault(moving)


def test_states_of_a_simulator_without_tick_and_crc():
    """They are refused unless the parameter says that the robot is a simulator; NaN and silence
    are faults there, too."""

    def simulated(state):
        raw = encode_low_state(replace(state, tick=0))
        return raw[:-4] + bytes(4)

    world = World()
    world.alter = simulated
    world.run(0.5)
    assert world.state is ControlState.DISCONNECTED
    world = World(simulator=True)
    world.modes.add(world.low_state().mode_machine)
    world.alter = simulated
    world.engaged()
    world.run(2.0)
    assert world.core.watch.counts.good > 500
    world.alter = lambda state: simulated(replace(state, q=np.full(35, np.nan, np.float32)))
    world.until(ControlState.FAULT, seconds=0.1)
    assert_safe(world)


def test_malformed_states_and_nan_are_not_used(moving):
    q = moving.low_state().q
    q[3] = np.nan
    moving.alter = with_fields(q=q)
    moving.step()
    moving.alter = lambda state: encode_low_state(state)[:-4]
    moving.step()
    assert moving.core.watch.counts.malformed == 2
    assert "LowState has 2088 bytes" in moving.core.watch.last_error
    moving.until(ControlState.FAULT)


def test_a_robot_that_repeats_one_state_is_frozen_and_a_fault(moving):
    frozen = moving.low_state()
    moving.alter = lambda state: frozen
    moving.until(ControlState.FAULT, seconds=0.06)
    assert f"repeated tick {frozen.tick}" in moving.core.reason
    assert_lets_go_after_a_fault(moving)


def test_joints_that_do_not_follow_are_held_and_no_longer_pressed(moving):
    """The ticks advance but the joints do not move: the arm is blocked or the robot is frozen."""
    q = moving.low_state().q
    moving.alter = with_fields(q=q)
    for _ in range(4):
        moving.send(moving.moved({3: 0.4}, 20))
        moving.run(0.8)
        if moving.state is ControlState.HOLDING:
            break
    assert moving.state is ControlState.HOLDING
    assert "right_elbow_joint is 0.3" in moving.core.reason and "limit" in moving.core.reason
    moving.run(2.0)
    assert moving.core.drive.posture[23] == pytest.approx(float(q[23]), abs=0.01)


def test_a_robot_that_starts_anew_is_a_fault(moving):
    moving.tick = 10
    moving.step()
    moving.until(ControlState.FAULT, seconds=0.06)
    assert "restarted" in moving.core.reason
    assert_lets_go_after_a_fault(moving)


@pytest.mark.parametrize("ticks", [-900, -100, 500, 3000])
def test_a_robot_switched_off_and_on_is_heard_again_whatever_its_ticks_say(ticks):
    """Its tick restarts from a lower value, or stopped or advanced in the meantime."""
    world = World()
    world.run(0.2)
    world.alter = lambda state: None
    world.run(2.0)
    world.tick += ticks - 2000
    world.alter = lambda state: state
    world.until(ControlState.IDLE, seconds=0.1)
    world.run(1.0)
    assert world.state is ControlState.IDLE
    world.engage()


def test_another_mode_machine_is_a_fault(moving):
    moving.alter = with_fields(mode_machine=5)
    moving.step()
    assert moving.state is ControlState.FAULT
    assert "mode_machine changed from 6 to 5" in moving.core.reason
