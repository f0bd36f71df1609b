"""Finite scalar quantisation: memory models without a learned codebook, for comparison.

Mentzer et al., "Finite Scalar Quantization: VQ-VAE Made Simple" (2023): each dimension of a latent
is bounded and rounded to one of a few levels. The bound is a logistic function, which serves even
and odd numbers of levels. Policies use a model by `--memory vq --memory-model FOLDER`.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor

from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_core.settings import setting
from rulesafe_data.bars import training_bar
from vq_memory_node.model_files import Architecture, MemoryModel
from vq_memory_node.quantisers import Quantised, Quantiser
from vq_memory_node.tokenizers import CLUSTERS, Tokenizer
from vq_memory_node.train_config import MemoryTrainConfig
from vq_memory_node.training import MemoryTraining, train
from vq_memory_node.trajectories import load_trajectories


@dataclass(frozen=True)
class FsqTrainConfig(MemoryTrainConfig):
    """Settings of a training; those of the codebook have no effect."""

    quantiser: Literal["fsq"] = setting("fsq", "The quantisation.")  # type: ignore[assignment]
    levels: tuple[int, ...] = setting((8, 6, 5), "Levels of each latent dimension.", 2)

    @property
    def architecture(self) -> Architecture:
        kind = f"{FsqTokenizer.__module__}:{FsqTokenizer.__qualname__}"
        sizes = len(self.levels), math.prod(self.levels)
        return Architecture(kind, dimensions=sizes[0], codes=sizes[1], levels=self.levels)


class Fsq(Quantiser):
    """Bounds and rounds each dimension; no parameters, no loss.

    Values of entries are in -1 .. 1. The digits of the dimensions, the first one varying fastest,
    form the number of the code.
    """

    top: Tensor
    places: Tensor

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        levels = torch.tensor(architecture.levels)
        places = [math.prod(architecture.levels[:place]) for place in range(len(levels))]
        self.register_buffer("top", (levels - 1).float(), persistent=False)
        self.register_buffer("places", torch.tensor(places), persistent=False)

    def codebook(self) -> Tensor:
        """Return the grid of all entries (K, dimensions)."""
        levels = (self.top + 1).long()
        codes = torch.arange(int(levels.prod()))
        digits = codes.unsqueeze(1) // self.places % levels
        return digits / self.top * 2 - 1

    def forward(self, latent: Tensor) -> Quantised:
        """Quantise (B, dimensions)."""
        bounded = torch.sigmoid(latent) * self.top
        digits = bounded + (bounded.round() - bounded).detach()
        codes = (bounded.detach().round().long() * self.places).sum(1)
        return Quantised(digits / self.top * 2 - 1, codes, latent.new_zeros(()))


class FsqTraining(MemoryTraining):
    """A training run without the steps that initialise and restart a codebook."""

    def make_quantiser(self) -> Quantiser:
        return Fsq(self.config.architecture)

    def quantise(self, latent: Tensor) -> Quantised:
        found: Quantised = self.quantiser(latent)
        return found

    def start_codebook(self) -> None:
        """There is none."""

    def restart(self) -> int:
        self.uses.zero_()
        return 0


class FsqTokenizer(Tokenizer):
    """Tokens of a model, in numpy; see `Fsq` for the formula."""

    def __init__(self, model: MemoryModel, clusters: int = CLUSTERS) -> None:
        super().__init__(model, clusters)
        about = model.architecture
        if (len(about.levels), math.prod(about.levels)) != (about.dimensions, about.codes):
            raise RuleSafeError(
                f"levels {about.levels} do not fit {about.dimensions} dimensions and {about.codes} "
                "codes"
            )
        levels = np.array(about.levels)
        self._top = (levels - 1).astype(np.float32)
        self._places = np.concatenate([[1], np.cumprod(levels[:-1])])

    def code(self, window: NDArray[np.float32]) -> int:
        # 1 / (1 + exp(-z)), in a form that cannot overflow.
        bounded = np.float32(0.5) * (1 + np.tanh(self.encoder.latent(window) / 2))
        return int(np.rint(bounded * self._top).astype(np.int64) @ self._places)


def train_fsq(
    data: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")],
    out: Path,
    config: Annotated[FsqTrainConfig, tyro.conf.OmitArgPrefixes] = FsqTrainConfig(),
) -> None:
    """Train a memory model with finite scalar quantisation, as `rulesafe memory train` does.

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        out: Output folder of the model.
    """
    kept = f"the last checkpoint, if any (saved every {config.checkpoint_every} batches),"
    with training_bar(config.steps, "batch") as show, resumable(kept):
        train(
            load_trajectories(data).positions,
            config,
            out,
            lambda now: show(now.step, f"loss {now.metrics['loss']:.1f}"),
            FsqTraining,
        )
    print(out)
