"""The dense reward of RuleSafe-v1: potential-based shaping."""

import gymnasium
import numpy as np
import pytest

import rulesafe_sim.env  # noqa: F401  (registers the environment)
from planner_node.episode import ExpertAgent
from planner_node.hand import HAND_FRAME, PINCH_POINT
from rulesafe_core.errors import RuleSafeError
from rulesafe_sim import shaping
from rulesafe_sim.shaping import WORST, potential
from rulesafe_sim.simulation import Simulation


def make(**kwargs):
    kwargs = {"rule": "rule_001", "safe": "safe_03", "observations": ("joint_positions",)} | kwargs
    return gymnasium.make("RuleSafe-v1", **kwargs).unwrapped


@pytest.mark.episode
def test_the_expert_collects_an_increasing_potential():
    """It rises to 0 over the episode and with each event, and the shaped return telescopes."""
    env = make(reward="dense", discount=1.0)
    env.reset(seed=0)
    agent, simulation = ExpertAgent(), env.simulation
    agent.reset(simulation)
    potentials, rewards, at_events = [potential(simulation)], [], []
    terminated = False
    while not terminated:
        steps_done = simulation.progress.steps_done
        _, reward, terminated, _, info = env.step(agent.act(simulation))
        potentials.append(potential(simulation))
        rewards.append(reward)
        if simulation.progress.steps_done > steps_done:
            at_events.append(potentials[-1] - potentials[-2])
    assert -1 <= potentials[0] < -0.9 and potentials[-1] == 0
    assert len(at_events) == len(info["plan"]) and min(at_events) > 0
    assert np.isclose(sum(rewards), info["process_score"] - potentials[0])
    quarters = [np.mean(part) for part in np.array_split(potentials, 4)]
    assert quarters == sorted(quarters)
    changes = np.diff(potentials)
    assert changes[changes > 0].sum() > 3 * -changes[changes < 0].sum()


def test_the_shaping_of_a_step_is_the_discounted_difference_of_potentials():
    sparse, dense = make(), make(reward="dense", discount=0.9)
    for env in (sparse, dense):
        env.reset(seed=0)
    before = potential(dense.simulation)
    for change in (0.1, -0.2, 0.3):
        action = dense.home_action + np.float32(change)
        difference = dense.step(action)[1] - sparse.step(action)[1]
        after = potential(dense.simulation)
        assert np.isclose(difference, 0.9 * after - before)
        before = after


def test_the_potential_rises_towards_the_grasp_and_with_the_rotation():
    simulation = Simulation()
    simulation.reset("rule_003", "safe_07", 4)
    found = [potential(simulation)]
    data, safe = simulation.safe.handle, simulation._safe
    for fraction in (0.2, 0.4):
        qpos = safe.articulation.qpos
        qpos[safe.index["handle_joint"]] = fraction * data.range
        safe.articulation.set_qpos(qpos)
        simulation._update_lock()
        found.append(potential(simulation))
    assert found == sorted(set(found))


def test_a_dead_end_has_the_lowest_potential():
    simulation = Simulation()
    simulation.reset("rule_017", "safe_02", 0)
    for event in ("knob+", "knob-") * 3:
        simulation.progress.take(event)
    simulation.progress.take("handle+")
    assert simulation.progress.remaining == [] and potential(simulation) == WORST


def test_the_pinch_point_is_that_of_the_expert():
    assert shaping.HAND_FRAME == HAND_FRAME
    np.testing.assert_array_equal(shaping.PINCH_POINT, PINCH_POINT)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"reward": "shaped"}, "unknown reward 'shaped'"),
        ({"reward": "dense", "discount": 0.0}, "discount is 0"),
        ({"reward": "dense", "discount": 1.1}, "discount is 1.1"),
    ],
)
def test_invalid_rewards_are_refused(kwargs, message):
    with pytest.raises(RuleSafeError, match=message):
        make(**kwargs)
