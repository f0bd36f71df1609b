"""Training of a memory model: an autoencoder of windows with a quantised latent, on one CPU core.

    loss = |Q - Q'|^2 + lambda (|z - sg(e)|^2 + |sg(z) - e|^2)

with a normalised window Q, its reconstruction Q', its latent z and the nearest entry e. Squared
norms are sums over frames and joints, or over dimensions, averaged over the batch. The same
settings, data and package versions on the same kind of processor give the same weights, also if
the training was interrupted and resumed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.clustering import CLUSTERERS, clusterings, k_means
from vq_memory_node.model_files import JSON_FILE, MemoryModel, save_model
from vq_memory_node.networks import Decoder, Encoder, arrays_of, start_from_components
from vq_memory_node.quantisers import QUANTISERS, Quantised, Quantiser, perplexity, squared
from vq_memory_node.resume import TrainingProgress, TrainingRun, run_training
from vq_memory_node.scalar_log import ScalarLog
from vq_memory_node.train_config import MemoryTrainConfig
from vq_memory_node.training_data import (
    JointWindows,
    check_trajectories,
    digest,
    fit_normaliser,
    split,
)


def train(
    trajectories: Sequence[NDArray[np.float32]],
    config: MemoryTrainConfig,
    out: Path | str,
    progress: Callable[[TrainingProgress], None] = lambda _: None,
    run: "type[MemoryTraining] | None" = None,
) -> Path:
    """Train a memory model and save it; resume an interrupted training with the same arguments.

    Args:
        trajectories: joint positions (N, 13) of each episode at 10 Hz, rad.
        config: the settings.
        out: output folder of the model, the TensorBoard log, and the checkpoint until completion.
        progress: called after every batch.
        run: class of the run, for another quantisation; None: MemoryTraining.

    Returns:
        `out`.

    Raises:
        RuleSafeError: a trajectory is not valid, or `out` contains another run.
    """
    check_trajectories(trajectories)
    facts = {
        "config": asdict(config),
        "data": {
            "episodes": len(trajectories),
            "frames": sum(map(len, trajectories)),
            "sha256": digest(trajectories),
        },
    }
    return run_training(
        lambda: (run or MemoryTraining)(trajectories, config, Path(out), facts),
        Path(out) / JSON_FILE,
        facts,
        config,
        progress,
    )


class MemoryTraining(TrainingRun):
    """One training run: networks, data, optimiser and progress."""

    saved = ("networks", "optimiser", "generator", "uses")

    def __init__(
        self,
        trajectories: Sequence[NDArray[np.float32]],
        config: MemoryTrainConfig,
        out: Path,
        facts: dict[str, Any],
    ) -> None:
        """Raise RuleSafeError if `out` contains the checkpoint of another run."""
        super().__init__(out, facts, config.steps, config.checkpoint_every)
        self.config = config
        parts = split(len(trajectories), config.validation, config.seed)
        training, validation = ([trajectories[i] for i in episodes] for episodes in parts)
        self.validation_episodes = parts[1]
        self.normaliser = fit_normaliser(training, config.std_floor, config.sees)
        self.training = JointWindows(training, self.normaliser)
        self.validation = JointWindows(validation, self.normaliser)
        architecture, joints = config.architecture, len(ACTION_JOINTS)
        self.encoder = Encoder(architecture, joints)
        self.decoder = Decoder(architecture, joints)
        self.quantiser = self.make_quantiser()
        self.networks = nn.ModuleList([self.encoder, self.decoder, self.quantiser])
        self.optimiser = torch.optim.Adam(self.networks.parameters(), config.learning_rate)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.uses = torch.zeros(architecture.codes, dtype=torch.int64)
        start_from_components(self.encoder, self.decoder, self.training[self._draw(8192)])
        self.resume()

    def make_quantiser(self) -> Quantiser:
        """Return the quantiser of the settings."""
        return QUANTISERS[self.config.quantiser](self.config.architecture)

    def end_step(self, log: ScalarLog) -> None:
        """Restart unused codes and measure the validation loss, when they are due."""
        if self.step % self.config.restart_every == 0:
            log.add({"train/restarted": self.restart()}, self.step)
        if self.due():
            measured = self.measure(self.validation)
            log.add({f"validation/{name}": v for name, v in measured.items()}, self.step)

    def advance(self) -> dict[str, float]:
        """Train on one batch; return the terms of the loss, and perplexity and share of the
        recently used codes."""
        config = self.config
        if self.step == config.warm_up:
            self.start_codebook()
        half_cosine = 0.5 * (1 + math.cos(math.pi * self.step / config.steps))
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * half_cosine
        windows = self.training[self._draw(config.batch)]
        latent = self.encoder(windows)
        found = self.quantise(latent)
        reconstruction = squared(windows - self.decoder(found.latent))
        loss = reconstruction + config.weight * found.loss
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.uses += torch.bincount(found.codes, minlength=len(self.uses))
        self.latent = latent.detach()
        terms = {"loss": loss, "reconstruction": reconstruction, "quantisation": found.loss}
        self.step += 1
        metrics = {name: value.item() for name, value in terms.items()}
        used = (self.uses > 0).double().mean().item()
        return {**metrics, "perplexity": perplexity(self.uses), "used": used}

    def quantise(self, latent: Tensor) -> Quantised:
        """Return the quantised latents (B, dimensions) of a training step."""
        if self.step < self.config.warm_up:
            codes = torch.zeros(0, dtype=torch.int64)  # an autoencoder without quantisation
            return Quantised(latent, codes, latent.new_zeros(()))
        found: Quantised = self.quantiser(latent)
        return found

    def _draw(self, count: int) -> Tensor:
        """Return the indices of random training windows."""
        return torch.randint(len(self.training), (count,), generator=self.generator)

    @torch.no_grad()
    def start_codebook(self) -> None:
        """Initialise the entries by k-means over the latents of 32 windows per code."""
        codes = len(self.uses)
        latent = self.encoder(self.training[self._draw(32 * codes)]).numpy()
        entries = torch.from_numpy(k_means(latent, codes, self.config.seed))
        self.quantiser.place(torch.arange(codes), entries)

    def restart(self) -> int:
        """Set unused codes to latents of the last batch, and return their number."""
        config = self.config
        dead = torch.nonzero(self.uses == 0).flatten()
        # The counts are complete only if quantisation was active since the last restart.
        counted = self.step >= config.warm_up + config.restart_every
        self.uses.zero_()
        late = self.step > config.restart_until * config.steps
        if not counted or late:
            return 0
        order = torch.randperm(len(self.latent), generator=self.generator)
        dead = dead[: len(order)]
        # Adam's moments need no reset: they have decayed, as unused entries have no gradient.
        self.quantiser.place(dead, self.latent[order[: len(dead)]])
        return len(dead)

    @torch.no_grad()
    def codes(self, windows: JointWindows) -> tuple[Tensor, float, float]:
        """Return the code of each window, and the mean reconstruction and quantisation terms."""
        self.networks.eval()
        codes, sums = [], torch.zeros(2, dtype=torch.float64)
        for frames in torch.arange(len(windows)).split(1024):
            batch = windows[frames]
            found = self.quantiser(self.encoder(batch))
            codes.append(found.codes)
            reconstruction = squared(batch - self.decoder(found.latent))
            sums += len(frames) * torch.stack([reconstruction, found.loss]).double()
        self.networks.train()
        means = (sums / len(windows)).tolist()
        return torch.cat(codes), means[0], means[1]

    def measure(self, windows: JointWindows) -> dict[str, float]:
        """Return the loss, its terms, perplexity and the number of used codes over all windows."""
        return self._figures(*self.codes(windows))

    def _figures(self, codes: Tensor, reconstruction: float, loss: float) -> dict[str, float]:
        counts = torch.bincount(codes, minlength=len(self.uses))
        return {
            "loss": reconstruction + self.config.weight * loss,
            "reconstruction": reconstruction,
            "quantisation": loss,
            "perplexity": perplexity(counts),
            "codes": int((counts > 0).sum()),
        }

    def model(self) -> MemoryModel:
        """Return the model with the current weights and its codes clustered."""
        config = self.config
        codes, reconstruction, loss = self.codes(self.training)
        counts = torch.bincount(codes, minlength=len(self.uses))
        usage = (counts / len(codes)).numpy().astype(np.float32)
        codebook = self.quantiser.codebook().detach().numpy().copy()
        paths = np.split(codes.numpy(), np.cumsum(self.training.lengths)[:-1])
        weights = CLUSTERERS[config.clustering]
        merged = clusterings(codebook, usage, paths, config.clusters, weights, config.seed)
        arrays = {
            "normaliser.mean": self.normaliser.mean,
            "normaliser.std": self.normaliser.std,
            **arrays_of("encoder", self.encoder),
            **arrays_of("decoder", self.decoder),
            "codebook": codebook,
            "usage": usage,
            **merged,
        }
        results = {
            "train": self._figures(codes, reconstruction, loss),
            "validation": self.measure(self.validation),
        }
        record = {**self.facts, "validation_episodes": self.validation_episodes, "results": results}
        return MemoryModel(
            config.architecture, arrays, training={**record, "torch": torch.__version__}
        )

    def save_result(self) -> None:
        """Save the model to `out`."""
        save_model(self.model(), self.out)
