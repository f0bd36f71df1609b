"""Constraints on the hand: values, derivatives and rejected arguments."""

import numpy as np
import pytest

from planner_node.constraints import AxisConstraint, Goals, PointConstraint, pose_goals
from planner_node.kinematics import Arm
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import HOME
from rulesafe_core.transforms import about_axis, from_xyz_rpy

HOME_ARM = np.array([HOME[name] for name in ARM_JOINTS])
X, Y, Z = np.eye(3)


@pytest.fixture(scope="module")
def arm():
    return Arm()


def test_derivatives_are_those_of_the_values(arm):
    rng = np.random.default_rng(0)
    frame = from_xyz_rpy((0.4, -0.2, 0.3), (0.3, 1.0, -0.6))
    goals = Goals(
        [
            PointConstraint("tips", np.array([-0.07, -0.15, -0.03]), frame[:3, 3], (1, 1, 1)),
            PointConstraint("wrist", np.zeros(3), np.ones(3), (1, 2, 3), frame[:3, :3]),
        ],
        [
            AxisConstraint("along", X, frame[:3, 0], 0.1),
            AxisConstraint("against", Y, frame[:3, 0], 0.1, "antiparallel"),
            AxisConstraint("across", Z, frame[:3, 1], 0.1, "perpendicular"),
        ],
    )
    for _ in range(5):
        joints = rng.uniform(arm.limits.lower, arm.limits.upper)
        _, rows = goals.linearise(*arm.differentiate(joints))
        step = 1e-6
        numeric = np.stack(
            [
                (
                    goals.linearise(*arm.differentiate(joints + step * e))[0]
                    - goals.linearise(*arm.differentiate(joints - step * e))[0]
                )
                / (2 * step)
                for e in np.eye(7)
            ],
            axis=1,
        )
        np.testing.assert_allclose(rows, numeric, atol=1e-7)


def test_a_pose_has_no_residual_at_itself(arm):
    pose = arm.hand_pose(HOME_ARM)
    assert [r.excess for r in pose_goals(pose).residuals(pose)] == [0.0] * 4


def test_residuals_are_what_lies_beyond_the_tolerance(arm):
    pose = arm.hand_pose(HOME_ARM)
    goals = Goals(
        [PointConstraint("point", np.zeros(3), pose[:3, 3], (0.01, 0.02, 0.03))],
        [
            AxisConstraint("along", X, pose[:3, 0], 0.1),
            AxisConstraint("across", X, pose[:3, 1], 0.1, "perpendicular"),
            AxisConstraint("against", X, -pose[:3, 0], 0.1, "antiparallel"),
        ],
    )
    moved = pose @ about_axis((0, 0, 1), 0.3)
    moved[:3, 3] += (0.05, 0.0, 0.03)
    point, *axes = goals.residuals(moved)
    assert (point.name, point.unit, point.excess) == ("point", "m", pytest.approx(0.04))
    assert [a.excess for a in axes] == pytest.approx([0.2, 0.2, 0.2])
    assert str(point) == "'point' by 40 mm" and str(axes[0]) == "'along' by 11 deg"


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: AxisConstraint("a", X, X, 0.1, "askew"), "perpendicular"),
        (lambda: AxisConstraint("a", 2 * X, X, 0.1), "'a': hand_axis must have length 1"),
        (lambda: AxisConstraint("a", X, X, 0.0), "'a': angle must be above 0"),
        (lambda: PointConstraint("p", X, X, (0.1, 0.0, 0.1)), "'p': box must be three lengths"),
        (lambda: PointConstraint("p", X[:2], X), "'p': hand_point must be three finite numbers"),
        (lambda: PointConstraint("p", X, np.full(3, np.nan)), "target must be three finite"),
        (lambda: Goals([]), "at least one constraint"),
    ],
)
def test_nonsense_is_refused(make, match):
    with pytest.raises(RuleSafeError, match=match):
        make()
