"""Joint states, from which images are rendered without physics."""

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


def test_link_poses_are_where_the_physics_has_them(simulation):
    """To the precision of a float."""
    for _ in wave(simulation):
        poses = simulation.bodies.link_poses(simulation.joints())
        links = [*simulation._robot.articulation.links, *simulation._safe.articulation.links]
        assert {*poses} == {link.name for link in links} | {"stand"}
        for link in links:
            physical = link.entity_pose.to_transformation_matrix()
            np.testing.assert_allclose(poses[link.name], physical, atol=2e-6)


def test_all_positions_are_those_of_the_simulation(simulation):
    for _ in wave(simulation):
        expected = simulation.joint_positions.astype(np.float32)
        np.testing.assert_array_equal(simulation.joints().all_positions(), expected)


def test_joints_of_another_robot_are_refused(simulation):
    joints = replace(
        simulation.joints(),
        robot_joints=("left_elbow_joint",),
        robot_positions=np.zeros(1, np.float32),
    )
    with pytest.raises(RuleSafeError, match="left_elbow_joint"):
        simulation.bodies.link_poses(joints)
