"""The two tasks of the baselines, their observations as vectors, and the evaluation of agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

import rulesafe_studies.moves.env  # noqa: F401  (registers the environment)
from rulesafe_locks.lock_sets import expand_rules

TRAIN = "sampled_train"
SETS = (TRAIN, "sampled_test", "sampled_hard")

CATEGORIES = {"last_move": 7, "plan": 7}
"""Number of values of each categorical observation."""


@dataclass(frozen=True)
class Task:
    """Episodes and observations of a task. Policies without memory observe `memoryless` only: the
    last move is a memory of one step."""

    observations: tuple[str, ...]
    memoryless: tuple[str, ...]
    moves: int
    attempts: int
    sampled: bool
    """Whether all agents sample their actions in evaluations. Otherwise they execute the most
    probable one."""
    copies: int
    """Number of parallel environments in trainings with Stable-Baselines3. The transformer has
    twice as many, and collects one episode of each."""
    rollout: int
    """Moves of each copy between two updates, and length of backpropagation through the LSTM."""

    def environment(self, count: int, rules: str, mode: str = "NextStep") -> Any:
        return gymnasium.make_vec(
            "RuleSafe-Moves-v1",
            num_envs=count,
            rules=rules,
            observations=self.observations,
            moves=self.moves,
            attempts=self.attempts,
            autoreset_mode=mode,
        )


TASKS = {
    "plan": Task(
        observations=("phases", "plan"),
        memoryless=("phases", "plan"),
        moves=2,
        attempts=1,
        sampled=False,
        copies=128,
        rollout=32,
    ),
    "unknown": Task(
        observations=("phases", "last_move"),
        memoryless=("phases",),
        moves=4,
        attempts=3,
        sampled=True,
        copies=32,
        rollout=128,
    ),
}
"""plan: the plan is known, so that only its progress has to be remembered. unknown: nothing is
known about the lock; three attempts, of which the first explores."""


def vectors(observation: Mapping[str, NDArray], keys: Sequence[str]) -> NDArray[np.float32]:
    """Return observations as vectors (N, D), categories one-hot."""
    parts = []
    for key in keys:
        values = observation[key]
        if key in CATEGORIES:
            values = np.eye(CATEGORIES[key], dtype=np.float32)[values]
        parts.append(values.reshape(len(values), -1).astype(np.float32))
    return np.concatenate(parts, axis=1)


class MovesVecEnv(VecEnv):
    """RuleSafe-Moves-v1 as a vector environment of Stable-Baselines3. The time limit is part of the
    task, so the end of an episode is never followed by a bootstrapped value."""

    def __init__(self, task: Task, keys: Sequence[str], count: int, seed: int) -> None:
        self._keys = keys
        self._envs = task.environment(count, TRAIN, "SameStep")
        width = self.encoded(self._envs.reset(seed=seed)[0]).shape[1]
        space = gymnasium.spaces.Box(0.0, 1.0, (width,), np.float32)
        super().__init__(count, space, self._envs.single_action_space)

    def encoded(self, observation: Mapping[str, NDArray]) -> NDArray[np.float32]:
        return vectors(observation, self._keys)

    def reset(self) -> NDArray[np.float32]:
        return self.encoded(self._envs.reset()[0])

    def step_async(self, actions: NDArray) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        observation, reward, terminated, truncated, info = self._envs.step(self._actions)
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if ended.any():
            last = self.encoded(info["final_obs"])
            for number in np.flatnonzero(ended):
                infos[number]["terminal_observation"] = last[number]
        return self.encoded(observation), reward.astype(np.float32), ended, infos

    def close(self) -> None:
        self._envs.close()

    def get_attr(self, name: str, indices: Any = None) -> list[Any]:
        return [getattr(self._envs.unwrapped, name)] * self.num_envs

    def set_attr(self, name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError("attributes of RuleSafe-Moves-v1 are constant")

    def env_method(self, name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        raise NotImplementedError("RuleSafe-Moves-v1 has no further methods")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class Agent(Protocol):
    """A policy that acts in N episodes in parallel."""

    keys: tuple[str, ...]
    """Keys of its observation."""

    def begin(self, count: int) -> None:
        """Start `count` episodes."""

    def act(self, observation: NDArray[np.float32], sampled: bool) -> NDArray[np.int64]:
        """Return actions (N,) for observations (N, D)."""


class RandomAgent:
    """Chooses each move with equal probability."""

    keys: tuple[str, ...] = ("phases",)

    def begin(self, count: int) -> None:
        self._rng = np.random.default_rng(0)

    def act(self, observation: NDArray[np.float32], sampled: bool) -> NDArray[np.int64]:
        return self._rng.integers(3, size=len(observation))


class TableAgent:
    """A memoryless policy for each episode: the part to move for each pair of phases."""

    keys: tuple[str, ...] = ("phases",)

    def __init__(self, tables: NDArray[np.int64]) -> None:
        self._tables = tables  # (N, 4)

    def begin(self, count: int) -> None:
        assert len(self._tables) == count

    def act(self, observation: NDArray[np.float32], sampled: bool) -> NDArray[np.int64]:
        view = (2 * observation[:, 0] + observation[:, 1]).astype(int)
        return self._tables[np.arange(len(view)), view]


def evaluate(
    task: Task, agent: Agent, rules: str, episodes: int, sampled: bool
) -> NDArray[np.bool_]:
    """Return in which attempts the door was opened: (R, episodes, attempts), by lock."""
    count = len(expand_rules(rules))
    envs = task.environment(count * episodes, rules)
    agent.begin(envs.num_envs)
    locks = np.repeat(np.arange(count), episodes)
    observation, info = envs.reset(seed=0, options={"locks": locks})
    opened = np.zeros((envs.num_envs, task.attempts), bool)
    running = np.ones(envs.num_envs, bool)
    while running.any():
        attempt = info["attempt"]
        actions = agent.act(vectors(observation, agent.keys), sampled)
        observation, _, terminated, truncated, info = envs.step(actions)
        now = np.flatnonzero(running & info["success"])
        opened[now, attempt[now]] = True
        running &= ~(terminated | truncated)
    return opened.reshape(count, episodes, task.attempts)


def memoryless_ceiling(task: Task, rules: str) -> NDArray[np.bool_]:
    """Return for each lock whether one of the 81 memoryless tables opens it in the time limit."""
    tables = np.array(list(product(range(3), repeat=4)))
    agent = TableAgent(np.tile(tables, (len(expand_rules(rules)), 1)))
    opened = evaluate(task, agent, rules, len(tables), sampled=False)
    return np.any(opened[:, :, 0], axis=1)
