"""The bridge's reaction to faults of policy, motors, hands, clocks and itself, in virtual time.

test_robot_state_faults.py tests faults of the robot's states. After each test `assert_safe` checks
every command that was sent.
"""

from dataclasses import replace

import numpy as np
import pytest
from virtual import (
    MS,
    World,
    assert_rests,
    assert_safe,
    with_fields,
)

from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.states import ControlState
from rulesafe_core.chunks import SECOND, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

# The policy -------------------------------------------------------------------------------------


def test_a_policy_that_stops_is_held_and_then_damped():
    world = World(damping_timeout=2.0).engaged()
    world.send(world.moved({3: 0.2}, 10))
    began = world.now
    assert world.until(ControlState.HOLDING) == pytest.approx(1.0 + 0.5, abs=0.012)
    assert world.core.reason == "no new chunk within 0.5 s (chunk_timeout)"
    assert_rests(world, 0.5)
    world.until(ControlState.DAMPING)
    assert (world.now - began) / SECOND == pytest.approx(1.5 + 2.0, abs=0.02)
    assert "HOLDING for 2 s: no new chunk within 0.5 s" in world.core.reason
    assert not world.commands[-1].cmd.kp.any()
    assert_safe(world)


def test_no_chunk_disables_the_watchdog_of_the_policy():
    """Whatever times a chunk has, a policy that stops after it is held within 10.5 s."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        world = World().engaged()
        times = np.cumsum(10.0 ** rng.uniform(-2, 4, int(rng.integers(1, 5))))
        rows = np.tile(world.core.drive.command, (len(times), 1))
        offsets = [round(time * SECOND) for time in times]
        accepted = False
        try:
            world.core.accept(make_chunk(ACTION_JOINTS, rows, world.clock, offsets), world.clock)
            accepted = True
        except RuleSafeError as error:
            assert "chunk" in str(error)
        took = world.until(ControlState.HOLDING, seconds=11.0)
        assert took <= (10.0 if accepted else 0.0) + 0.5 + 0.012


def test_a_hold_for_want_of_a_chunk_ends_with_the_next_one():
    world = World(damping_timeout=1.0).engaged()
    world.until(ControlState.HOLDING)
    world.run(0.9)
    world.send(world.moved({3: 0.2}, 10))
    assert world.state is ControlState.ACTIVE
    start = world.robot.q[23]
    world.run(1.2)
    assert world.robot.q[23] - start == pytest.approx(0.2, abs=0.02)
    world.until(ControlState.HOLDING)
    world.run(0.5)
    assert world.state is ControlState.HOLDING, "the damping timeout restarts"
    assert_safe(world)


# The motors -------------------------------------------------------------------------------------


def overloaded(name, index, value):
    def alter(state):
        values = np.array(getattr(state, name))
        values[index] = value
        return replace(state, **{name: values})

    return alter


@pytest.mark.parametrize(
    ("name", "index", "value", "within", "reason"),
    [
        (
            "temperature",
            20,
            85,
            0.02,
            "right_shoulder_pitch_joint is at 85 deg C, the limit is 80 deg C",
        ),
        ("temperature", (16, 1), 81, 0.02, "left_elbow_joint is at 81 deg C"),
        ("motor_fault", 24, 4, 0.02, "right_wrist_roll_joint reports fault 0x4"),
        ("tau", 23, -17.0, 0.23, "right_elbow_joint is at 17.0 N m, the limit is 16.2 N m"),
        ("tau", 12, 190.0, 0.23, "torso_joint is at 190.0 N m"),
        ("tau", 23, np.nan, 0.23, "right_elbow_joint is at nan N m"),
        ("q", 14, 0.9, 0.23, "left_shoulder_roll_joint is 0.7"),
    ],
)
def test_what_is_over_its_limit_is_held_with_the_reason(moving, name, index, value, within, reason):
    moving.alter = overloaded(name, index, value)
    assert moving.until(ControlState.HOLDING) <= within
    assert reason in moving.core.reason
    assert_rests(moving)
    with pytest.raises(RuleSafeError, match="HOLDING"):
        moving.send(moving.moved({3: 0.1}))
    moving.assert_not_engaged(r"limit|fault")
    moving.alter = lambda state: state
    moving.step()
    assert moving.state is ControlState.HOLDING, "only /bridge/engage ends it"
    moving.engage()
    moving.send(moving.moved({3: 0.1}))


def test_a_low_supply_voltage_releases_the_robot():
    world = World(voltage=48.0)
    low = with_fields(voltage=np.full(35, 47.5, np.float32))
    charged = with_fields(voltage=np.full(35, 54.0, np.float32))
    world.alter = low
    world.run(0.1)
    world.assert_not_engaged("is supplied with 47.5 V, the limit is 48 V")
    world.alter = charged
    world.engaged()
    world.alter = low
    assert world.until(ControlState.FAULT) <= 0.23
    assert "47.5 V" in world.core.reason
    world.run(1.0)
    assert world.commands[-1].cmd.q[WEIGHT_SLOT] == 0.0
    assert_safe(world)


def test_an_arm_that_moves_is_not_engaged():
    world = World()
    for joint in (13, 26):
        moving = np.zeros(35, np.float32)
        moving[joint] = -0.63
        world.alter = with_fields(dq=moving)
        world.run(0.1)
        world.assert_not_engaged(r"an arm moves at 0.63 rad/s; valid: below 0.2 rad/s")
    world.alter = lambda state: state
    world.engaged()
    assert_safe(world)


@pytest.mark.parametrize(
    ("name", "index", "value", "seconds"),
    [("tau", 23, 17.0, 0.15), ("temperature", 3, 95, 0.5)],
    ids=["a short peak of torque", "a leg"],
)
def test_what_has_no_effect(moving, name, index, value, seconds):
    moving.alter = overloaded(name, index, value)
    moving.run(seconds)
    moving.alter = lambda state: state
    moving.run(0.5)
    assert moving.state is ControlState.ACTIVE


def test_an_overload_while_the_weight_rises_stops_the_rise():
    world = World(ramp=2.0)
    world.run(0.1)
    world.core.engage(world.now)
    world.run(0.5)
    world.alter = overloaded("temperature", 20, 85)
    world.until(ControlState.HOLDING)
    weight = world.core.drive.weight
    world.run(0.5)
    assert world.core.drive.weight == weight < 0.3
    world.alter = lambda state: state
    world.step()
    world.engage()
    assert_safe(world)


# Hands, clocks, the bridge itself ---------------------------------------------------------------


def test_a_hand_that_stops_answering_is_held_until_engage():
    world = World(hand=True).moving(0.3)
    world.hand_answers = False
    assert world.until(ControlState.HOLDING) == pytest.approx(0.5, abs=0.02)
    assert "no state received from the hands for 0.5" in world.core.reason
    assert_rests(world)
    world.assert_not_engaged("no state received from the hands for")
    world.hand_answers = True
    world.step()
    world.engage()
    assert_safe(world)


def test_a_hand_that_returns_is_not_moved_to_its_old_target():
    """It is commanded again after engage, from its measured position and at its limited speed."""
    world = World(hand=True).moving(0.3)
    world.hand_answers = False
    world.until(ControlState.HOLDING)
    assert "hands" in world.core.reason
    before = len(world.hand_targets)
    world.fingers[:6] = 0.5  # moved by hand
    world.hand_answers = True
    world.run(0.5)
    assert len(world.hand_targets) == before
    world.engage()
    world.run(0.5)
    sent = np.array(world.hand_targets[before:])[:, :6]
    assert len(sent) and abs(sent[0] - 0.5).max() < 0.01
    speed = np.abs(np.diff(sent, axis=0)).max() / 0.004
    assert speed < 0.5 * world.config.hand_speed * 1.5
    assert_safe(world)


def test_a_hand_that_fails_while_another_fault_is_held_is_not_moved_either():
    world = World(hand=True).moving(0.3)
    world.alter = lambda state: replace(state, temperature=np.full((35, 2), 120, np.int16))
    world.until(ControlState.HOLDING)
    assert "hands" not in world.core.reason
    world.hand_answers = False
    world.run(1)
    before = len(world.hand_targets)
    world.fingers[:6] = 0.5  # moved by hand
    world.hand_answers, world.alter = True, lambda state: state
    world.run(0.5)
    assert len(world.hand_targets) == before
    world.engage()
    world.run(0.2)
    assert abs(world.hand_targets[before][:6] - 0.5).max() < 0.01


def test_a_stop_does_not_send_the_hand_a_position_from_before_a_pause():
    world = World(hand=True).engaged()
    world.run(0.3)
    before = len(world.hand_targets)
    world.hand_answers = False
    world.now += SECOND  # paused
    world.fingers[:6] = 0.5
    world.step()
    assert world.state is ControlState.FAULT
    world.run(0.1)
    assert len(world.hand_targets) == before


def test_a_hand_that_tells_of_a_fault_is_held_at_once():
    world = World(hand=True).engaged()
    world.run(0.1)
    last = world.core.hand.last
    world.hand_answers = False
    world.core.hand.receive(replace(last, fault="right hand: connection refused"))
    world.run(0.02)
    assert world.state is ControlState.HOLDING and "connection refused" in world.core.reason


@pytest.mark.parametrize("jump", [-3600.0, -0.5, 0.5, 3600.0])
def test_a_jump_of_the_clock_is_held_and_the_next_chunk_goes_on(moving, jump):
    moving.shift += round(jump * SECOND)
    moving.step()
    assert moving.state is ControlState.HOLDING
    assert moving.core.reason == f"the ROS clock jumped by {jump:.2f} s"
    before = moving.core.drive.posture.copy()
    assert_rests(moving)
    assert np.abs(moving.core.drive.posture - before).max() < 0.05, "the old chunk is dropped"
    moving.send(moving.moved({3: 0.1}))
    assert moving.state is ControlState.ACTIVE
    moving.run(0.5)
    assert moving.state is ControlState.ACTIVE


@pytest.mark.parametrize("milliseconds", [1, 20, 90])
def test_a_small_correction_of_the_clock_has_no_effect(moving, milliseconds):
    """Also right after a chunk was accepted, so that the clock is before its acceptance."""
    moving.send(moving.moved({3: 0.1}))
    moving.shift -= milliseconds * MS
    moving.run(0.2)
    assert moving.state is ControlState.ACTIVE
    assert_safe(moving)


def test_a_chunk_from_before_the_jump_is_dropped(moving):
    moving.run(0.1)
    old = moving.chunk(moving.moved({3: 0.1}, 50))
    moving.shift += round(0.5 * SECOND)
    moving.step()
    with pytest.raises(RuleSafeError, match="before the episode"):
        moving.core.accept(old, moving.clock)
    assert moving.state is ControlState.HOLDING


def test_a_clock_that_is_slewed_does_nothing(moving):
    for _ in range(250):
        moving.shift += MS // 3  # by a twelfth of a second per second, as chrony does
        moving.step()
    assert moving.state is ControlState.ACTIVE


def test_a_bridge_that_stood_still_holds_and_makes_no_step(moving):
    before = moving.core.drive.posture.copy()
    moving.step(120)
    assert moving.state is ControlState.HOLDING
    assert moving.core.reason == "the bridge was stalled for 0.12 s"
    assert np.abs(moving.core.drive.posture - before).max() < 0.01
    moving.send(moving.moved({3: 0.1}))
    moving.run(0.3)
    assert moving.state is ControlState.ACTIVE


def test_a_short_stall_is_caught_up_within_the_limits(moving):
    for milliseconds in (90, 4, 45, 4, 4):
        moving.step(milliseconds)
    assert moving.state is ControlState.ACTIVE
