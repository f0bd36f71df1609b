"""Task programs open safes by contact, and report what cannot be done."""

import re
from pathlib import Path

import numpy as np
import pytest

from planner_node.constraints import Goals, PointConstraint
from planner_node.decompose import decompose
from planner_node.expert import ExpertConfig
from planner_node.hand import PRE_PINCH
from planner_node.inverse_kinematics import Infeasible
from planner_node.primitives import ContactForceError, Pace
from planner_node.tasks import TaskPlanner
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_sim.episode import AgentError
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.simulation import Simulation

ROOT = Path(__file__).parents[2]
PAPER = ROOT.parent / "shared/reference/paper.tex"


@pytest.fixture(scope="module")
def simulation():
    return Simulation()


def perform(simulation, program, rule, safe, seed):
    simulation.reset(rule, safe, seed)
    planner = TaskPlanner(simulation)
    exec(compile(program, "program", "exec"), {"planner": planner})
    return planner


def test_the_published_program_runs_as_it_stands(simulation):
    if not PAPER.exists():
        pytest.skip("the paper's source is not next to the repository")
    program = re.search(
        r"label=\{lst:llm-decomp\}\]\n(.*?)\\end\{lstlisting\}", PAPER.read_text("utf-8"), re.S
    )
    assert program
    planner = perform(simulation, program[1], "rule_001", "safe_02", 0)
    assert simulation.success
    assert planner.log.events == ["knob+", "handle+", "door+"]


@pytest.mark.parametrize("name", ["rule_001", "rule_020"])
@pytest.mark.episode
def test_the_example_programs_open_the_safe(simulation, name):
    program = (ROOT / f"examples/programs/{name}.py").read_text("utf-8")
    planner = perform(simulation, program, name, "safe_02", 1)
    assert simulation.success, planner.log.steps
    assert planner.log.events == shortest_plan(load_rule(name))
    assert simulation.clipped_actions == 0


@pytest.mark.parametrize(("rule", "safe"), [("rule_014", "safe_03"), ("rule_005", "safe_07")])
@pytest.mark.episode
def test_a_decomposed_plan_opens_the_safe(simulation, rule, safe):
    plan = shortest_plan(load_rule(rule))
    planner = perform(simulation, decompose(plan, load_safe(safe)), rule, safe, 5)
    assert simulation.success, planner.log.steps
    assert planner.log.events == plan


@pytest.mark.parametrize("rule", RULES)
def test_every_plan_becomes_a_program_that_compiles(rule):
    plan = shortest_plan(load_rule(rule))
    for safe in SAFES:
        program = decompose(plan, load_safe(safe))
        compile(program, rule, "exec")
        assert program.count("# Step") == len(plan)
        assert program.count("rotate_hand") == len(plan) - 1


def test_angles_and_senses_are_the_safes_own():
    safe = load_safe("safe_05")  # knob counterclockwise, wheel clockwise
    program = decompose(["knob+", "handle+", "knob-", "handle-"], safe)
    knob, handle = np.degrees(safe.knob.range), np.degrees(safe.handle.range)
    found = [float(a) for a in re.findall(r"angle=(-?[\d.]+)\)", program)]
    assert found == pytest.approx([-knob, handle, knob, -handle])
    with pytest.raises(RuleSafeError, match=r"'door-'.*knob\+"):
        decompose(["door-"], safe)


def test_a_part_can_be_turned_by_degrees(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    planner = take(TaskPlanner(simulation), "knob")
    planner.rotate_hand("right", angle=-30)
    knob = simulation.state().part_positions["knob"]
    assert np.degrees(knob) == pytest.approx(30, abs=8)
    planner.rotate_hand("right", angle=-30)
    assert simulation.state().part_open["knob"]
    assert planner.log.events == ["knob+"]  # the first turn did not open it yet
    planner.rotate_hand("right", angle=60)
    assert not simulation.state().part_open["knob"]
    planner.rotate_hand("right", angle=-60)  # from its present position
    assert simulation.state().part_open["knob"]
    assert planner.log.retries == 0
    with pytest.raises(RuleSafeError, match=r"0\.1 deg or more in either direction, got 0"):
        planner.rotate_hand("right", angle=0)


def test_a_pose_for_another_time_is_refused(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    planner = TaskPlanner(simulation)
    planner.hand_pre_pinch("right")
    poses = [
        planner.generate_end_effector_pose(planner.generate_constraints("safe", link))[1]
        for link in ("knob", "handle", "knob")
    ]
    np.testing.assert_array_equal(poses[0].arm, poses[2].arm)  # computing a pose changes no state
    planner.move_to_pose(poses[0])
    with pytest.raises(AgentError, match="generate the pose again"):
        planner.move_to_pose(poses[1])
    planner.hand_pinch("right")
    planner.hand_pre_pinch("right")
    with pytest.raises(AgentError, match="generate the pose again"):
        planner.move_to_pose(poses[1])


def test_frames_are_marked_with_the_step_they_are_for(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    marks = []
    runtime = Runtime(simulation, subscribers=[lambda s, action, activity: marks.append(activity)])
    planner = TaskPlanner(simulation, runtime=runtime)
    take(planner, "knob").rotate_hand("right", angle=-60)
    take(planner, "handle").rotate_hand("right", angle=-60)
    order = [(m.step, m.event, m.operation) for m in marks]
    steps = list(dict.fromkeys(order))
    turns = ["travel", "approach", "pinch", "turn"]
    assert [s for s in steps if s[0] == 1][: len(turns)] == [(1, "knob+", o) for o in turns]
    assert [s for s in steps if s[0] == 2] == [(2, "handle+", o) for o in turns]
    assert {m.attempt for m in marks if m.step} == {1}


def test_pressing_too_hard_leaves_the_hand_in_order(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    planner = TaskPlanner(simulation, ExpertConfig(pace=Pace(force_limit=2.0)))
    with pytest.raises(ContactForceError):
        take(planner, "knob")
    planner.hand_pre_pinch("right")  # releases the part, although the pinch failed
    assert simulation.state().contact_forces["knob"] == 0.0
    hand = simulation.state().action_positions[7:]
    np.testing.assert_allclose(hand, PRE_PINCH, atol=0.05)


def take(planner, link, **state):
    planner.hand_pre_pinch("right")
    _, pose = planner.generate_end_effector_pose(
        planner.generate_constraints(obj_name="safe", target_link=link, **state)
    )
    planner.move_to_pose(pose)
    planner.hand_pinch("right", pinch_object="safe")
    return planner


def test_the_residuals_of_a_pose_are_zero_and_the_hand_comes_there(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    planner = TaskPlanner(simulation)
    planner.hand_pre_pinch("right")
    residuals, pose = planner.generate_end_effector_pose(
        planner.generate_constraints(obj_name="safe", target_link="knob")
    )
    assert {r.name for r in residuals} >= {"pinch point", "approach", "closing"}
    assert max(r.excess for r in residuals) == 0.0
    before = simulation.frame
    planner.move_to_pose(pose)
    assert simulation.frame > before
    np.testing.assert_allclose(simulation.state().action_positions[:7], pose.arm, atol=0.03)


def test_constraints_of_ones_own_are_met_and_named_when_out_of_reach(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    planner = TaskPlanner(simulation)
    planner.hand_open("right")
    before = planner._on.moves.arm.hand_pose(simulation.state().action_positions[:7])
    target = before[:3, 3] + np.array([-0.03, -0.05, 0.05])
    _, pose = planner.generate_end_effector_pose(
        Goals([PointConstraint("wrist", np.zeros(3), target, (0.01, 0.01, 0.01))])
    )
    planner.move_to_pose(pose)
    reached = planner._on.moves.arm.hand_pose(simulation.state().action_positions[:7])
    np.testing.assert_allclose(reached[:3, 3], target, atol=0.03)
    behind = target + np.array([2.9, 0.0, 0.0])
    with pytest.raises(Infeasible, match=r"violates 'a place behind the wall' by 2\d\d\d mm"):
        planner.generate_end_effector_pose(
            Goals([PointConstraint("a place behind the wall", np.zeros(3), behind)])
        )


def test_calls_out_of_order_say_what_is_missing(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    planner = TaskPlanner(simulation)
    with pytest.raises(AgentError, match="no part is held; call hand_pinch first"):
        planner.rotate_hand("right", angle=60)
    with pytest.raises(AgentError, match="call move_to_pose first"):
        planner.hand_pinch("right")
    with pytest.raises(RuleSafeError, match=r"'left'.*right"):
        planner.hand_pre_pinch("left")
    with pytest.raises(RuleSafeError, match=r"'window'.*knob, handle"):
        planner.generate_constraints(obj_name="safe", target_link="window")
    with pytest.raises(RuleSafeError, match="openness must be from 0"):
        planner.generate_constraints("safe", "handle", state_link="door", openness=2)
    take(planner, "knob")
    with pytest.raises(AgentError, match="call hand_pre_pinch first"):
        planner.hand_grasp("right")


@pytest.mark.episode
def test_a_locked_door_is_not_pulled_open(simulation):
    simulation.reset("rule_001", "safe_02", 0)
    planner = take(TaskPlanner(simulation), "handle", state_link="door", openness=0)
    _, pose = planner.generate_end_effector_pose(
        planner.generate_constraints("safe", "handle", state_link="door", openness=1)
    )
    with pytest.raises(AgentError, match=r"\(door\+\) failed 4 times"):
        planner.move_to_pose(pose)
    assert planner.log.retries == 3
    assert not simulation.success
