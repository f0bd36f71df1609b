import numpy as np
import pytest

from planner_node.kinematics import HAND_FRAME, Arm, Goal, upper_body
from rulesafe_sim.joints import ARM_JOINTS
from rulesafe_sim.robot import HOME
from rulesafe_sim.transforms import about_axis

HOME_ARM = np.array([HOME[name] for name in ARM_JOINTS])


@pytest.fixture(scope="module")
def arm():
    return Arm()


def test_forward_kinematics_agrees_with_the_body(arm):
    rng = np.random.default_rng(1)
    body = upper_body()
    for _ in range(20):
        joints = rng.uniform(arm.lower, arm.upper)
        expected = body.link_poses(dict(HOME) | dict(zip(ARM_JOINTS, joints, strict=True)))
        np.testing.assert_allclose(arm.hand_pose(joints), expected[HAND_FRAME], atol=1e-9)


def test_solutions_reach_the_pose_within_limits(arm):
    rng = np.random.default_rng(2)
    solved = 0
    for _ in range(100):
        joints = rng.uniform(arm.lower, arm.upper)
        start = np.clip(joints + rng.normal(0, 0.3, 7), arm.lower, arm.upper)
        goal = Goal(arm.hand_pose(joints))
        solution = arm.solve(goal, start)
        assert (solution.arm >= arm.lower).all() and (solution.arm <= arm.upper).all()
        off = arm.hand_pose(solution.arm)[:3, 3] - goal.pose_hand_in_pelvis[:3, 3]
        assert np.linalg.norm(off) == pytest.approx(solution.position_error, abs=1e-6)
        assert solution.reached == (
            solution.position_error <= goal.position and solution.rotation_error <= goal.rotation
        )
        solved += solution.reached
    assert solved >= 95


def test_slack_is_used_only_about_its_axes(arm):
    """A goal turned by 0.5 rad about z is served by the pose itself if z has that much slack."""
    pose = arm.hand_pose(HOME_ARM)
    goal = Goal(pose @ about_axis((0, 0, 1), 0.5), slack=(0.0, 0.0, 0.6))
    solution = arm.solve(goal, HOME_ARM)
    assert solution.reached
    np.testing.assert_allclose(solution.arm, HOME_ARM, atol=1e-9)
    wrong_axis = Goal(pose @ about_axis((0, 0, 1), 0.5), slack=(0.6, 0.6, 0.0))
    moved = arm.solve(wrong_axis, HOME_ARM)
    assert np.abs(moved.arm - HOME_ARM).max() > 0.05


def test_a_pose_out_of_reach_is_reported_with_its_residual(arm):
    pose = arm.hand_pose(HOME_ARM)
    pose[:3, 3] += (2.0, 0, 0)
    solution = arm.solve(Goal(pose), np.zeros(7))
    assert not solution.reached
    assert solution.position_error > 1.0
