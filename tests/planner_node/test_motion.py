from itertools import pairwise

import numpy as np
import pytest

from planner_node.motion import (
    FRAME,
    PLANNERS,
    Checker,
    NoPath,
    PathPlanner,
    Rates,
    shortcut,
    time_path,
)
from rulesafe_core.errors import RuleSafeError

LOW, HIGH = -2 * np.ones(7), 2 * np.ones(7)
START, GOAL = np.zeros(7), np.array([1.0, 0, 0, 0, 0, 0, 0])


HIT = [("hand", "wall")]


def nothing(joints):
    return []


def wall(joints):
    """Blocks the middle of joint 0's way, except where joint 1 is above 0.5."""
    return HIT if 0.4 < joints[0] < 0.6 and joints[1] < 0.5 else []


def is_free(path, contacts, resolution=0.02):
    checker = Checker(contacts)
    return all(checker.straight_is_free(a, b, resolution) for a, b in pairwise(path))


def test_a_free_line_stays_straight():
    path = PathPlanner(LOW, HIGH).plan(START, GOAL, nothing)
    np.testing.assert_array_equal(path, [START, GOAL])


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_path_goes_round_the_wall(planner):
    path = PathPlanner(LOW, HIGH, seed=3, planner=planner).plan(START, GOAL, wall)
    np.testing.assert_allclose(path[[0, -1]], [START, GOAL])

    def core(joints):  # a corner may be cut by what lies between two checked configurations
        return HIT if 0.44 < joints[0] < 0.56 and joints[1] < 0.46 else []

    assert is_free(path, core)


def test_a_blocked_line_is_bent_towards_a_posture_before_a_search():
    """Then it changes little with its ends."""
    rest = np.array([0.5, 1.0, 0, 0, 0, 0, 0])

    def core(joints):
        return HIT if 0.44 < joints[0] < 0.56 and joints[1] < 0.46 else []

    paths = [
        PathPlanner(LOW, HIGH, seed=seed, checks=300).plan(START, goal, wall, rest)
        for seed, goal in ((1, GOAL), (2, GOAL + 0.01))
    ]
    for path in paths:
        assert is_free(path, core)
    nearest = [np.abs(paths[1] - row).max(1).min() for row in paths[0]]
    assert max(nearest) < 0.06
    aside = PathPlanner(LOW, HIGH, seed=1).plan(START, GOAL, wall, -rest)  # blocked there as well
    assert is_free(aside, core)


@pytest.mark.parametrize("seed", range(6))
def test_a_path_does_not_jump_through_a_thin_wall(seed):
    def thin(joints):
        return HIT if 0.48 < joints[0] < 0.53 and joints[1] < 0.5 else []

    path = PathPlanner(1.5 * LOW, 1.5 * HIGH, seed=seed).plan(START, GOAL, thin)
    assert is_free(path, thin, 0.005)


def test_no_path_is_an_error_that_says_what_is_in_the_way():
    def shut(joints):
        return [("hand", "door"), *HIT] if 0.4 < joints[0] < 0.6 else []

    with pytest.raises(NoPath, match=r"RRTConnect found no .*; collisions: hand with") as error:
        PathPlanner(LOW, HIGH, checks=500).plan(START, GOAL, shut)
    assert set(error.value.blocked) == {("hand", "door"), ("hand", "wall")}


def test_a_blocked_end_is_named():
    with pytest.raises(NoPath, match="the goal of the path is in collision; collisions: hand with"):
        PathPlanner(LOW, HIGH).plan(START, 0.5 * GOAL, wall)


def test_an_unknown_planner_is_refused():
    with pytest.raises(RuleSafeError, match=r"motion planner.*RRTConnect"):
        PathPlanner(LOW, HIGH, planner="Dijkstra")


def test_the_same_question_has_the_same_answer():
    first, _, again = (
        PathPlanner(LOW, HIGH, seed=seed).plan(START, GOAL, wall) for seed in (5, 9, 5)
    )
    np.testing.assert_array_equal(first, again)


def test_shortcut_keeps_the_ends_and_never_lengthens():
    rng = np.random.default_rng(0)
    path = np.vstack([START, rng.uniform(-1, 1, (6, 7)), GOAL])
    short = shortcut(path, Checker(nothing))
    np.testing.assert_array_equal(short[[0, -1]], path[[0, -1]])
    length = np.linalg.norm(np.diff(short, axis=0), axis=1).sum()
    assert length < np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


@pytest.mark.parametrize("distance", [0.001, 0.05, 0.4, 3.0])
def test_timing_keeps_to_the_rates_and_ends_at_the_goal(distance):
    rates = Rates(0.9, 2.2)
    path = np.array([START, GOAL * distance])
    rows = time_path(path, rates)
    np.testing.assert_allclose(rows[-1], path[-1], atol=1e-12)
    speeds = np.diff(np.vstack([path[0], rows]), axis=0)[:, 0] / FRAME
    assert (speeds >= -1e-9).all()
    assert speeds.max() <= rates.velocity * 1.001
    assert np.abs(np.diff(speeds)).max(initial=0.0) / FRAME <= rates.acceleration * 1.001


def test_corners_keep_to_the_rates_and_faster_is_shorter():
    path = np.cumsum(np.random.default_rng(1).uniform(-0.5, 0.5, (6, 7)), axis=0)
    rates = Rates(0.9, 2.2)
    rows = time_path(path, rates)
    speeds = np.diff(np.vstack([path[0], rows]), axis=0) / FRAME
    assert np.abs(speeds).max() <= rates.velocity * 1.001
    assert np.abs(np.diff(speeds, axis=0)).max() / FRAME <= rates.acceleration * 1.001
    assert len(time_path(path, rates.scaled(2.0))) == pytest.approx(len(rows) / 2, abs=1)
