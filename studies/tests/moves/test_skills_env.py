"""RuleSafe-Skills-v1: the moves of RuleSafe-Moves-v1 in the physics."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rulesafe_studies.moves.env
import rulesafe_studies.moves.skills_env  # noqa: F401  (registers the environment)
from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.config import Placement
from rulesafe_sim.variation import Variation

KEYS = ("phases", "last_move", "plan", "instruction")
KNOB, HANDLE, DOOR = range(3)


def make(**kwargs):
    kwargs = {"rule": "rule_002", "safe": "safe_02", "seed": 1} | kwargs
    return gymnasium.make("RuleSafe-Skills-v1", **kwargs).unwrapped


@pytest.mark.episode
def test_moves_have_the_same_results_as_without_physics():
    """Under rule_004 the knob is locked while the handle is closed."""
    skills = make(rule="rule_004", safe="safe_03", observations=KEYS, visible=True)
    moves = gymnasium.make("RuleSafe-Moves-v1", rules="rule_004", observations=KEYS)
    assert skills.observation_space == moves.observation_space
    assert skills.action_space == moves.action_space
    found, expected = skills.reset(seed=0), moves.reset(seed=0)
    failures = []
    for action in (KNOB, HANDLE, DOOR, KNOB, DOOR):
        for key in KEYS:
            np.testing.assert_array_equal(found[0][key], expected[0][key])
        for key in set(found[1]) & set(expected[1]):
            assert found[1][key] == expected[1][key]
        found, expected = skills.step(action), moves.step(action)
        assert np.isclose(found[1], expected[1]) and found[2:4] == expected[2:4]
        failures.append(found[4]["failure"])
        found, expected = (found[0], found[4]), (expected[0], expected[4])
    assert failures == ["locked", "", "locked", "", ""]
    assert found[1]["success"] and found[1]["time"] > 20


@pytest.mark.episode
def test_a_hand_without_contact_slips():
    env = make()
    env.reset()
    for link in env.simulation.scene.physx_system.get_articulation_link_components():
        if link.name.startswith(("R_", "right_")):
            for shape in link.collision_shapes:
                shape.set_collision_groups([0, 0, 0, 0])
    observation, reward, terminated, truncated, info = env.step(KNOB)
    assert (info["failure"], info["rejected"], reward) == ("slipped", True, 0)
    assert "failed 2 times" in info["message"] and "the knob slipped" in info["message"]
    assert not observation["phases"].any() and not terminated and not truncated


@pytest.mark.episode
def test_a_part_out_of_reach_is_reported():
    env = make()
    env.reset()
    far = Variation(placement=Placement((2.5, -0.25, 0.3), 0.0))
    env.simulation.reset("rule_002", "safe_02", 1, far)
    results = [env.step(action) for action in (KNOB, HANDLE, KNOB, KNOB)]
    assert [info["failure"] for *_, info in results] == ["unreachable"] * 4
    # Truncated after twice the two events of the plan.
    assert [truncated for *_, truncated, _ in results] == [False, False, False, True]


@pytest.mark.parametrize(("safe", "shown"), [("safe_02", True), ("safe_05", False)])
def test_phases_are_observed_on_safes_that_show_them(safe, shown):
    env = make(safe=safe)
    env.reset()
    assert env._safe.phase_visible == shown
    env.simulation._open["knob"] = True
    assert env._observe()["phases"].tolist() == [int(shown), 0, 0]
    env = make(safe=safe, visible=not shown)
    env.reset()
    env.simulation._open["knob"] = True
    assert env._observe()["phases"].tolist() == [int(not shown), 0, 0]


@pytest.mark.episode
def test_gymnasiums_checker_passes():
    check_env(make(observations=KEYS), skip_render_check=True)


def test_options_and_seeds_follow_those_of_rulesafe_v1():
    env = make(seed=7)
    assert env.reset()[1]["seed"] == 7
    info = env.reset(seed=3, options={"rule": "rule_003", "safe": "safe_07"})[1]
    assert (info["rule"], info["safe"], info["seed"]) == ("rule_003", "safe_07", 3)
    with pytest.raises(RuleSafeError, match="rule, safe"):
        env.reset(options={"lock": "rule_001"})
    with pytest.raises(RuleSafeError, match="unknown rule"):
        env.reset(options={"rule": "rule_021", "safe": "safe_02"})
    info = env.reset()[1]
    assert (info["rule"], info["safe"]) == ("rule_003", "safe_07") and info["seed"] != 3


def test_invalid_arguments_and_actions_are_refused():
    for kwargs, message in (
        ({"observations": ("images",)}, "last_move"),
        ({"moves": 0}, "moves is 0"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
        ({"instruction": "tiny"}, "unknown instruction"),
    ):
        with pytest.raises(RuleSafeError, match=message):
            make(**kwargs)
    env = make()
    with pytest.raises(RuleSafeError, match="call reset"):
        env.step(KNOB)
    env.reset()
    with pytest.raises(RuleSafeError, match="action is 3; valid: 0 to 2"):
        env.step(3)
