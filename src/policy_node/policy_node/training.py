"""Imitation learning: train a policy on windows of demonstrations.

On a CPU, training is deterministic: the same settings, data and package versions give the same
weights, even if training is interrupted and resumed, since all random numbers of a step depend on
the seed and the step's number only. A GPU is used if PyTorch finds one.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import torch
from torch import nn

from policy_node.batches import Network
from policy_node.checkpoints import (
    ARRAY_FILE,
    JSON_FILE,
    Checkpoint,
    file_hashes,
    revision,
    save_policy,
)
from policy_node.configs import NetworkConfig
from policy_node.ema import averaged
from policy_node.families import find_family, make_network
from policy_node.train_config import TrainConfig
from policy_node.training_data import ObservationWindows, select_episodes
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import Memory
from vq_memory_node.resume import TrainingProgress, TrainingRun, run_training


@dataclass(frozen=True)
class TrainingTask:
    """Network, memory and data of a training run.

    Attributes:
        family, size, config: family, size and configuration of the network.
        memory: the policy's memory.
        data: folder of the dataset.
        instructions: instructions of the episodes to train on; None: all episodes.
        cache: folder for decoded point clouds and images.
        safes: names of the safes in the demonstrations, which are only recorded in the checkpoint.
    """

    family: str
    size: str
    config: NetworkConfig
    memory: Memory
    data: Path
    instructions: tuple[str, ...] | None
    cache: Path
    safes: tuple[str, ...] = ()


def train(
    task: TrainingTask,
    config: TrainConfig,
    out: Path | str,
    progress: Callable[[TrainingProgress], None] = lambda _: None,
) -> Path:
    """Train a policy and save its checkpoint; an interrupted run is resumed by the same call.

    Args:
        task: network, memory and demonstrations.
        config: settings of the training.
        out: folder for the checkpoint, the state of an incomplete run, and the TensorBoard log.
        progress: called after every step.

    Returns:
        `out`.

    Raises:
        RuleSafeError: the data lacks an input of the network, or `out` contains another run.
    """
    out = Path(out)
    family = find_family(task.family)
    grasps = family.grasps if config.grasps is None else config.grasps
    far = family.far if config.far is None else config.far
    config = replace(config, batch=config.batch or family.batch, grasps=grasps, far=far)
    if task.config.replays:
        config = replace(config, actions="absolute")
    store = EpisodeStore(task.data)
    task = replace(task, config=task.config.with_cameras(store.cameras.names))
    episodes = select_episodes(store, task.instructions)
    facts = _facts(task, config, store, episodes)
    return run_training(
        lambda: PolicyTraining(task, config, out, facts, store, episodes),
        out / JSON_FILE,
        facts,
        config,
        progress,
        deterministic=not torch.cuda.is_available(),
    )


def _facts(
    task: TrainingTask, config: TrainConfig, store: EpisodeStore, episodes: Sequence[int]
) -> dict[str, Any]:
    """Return all settings and hashes that determine the trained weights, as JSON values."""
    network = asdict(task.config)  # type: ignore[call-overload]
    if isinstance(folder := network.get("skills"), str):  # of any name
        hashes = file_hashes(folder)
        network["skills"] = hashes.get(ARRAY_FILE, hashes[JSON_FILE])  # with an exchanged encoder
    return {
        "policy": {"family": task.family, "size": task.size, **network},
        "memory": task.memory.describe(),
        "config": asdict(config),
        "data": describe_data(store, episodes, task.safes),
    }


def describe_data(
    store: EpisodeStore, episodes: Sequence[int], safes: Sequence[str]
) -> dict[str, Any]:
    """Return the metadata of demonstrations in a checkpoint."""
    chosen = [store.episodes[index] for index in episodes]
    return {
        "digest": store.digest,
        "versions": store.versions,
        "instructions": list(dict.fromkeys(episode.task for episode in chosen)),
        "episodes": len(chosen),
        "frames": sum(episode.length for episode in chosen),
        "safes": list(safes),
    }


class PolicyTraining(TrainingRun):
    """The state of a training run: network, averaged network, data, optimiser and progress.

    Attributes:
        batch: number of windows in a batch.
        spent, waited: time of all steps, and the part of it that waited for data, s.
    """

    saved = ("network", "average", "optimiser", "spent", "waited")

    def __init__(
        self,
        task: TrainingTask,
        config: TrainConfig,
        out: Path,
        facts: dict[str, Any],
        store: EpisodeStore,
        episodes: Sequence[int],
    ) -> None:
        """Create a run, or resume it from `out`; raise RuleSafeError for the state of another."""
        super().__init__(out, facts, config.steps, config.checkpoint_every)
        self.task, self.config = task, config
        self.batch: int = facts["config"]["batch"]
        self.revision = revision()  # at the start, since the source may change during training
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = make_network(task.family, task.config, task.memory.shape)
        network = self.network
        self.windows = ObservationWindows(
            store,
            episodes,
            task.config,
            task.memory,
            config,
            task.cache,
            network.token_ids,
            network.scene_encoder(),
            network.normaliser(),
        )
        network.store_demonstrations(self.windows)
        if task.config.replays:
            self.steps = 0
        self.network.to(self.device).train()
        self.average = averaged(self.network, config.ema)
        self.optimiser = torch.optim.AdamW(
            _groups(self.network, config), config.learning_rate, fused=True
        )
        self.spent, self.waited = 0.0, 0.0
        self.resume()

    def advance(self) -> dict[str, float]:
        """Run one step; return the loss, the norm of the gradient before clipping, the learning
        rate of the next step, and the share of the time spent on waiting for data."""
        began = time.perf_counter()
        config = self.config
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        # Seeded by the step, so that a resumed run continues with the same random numbers.
        rng = np.random.default_rng([config.seed, self.step, 0])
        torch.manual_seed(int(rng.integers(2**62)))
        indices = self.windows.draw(rng, self.batch, config.grasps or 0.0)
        batch = self.windows.batch(indices, rng).to(self.device)
        ready = time.perf_counter()
        loss = self.network.loss(batch)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self.optimiser.step()
        self.average.update_parameters(self.network)
        found = {"loss": loss.item(), "gradient": float(norm)}
        self.waited += ready - began
        self.spent += time.perf_counter() - began
        self.step += 1
        return {**found, "rate": self._rate(), "waiting": self.waited / self.spent}

    def _rate(self) -> float:
        return learning_rate(self.step, self.config)

    def checkpoint(self) -> Checkpoint:
        """Return the checkpoint of the current state, with averaged weights."""
        windows, task = self.windows, self.task
        average = cast(Network, self.average.module)
        results = {
            "seconds": self.spent,
            "share_waiting_for_data": self.waited / max(self.spent, 1e-9),
            "windows_per_second": self.step * self.batch / max(self.spent, 1e-9),
            "device": str(self.device),
        }
        return Checkpoint(
            task.family,
            task.size,
            average.built(task.config),
            task.memory,
            windows.normaliser,
            average.state_dict(),
            data=self.facts["data"],
            training={"facts": self.facts, "results": results, "torch": torch.__version__},
            revision=self.revision,
            cameras=windows.cameras,
        )

    def save_result(self) -> None:
        """Save the policy to `out`."""
        save_policy(self.checkpoint(), self.out)


class Schedule(Protocol):
    """Settings of the learning rate of a training."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def warm_up(self) -> int: ...
    @property
    def steps(self) -> int: ...


def learning_rate(step: int, config: Schedule) -> float:
    """Return the learning rate of a step: linear warm-up, then a cosine to 0."""
    if step < config.warm_up:
        return config.learning_rate * (step + 1) / config.warm_up
    share = (step - config.warm_up) / max(config.steps - config.warm_up, 1)
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * share))


def _groups(network: nn.Module, config: TrainConfig) -> list[dict[str, Any]]:
    """Return the trained parameters; weight decay applies to matrices and kernels only."""
    trained = [value for value in network.parameters() if value.requires_grad]
    decays = [value for value in trained if value.ndim > 1]
    others = [value for value in trained if value.ndim <= 1]
    return [
        {"params": decays, "weight_decay": config.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
