"""Training of a memory: windows of joint positions to codes and back, on one core of a processor.

    loss = |Q - Q'|^2 + lambda (|z - sg(e)|^2 + |sg(z) - e|^2)

with a window Q (normalised), its reconstruction Q', its latent z and the nearest entry e; squared
norms are sums over frames and joints, or over dimensions, as the formula has them, averaged over
the batch. The same settings, data and versions of the packages on the same kind of processor give
the same weights, interrupted and resumed or not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensorboardX import SummaryWriter
from torch import Tensor, nn

from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.checkpoints import (
    CHECKPOINT,
    finished,
    load_checkpoint,
    repeatable,
    save_checkpoint,
)
from vq_memory_node.clustering import CLUSTERERS, clusterings, k_means
from vq_memory_node.model_files import JSON_FILE, MemoryModel, save_model
from vq_memory_node.networks import Decoder, Encoder, arrays_of, start_from_components
from vq_memory_node.quantisers import QUANTISERS, Codebook, Quantised, perplexity, squared
from vq_memory_node.train_config import MemoryTrainConfig
from vq_memory_node.training_data import (
    JointWindows,
    check_trajectories,
    digest,
    fit_normaliser,
    split,
)


@dataclass(frozen=True)
class MemoryTrainingProgress:
    """Where training stands: batches done of all, the last loss, perplexity of the recent codes."""

    step: int
    steps: int
    loss: float
    perplexity: float


def train(
    trajectories: Sequence[NDArray[np.float32]],
    config: MemoryTrainConfig,
    out: Path | str,
    progress: Callable[[MemoryTrainingProgress], None] = lambda _: None,
) -> Path:
    """Train a memory and save its model; called again, it goes on where it was interrupted.

    Args:
        trajectories: of each episode, joint positions (N, 13) at 10 Hz, rad.
        config: the settings.
        out: folder for the model, the checkpoint while it is not complete, and TensorBoard's log.
        progress: called after every batch.

    Returns:
        `out`.

    Errors: RuleSafeError for trajectories that are none, and if `out` holds another run.
    """
    check_trajectories(trajectories)
    out = Path(out)
    facts = {
        "config": asdict(config),
        "data": {
            "episodes": len(trajectories),
            "frames": sum(map(len, trajectories)),
            "sha256": digest(trajectories),
        },
    }
    if not finished(out / JSON_FILE, facts):
        out.mkdir(parents=True, exist_ok=True)
        with repeatable(config.threads):
            torch.manual_seed(config.seed)
            run = MemoryTraining(trajectories, config, out, facts)
            run.go(progress)
            save_model(run.model(), out)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return out


class MemoryTraining:
    """One training run: networks, data, optimiser, and how far it is."""

    def __init__(
        self,
        trajectories: Sequence[NDArray[np.float32]],
        config: MemoryTrainConfig,
        out: Path,
        facts: dict[str, Any],
    ) -> None:
        """Errors: RuleSafeError if `out` holds the checkpoint of another run."""
        self.config, self.out, self.facts = config, out, facts
        self.held = split(len(trajectories), config.validation, config.seed)
        learned, kept = ([trajectories[place] for place in places] for places in self.held)
        self.normaliser = fit_normaliser(learned, config.std_floor, config.sees)
        self.learned = JointWindows(learned, self.normaliser)
        self.kept = JointWindows(kept, self.normaliser)
        architecture, joints = config.architecture, len(ACTION_JOINTS)
        self.encoder = Encoder(architecture, joints)
        self.decoder = Decoder(architecture, joints)
        self.quantiser = QUANTISERS[config.quantiser](architecture)
        self.networks = nn.ModuleList([self.encoder, self.decoder, self.quantiser])
        self.optimiser = torch.optim.Adam(self.networks.parameters(), config.learning_rate)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.uses = torch.zeros(architecture.codes, dtype=torch.int64)
        self.step = 0
        start_from_components(self.encoder, self.decoder, self.learned[self._places(8192)])
        state = load_checkpoint(out, facts)
        if state is not None:
            self._restore(state)

    def go(self, progress: Callable[[MemoryTrainingProgress], None]) -> None:
        """Do the steps that are left."""
        config = self.config
        with SummaryWriter(str(self.out / "tensorboard"), purge_step=self.step + 1) as log:
            while self.step < config.steps:
                terms = self._advance()
                self.step += 1
                recent = perplexity(self.uses)
                if self.step % 20 == 0:
                    used = (self.uses > 0).double().mean().item()
                    for name, value in {**terms, "perplexity": recent, "used": used}.items():
                        log.add_scalar(f"train/{name}", value, self.step)
                if self.step % config.restart_every == 0:
                    log.add_scalar("train/restarted", self._restart(), self.step)
                if self.step % config.checkpoint_every == 0 or self.step == config.steps:
                    for name, value in self.measure(self.kept).items():
                        log.add_scalar(f"validation/{name}", value, self.step)
                    self._checkpoint()
                progress(MemoryTrainingProgress(self.step, config.steps, terms["loss"], recent))

    def _advance(self) -> dict[str, float]:
        """One batch."""
        config = self.config
        if self.step == config.warm_up and isinstance(self.quantiser, Codebook):
            self._start_codebook(self.quantiser)
        half_cosine = 0.5 * (1 + math.cos(math.pi * self.step / config.steps))
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * half_cosine
        windows = self.learned[self._places(config.batch)]
        latent = self.encoder(windows)
        found = self._quantise(latent)
        reconstruction = squared(windows - self.decoder(found.latent))
        loss = reconstruction + config.weight * found.loss
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.uses += torch.bincount(found.codes, minlength=len(self.uses))
        self.latent = latent.detach()
        terms = {"loss": loss, "reconstruction": reconstruction, "quantisation": found.loss}
        return {name: value.item() for name, value in terms.items()}

    def _quantise(self, latent: Tensor) -> Quantised:
        if self.step < self.config.warm_up and isinstance(self.quantiser, Codebook):
            codes = torch.zeros(0, dtype=torch.int64)  # an autoencoder, so far
            return Quantised(latent, codes, latent.new_zeros(()))
        found: Quantised = self.quantiser(latent)
        return found

    def _places(self, count: int) -> Tensor:
        return torch.randint(len(self.learned), (count,), generator=self.generator)

    @torch.no_grad()
    def _start_codebook(self, quantiser: Codebook) -> None:
        """Entries from k-means over latents: of 32 windows for each code."""
        codes = len(self.uses)
        latent = self.encoder(self.learned[self._places(32 * codes)]).numpy()
        entries = torch.from_numpy(k_means(latent, codes, self.config.seed))
        quantiser.place(torch.arange(codes), entries)

    def _restart(self) -> int:
        """Set codes that were not chosen to latents of the last batch; how many they were."""
        config = self.config
        dead = torch.nonzero(self.uses == 0).flatten()
        # Counted since the last time only if all that time there were codes to choose from.
        counted = self.step >= config.warm_up + config.restart_every
        self.uses.zero_()
        late = self.step > config.restart_until * config.steps
        if not counted or late or not isinstance(self.quantiser, Codebook):
            return 0
        order = torch.randperm(len(self.latent), generator=self.generator)
        dead = dead[: len(order)]
        # Adam's averages of an entry without gradients for so long have faded: nothing to reset.
        self.quantiser.place(dead, self.latent[order[: len(dead)]])
        return len(dead)

    @torch.no_grad()
    def codes(self, windows: JointWindows) -> tuple[Tensor, float, float]:
        """The code of each window, and the mean reconstruction and quantisation terms."""
        self.networks.eval()
        codes, sums = [], torch.zeros(2, dtype=torch.float64)
        for places in torch.arange(len(windows)).split(1024):
            batch = windows[places]
            found = self.quantiser(self.encoder(batch))
            codes.append(found.codes)
            reconstruction = squared(batch - self.decoder(found.latent))
            sums += len(places) * torch.stack([reconstruction, found.loss]).double()
        self.networks.train()
        means = (sums / len(windows)).tolist()
        return torch.cat(codes), means[0], means[1]

    def measure(self, windows: JointWindows) -> dict[str, float]:
        """Loss and its terms, perplexity, and how many codes occur, over all windows."""
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
        """The model as it stands, its codes clustered."""
        config = self.config
        codes, reconstruction, loss = self.codes(self.learned)
        counts = torch.bincount(codes, minlength=len(self.uses))
        usage = (counts / len(codes)).numpy().astype(np.float32)
        codebook = self.quantiser.codebook().detach().numpy().copy()
        paths = np.split(codes.numpy(), np.cumsum(self.learned.lengths)[:-1])
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
            "validation": self.measure(self.kept),
        }
        told = {**self.facts, "validation_episodes": self.held[1], "results": results}
        return MemoryModel(
            config.architecture, arrays, training={**told, "torch": torch.__version__}
        )

    def _checkpoint(self) -> None:
        state = {
            "step": self.step,
            "networks": self.networks.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generator": self.generator.get_state(),
            "uses": self.uses,
        }
        save_checkpoint(self.out, self.facts, state)

    def _restore(self, state: dict[str, Any]) -> None:
        self.step = state["step"]
        self.networks.load_state_dict(state["networks"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.generator.set_state(state["generator"])
        self.uses = state["uses"]
