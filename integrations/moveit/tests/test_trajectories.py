"""Trajectories and tolerances of FollowJointTrajectory goals, without ROS."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_moveit.trajectories import (
    ErrorCode,
    GoalError,
    TrajectoryParameters,
    decode_tolerances,
    decode_trajectory,
    exceeded,
)

NOW = 100 * SECOND
MEASURED = np.linspace(0.0, 0.6, 13)


def as_time(seconds):
    time = round(seconds * SECOND)
    return SimpleNamespace(sec=time // SECOND, nanosec=time % SECOND)


def trajectory(times, positions, velocities=None, joints=ACTION_JOINTS, stamp=0.0):
    points = [
        SimpleNamespace(
            positions=list(row),
            velocities=[] if velocities is None else list(velocities[i]),
            time_from_start=as_time(time),
        )
        for i, (time, row) in enumerate(zip(times, positions, strict=True))
    ]
    header = SimpleNamespace(stamp=as_time(stamp))
    return SimpleNamespace(header=header, joint_names=list(joints), points=points)


def tolerances(path=(), goal=(), time=0.0):
    def entries(given):
        return [
            SimpleNamespace(name=n, position=p, velocity=v, acceleration=0) for n, p, v in given
        ]

    return SimpleNamespace(
        path_tolerance=entries(path),
        goal_tolerance=entries(goal),
        goal_time_tolerance=as_time(time),
    )


def test_a_path_begins_at_the_measured_posture_and_passes_each_point_at_its_time():
    rows = np.random.default_rng(0).uniform(-0.4, 0.4, (3, 13))
    path = decode_trajectory(trajectory([0.37, 1.5, 3.05], rows), NOW, MEASURED)
    assert np.allclose(path.sample(NOW)[0], MEASURED)
    for time, row in zip((0.37, 1.5, 3.05), rows, strict=True):
        assert np.allclose(path.sample(NOW + round(time * SECOND))[0], row)
    middle = path.sample(NOW + round(0.935 * SECOND))
    assert np.allclose(middle[0], (rows[0] + rows[1]) / 2)
    assert np.allclose(middle[1], (rows[1] - rows[0]) / 1.13)
    assert path.end == NOW + round(3.05 * SECOND)
    after = path.sample(path.end + SECOND)
    assert np.allclose(after[0], rows[2]) and not after[1].any()


def test_joints_may_be_in_any_order():
    order = np.random.default_rng(0).permutation(13)
    row = np.linspace(-0.3, 0.3, 13)
    names = [ACTION_JOINTS[i] for i in order]
    path = decode_trajectory(trajectory([1.0], [row[order]], joints=names), NOW, MEASURED)
    assert np.allclose(path.positions[-1], row)


def test_with_velocities_the_path_is_cubic():
    """A minimum-jerk-like motion: q = s^2 (3 - 2 s) has the velocity 6 s (1 - s)."""
    times = np.array([0.5, 1.0, 2.0])
    s = times / 2
    rows, rates = s**2 * (3 - 2 * s), 3 * s * (1 - s)
    path = decode_trajectory(
        trajectory(times, np.tile(rows[:, None], 13), np.tile(rates[:, None], 13)),
        NOW,
        np.zeros(13),
    )
    for time in np.linspace(0.01, 1.99, 30):
        q, v = path.sample(NOW + round(time * SECOND))
        s = time / 2
        assert np.allclose(q, s**2 * (3 - 2 * s), atol=1e-7)
        assert np.allclose(v, 3 * s * (1 - s), atol=1e-7)


def test_past_points_are_skipped_and_a_point_at_time_0_is_reached_soon():
    rows = np.zeros((2, 13))
    path = decode_trajectory(trajectory([1.0, 5.0], rows, stamp=98.0), NOW, MEASURED)
    assert path.times.tolist() == [NOW, 103 * SECOND]
    path = decode_trajectory(trajectory([0.0], rows[:1]), NOW, MEASURED)
    assert path.times.tolist() == [NOW, NOW + PERIOD]


def test_other_joints_hold_their_measured_positions():
    joint = ACTION_JOINTS[3]
    path = decode_trajectory(trajectory([1.0], [[0.5]], joints=[joint]), NOW, MEASURED, True)
    expected = MEASURED.copy()
    expected[3] = 0.5
    assert np.allclose(path.positions, [MEASURED, expected])


ROW = [[0.0] * 13]
TWICE = ACTION_JOINTS[0]
WRONG = {
    "a joint is missing": (trajectory([1.0], [[0.0] * 12], joints=ACTION_JOINTS[:12]), -2),
    "a joint is unknown": (trajectory([1.0], ROW, joints=(*ACTION_JOINTS[:12], "knee")), -2),
    "a joint twice": (
        trajectory([1.0], [[0.0] * 14], joints=(*ACTION_JOINTS, ACTION_JOINTS[0])),
        -2,
    ),
    "no joints": (trajectory([1.0], [[]], joints=()), -2),
    "no points": (trajectory([], []), -1),
    "too few positions": (trajectory([1.0], [[0.0] * 12]), -1),
    "too few velocities": (trajectory([1.0], ROW, [[0.0] * 12]), -1),
    "velocities of one point only": (trajectory([1.0, 2.0], ROW * 2, [[], [0.0] * 13]), -1),
    "NaN": (trajectory([1.0], [[math.nan] * 13]), -1),
    "infinite velocity": (trajectory([1.0], ROW, [[math.inf] * 13]), -1),
    "velocity at the end": (trajectory([1.0], ROW, [[0.1] * 13]), -1),
    "times that do not increase": (trajectory([1.0, 1.0], ROW * 2), -1),
    "negative time": (trajectory([-0.1, 1.0], ROW * 2), -1),
    "already over": (trajectory([1.0], ROW, stamp=99.0), -3),
    "stamp of another clock": (trajectory([1.0], ROW, stamp=1.7e9), -1),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_invalid_trajectory_is_refused_with_its_code(case):
    message, code = WRONG[case]
    with pytest.raises(GoalError) as error:
        decode_trajectory(message, NOW, MEASURED)
    assert error.value.code == code, error.value


def test_no_joints_are_refused_in_a_partial_goal_too():
    with pytest.raises(GoalError, match="missing"):
        decode_trajectory(trajectory([1.0], [[]], joints=()), NOW, MEASURED, True)


def test_tolerances_0_is_the_default_and_minus_1_is_none():
    elbow, wrist = ACTION_JOINTS[3], ACTION_JOINTS[4]
    defaults = TrajectoryParameters(path_tolerance=0.3, goal_tolerance=0.0)
    found = decode_tolerances(
        tolerances(path=[(elbow, 0.2, 0.0), (wrist, -1, 0.5)], goal=[(elbow, 0.0, 0.1)]), defaults
    )
    assert found.path[0, 2:6].tolist() == [0.3, 0.2, math.inf, 0.3]
    assert found.path[1, 3:5].tolist() == [math.inf, 0.5]
    assert found.goal[0, 3] == math.inf and found.goal[1, 3] == 0.1
    assert found.goal_time == defaults.goal_time_tolerance
    assert decode_tolerances(tolerances(time=2.5), defaults).goal_time == 2.5
    assert decode_tolerances(tolerances(time=-1.0), defaults).goal_time == math.inf
    unlimited = TrajectoryParameters(goal_time_tolerance=0.0)
    assert decode_tolerances(tolerances(), unlimited).goal_time == math.inf


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (("knee", 0.1, 0.0), ErrorCode.INVALID_JOINTS),
        ((ACTION_JOINTS[0], -2.0, 0.0), ErrorCode.INVALID_GOAL),
        ((ACTION_JOINTS[0], 0.0, math.nan), ErrorCode.INVALID_GOAL),
    ],
)
@pytest.mark.parametrize("field", ["path", "goal"])
def test_an_invalid_tolerance_is_refused(field, entry, code):
    with pytest.raises(GoalError) as error:
        decode_tolerances(tolerances(**{field: [entry]}), TrajectoryParameters())
    assert error.value.code == code


def test_an_exceeded_tolerance_is_named():
    limits, error = np.full((2, 13), 0.1), np.zeros((2, 13))
    assert exceeded(error, limits) == ""
    error[1, 3] = -0.25
    text = (
        "right_elbow_joint differs by 0.250 rad/s from the trajectory, the tolerance is 0.1 rad/s"
    )
    assert exceeded(error, limits) == text
    limits[1] = math.inf
    assert exceeded(error, limits) == ""
