import numpy as np
import pytest

from planner_node.collision import CollisionWorld
from planner_node.hand import PRE_PINCH
from planner_node.kinematics import Arm
from rulesafe_core.body import Body, Joint, Link, Shape
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import HOME
from rulesafe_core.transforms import from_xyz_rpy

HOME_ARM = np.array([HOME[name] for name in ARM_JOINTS])
FAR = from_xyz_rpy((3.0, 0, 0))


@pytest.fixture(scope="module")
def world():
    """A small box with a knob on it instead of a safe."""
    body = Link("body", (Shape("box", (0.06, 0.06, 0.06)),))
    knob = Link("knob", (Shape("box", (0.03, 0.03, 0.03)),))
    joint = Joint("knob_joint", "body", "knob", from_xyz_rpy((0.1, 0, 0)), axis=(0, 0, 1))
    return CollisionWorld(Body("thing", (body, knob), (joint,)))


def test_home_is_free(world):
    world.set_safe(FAR, {})
    assert world.contacts(HOME_ARM, PRE_PINCH) == set()
    assert not world.collides(HOME_ARM, PRE_PINCH)


def test_the_checker_fires_where_the_hand_is(world):
    world.set_safe(Arm().hand_pose(HOME_ARM), {})
    assert world.collides(HOME_ARM, PRE_PINCH)
    assert ("R_hand_base_link", "safe/body") in world.contacts(HOME_ARM, PRE_PINCH)


def test_the_forearm_strikes_the_torso(world):
    world.set_safe(FAR, {})
    folded = HOME_ARM.copy()
    folded[1], folded[2] = 0.1, 1.6  # the forearm across the belly
    folded[3] = -0.5
    names = {other for _, other in world.contacts(folded, PRE_PINCH)}
    assert "torso_link" in names


def test_the_upper_arm_strikes_the_torso(world):
    world.set_safe(FAR, {})
    rng = np.random.default_rng(0)
    limits = Arm().limits
    struck = set()
    for _ in range(300):
        contacts = world.contacts(rng.uniform(limits.lower, limits.upper), PRE_PINCH)
        struck |= {mover for mover, other in contacts if other == "torso_link"}
    assert "right_shoulder_yaw_link" in struck


def test_the_hand_strikes_its_own_upper_arm(world):
    world.set_safe(FAR, {})
    bent = np.array([0.95, -0.12, -0.3, -0.78, 1.51, 0.25, 1.15])  # the thumb at the shoulder
    assert ("R_thumb_distal", "right_shoulder_roll_link") in world.contacts(bent, PRE_PINCH)


def test_only_the_fingers_may_touch_the_held_part(world):
    pose = Arm().hand_pose(HOME_ARM) @ from_xyz_rpy((-0.04 - 0.1, -0.18, -0.027))
    world.set_safe(pose, {})
    touching = world.contacts(HOME_ARM, PRE_PINCH)
    assert ("R_index_intermediate", "safe/knob") in touching
    world.permit(holding="knob")
    assert not any(other == "safe/knob" for _, other in world.contacts(HOME_ARM, PRE_PINCH))
    world.permit()
    assert world.contacts(HOME_ARM, PRE_PINCH) == touching
