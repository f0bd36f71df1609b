import numpy as np
import pytest

from planner_node.constraints import AxisConstraint, Goals, PointConstraint, pose_goals
from planner_node.hand import HAND_FRAME, PINCH_POINT
from planner_node.inverse_kinematics import Costs, Infeasible, Solution, descend, distinct, solve
from planner_node.kinematics import Arm, PositionLimits, upper_body
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import HOME

HOME_ARM = np.array([HOME[name] for name in ARM_JOINTS])


@pytest.fixture(scope="module")
def arm():
    return Arm()


def test_forward_kinematics_agrees_with_the_body(arm):
    rng = np.random.default_rng(1)
    body = upper_body()
    for _ in range(20):
        joints = rng.uniform(arm.limits.lower, arm.limits.upper)
        expected = body.link_poses(dict(HOME) | dict(zip(ARM_JOINTS, joints, strict=True)))
        np.testing.assert_allclose(arm.hand_pose(joints), expected[HAND_FRAME], atol=1e-9)


def test_the_longest_reach_bounds_every_posture_closely(arm):
    rng = np.random.default_rng(0)
    bound, distances = arm.longest_reach(PINCH_POINT), []
    for posture in rng.uniform(arm.limits.lower, arm.limits.upper, (5000, 7)):
        pose = arm.hand_pose(posture)
        distances.append(arm.shoulder_distance(pose[:3, :3] @ PINCH_POINT + pose[:3, 3]))
    assert 0.9 * bound < max(distances) <= bound


def test_one_search_from_nearby_meets_the_goals_within_limits(arm):
    rng = np.random.default_rng(2)
    solved = 0
    for _ in range(100):
        joints = rng.uniform(arm.limits.lower, arm.limits.upper)
        goals = pose_goals(arm.hand_pose(joints))
        solution = descend(arm, joints + rng.normal(0, 0.3, 7), goals)
        assert (solution.arm >= arm.limits.lower).all()
        assert (solution.arm <= arm.limits.upper).all()
        residuals = goals.residuals(arm.hand_pose(solution.arm))
        assert solution.feasible == all(r.excess == 0 for r in residuals)
        solved += solution.feasible
    assert solved >= 95


def test_several_starts_find_poses_from_afar(arm):
    rng = np.random.default_rng(3)
    for _ in range(10):
        wanted = arm.hand_pose(rng.uniform(arm.limits.lower, arm.limits.upper))
        found = solve(arm, HOME_ARM, pose_goals(wanted), tries=60)
        assert all(r.excess == 0 for r in found.residuals)
        np.testing.assert_allclose(found.pose_hand_in_pelvis[:3, 3], wanted[:3, 3], atol=0.002)


def test_a_free_axis_stays_free(arm):
    """A pose rotated about the hand's x axis, which is free, needs no motion."""
    pose = arm.hand_pose(HOME_ARM)
    goals = Goals(
        [PointConstraint("origin", np.zeros(3), pose[:3, 3])],
        [AxisConstraint("x axis", np.eye(3)[0], pose[:3, 0], 0.02)],
    )
    np.testing.assert_array_equal(descend(arm, HOME_ARM, goals).arm, HOME_ARM)
    turned = Goals(goals.points, [AxisConstraint("x axis", np.eye(3)[0], pose[:3, 1], 0.02)])
    assert not descend(arm, HOME_ARM, turned, iterations=0).feasible
    found = solve(arm, HOME_ARM, turned)
    np.testing.assert_allclose(found.pose_hand_in_pelvis[:3, 0], pose[:3, 1], atol=0.021)


def test_wishes_are_granted_within_the_goals(arm):
    """Within the tolerances of the goals, each cost improves its own measure."""
    wanted = arm.hand_pose(HOME_ARM)
    goals = Goals([PointConstraint("origin", np.zeros(3), wanted[:3, 3], (0.02, 0.02, 0.02))])
    plain = solve(arm, HOME_ARM, goals, costs=Costs(posture=1.0), tries=1)
    np.testing.assert_allclose(plain.arm, HOME_ARM, atol=1e-6)

    def spread(posture):
        return float(np.square(arm.limits.nearness(posture)).sum())

    central = solve(arm, HOME_ARM, goals, costs=Costs(limits=1.0), tries=1)
    nimble = solve(arm, HOME_ARM, goals, costs=Costs(posture=0.01, manipulability=1.0), tries=1)
    assert spread(central.arm) < 0.8 * spread(plain.arm)
    assert arm.manipulability(nimble.arm)[0] > 1.05 * arm.manipulability(plain.arm)[0]
    for found in (central, nimble):
        assert all(r.excess == 0 for r in found.residuals)


def test_the_gradient_of_manipulability(arm):
    rng = np.random.default_rng(5)
    joints = rng.uniform(arm.limits.lower, arm.limits.upper) * 0.7
    _, gradient = arm.manipulability(joints)
    numeric = [
        np.log(arm.manipulability(joints + 1e-6 * e)[0] / arm.manipulability(joints - 1e-6 * e)[0])
        / 2e-6
        for e in np.eye(7)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4)


def test_narrower_limits_hold(arm):
    limits = PositionLimits(HOME_ARM - 0.2, HOME_ARM + 0.2)
    wanted = arm.hand_pose(HOME_ARM + 0.1)
    found = solve(arm, HOME_ARM, pose_goals(wanted), limits)
    assert (np.abs(found.arm - HOME_ARM) <= 0.2 + 1e-12).all()
    with pytest.raises(Infeasible):
        solve(arm, HOME_ARM, pose_goals(arm.hand_pose(HOME_ARM + 0.6)), limits)
    wide = PositionLimits(arm.limits.lower - 1.0, arm.limits.upper + 1.0)
    assert (arm.limits.within(wide).lower == arm.limits.lower).all()


def test_a_point_out_of_reach_is_named_with_its_distance(arm):
    pose = arm.hand_pose(HOME_ARM)
    goals = Goals(
        [PointConstraint("pinch point on the knob", np.zeros(3), pose[:3, 3] + 2 * np.eye(3)[0])],
        [AxisConstraint("approach", np.eye(3)[0], pose[:3, 0], 3.0)],
    )
    with pytest.raises(Infeasible, match=r"'pinch point on the knob' by 1\d\d\d mm") as error:
        solve(arm, HOME_ARM, goals)
    point, axis = error.value.residuals
    assert point.excess > 1.0 and axis.excess == 0.0
    assert "approach" not in str(error.value)


def test_distinct_takes_no_more_solutions_than_necessary():
    def solution(joint: float, excess: float = 0.0) -> Solution:
        return Solution(np.full(7, joint), excess, cost=0.0)

    found = iter([solution(0.0, 0.1), solution(1.0), solution(1.2), solution(2.0), solution(3.0)])
    kept, nearest = distinct(found, most=2)
    assert [each.arm[0] for each in kept] == [1.0, 2.0]
    assert nearest.arm[0] == 1.0 and next(found).arm[0] == 3.0

    kept, nearest = distinct([solution(0.0, 0.3), solution(1.0, 0.1), solution(2.0, 0.2)])
    assert not kept and nearest.arm[0] == 1.0
