"""The expert's observation of /joint_states and /episode/status."""

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Point, Pose

from planner_node.convert import to_observation
from planner_node.episode import observe
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.messages import to_ns
from rulesafe_data.films.messages import decode_status
from rulesafe_sim.convert import to_joint_state, to_status
from rulesafe_sim.simulation import HOME_ACTION, Simulation

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def simulation():
    simulation = Simulation()
    simulation.reset("rule_020", "safe_01", 5)
    return simulation


@pytest.fixture
def messages(simulation):
    state = simulation.state()
    status = to_status(simulation, state, 0, safe="safe_01", episode=1, waiting=True, clipped=0)
    return to_joint_state(state, 0), status


def test_the_observation_is_that_of_the_simulation(simulation, messages):
    found, expected = to_observation(*messages), observe(simulation)
    assert found.arm.tolist() == expected.arm.tolist()
    assert found.hand.tolist() == expected.hand.tolist()
    for name in ("part_positions", "part_open", "remaining", "contact_forces"):
        assert getattr(found, name) == getattr(expected, name)
    assert np.array_equal(found.pose_safe_in_pelvis, expected.pose_safe_in_pelvis)


def test_the_status_has_the_facts_of_the_simulation():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_02", 3)
    simulation.external_torques = {"handle": 0.12}
    for _ in range(20):
        simulation.step(HOME_ACTION)
    now = simulation.snapshot()
    assert (now.process_score, now.order_free_score) == (0, pytest.approx(1 / 3))
    assert now.part_open == {"knob": False, "handle": True, "door": False}
    arguments = {"safe": "custom", "episode": 4, "waiting": True, "clipped": 7}
    state = simulation.state()
    status = to_status(simulation, state, 5 * SECOND, **arguments)
    assert decode_status(status) == replace(now, safe="custom", clipped_actions=7)
    assert (status.episode, status.waiting, to_ns(status.header.stamp)) == (4, True, 5 * SECOND)
    assert status.remaining == ["knob+", "door+"]
    assert dict(zip(status.parts, status.part_locked, strict=True)) == state.part_locked


@pytest.mark.parametrize(
    ("topic", "changes", "message"),
    [
        ("joints", {"name": ALL_JOINTS[1:]}, "38 names but 39 values"),
        ("joints", {"name": ["tail_joint"] * len(ALL_JOINTS)}, "lack right_shoulder_pitch_joint, "),
        (
            "joints",
            {"position": [math.nan] * len(ALL_JOINTS)},
            "a position or velocity that is not",
        ),
        ("status", {"parts": ["knob", "handle"]}, "2 names, 3 values"),
        ("status", {"parts": ["knob", "handle", "lid"]}, "'door'"),
        ("status", {"part_open": [False]}, "3 names, 1 values"),
        ("status", {"part_positions": [0.0, math.inf, 0.0]}, "a position or force is not finite"),
        ("status", {"contact_names": []}, "0 names, "),
        ("status", {"remaining": ["knob+", "jump"]}, "unknown event 'jump'; valid: knob+, "),
        ("status", {"safe_pose": Pose(position=Point(x=math.nan))}, "a position or force is not"),
    ],
)
def test_an_invalid_message_is_refused(messages, topic, changes, message):
    for name, value in changes.items():
        setattr(messages[topic == "status"], name, value)
    with pytest.raises(RuleSafeError) as found:
        to_observation(*messages)
    text = str(found.value)
    assert text.startswith("/joint_states or /episode/status is invalid: ") and message in text
