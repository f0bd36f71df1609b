from itertools import pairwise

import numpy as np
import pytest

from planner_node.motion import (
    FRAME,
    NoPath,
    PathPlanner,
    Speed,
    shortcut,
    straight_is_free,
    time_path,
)

LOW, HIGH = -2 * np.ones(7), 2 * np.ones(7)
START, GOAL = np.zeros(7), np.array([1.0, 0, 0, 0, 0, 0, 0])


def wall(joints):
    """Blocks the middle of joint 0's way, except where joint 1 is above 0.5."""
    return bool(0.4 < joints[0] < 0.6 and joints[1] < 0.5)


def test_a_free_line_stays_straight():
    path = PathPlanner(LOW, HIGH).plan(START, GOAL, lambda _: False)
    np.testing.assert_array_equal(path, [START, GOAL])


def test_a_path_goes_round_the_wall():
    path = PathPlanner(LOW, HIGH, seed=3).plan(START, GOAL, wall)
    np.testing.assert_allclose(path[[0, -1]], [START, GOAL])
    for a, b in pairwise(path):
        assert straight_is_free(a, b, wall)


@pytest.mark.parametrize("seed", range(6))
def test_a_path_does_not_jump_through_a_thin_wall(seed):
    def thin(joints):
        return bool(0.48 < joints[0] < 0.53 and joints[1] < 0.5)

    path = PathPlanner(1.5 * LOW, 1.5 * HIGH, seed=seed).plan(START, GOAL, thin)
    for a, b in pairwise(path):
        assert straight_is_free(a, b, thin, 0.005)


def test_no_path_is_an_error():
    def shut(joints):
        return bool(0.4 < joints[0] < 0.6)

    with pytest.raises(NoPath, match="checked configurations"):
        PathPlanner(LOW, HIGH, checks=500).plan(START, GOAL, shut)


def test_the_same_question_has_the_same_answer():
    first, _, again = (
        PathPlanner(LOW, HIGH, seed=seed).plan(START, GOAL, wall) for seed in (5, 9, 5)
    )
    np.testing.assert_array_equal(first, again)


def test_shortcut_keeps_the_ends_and_never_lengthens():
    rng = np.random.default_rng(0)
    path = np.vstack([START, rng.uniform(-1, 1, (6, 7)), GOAL])
    short = shortcut(path, lambda _: False)
    np.testing.assert_array_equal(short[[0, -1]], path[[0, -1]])
    length = np.linalg.norm(np.diff(short, axis=0), axis=1).sum()
    assert length < np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


@pytest.mark.parametrize("distance", [0.001, 0.05, 0.4, 3.0])
def test_timing_keeps_to_the_speed_and_ends_at_the_goal(distance):
    speed = Speed(0.9, 0.4)
    path = np.array([START, GOAL * distance])
    rows = time_path(path, speed)
    np.testing.assert_allclose(rows[-1], path[-1], atol=1e-12)
    steps = np.diff(np.vstack([path[0], rows]), axis=0)[:, 0]
    assert (steps >= -1e-12).all()
    assert steps.max() <= speed.peak * FRAME + 1e-9
