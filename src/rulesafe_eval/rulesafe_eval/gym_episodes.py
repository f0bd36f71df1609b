"""The episodes of `rulesafe eval` for programs that evaluate policies with `RuleSafe-v1`.

Example::

    episodes = GymEpisodes("rule_001,rule_020", split="train")
    env = gymnasium.make("rulesafe_sim.env:RuleSafe-v1", split=episodes.split)
    seed, options = episodes.reset_arguments("rule_020", number=3)
    observation, info = env.reset(seed=seed, options=options)
"""

from typing import Any

from planner_node.reach import reachable_variation
from rulesafe_demos.attempts import Attempt
from rulesafe_eval.request import Setup, check_range, make_request
from rulesafe_locks.rules import load_rule
from rulesafe_sim.randomisation import load_split


class GymEpisodes:
    """The episodes of `rulesafe eval` as arguments of `RuleSafeEnv.reset`.

    Args:
        rules: comma-separated rules, as for `rulesafe eval --rules`.
        safes: comma-separated safes, or "all" for those of the split; episodes use them in turn.
        split: "train", "shifted", "nominal" or the path of a YAML file.
        seed: seed of episode 0.

    Attributes:
        rules: ids of the rules.
        split: argument `split` of the environment.

    Raises:
        RuleSafeError: unknown rule, safe or split, or a seed outside of 0..9999.
    """

    def __init__(self, rules: str, safes: str = "all", split: str = "train", seed: int = 0):
        self._request = make_request(Setup(policy=""), {}, rules, safes, 1, split, seed)
        self.rules, self.split = self._request.rules, self._request.split

    def episode(self, rule: str, number: int) -> Attempt:
        """Return rule, safe and seed of an episode. Raises RuleSafeError if the seed is outside of
        0..9999."""
        check_range(number + 1, self._request.seed, self._request.setup.step_seconds)
        return self._request.episode(rule, number)

    def reset_arguments(self, rule: str, number: int) -> tuple[int, dict[str, Any]]:
        """Return the seed and the options of an episode.

        The safe is placed at the first of the seed's poses that the arm can reach, as in `rulesafe
        eval`. This takes some seconds for a rule with many steps.

        Raises:
            RuleSafeError: the seed is outside of 0..9999.
            OutOfReach: the safe is out of reach at all sampled poses.
        """
        episode = self.episode(rule, number)
        variation, _ = reachable_variation(
            episode.safe,
            load_rule(episode.source),
            load_split(episode.split).randomisation,
            episode.seed,
        )
        options = {"rule": episode.source, "safe": episode.safe, "variation": variation}
        return episode.seed, options
