"""Limits of the actions, and the filter that keeps the commands within them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.limits import ARM, MotionFilter, action_limits
from h1_2_bridge.motors import RIGHT_ARM, motors
from rulesafe_core.chunks import SECOND, ChunkExecutor, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.robot import h1_2

DT = 0.004


def limits(**changes):
    return action_limits(BridgeConfig(**changes))


def test_limits_are_the_figures_scaled_by_a_slow_default():
    slow, full = limits(), limits(speed=1.0)
    figures, arm = motors(), list(RIGHT_ARM)
    assert np.allclose(full.velocity[:ARM], np.minimum(figures.velocity[arm], 9.0))
    assert np.allclose(slow.velocity[:ARM], 0.1 * full.velocity[:ARM])
    assert np.allclose(slow.acceleration[:ARM], 0.1 * full.acceleration[:ARM])
    assert np.allclose(slow.lower[:ARM], figures.lower[arm] + 0.02)
    assert np.allclose(slow.upper[:ARM], figures.upper[arm] - 0.02)
    assert np.allclose(slow.velocity[ARM:], 0.5)
    assert np.allclose(full.acceleration[ARM:], 10) and np.allclose(slow.acceleration[ARM:], 10)
    fingers = [h1_2().joint(name) for name in ACTION_JOINTS[ARM:]]
    assert slow.lower[ARM:].tolist() == [joint.lower for joint in fingers]
    assert slow.upper[ARM:].tolist() == [joint.upper for joint in fingers]
    assert np.allclose(limits(hand_speed=0.2).velocity[ARM:], 0.1)


@pytest.mark.parametrize("start", [-9.0, 0.0, 9.0])
def test_a_command_at_rest_stays_exactly_where_it_is(start):
    """Also at a joint limit, for any time step."""
    motion, times = MotionFilter(limits()), np.random.default_rng(0).uniform(0.001, 0.1, 500)
    motion.reset(np.clip(start, motion.limits.lower, motion.limits.upper))
    rest = motion.position.copy()
    for dt in times:
        assert (motion.step(rest, dt) == rest).all()


def test_a_path_that_obeys_the_limits_is_followed_without_a_lag():
    motion = MotionFilter(limits())
    times = np.arange(1, 1500) * DT
    path = 0.3 * (1 - np.cos(1.5 * times)) / 2  # 0.23 rad/s, 0.34 rad/s^2 at most
    ahead = np.arange(0, 1.0, DT)
    followed = [
        motion.follow(ahead[: len(path) - i], np.tile(path[i : i + 250, None], 13), DT)[3]
        for i in range(len(path))
    ]
    assert np.abs(followed - path).max() < 1e-3


def follow_steps(steps, speed=0.1):
    """Follow a chunk with the changes `steps` (n,), rad, of the elbow; return commands, targets."""
    bounds = limits(speed=speed)
    start = np.clip(np.zeros(13), bounds.lower, bounds.upper)
    start[3] = 1.0
    motion = MotionFilter(bounds)
    motion.reset(start)
    rows = np.tile(start, (len(steps), 1))
    rows[:, 3] += steps
    chunks = ChunkExecutor(bounds.lower, bounds.upper)
    chunks.accept(make_chunk(ACTION_JOINTS, rows, 0), 0, start)
    commands, targets, now = [start[3]], [start[3]], 0
    while now < (len(steps) / 10 + 2) * SECOND:
        now += round(DT * SECOND)
        times, path = chunks.path(now, motion.position)
        commands.append(motion.follow(times, path, DT)[3])
        targets.append(path[0][3])
    return np.array(commands), np.array(targets)


def excess(commands, targets):
    """Return by how much (rad) a command leaves the interval between the last command and the
    target of its time."""
    last, targets = commands[:-1], targets[1:]
    below, above = np.minimum(last, targets), np.maximum(last, targets)
    return np.maximum(below - commands[1:], commands[1:] - above).max()


MINIMUM_JERK = np.array([10 * t**3 - 15 * t**4 + 6 * t**5 for t in np.arange(1, 16) / 15])


@pytest.mark.parametrize(
    ("steps", "settled"), [([0.3] * 20, 0.8), ([0.45] * 20, 1.0), (MINIMUM_JERK, 1.7)]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_commands_do_not_overshoot_a_chunk(steps, settled, sign):
    """A step of 0.3 rad and of 0.45 rad, and 1 rad with minimum jerk within 1.5 s, which needs more
    than the velocity and acceleration limits."""
    commands, targets = follow_steps(sign * np.array(steps))
    assert excess(commands, targets) < 1e-3
    late = np.flatnonzero(np.abs(commands - targets[-1]) > 1e-3)
    assert late[-1] * DT < settled


@settings(max_examples=40)
@given(data=st.data())
def test_no_command_leaves_the_interval_between_command_and_target(data):
    """Smooth and rough paths, feasible or not, with turns."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    count = data.draw(st.integers(1, 50))
    if data.draw(st.booleans()):
        steps = np.cumsum(rng.normal(0, data.draw(st.floats(0.001, 0.1)), count))
    else:
        times = np.arange(1, count + 1) / 10
        steps = data.draw(st.floats(0.01, 0.45)) * np.sin(data.draw(st.floats(0.3, 10)) * times)
    steps = np.clip(steps, -0.45, 1.5)
    assert excess(*follow_steps(steps, data.draw(st.sampled_from([0.1, 0.3, 1.0])))) < 1e-3


def test_a_chunk_against_the_motion_brakes_at_the_limit(world):
    """The only case in which a command moves away from its target, for as long as braking takes."""
    world.send(world.moved({3: 0.5}, 10))
    world.run(0.6)
    before, velocity = world.core.drive.command[3], world.core.drive._motion.velocity[3]
    assert velocity > 0.4
    world.send(world.moved({3: -0.3}, 10))
    sent = len(world.commands)
    world.run(2.5)
    elbow = np.array([command.cmd.q[23] for command in world.commands[sent:]], float)
    assert elbow.max() - before <= velocity**2 / (2 * 2.0) + 1e-4
    assert excess(elbow[250:], np.full(len(elbow) - 250, before - 0.3)) < 1e-3
    assert elbow[-1] == pytest.approx(before - 0.3, abs=1e-3)


@settings(max_examples=75)
@given(data=st.data())
def test_whatever_the_target_and_the_steps_in_time_no_limit_is_broken(data):
    """Check position, velocity and acceleration, computed from the positions."""
    bounds = limits(speed=data.draw(st.sampled_from([0.05, 0.1, 0.5, 1.0])))
    motion = MotionFilter(bounds)
    share = data.draw(st.floats(0, 1))
    position = bounds.lower + share * (bounds.upper - bounds.lower)
    motion.reset(position)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    moved = np.zeros(13)
    for _ in range(120):
        dt = rng.uniform(0.001, 0.05)
        how = rng.integers(5)
        if how == 0:
            after = motion.brake(dt)
        elif how == 4:
            after = motion.follow(np.array([0, 0.1, 0.4]), rng.normal(0, 1, (3, 13)), dt)
        elif how == 1:
            after = motion.step(rng.uniform(-10, 10, 13), dt)
        elif how == 2:
            after = motion.step(position + rng.normal(0, 0.05, 13), dt)
        else:
            after = motion.step(np.where(rng.random(13) < 0.5, bounds.lower, bounds.upper), dt)
        velocity = (after - position) / dt
        assert (after >= bounds.lower).all() and (after <= bounds.upper).all()
        assert (np.abs(velocity) <= bounds.velocity + 1e-9).all()
        assert (np.abs(velocity - moved) <= bounds.acceleration * dt + 1e-7).all()
        position, moved = after, velocity


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("speed", [0.1, 1.0])
def test_full_speed_towards_a_joint_limit_ends_at_rest_there(speed, sign):
    """The last wall: whatever velocity is wanted, the joint can brake before its limit."""
    bounds, rng = limits(speed=speed), np.random.default_rng(0)
    motion = MotionFilter(bounds)
    middle = (bounds.lower + bounds.upper) / 2
    motion.reset(middle + 0.3)  # not symmetrical
    wanted, position, moved = np.full(13, sign * 99.0), motion.position.copy(), np.zeros(13)
    for _ in range(4000):
        dt = rng.uniform(0.002, 0.02)
        after = motion._move(wanted, dt)
        velocity = (after - position) / dt
        assert (np.abs(velocity - moved) <= bounds.acceleration * dt + 1e-7).all()
        room = bounds.upper - after if sign > 0 else after - bounds.lower
        assert (motion.velocity**2 / (2 * bounds.acceleration) <= room + 1e-9).all()
        position, moved = after, velocity
    assert room == pytest.approx(0, abs=1e-3) and (room >= 0).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_after_each_step_full_braking_ends_before_the_target(sign):
    """v^2 / 2a is at most the distance to the target, for any steps in time."""
    rng = np.random.default_rng(1)
    for speed in (0.1, 1.0):
        bounds = limits(speed=speed)
        motion = MotionFilter(bounds)
        start = (bounds.lower + bounds.upper) / 2
        motion.reset(start)
        for _ in range(300):
            motion.step(start + sign * 0.2, rng.uniform(0.002, 0.03))
            gap = sign * (start + sign * 0.2 - motion.position)
            assert (motion.velocity**2 / (2 * bounds.acceleration) <= gap + 1e-9).all()
        assert gap == pytest.approx(0, abs=1e-6)


def test_a_measured_posture_outside_the_limits_may_stay_or_come_inside():
    bounds = limits()
    for sign, limit in ((1, bounds.upper), (-1, bounds.lower)):
        motion = MotionFilter(bounds)
        motion.reset(limit + sign * 0.05)
        assert motion.step(limit + sign * 0.2, DT) == pytest.approx(limit + sign * 0.05)
        for _ in range(600):
            inside = motion.step(limit - sign * 0.1, DT)
        assert inside == pytest.approx(limit - sign * 0.1, abs=1e-4)
        for _ in range(600):
            back = motion.step(limit + sign * 0.2, DT)
        assert back == pytest.approx(limit, abs=1e-4), "it does not leave them again"


def test_a_filter_that_is_halted_starts_from_rest():
    motion = MotionFilter(limits())
    for _ in range(50):
        motion.step(np.full(13, 0.5), DT)
    assert motion.velocity[3] > 0.3
    before = motion.position.copy()
    motion.halt()
    assert not motion.velocity.any()
    assert motion.step(np.full(13, 0.5), DT)[3] - before[3] == pytest.approx(2.0 * DT * DT)


def test_times_and_targets_of_a_filter_are_checked():
    motion = MotionFilter(limits())
    before = motion.position.copy()
    for dt in (0.0, -DT, np.nan):
        for use in (lambda dt: motion.step(np.zeros(13), dt), motion.brake):
            with pytest.raises(RuleSafeError, match="dt must be greater than 0 s"):
                use(dt)
    targets = np.zeros((3, 13))
    targets[2, 0] = np.nan
    with pytest.raises(RuleSafeError, match="got right_shoulder_pitch_joint: nan"):
        motion.follow(np.array([0, 0.1, 0.2]), targets, DT)
    for wrong in (np.nan, np.inf):
        with pytest.raises(RuleSafeError, match="right_elbow_joint"):
            motion.step(np.where(np.arange(13) == 3, wrong, 0.0), DT)
    assert (motion.position == before).all()
    command = motion.step(np.full(13, 0.2), DT)
    command[:] = 9.0
    assert (motion.position != 9.0).all(), "the command is a copy"


def test_braking_comes_to_rest_and_stays():
    motion = MotionFilter(limits())
    for _ in range(500):
        motion.step(np.full(13, 1.0), DT)
    for _ in range(500):
        rest = motion.brake(DT)
    assert not motion.velocity.any()
    assert (motion.brake(DT) == rest).all()
