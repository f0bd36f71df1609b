"""Which chunks are accepted, clipped or refused, and the commands that follow from them."""

import numpy as np
import pytest
from virtual import World, assert_safe, usual

from h1_2_bridge.motors import RIGHT_ARM, motors
from h1_2_bridge.states import ControlState
from rulesafe_core.chunks import PERIOD, SECOND, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS


def refused(world, rows, match, **kwargs):
    """Assert that a chunk is refused with a message like `match` and the motion continues."""
    before, state = world.core.drive.command, world.state
    with pytest.raises(RuleSafeError, match=match):
        world.send(rows, **kwargs)
    assert world.core.refusal and world.state is state
    assert (world.core.drive.command == before).all()


def test_a_jump_is_refused_with_the_joint_and_the_running_chunk_goes_on(world):
    world.send(world.moved({3: 0.3}, 20))
    world.run(0.5)
    rows = world.moved({3: 0.1}, 10)
    rows[:, 0] += 0.6
    refused(world, rows, r"jumps: right_shoulder_pitch_joint by 0\.6. rad from the command")
    rows = world.moved({3: 0.1}, 10)
    rows[5:, 6] += 0.55
    refused(world, rows, r"right_wrist_yaw_joint by 0\.55 rad from step 4 to the next step")
    start = world.robot.q[23]
    world.run(0.8)
    assert world.robot.q[23] > start + 0.1 and world.state is ControlState.ACTIVE


def test_a_finger_may_be_sent_anywhere_and_gets_there_at_its_own_speed():
    world = World(hand=True).engaged()
    rows = world.moved({}, 30)
    rows[:, 7] = 1.5
    world.send(rows)
    world.run(2.0)
    pinky = np.array([targets[0] for targets in world.hand_targets])
    assert np.abs(np.diff(pinky)).max() <= 0.5 * 0.004 + 1e-9
    assert pinky[-1] == pytest.approx(0.3 + 0.5 * 2.0, abs=0.05)


def test_stale_and_out_of_order_chunks_are_dropped():
    world = World(chunk_age=1.0).engaged()
    world.run(0.2)
    refused(world, world.moved({3: 0.1}, 50), "stale: its observation is 1.2", age=1.2)
    world.send(world.moved({3: 0.1}, 20))
    world.run(0.1)
    refused(world, world.moved({3: 0.1}, 20), "older than that of the running chunk", age=0.2)
    refused(world, world.moved({3: 0.1}, 20), "does its sender follow the same clock", age=-2.0)
    refused(world, world.moved({3: 0.1}, 1), "no step is left|older than", age=0.3)


@pytest.mark.parametrize(
    ("times", "match"),
    [
        ((1000, 2000), r"ends 2000\.00 s from now, the limit \(chunk_horizon\) is 10 s"),
        ((2e9,), "chunk_horizon"),
        ((0.1, 10.1), "chunk_horizon"),
        ((0.6, 0.7), r"begins 0\.60 s from now, the limit \(chunk_timeout\) is 0\.5 s"),
        (np.arange(1, 502) / 100, "has 501 steps; valid: up to 500"),
    ],
)
def test_a_chunk_too_long_or_too_late_is_refused(world, times, match):
    rows = np.tile(world.core.drive.command, (len(times), 1))
    offsets = [round(time * SECOND) for time in times]
    with pytest.raises(RuleSafeError, match=match):
        world.core.accept(make_chunk(ACTION_JOINTS, rows, world.clock, offsets), world.clock)
    assert world.core.refused == 1


def test_chunks_of_observations_before_the_engagement_are_dropped(world):
    refused(world, world.moved({3: 0.1}), "before the episode began", age=0.3)


def test_nan_and_wrong_joint_names_are_rejected_with_the_reason(world):
    rows = world.moved({3: 0.1})
    rows[4, 3] = np.nan
    with pytest.raises(RuleSafeError, match="step 4 of the chunk is not finite for right_elbow"):
        world.chunk(rows)
    left = [name.replace("right_", "left_") for name in ACTION_JOINTS]
    with pytest.raises(RuleSafeError, match="unknown left_shoulder_pitch_joint"):
        world.chunk(world.moved({}), joints=left)


def test_rows_beyond_the_limits_are_clipped_to_the_margin_and_counted():
    world = World(speed=0.5).engaged()
    figures = motors()
    for _ in range(4):
        goal = world.moved({5: 0.4}, 4)
        world.send(goal)
        world.run(0.45)
    assert world.core.drive.command[5] == pytest.approx(figures.upper[25] - 0.02, abs=1e-4)
    assert world.core.clipped > 0
    assert max(command.cmd.q[25] for command in world.commands) <= figures.upper[25] - 0.02 + 1e-6
    assert_safe(world)


@pytest.mark.parametrize("seed", usual([0, 1], 2, 3))
@pytest.mark.parametrize("execution", ["newest", "blended"])
def test_a_policy_gone_mad_breaks_no_limit(seed, execution):
    """Random walks at the limit of acceptance, at irregular times, with refusals and holds."""
    world = World(speed=0.3, execution=execution, max_jump=1.0).engaged()
    rng = np.random.default_rng(seed)
    for _ in range(25):
        rows = world.core.drive.command + np.cumsum(rng.normal(0, 0.3, (20, 13)), axis=0)
        try:
            world.core.accept(make_chunk(ACTION_JOINTS, rows, world.clock), world.clock)
        except RuleSafeError:
            assert world.core.refusal
        for _ in range(int(rng.integers(1, 60))):
            world.step(int(rng.choice([2, 4, 4, 4, 7, 30])))
    assert world.core.accepted > 3
    q = np.array([command.cmd.q[list(RIGHT_ARM)] for command in world.commands])
    assert np.ptp(q, axis=0).min() > 0.2, "it did move"
    assert_safe(world)


def test_execute_steps_says_when_the_next_chunk_is_due():
    world = World(execute_steps=5, chunk_timeout=0.2).engaged()
    began = world.now
    world.send(world.moved({3: 0.2}, 50))
    world.until(ControlState.HOLDING)
    took = (world.now - began) / SECOND
    assert took == pytest.approx(5 * PERIOD / SECOND + 0.2, abs=0.02)
