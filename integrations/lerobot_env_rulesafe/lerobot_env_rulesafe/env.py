"""RuleSafe-v1 with the observations and attributes that LeRobot reads from an environment."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import gymnasium
from gymnasium import spaces
from numpy.typing import ArrayLike

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.gym_episodes import GymEpisodes
from rulesafe_locks.instructions import Length
from rulesafe_sim.env import Info, Observation, RuleSafeEnv

ID = "lerobot_env_rulesafe/RuleSafe-v1"
"""Name of the environment in Gymnasium's registry."""

LEROBOT = "lerobot_"
"""Beginning of the reset options that LeRobot's wrappers exchange with each other."""

_JOINTS = "joint_positions"
_IMAGES = {"head": "head_rgb", "front": "front_rgb"}


class RuleSafeLeRobotEnv(RuleSafeEnv):
    """RuleSafe-v1 for `lerobot-eval`; actions, reward and info are unchanged.

    Observation: `pixels`, a dictionary with `head` and `front`, (224, 224, 3) uint8, and
    `agent_pos` (13,) float32, rad: the joints of the action in its order.

    `reset(seed=s)` starts episode s of `rulesafe eval` with the same rule, safes and split. A reset
    without a seed, such as the automatic one at the end of an episode, keeps rule and safe and
    draws a seed. Options of RuleSafe-v1 replace the episode of the seed; options whose name begins
    with "lerobot_" are ignored.

    Attributes:
        task: id of the rule.
        task_description: the rule in plain English.

    Args:
        task: one rule: its id, or the path of its file.
        safes: comma-separated safes that the seeds use in turn, or "all" for those of the split.
        split: "train", "shifted", "nominal" or the path of a YAML file.
        instruction: "long" or "short": length of `task_description`.
        episode_length: maximum number of steps of 0.1 s; None: 20 s for each event of the rule's
            shortest plan.
        render_mode: "rgb_array" or None.

    Raises:
        RuleSafeError: unknown task, safe, split or instruction, or an `episode_length` below 1.
    """

    observation_space: spaces.Dict

    def __init__(
        self,
        task: str = "rule_001",
        safes: str = "all",
        split: str = "train",
        instruction: Length = "long",
        episode_length: int | None = None,
        render_mode: str | None = "rgb_array",
    ):
        if episode_length is not None and episode_length < 1:
            raise RuleSafeError(f"episode_length must be at least 1 step, got {episode_length}")
        self._episodes = GymEpisodes(task, safes, split)
        if len(self._episodes.rules) != 1:
            raise RuleSafeError(
                f"an environment of LeRobot has one task, got {task!r}; run lerobot-eval once for "
                "each rule"
            )
        (self.task,) = self._episodes.rules
        self._episode_length = episode_length
        self._steps = 0
        first = self._episodes.episode(self.task, 0)
        super().__init__(
            rule=first.source,
            safe=first.safe,
            seed=None,
            observations=(*_IMAGES.values(), _JOINTS),
            render_mode=render_mode,
            split=self._episodes.split,
            instruction=instruction,
        )
        space = self.observation_space
        images = {name: space[key] for name, key in _IMAGES.items()}
        self.observation_space = spaces.Dict(
            {"pixels": spaces.Dict(images), "agent_pos": space[_JOINTS]}
        )

    @property
    def task_description(self) -> str:
        return self.instruction

    @property
    def _max_episode_steps(self) -> int:
        """Number of steps after which the episode is truncated; LeRobot reads this name."""
        limit = ceil(self._time_limit * self.metadata["render_fps"])
        return limit if self._episode_length is None else min(limit, self._episode_length)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Start an episode; see the class."""
        own = {key: each for key, each in (options or {}).items() if not key.startswith(LEROBOT)}
        if seed is not None and not own:
            seed, own = self._episodes.reset_arguments(self.task, seed)
        observation, info = super().reset(seed=seed, options=own)
        self.task, self._steps = info["rule"], 0
        return _renamed(observation), info

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, Info]:
        """Simulate one frame of 0.1 s towards the targets (13,), rad."""
        observation, reward, terminated, truncated, info = super().step(action)
        self._steps += 1
        truncated |= not terminated and self._steps >= self._max_episode_steps
        return _renamed(observation), reward, terminated, truncated, info


def _renamed(observation: Mapping[str, Any]) -> Observation:
    images = {name: observation[key] for name, key in _IMAGES.items()}
    return {"pixels": images, "agent_pos": observation[_JOINTS]}


# LeRobot looks for attributes on the environment itself, so without Gymnasium's wrappers.
gymnasium.register(ID, "lerobot_env_rulesafe.env:RuleSafeLeRobotEnv", order_enforce=False)
