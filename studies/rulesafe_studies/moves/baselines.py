"""Train and evaluate the baselines of docs/results/moves.md.

It uses one thread. Each agent has a file for each task, which is written after each training, so
that an interrupted run continues, and that several processes can train different agents
(`--agents`).
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
import tyro
from matplotlib import rc_context
from numpy.typing import NDArray
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_studies.moves import results, transformer
from rulesafe_studies.moves.tasks import (
    SETS,
    TASKS,
    Agent,
    MovesVecEnv,
    RandomAgent,
    Task,
    evaluate,
    memoryless_ceiling,
)
from rulesafe_studies.style import STYLE


class StableBaselinesAgent:
    """Acts by a model of Stable-Baselines3, with the state of its LSTM if it has one."""

    def __init__(self, model: Any, keys: tuple[str, ...]) -> None:
        self.model, self.keys = model, keys

    def begin(self, count: int) -> None:
        self._state, self._start = None, np.ones(count, bool)

    def act(self, observation: NDArray[np.float32], sampled: bool) -> NDArray[np.int64]:
        actions, self._state = self.model.predict(
            observation, self._state, self._start, deterministic=not sampled
        )
        self._start[:] = False
        return actions


def _settings(task: Task, seed: int) -> dict[str, Any]:
    """Return the hyperparameters that PPO and RecurrentPPO have in common."""
    return {
        "learning_rate": lambda remaining: 1e-3 * remaining,
        "n_steps": task.rollout,
        "batch_size": 1024,
        "n_epochs": 4,
        "ent_coef": 0.01,
        "seed": seed,
        "device": "cpu",
    }


def train_ppo(task: Task, seed: int, steps: int) -> Agent:
    """Train PPO with an MLP, which has no memory."""
    envs = MovesVecEnv(task, task.memoryless, task.copies, seed)
    model = PPO(
        "MlpPolicy",
        envs,
        policy_kwargs={"net_arch": [128, 128]},
        **_settings(task, seed),
    )
    return StableBaselinesAgent(model.learn(steps), task.memoryless)


def train_lstm(task: Task, seed: int, steps: int) -> Agent:
    """Train RecurrentPPO, whose memory is the state of an LSTM."""
    envs = MovesVecEnv(task, task.observations, task.copies, seed)
    model = RecurrentPPO(
        "MlpLstmPolicy",
        envs,
        policy_kwargs={
            "net_arch": [128],
            "lstm_hidden_size": 128,
            "shared_lstm": True,
            "enable_critic_lstm": False,
        },
        **_settings(task, seed),
    )
    return StableBaselinesAgent(model.learn(steps), task.observations)


TRAINERS = {
    "ppo": train_ppo,
    "ppo_sampled": train_ppo,
    "lstm": train_lstm,
    "transformer": transformer.train,
}
SAMPLED = ("random", "ppo_sampled")
"""Agents whose actions are always sampled. Chance helps a policy without memory out of a loop."""

EPISODES = 20
"""Number of episodes with each lock if actions are sampled; all others are equal."""

Name = Literal["random", "table", "ppo", "ppo_sampled", "lstm", "transformer"]

QUICK_STEPS = 4096
"""Number of moves of the one training of each agent with --quick."""


@dataclass(frozen=True)
class Options:
    """Options of the command `moves`.

    Attributes:
        out: Folder of the results, which is created. Existing trainings are not repeated.
        tasks: Tasks to run.
        agents: Agents to train, and the references random and table.
        seeds: Seeds of the trainings of each agent.
        steps: Number of moves of a training.
        quick: One training of 4096 moves of each agent, instead of `seeds` and `steps`, to test the
            complete path. The agents learn nothing.
    """

    out: Path
    tasks: tuple[Literal["plan", "unknown"], ...] = ("plan",)
    agents: tuple[Name, ...] = ("random", "table", "ppo", "ppo_sampled", "lstm", "transformer")
    seeds: tuple[int, ...] = (0, 1, 2)
    steps: int = 500_000
    quick: bool = False


def train(options: Annotated[Options, tyro.conf.arg(name="")]) -> None:
    """Train and evaluate the baselines that are missing in the folder, and draw moves.png there.

    It takes about 20 minutes for all.

    Raises:
        RuleSafeError: results in the folder have another number of moves, or are not valid.
    """
    seeds, steps = ((0,), QUICK_STEPS) if options.quick else (options.seeds, options.steps)
    if steps < 1:
        raise RuleSafeError(f"steps is {steps}; valid: 1 or more")
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    wanted = list(product(options.tasks, options.agents))
    known = {pair: stored(options.out, *pair, steps) for pair in wanted}
    for task, agent in wanted:
        path, found = options.out / f"{task}_{agent}.json", known[task, agent]
        for seed in (0,) if agent in results.REFERENCES else seeds:
            if str(seed) not in found:
                found[str(seed)] = training(task, agent, seed, steps)
                write_atomically(path, (json.dumps(found) + "\n").encode())
                print(path.name, seed, rates(found[str(seed)]), flush=True)
    if "plan" in options.tasks:
        with rc_context(STYLE):
            results.draw(options.out).savefig(options.out / "moves.png")


def stored(folder: Path, task: str, agent: str, steps: int) -> dict[str, Any]:
    """Return the trainings in the folder, which must have this number of moves."""
    if not (folder / f"{task}_{agent}.json").exists():
        return {}
    found = dict(results.read(folder, task, agent))
    for seed, each in found.items():
        if agent not in results.REFERENCES and each["steps"] != steps:
            raise RuleSafeError(
                f"{folder}/{task}_{agent}.json: training {seed} has {each['steps']} moves instead "
                f"of {steps}; choose another --out or --steps {each['steps']}"
            )
    return found


def training(task_name: str, agent: str, seed: int, steps: int) -> dict[str, Any]:
    """Train and evaluate an agent; return by set the number of opened doors by lock and attempt."""
    task, begin = TASKS[task_name], time.process_time()
    if agent == "table":
        opened = {name: memoryless_ceiling(task, name)[:, None].astype(int) for name in SETS}
        return {"episodes": 1, "opened": {name: counts.tolist() for name, counts in opened.items()}}
    trained = RandomAgent() if agent == "random" else TRAINERS[agent](task, seed, steps)
    seconds = round(time.process_time() - begin)
    sampled = task.sampled or agent in SAMPLED
    episodes = EPISODES if sampled else 1
    opened = {name: evaluate(task, trained, name, episodes, sampled).sum(axis=1) for name in SETS}
    return {
        "steps": 0 if agent == "random" else steps,
        "cpu_seconds": seconds,
        "episodes": episodes,
        "opened": {name: counts.tolist() for name, counts in opened.items()},
    }


def rates(found: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return success rates by set and attempt."""
    return {
        name: np.round(np.mean(counts, axis=0) / found["episodes"], 3).tolist()
        for name, counts in found["opened"].items()
    }
