"""Training of a policy by imitation: windows of demonstrations in, chunks of actions out.

On a processor the same settings, data and versions of the packages give the same weights,
interrupted and resumed or not: everything random in a step is drawn from the seed and the step's
number. Several devices and mixed precision go by accelerate.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs
from tensorboardX import SummaryWriter
from torch import Tensor, nn

from policy_node.batches import Batch, Network
from policy_node.checkpoints import JSON_FILE, Checkpoint, revision, save_policy
from policy_node.configs import NetworkConfig, TrainConfig
from policy_node.ema import averaged
from policy_node.families import find_family, make_network
from policy_node.training_data import ObservationWindows, choose
from rulesafe_data.store import EpisodeStore
from vq_memory_node.checkpoints import (
    CHECKPOINT,
    finished,
    load_checkpoint,
    repeatable,
    save_checkpoint,
)
from vq_memory_node.memory import Memory


@dataclass(frozen=True)
class TrainingTask:
    """What is to be trained on what.

    Attributes:
        family, size, config: of the network.
        memory: what it remembers with.
        data: the dataset.
        instructions: of the episodes to learn from; None: all.
        cache: folder for clouds and pictures that are decoded once.
        safes: those in the demonstrations, as the checkpoint shall tell whoever evaluates it; they
            decide nothing.
    """

    family: str
    size: str
    config: NetworkConfig
    memory: Memory
    data: Path
    instructions: tuple[str, ...] | None
    cache: Path
    safes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainingProgress:
    """Where training stands: steps done of all, the last loss and rate, share of the time so far
    that went into waiting for data."""

    step: int
    steps: int
    loss: float
    rate: float
    waiting: float


def train(
    task: TrainingTask,
    config: TrainConfig,
    out: Path | str,
    progress: Callable[[TrainingProgress], None] = lambda _: None,
) -> Path:
    """Train a policy and save its checkpoint; called again, it goes on where it was interrupted.

    Args:
        task: network, memory and demonstrations.
        config: the settings.
        out: folder for the checkpoint, the state while it is not complete, and TensorBoard's log.
        progress: called after every step.

    Returns:
        `out`.

    Errors: RuleSafeError if the data lacks what the network looks at, if `out` holds another run.
    """
    out = Path(out)
    config = replace(config, batch=config.batch or find_family(task.family).batch)
    store = EpisodeStore(task.data)
    episodes = choose(store, task.instructions)
    facts = _facts(task, config, store, episodes)
    if not finished(out / JSON_FILE, facts):
        out.mkdir(parents=True, exist_ok=True)
        with repeatable(config.threads, deterministic=not torch.cuda.is_available()):
            run = PolicyTraining(task, config, out, facts, store, episodes)
            run.go(progress)
            if run.main:
                save_policy(run.checkpoint(), out)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return out


def _facts(
    task: TrainingTask, config: TrainConfig, store: EpisodeStore, episodes: Sequence[int]
) -> dict[str, Any]:
    """All that decides the weights, plain values."""
    tasks = dict.fromkeys(store.episodes[index].task for index in episodes)
    return {
        "policy": {
            "family": task.family,
            "size": task.size,
            **asdict(task.config),  # type: ignore[call-overload]
        },
        "memory": task.memory.describe(),
        "config": asdict(config),
        "data": {
            "digest": store.digest,
            "instructions": list(tasks),
            "episodes": len(episodes),
            "frames": sum(store.episodes[index].length for index in episodes),
            "safes": list(task.safes),
        },
    }


class _Loss(nn.Module):
    """The loss as a forward pass, which is what several devices share."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, batch: Batch) -> Tensor:
        return self.network.loss(batch)


class PolicyTraining:
    """One training run: network, its average, data, optimiser, and how far it is.

    Attributes:
        batch: windows in a batch.
        main: whether this process is the one that writes.
    """

    def __init__(
        self,
        task: TrainingTask,
        config: TrainConfig,
        out: Path,
        facts: dict[str, Any],
        store: EpisodeStore,
        episodes: Sequence[int],
    ) -> None:
        """Errors: RuleSafeError if `out` holds the state of another run."""
        self.task, self.config, self.out, self.facts = task, config, out, facts
        self.batch: int = facts["config"]["batch"]
        self.revision = revision()  # now, for the source may change while it trains
        precision = config.mixed_precision
        self.accelerator = Accelerator(
            mixed_precision=precision,
            cpu=not torch.cuda.is_available(),
            # Several devices wait for every gradient; pi0's last layer over the prefix has none.
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
        self.main = self.accelerator.is_main_process
        torch.manual_seed(config.seed)
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
        )
        self.network.to(self.accelerator.device).train()
        self.average = averaged(self.network, config.ema)
        optimiser = torch.optim.AdamW(_groups(self.network, config), config.learning_rate)
        self.loss, self.optimiser = self.accelerator.prepare(_Loss(self.network), optimiser)
        self.step, self.spent, self.waited = 0, 0.0, 0.0
        state = load_checkpoint(out, facts)
        if state is not None:
            self._restore(state)

    def go(self, progress: Callable[[TrainingProgress], None]) -> None:
        """Do the steps that are left."""
        config = self.config
        log = SummaryWriter(
            str(self.out / "tensorboard"), purge_step=self.step + 1, write_to_disk=self.main
        )
        with log:
            while self.step < config.steps:
                loss, norm = self._advance()
                self.step += 1
                rate, waiting = self._rate(), self.waited / self.spent
                if self.step % 20 == 0:
                    told = {"loss": loss, "rate": rate, "gradient": norm, "waiting": waiting}
                    for name, value in told.items():
                        log.add_scalar(f"train/{name}", value, self.step)
                if self.main and self._due():
                    self._save_state()
                progress(TrainingProgress(self.step, config.steps, loss, rate, waiting))

    def _advance(self) -> tuple[float, float]:
        """One step: the loss, and the gradient's norm before it is clipped."""
        began = time.perf_counter()
        config, accelerator = self.config, self.accelerator
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        # A step's own numbers, so that one resumed at any step goes on as it would have.
        rng = np.random.default_rng([config.seed, self.step, accelerator.process_index])
        torch.manual_seed(int(rng.integers(2**62)))
        places = rng.integers(len(self.windows), size=self.batch)
        batch = self.windows.batch(places, rng).to(accelerator.device)
        ready = time.perf_counter()
        with accelerator.autocast():
            loss = self.loss(batch)
        self.optimiser.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(self.network.parameters(), config.clip)
        self.optimiser.step()
        self.average.update_parameters(self.network)
        told = loss.item(), float(norm)
        self.waited += ready - began
        self.spent += time.perf_counter() - began
        return told

    def _rate(self) -> float:
        """The learning rate of the next step: up along a line, down along half a cosine."""
        config = self.config
        if self.step < config.warm_up:
            return config.learning_rate * (self.step + 1) / config.warm_up
        share = (self.step - config.warm_up) / max(config.steps - config.warm_up, 1)
        return config.learning_rate * 0.5 * (1 + math.cos(math.pi * share))

    def _due(self) -> bool:
        return self.step % self.config.checkpoint_every == 0 or self.step == self.config.steps

    def checkpoint(self) -> Checkpoint:
        """The policy as it stands, its weights averaged."""
        windows, task = self.windows, self.task
        average = cast(Network, self.average.module)
        batches = max(self.step, 1)
        results = {
            "seconds": self.spent,
            "share_waiting_for_data": self.waited / max(self.spent, 1e-9),
            "windows_per_second": batches * self.batch / max(self.spent, 1e-9),
            "device": str(self.accelerator.device),
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
        )

    def _save_state(self) -> None:
        state = {
            "step": self.step,
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "spent": self.spent,
            "waited": self.waited,
        }
        save_checkpoint(self.out, self.facts, state)

    def _restore(self, state: dict[str, Any]) -> None:
        self.step, self.spent, self.waited = state["step"], state["spent"], state["waited"]
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self.optimiser.load_state_dict(state["optimiser"])


def _groups(network: nn.Module, config: TrainConfig) -> list[dict[str, Any]]:
    """Parameters that are learned: matrices and kernels decay, biases and scales do not."""
    learned = [value for value in network.parameters() if value.requires_grad]
    decays = [value for value in learned if value.ndim > 1]
    others = [value for value in learned if value.ndim <= 1]
    return [
        {"params": decays, "weight_decay": config.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
