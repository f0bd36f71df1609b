"""Episodes of `rulesafe eval` in RuleSafe-v1."""

import gymnasium
import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.gym_episodes import GymEpisodes


def test_the_environment_has_the_episode_of_an_evaluation(opened):
    """Bit-identical physics with the same actions, and the same end."""
    _, line, actions = opened
    episodes = GymEpisodes("rule_002", "safe_02,safe_04", "nominal")
    env = gymnasium.make(
        "rulesafe_sim.env:RuleSafe-v1", split=episodes.split, observations=("joint_positions",)
    )
    seed, options = episodes.reset_arguments("rule_002", 0)
    _, info = env.reset(seed=seed, options=options)
    assert (info["rule"], info["safe"], info["seed"]) == ("rule_002", "safe_02", 0)
    ends = [env.step(action)[2] for action in actions]
    assert ends == [False] * (len(actions) - 1) + [True]
    assert env.unwrapped.simulation.digest == line["state_digest"]


def test_the_episodes_are_those_of_the_request(request_for):
    request = request_for(rules="rule_002,rule_001", seed=7)
    episodes = GymEpisodes("rule_002,rule_001", "safe_02,safe_04", "nominal", seed=7)
    assert episodes.rules == request.rules == ("rule_001", "rule_002")
    for number in range(3):
        assert episodes.episode("rule_001", number) == request.episode("rule_001", number)


def test_a_pose_out_of_reach_is_sampled_again(monkeypatch):
    """As in an evaluation, the first pose within reach counts."""
    from planner_node import reach

    found = reach.out_of_reach
    refused = iter(["door+"])
    monkeypatch.setattr(reach, "out_of_reach", lambda *of: next(refused, "") or found(*of))
    _, options = GymEpisodes("rule_002", "safe_02").reset_arguments("rule_002", 0)
    _, first = GymEpisodes("rule_002", "safe_02").reset_arguments("rule_002", 0)
    assert options["variation"].placement != first["variation"].placement
    assert np.isclose(options["variation"].speed, first["variation"].speed)


def test_seeds_of_demonstrations_are_refused():
    episodes = GymEpisodes("rule_001", seed=9999)
    assert episodes.episode("rule_001", 0).seed == 9999
    with pytest.raises(RuleSafeError, match=r"0\.\.9999"):
        episodes.reset_arguments("rule_001", 1)
