"""The arm follows target poses within its limits."""

from itertools import pairwise

import numpy as np
import pytest

from planner_node.hand import PINCH, PRE_PINCH
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.robot import HOME
from teleop_node.settings import TeleopParameters
from teleop_node.tracking import (
    ANGLE_TOLERANCE,
    POSITION_TOLERANCE,
    CommandPath,
    PoseTracker,
    Target,
    ahead,
    check_target,
    difference,
    moved,
    pinch_point,
)

HOME_ROW = np.array([HOME[name] for name in ACTION_JOINTS])
LIMITS = TeleopParameters()
NONE = np.zeros(3)


@pytest.fixture
def tracker():
    return PoseTracker(LIMITS)


def follow(tracker, target, steps=60, start=HOME_ROW):
    """Return the joint targets (steps, 13) and the last reason; the arm follows without lag."""
    rows, reason, command = [], "", start
    for _ in range(steps):
        (command,), reason = tracker.path(command, target, command, 1)
        rows.append(command)
    return np.array(rows), reason


def test_a_target_is_reached_on_a_straight_line_at_limited_speed(tracker):
    start = tracker.hand_pose(HOME_ROW)
    goal = moved(start, np.array([0.08, 0.06, 0.05]), np.array([0.2, 0.0, 0.4]))
    rows, reason = follow(tracker, Target(goal))
    assert reason == ""
    poses = [start, *map(tracker.hand_pose, rows)]
    shift, turn = difference(poses[-1], goal)
    assert np.linalg.norm(shift) < 2 * POSITION_TOLERANCE
    assert np.linalg.norm(turn) < 2 * ANGLE_TOLERANCE
    steps = [difference(a, b) for a, b in pairwise(poses)]
    tolerance = 2 * POSITION_TOLERANCE
    assert max(np.linalg.norm(s) for s, _ in steps) < LIMITS.linear_speed * 0.1 + tolerance
    assert max(np.linalg.norm(t) for _, t in steps) < LIMITS.angular_speed * 0.1 + 0.01
    along = (pinch_point(goal) - pinch_point(start)) / np.linalg.norm(shift_of(start, goal))
    for pose in poses:
        offset = shift_of(start, pose)
        assert np.linalg.norm(offset - (offset @ along) * along) < 0.003


def shift_of(start, end):
    return difference(start, end)[0]


def test_a_rotation_keeps_the_pinch_point(tracker):
    start = tracker.hand_pose(HOME_ROW)
    rows, _ = follow(tracker, Target(moved(start, NONE, np.array([0.0, 0.0, 0.5]))))
    for row in rows:
        assert np.linalg.norm(shift_of(start, tracker.hand_pose(row))) < 0.002


def test_the_hand_stays_in_the_workspace(tracker):
    start = tracker.hand_pose(HOME_ROW)
    target = Target(moved(start, np.array([0.0, 0.5, 0.0]), NONE))
    narrow = PoseTracker(TeleopParameters(workspace_high=(0.95, pinch_point(start)[1] + 0.05, 0.8)))
    rows, reason = follow(narrow, target)
    assert reason == "limit of the workspace"
    assert shift_of(start, tracker.hand_pose(rows[-1]))[1] == pytest.approx(0.05, abs=0.002)


def test_a_target_out_of_reach_stops_the_arm_with_a_reason(tracker):
    start = tracker.hand_pose(HOME_ROW)
    rows, reason = follow(tracker, Target(moved(start, np.array([0.6, 0.3, 0.3]), NONE)), 80)
    assert reason.startswith(("out of the arm's reach", "near a singular posture"))
    np.testing.assert_array_equal(rows[-1], rows[-2])


def test_a_blocked_arm_is_not_pressed_further_but_may_move_back(tracker):
    start = tracker.hand_pose(HOME_ROW)
    ahead, back = np.array([0.2, 0.0, 0.0]), np.array([-0.1, 0.0, 0.0])
    command = HOME_ROW
    for _ in range(30):  # the measured arm does not move
        (command,), reason = tracker.path(command, Target(moved(start, ahead, NONE)), HOME_ROW, 1)
    assert reason.startswith("blocked: the arm lags")
    assert np.abs(command - HOME_ROW)[:7].max() < LIMITS.max_lag + 1e-9
    (after,), reason = tracker.path(command, Target(moved(start, back, NONE)), HOME_ROW, 1)
    assert reason == ""
    assert np.abs(after - HOME_ROW)[:7].max() < np.abs(command - HOME_ROW)[:7].max()


def test_a_fast_motion_does_not_count_as_lag(tracker):
    """The steps of a chunk are ahead of the arm that follows them."""
    fast = PoseTracker(TeleopParameters(linear_speed=0.5, joint_speed=3.0))
    target = Target(moved(fast.hand_pose(HOME_ROW), np.array([0.1, 0.1, 0.15]), NONE))
    rows, reason = fast.path(HOME_ROW, target, HOME_ROW, 5)
    assert np.abs(rows[-1] - HOME_ROW).max() > 1.2 * LIMITS.max_lag
    assert not reason.startswith("blocked")


def test_the_hand_does_not_touch_the_robot(tracker):
    """It stops in front of the chest, and may leave again."""
    start = tracker.hand_pose(HOME_ROW)
    rows, reason = follow(tracker, Target(moved(start, np.array([-0.4, 0.25, 0.1]), NONE)))
    assert reason.startswith("near itself: ")
    np.testing.assert_array_equal(rows[-1], rows[-2])
    back, reason = follow(tracker, Target(start), start=rows[-1])
    assert reason == ""
    assert np.linalg.norm(shift_of(start, tracker.hand_pose(back[-1]))) < 0.001


def test_fingers_close_and_open(tracker):
    closed, _ = follow(tracker, Target(grip=1.0), 30)
    np.testing.assert_allclose(closed[-1, 7:], PINCH)
    np.testing.assert_array_equal(closed[:, :7], np.tile(HOME_ROW[:7], (30, 1)))
    opened, _ = follow(tracker, Target(grip=0.0), 30, closed[-1])
    np.testing.assert_allclose(opened[-1, 7:], PRE_PINCH)
    assert np.abs(np.diff(opened[:, 7:], axis=0)).max() < 0.2


def test_far_targets_are_refused(tracker):
    start = tracker.hand_pose(HOME_ROW)
    check_target(moved(start, np.array([0.29, 0, 0]), NONE), start, LIMITS)
    with pytest.raises(RuleSafeError, match=r"0\.31 m and 0 deg from .*; valid: up to 0\.3 m"):
        check_target(moved(start, np.array([0.31, 0, 0]), NONE), start, LIMITS)
    with pytest.raises(RuleSafeError, match=r"0\.00 m and 69 deg"):
        check_target(moved(start, NONE, np.array([0, 0, 1.2])), start, LIMITS)


@pytest.mark.parametrize("speed", [0.05, 0.15, 5.0])
def test_velocities_are_limited(tracker, speed):
    start = tracker.hand_pose(HOME_ROW)
    shift, turn = difference(start, ahead(start, np.array([0, speed, 0]), NONE, LIMITS))
    np.testing.assert_allclose(shift, [0, min(speed, LIMITS.linear_speed) * 0.1, 0], atol=1e-9)
    assert np.linalg.norm(turn) < 1e-6
    _, turn = difference(start, ahead(start, NONE, np.array([0, 0, 10 * speed]), LIMITS))
    assert np.linalg.norm(turn) == pytest.approx(min(10 * speed, LIMITS.angular_speed) * 0.1)


def test_a_workspace_without_volume_is_refused():
    with pytest.raises(RuleSafeError, match="must be below workspace_high"):
        PoseTracker(TeleopParameters(workspace_low=(1.0, 0.0, 0.0)))


def test_commands_are_interpolated_and_held_outside_the_path():
    times = 10**18 + np.array([0, 100, 300]) * 1_000_000
    rows = np.random.default_rng(0).uniform(-0.4, 0.4, (3, 13))
    path = CommandPath(times, rows)
    assert path.end == times[2]
    for time, row in zip(times, rows, strict=True):
        np.testing.assert_allclose(path.sample(int(time)), row)
    halfway = path.sample(int(times[1]) + 100_000_000)
    np.testing.assert_allclose(halfway, (rows[1] + rows[2]) / 2)
    np.testing.assert_array_equal(path.sample(int(times[0]) - 1), rows[0])
    np.testing.assert_array_equal(path.sample(int(times[2]) + 10**9), rows[2])
    held = CommandPath(times[:1], rows[:1])
    np.testing.assert_array_equal(held.sample(int(times[2])), rows[0])
