"""The expert opens safes by contact: parts are moved by the hand only."""

from dataclasses import replace

import numpy as np
import pytest

from planner_node.episode import observe, run_expert
from planner_node.expert import Expert, ExpertConfig, with_speed
from planner_node.primitives import Pace
from rulesafe_core.chunks import MAX_STEPS
from rulesafe_sim.config import Placement
from rulesafe_sim.episode import MISS, AgentError
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from rulesafe_sim.variation import Variation


@pytest.fixture(scope="module")
def simulation():
    return Simulation()


@pytest.mark.parametrize(
    ("rule", "safe", "seed"),
    [("rule_001", "safe_03", 0), ("rule_002", "safe_02", 1), ("rule_003", "safe_07", 4)],
)
@pytest.mark.episode
def test_the_expert_opens_the_safe(simulation, rule, safe, seed):
    simulation.reset(rule, safe, seed)
    result = run_expert(simulation)
    assert result.success, result.reason
    assert simulation.progress.success
    assert simulation.clipped_actions == 0


@pytest.mark.episode
def test_an_episode_is_the_same_twice(simulation):
    results = []
    for _ in range(2):
        simulation.reset("rule_003", "safe_02", 7)
        results.append(run_expert(simulation))
    assert results[0] == results[1]


@pytest.mark.episode
def test_a_deliberate_miss_is_marked_and_the_part_is_grasped_again(simulation, monkeypatch):
    monkeypatch.setattr("planner_node.expert.MISSES", (0.05, 0.051))  # some nearer ones hold
    simulation.reset("rule_002", "safe_02", 3)
    rows = []

    def record(simulation, action, activity):
        if action is not None:
            rows.append(activity)

    result = run_expert(simulation, ExpertConfig(misses=0.4), subscribers=[record])
    assert result.success, result.reason
    missed = {each.step: each.attempt for each in rows if each.operation == MISS}
    assert missed and result.log.retries
    for step, attempt in missed.items():
        moved = [each for each in rows if each.step == step]
        turned = [each.attempt for each in moved if each.operation in ("turn", "pull")]
        assert turned[-1] > attempt
    marked = [
        {each.operation for each in rows if (each.step, each.attempt) == missed}
        for missed in {(each.step, each.attempt) for each in rows if each.operation == MISS}
    ]
    assert any("approach" in each for each in marked)  # left the part during the motion
    assert any("approach" not in each for each in marked)  # closed beside it
    simulation.reset("rule_002", "safe_02", 3)
    assert run_expert(simulation).log.retries == 0


def operations(simulation, config, last, forces):
    """The operations of an expert that opens the knob, until `last` begins; `forces` returns the
    contact forces that it observes after some operations."""
    simulation.reset("rule_002", "safe_02", 1)
    expert = Expert(simulation.safe, ["knob+"], config)
    chunk, found = expert.begin(observe(simulation)), []
    while chunk is not None and last not in found:
        found.append(expert.activity.operation)
        for row in chunk:
            simulation.step(row)
        chunk = expert.next_chunk(replace(observe(simulation), contact_forces=forces(found)))
    return found


def test_a_hand_that_closed_on_nothing_opens_without_a_motion_of_the_part(simulation):
    found = operations(simulation, ExpertConfig(), "retreat", lambda found: {"knob": 0.0})
    assert "turn" not in found and found[-1] == "retreat"


def test_an_expert_with_misses_opens_the_hand_when_it_has_lost_the_part(simulation):
    def lost(found):
        return {"knob": 0.0} if found.count("turn") == 2 else {}

    watching = operations(simulation, ExpertConfig(misses=1e-9), "release", lost)
    assert watching[-3:] == ["turn", "turn", "release"]
    assert operations(simulation, ExpertConfig(), "release", lost)[-1] == "release"


def test_chunks_are_absolute_targets_within_limits(simulation):
    simulation.reset("rule_002", "safe_02", 3)
    expert = Expert(simulation.safe, ["knob+"])
    chunk = expert.begin(observe(simulation))
    count = 0
    while chunk is not None:
        count += 1
        assert chunk.ndim == 2 and 1 <= len(chunk) <= MAX_STEPS
        assert (chunk >= LOWER).all() and (chunk <= UPPER).all()
        chunk = _play(simulation, expert, chunk)
    assert count > 3
    assert simulation.state().part_open["knob"]


@pytest.mark.episode
def test_nothing_but_contact_moves_a_part(simulation):
    """With the hand's contacts switched off, the same moves leave the safe as it was."""
    simulation.reset("rule_002", "safe_02", 1)
    for link in simulation.scene.physx_system.get_articulation_link_components():
        if link.name.startswith(("R_", "right_")):
            for shape in link.collision_shapes:
                shape.set_collision_groups([0, 0, 0, 0])
    result = run_expert(simulation)
    assert "the knob slipped" in result.reason
    # Each try with another pinch, then stuck.
    assert (len(result.log.steps), result.log.retries) == (4, 3)
    assert max(map(abs, simulation.state().part_positions.values())) < 1e-3


@pytest.mark.episode
def test_a_part_that_somebody_turned_back_is_put_right(simulation):
    simulation.reset("rule_001", "safe_03", 0)
    expert = Expert(simulation.safe)
    chunk = expert.begin(observe(simulation))
    disturbed = False
    while chunk is not None:
        chunk = _play(simulation, expert, chunk)
        if expert.log.steps and not disturbed:  # the knob is open, and the hand off it
            disturbed = True
            turn_back(simulation, "knob_joint")
    assert simulation.success
    assert sum("(knob+)" in step for step in expert.log.steps) >= 2


def turn_back(simulation, joint):
    for link in simulation.scene.physx_system.get_articulation_link_components():
        articulation = link.articulation
        names = [each.name for each in articulation.active_joints]
        if joint in names and link.name == joint.removesuffix("_joint"):
            positions = articulation.qpos
            positions[names.index(joint)] = 0.0
            articulation.set_qpos(positions)


def _play(simulation, expert, chunk):
    for target in chunk:
        simulation.step(target)
    return expert.next_chunk(observe(simulation))


@pytest.mark.episode
def test_a_locked_door_stays_shut(simulation):
    simulation.reset("rule_001", "safe_03", 0)
    expert = Expert(simulation.safe, ["door+"])
    with pytest.raises(AgentError, match=r"step 1 \(door\+\)"):
        chunk = expert.begin(observe(simulation))
        while chunk is not None:
            chunk = _play(simulation, expert, chunk)
    assert simulation.state().part_positions["door"] < np.radians(2)
    assert not simulation.success


def test_out_of_reach_is_said(simulation):
    simulation.reset("rule_001", "safe_03", 0, Variation(Placement((1.6, -0.24, 0.28), 0.0)))
    result = run_expert(simulation)
    assert not result.success
    assert "step 1 (knob+)" in result.reason
    assert "the nearest posture violates 'pinch point' by 8" in result.reason  # mm


@pytest.mark.episode
def test_pressing_too_hard_ends_a_try_which_is_marked(simulation):
    simulation.reset("rule_002", "safe_02", 1)
    seen, actions = [], []

    def note(simulation, action, activity):
        if action is not None:
            seen.append(activity)
            actions.append(action)

    gentle = ExpertConfig(pace=Pace(force_limit=2.0))  # a pinch shows some 20 N
    result = run_expert(simulation, gentle, subscribers=[note])
    assert not result.success
    # The targets never jump: the hand is released at its commanded position.
    assert np.abs(np.diff(actions, axis=0)).max(axis=0)[:7].max() < 0.2
    assert all("N on the knob exceeds the limit of 2 N" in step for step in result.log.steps)
    assert len(seen) == result.frame
    assert {each.attempt for each in seen} == {1, 2, 3, 4} and result.log.retries == 3
    assert {each.operation for each in seen} == {"travel", "approach", "pinch", "release"}
    assert {(each.step, each.event) for each in seen} == {(1, "knob+")}


@pytest.mark.episode
def test_faster_is_shorter(simulation):
    frames = []
    for speed in (0.7, 1.4):
        simulation.reset("rule_003", "safe_02", 7)
        result = run_expert(simulation, with_speed(ExpertConfig(), speed))
        assert result.success
        frames.append(result.frame)
    assert frames[1] < 0.65 * frames[0]
