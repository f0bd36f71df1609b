"""Habits: safes at nearly the same pose are grasped in nearly the same way."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from planner_node.episode import observe, run_expert
from planner_node.grasping import AT_AXIS, OFF_AXIS, Grasper, Unreachable
from planner_node.habits import load_habits, style_config
from planner_node.kinematics import Arm
from planner_node.moves import MovePlanner
from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.safes import SAFES
from rulesafe_sim.simulation import Simulation


def test_every_safe_and_side_has_a_habit_for_every_situation():
    habits, limits = load_habits(), Arm().limits
    assert len(habits) == 6 * (
        len(SAFES) + 2
    )  # knob and handle in both directions, the door with the handle open or closed
    for key, habit in habits.items():
        assert key.split()[0] in (*SAFES, "left", "right")
        assert np.all(np.abs(limits.nearness(np.array(habit.posture))) <= 1)
        assert (habit.pinch is None) == (key.split()[0] not in SAFES)


@pytest.mark.parametrize("part", ["knob", "handle"])
@pytest.mark.parametrize("seed", range(4))
def test_wherever_a_safe_stands_a_part_is_taken_by_the_same_pinch(part, seed):
    simulation = Simulation()
    simulation.reset("rule_001", "safe_02", seed=seed)
    seen = observe(simulation)
    planner = MovePlanner(simulation.safe, seen.pose_safe_in_pelvis, style_config("habitual").moves)
    taken = next(planner.operations(seen, move := planner.move(seen, part, True))).pinch
    grasp, *how = load_habits()[f"safe_02 {part}+"].pinch
    assert taken.key == (planner.grasps(move)[grasp], *how)


@pytest.mark.parametrize("safe", ["safe_03", "safe_04"])
def test_what_stands_a_little_off_is_taken_a_little_differently(safe):
    """With the safe moved by 5 mm and 2 degrees, the posture changes little and the grasp not."""
    simulation = Simulation()
    simulation.reset("rule_001", safe, seed=3)
    seen = observe(simulation)
    shifted = seen.pose_safe_in_pelvis.copy()
    shifted[:3, 3] += 0.005
    taken = []
    for pose in (seen.pose_safe_in_pelvis, shifted):
        planner = MovePlanner(simulation.safe, pose, style_config("habitual").moves)
        view = type(seen)(**{**vars(seen), "pose_safe_in_pelvis": pose})
        taken.append(next(planner.operations(view, planner.move(view, "knob", True))))
    assert taken[0].pinch.key == taken[1].pinch.key
    assert np.abs(taken[0].motion[0] - taken[1].motion[0]).max() < 0.1


def test_where_the_arm_stands_does_not_matter():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_04", seed=3)
    seen = observe(simulation)
    elsewhere = type(seen)(**{**vars(seen), "arm": seen.arm + 0.2})
    planner = MovePlanner(simulation.safe, seen.pose_safe_in_pelvis, style_config("habitual").moves)
    first, second = (
        next(planner.operations(view, planner.move(view, "handle", True)))
        for view in (seen, elsewhere)
    )
    assert np.array_equal(first.motion, second.motion)


@pytest.mark.episode
def test_by_habit_it_opens_a_safe():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_04", seed=1)
    result = run_expert(simulation, style_config("habitual"))
    assert result.success and not result.log.retries


@pytest.mark.episode
def test_strictly_a_part_is_taken_by_its_pinch_or_not_at_all():
    """Where the habit's pinch is out of reach, the habitual expert uses another one."""
    simulation = Simulation()
    simulation.reset("rule_001", "safe_02", seed=0)
    seen = observe(simulation)
    pose = seen.pose_safe_in_pelvis
    habitual, strict = (
        MovePlanner(simulation.safe, pose, style_config(style).moves)
        for style in ("habitual", "strict")
    )
    move = strict.move(seen, "knob", True)
    grasp, *how = load_habits()["safe_02 knob+"].pinch
    usual = (strict.grasps(move)[grasp], *how)
    keys = {operation.pinch.key for operation in strict.operations(seen, move)}
    assert keys == {usual}
    assert len({operation.pinch.key for operation in habitual.operations(seen, move)}) > 1


def test_a_strict_habit_whose_grasp_is_not_offered_takes_nothing():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_02", seed=0)
    seen = observe(simulation)
    planner = MovePlanner(simulation.safe, seen.pose_safe_in_pelvis, style_config("strict").moves)
    move = planner.move(seen, "knob", True)
    grasps = planner.grasps(move)
    habit = replace(load_habits()["safe_02 knob+"], pinch=(len(grasps), 1, 0.0, 0.0), only=True)
    pose = partial(planner.held_pose, seen, move)
    operations = Grasper(Arm()).operations(
        grasps, AT_AXIS, pose, (move.start, move.goal), seen.arm, habit
    )
    with pytest.raises(Unreachable):
        next(operations)


def test_an_unknown_style_is_refused():
    with pytest.raises(RuleSafeError, match="varied, habitual, strict"):
        style_config("wild")


def test_without_order_the_same_operations_are_found():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_07", seed=3)
    seen = observe(simulation)
    planner = MovePlanner(simulation.safe, seen.pose_safe_in_pelvis)
    move = planner.move(seen, "handle", True)
    freedom = replace(OFF_AXIS, rolls=(0.0,), tilts=(0.0, 0.2))

    def found(ordered: bool) -> list[bytes]:
        operations = Grasper(Arm()).operations(
            planner.grasps(move),
            freedom,
            partial(planner.held_pose, seen, move),
            (move.start, move.goal),
            seen.arm,
            ordered=ordered,
        )
        return [operation.motion.tobytes() for operation in operations]

    ordered, others = found(True), found(False)
    assert len(ordered) > 3 and ordered != others
    assert sorted(ordered) == sorted(others)
