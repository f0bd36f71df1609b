"""RuleSafe-v1 with the observations and attributes that LeRobot reads from an environment."""

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

from planner_node.reach import out_of_reach
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_json
from rulesafe_locks.instructions import Length
from rulesafe_sim.env import Info, Observation, RuleSafeEnv
from rulesafe_sim.episodes import place, plan_episodes
from vq_memory_node.memory import Memory, memory_from
from vq_memory_node.rolling import RollingMemory

ID = "lerobot_env_rulesafe/RuleSafe-v1"
"""Name of the environment in Gymnasium's registry."""

LEROBOT = "lerobot_"
"""Beginning of the reset options that LeRobot's wrappers exchange with each other."""

PREPROCESSOR = "policy_preprocessor.json"
"""File of a LeRobot policy that lists the steps of its preprocessor."""

_JOINTS = "joint_positions"
_IMAGES = DEFAULT_CAMERAS.names


class RuleSafeLeRobotEnv(RuleSafeEnv):
    """RuleSafe-v1 for `lerobot-eval`; actions, reward and info are unchanged.

    Observation: `pixels`, a dictionary with `head` and `front`, (224, 224, 3) uint8, and
    `agent_pos` (13,) float32, rad: the joints of the action in its order. With `memory` also
    `robot_state`, which LeRobot passes on: `memory_tokens` (M,) int64 and `memory_mask` (M,) bool,
    equal to those of an exported dataset at the same frame.

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
        split: "nominal", "varied", "shifted" or the path of a YAML file.
        instruction: "long" or "short": length of `task_description`.
        episode_length: maximum number of steps of 0.1 s; None: 20 s for each event of the rule's
            shortest plan.
        render_mode: "rgb_array" or None.
        memory: folder of a policy with memory tokens; None: without.

    Raises:
        RuleSafeError: unknown task, safe, split or instruction, an `episode_length` below 1, or a
            `memory` that is missing or has changed since the training.
    """

    observation_space: spaces.Dict

    def __init__(
        self,
        task: str = "rule_001",
        safes: str = "all",
        split: str = "nominal",
        instruction: Length = "long",
        episode_length: int | None = None,
        render_mode: str | None = "rgb_array",
        memory: str | None = None,
    ):
        if episode_length is not None and episode_length < 1:
            raise RuleSafeError(f"episode_length must be at least 1 step, got {episode_length}")
        self._episodes = plan_episodes(task, safes, split)
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
            observations=(*_IMAGES, _JOINTS),
            render_mode=render_mode,
            split=self._episodes.split,
            instruction=instruction,
        )
        space = self.observation_space
        images = {name: space[name] for name in _IMAGES}
        found = {"pixels": spaces.Dict(images), "agent_pos": space[_JOINTS]}
        self._memory = None if memory is None else RollingMemory(memory_of(Path(memory)))
        if self._memory:
            shape = self._memory.memory.shape
            tokens = spaces.Box(0, shape.vocabulary - 1, (shape.length,), np.int64)
            mask = spaces.MultiBinary(shape.length)
            found["robot_state"] = spaces.Dict({"memory_tokens": tokens, "memory_mask": mask})
        self.observation_space = spaces.Dict(found)

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
            episode = self._episodes.episode(self.task, seed)
            seed, own = None, {"episode": place(episode, out_of_reach)}
        observation, info = super().reset(seed=seed, options=own)
        self.task, self._steps = info["rule"], 0
        if self._memory:
            self._memory.reset()
        return self._converted(observation), info

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, Info]:
        """Simulate one frame of 0.1 s towards the targets (13,), rad."""
        observation, reward, terminated, truncated, info = super().step(action)
        self._steps += 1
        truncated |= not terminated and self._steps >= self._max_episode_steps
        return self._converted(observation), reward, terminated, truncated, info

    def _converted(self, observation: Mapping[str, Any]) -> Observation:
        """Return the observation of a new frame in LeRobot's form."""
        found: dict[str, Any] = {"pixels": {name: observation[name] for name in _IMAGES}}
        found["agent_pos"] = observation[_JOINTS]
        if self._memory:
            self._memory.push(observation[_JOINTS])
            reading = self._memory.read()
            found["robot_state"] = {"memory_tokens": reading.values, "memory_mask": reading.mask}
        return found


def memory_of(policy: Path) -> Memory:
    """Return the memory whose tokens the policy in a folder receives.

    Raises:
        RuleSafeError: the policy has no memory, or it has changed since the training.
        FileNotFoundError: there is no such policy.
    """
    steps = read_json(policy / PREPROCESSOR, "a preprocessor of LeRobot").get("steps", [])
    found = [step["config"]["memory"] for step in steps if "memory" in step.get("config", {})]
    if not found:
        raise RuleSafeError(
            f"the policy in {policy} has no memory tokens; evaluate it without --env.memory, or "
            "add them with `python -m lerobot_env_rulesafe.prepare` before the training"
        )
    memory = memory_from(found[0])
    if memory.input != "positions" or not memory.vocabulary:
        raise RuleSafeError(
            f"the memory of the policy in {policy} has no tokens of joint positions; valid: one of "
            "`rulesafe demos export --memory-model`"
        )
    return memory


# LeRobot looks for attributes on the environment itself, so without Gymnasium's wrappers.
gymnasium.register(ID, "lerobot_env_rulesafe.env:RuleSafeLeRobotEnv", order_enforce=False)
