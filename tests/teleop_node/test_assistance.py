"""Assisted motions, executed in the simulation without ROS."""

from dataclasses import replace

import numpy as np
import pytest

from planner_node import episode
from planner_node.hand import PINCH, PRE_PINCH
from planner_node.moves import ExpertObservation
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import apply
from rulesafe_sim.simulation import Simulation
from teleop_node.assistance import PINCH_IN_HAND, Assistant, grip_of
from teleop_node.settings import TeleopParameters
from teleop_node.tracking import PoseTracker, Target, pinch_point

pytestmark = pytest.mark.episode
RULE, SAFE, SEED = "rule_001", "safe_03", 0


class Operator:
    """A simulation with an assistant."""

    def __init__(self) -> None:
        self.simulation = Simulation()
        self.simulation.reset(RULE, SAFE, SEED)
        pose = self.simulation.pose_safe_in_pelvis
        self.assistant = Assistant(self.simulation.safe, pose, speed=1.5)
        self.tracker = PoseTracker(TeleopParameters())

    def observe(self) -> ExpertObservation:
        command = self.simulation.command
        observed = episode.observe(self.simulation)
        return replace(observed, arm=command[:7].copy(), hand=command[7:].copy())

    def play(self, rows) -> None:
        for row in rows:
            self.simulation.step(row)

    def grip(self, value: float) -> None:
        command = self.simulation.command
        self.play(self.tracker.path(command, Target(grip=value), command, 20)[0])
        if not value:
            self.assistant.release()


@pytest.fixture
def operator():
    return Operator()


def test_grip_of_the_postures():
    assert grip_of(PRE_PINCH) == 0
    assert grip_of(PINCH) == 1


def test_a_part_is_approached_grasped_and_turned_step_by_step(operator):
    start = operator.observe()
    operator.play(operator.assistant.approach(start, "knob"))
    before = pinch_point(operator.tracker.hand_pose(operator.simulation.command))
    operator.play(operator.assistant.grasp(operator.observe()))
    after = pinch_point(operator.tracker.hand_pose(operator.simulation.command))
    assert 0.04 < np.linalg.norm(after - before) < 0.08
    operator.grip(1.0)
    assert operator.observe().contact_forces["knob"] > 5
    knob = [operator.observe().part_positions["knob"]]
    for angle in (15, 15, -15):
        operator.play(operator.assistant.turn(operator.observe(), np.radians(angle), False))
        knob.append(operator.observe().part_positions["knob"])
    # The tips roll on the knob before it follows.
    first, second, third, back = np.degrees(knob)
    assert first + 4 < second < second + 8 < third
    assert third - first == pytest.approx(30, abs=10)
    assert back < third - 3


def test_an_interrupted_motion_is_forgotten(operator):
    """The next one begins where the part is, not where the motion would have ended."""
    operator.play(operator.assistant.approach(operator.observe(), "knob"))
    operator.play(operator.assistant.grasp(operator.observe()))
    operator.grip(1.0)
    planned = operator.assistant.turn(operator.observe(), np.radians(60), False)
    operator.assistant.release()
    again = operator.assistant.turn(operator.observe(), np.radians(60), False)
    np.testing.assert_allclose(again, planned, atol=1e-6)


def test_the_pinch_frame_is_that_of_the_hand():
    tip = apply(PINCH_IN_HAND, (0, 0, 0))
    assert np.linalg.det(PINCH_IN_HAND[:3, :3]) == pytest.approx(1)
    np.testing.assert_allclose(pinch_point(np.eye(4)), tip)


def test_what_is_not_possible_is_refused_with_the_reason(operator):
    assistant, obs = operator.assistant, operator.observe()
    with pytest.raises(RuleSafeError, match="not in front of a part: approach one first"):
        assistant.grasp(obs)
    with pytest.raises(RuleSafeError, match="close the hand on a part first"):
        assistant.turn(obs, 0.2, False)
    closed = replace(obs, hand=PINCH)
    with pytest.raises(RuleSafeError, match="open the hand first"):
        assistant.approach(closed, "knob")
    with pytest.raises(RuleSafeError, match=r"holds no part: it is \d+ cm from the (knob|handle)"):
        assistant.turn(closed, 0.2, False)


def test_a_part_at_its_stop_is_not_turned_further(operator):
    operator.play(operator.assistant.approach(operator.observe(), "handle"))
    operator.play(operator.assistant.grasp(operator.observe()))
    operator.grip(1.0)
    obs = operator.observe()
    operator.play(operator.assistant.turn(obs, -np.radians(15), False))
    with pytest.raises(RuleSafeError, match="the handle is at its stop"):
        operator.assistant.turn(operator.observe(), -np.radians(15), False)
