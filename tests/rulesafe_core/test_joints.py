"""Joints of the past, put into a scene again."""

from dataclasses import replace

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER, Simulation


def wave(simulation, frames=5):
    rng = np.random.default_rng(0)
    for _ in range(frames):
        simulation.step(np.clip(HOME_ACTION + rng.normal(0, 0.3, len(LOWER)), LOWER, UPPER))
        yield simulation


@pytest.fixture
def simulation():
    made = Simulation()
    made.reset("rule_001", "safe_03", seed=0)
    return made


def test_joints_are_shown_as_they_were(simulation):
    joints = [s.joints() for s in wave(simulation)]
    other = Simulation()
    other.reset("rule_001", "safe_03", seed=0)
    for then in joints:
        other.show(then)
        now = other.joints()
        np.testing.assert_array_equal(now.robot_positions, then.robot_positions)
        np.testing.assert_array_equal(now.safe_positions, then.safe_positions)


def test_showing_links_is_no_physics(simulation):
    for _ in wave(simulation):
        pass
    digest = simulation.digest
    simulation.reset("rule_001", "safe_03", seed=0)
    for _ in wave(simulation):
        simulation.show_links()
    assert simulation.digest == digest


def test_shown_links_are_where_the_physics_has_them(simulation):
    """To the precision of a float."""
    for _ in wave(simulation):
        links = simulation._robot.articulation.links
        physical = [link.entity_pose.to_transformation_matrix() for link in links]
        simulation.show_links()
        for link, pose in zip(links, physical, strict=True):
            shown = link.entity_pose.to_transformation_matrix()
            np.testing.assert_allclose(shown, pose, atol=2e-6)


def test_joints_of_another_robot_are_refused(simulation):
    joints = replace(simulation.joints(), robot_joints=("left_elbow_joint",))
    with pytest.raises(RuleSafeError, match="left_elbow_joint"):
        simulation.show(joints)
