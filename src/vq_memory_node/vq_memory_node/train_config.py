"""Settings of a training run; no torch here, so that a command line can show them at once."""

import math
from dataclasses import dataclass
from typing import Literal

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting
from vq_memory_node.model_files import Architecture

Quantiser = Literal["straight_through", "ema", "fsq"]
Clustering = Literal["unweighted", "by_usage"]
Seen = Literal["arm_and_hand", "hand"]


@dataclass(frozen=True)
class MemoryTrainConfig(Settings):
    """Settings of a training run."""

    quantiser: Quantiser = setting(
        "straight_through",
        "straight_through: as published. ema: the codebook follows by moving averages. "
        "fsq: finite scalar quantisation with `levels`.",
    )
    sees: Seen = setting(
        "arm_and_hand",
        "Input joints. arm_and_hand: all 13, as published. hand: the hand's six; tokens then tell "
        "what the hand does and not where, so that they mean the same at another safe.",
    )
    clustering: Clustering = setting(
        "unweighted", "unweighted: as published. by_usage: codes count as often as they occur."
    )
    codes: int = setting(256, "Codes of the codebook (published: 256). Not for fsq.", 2)
    dimensions: int = setting(32, "Size of a latent. Not for fsq.", 1)
    levels: tuple[int, ...] = setting((8, 6, 5), "Values of each dimension. For fsq alone.", 2)
    weight: float = setting(4.0, "Lambda, of commitment and codebook term (published: 4).", 0)
    clusters: tuple[int, ...] = setting(
        (2, 4, 32), "Vocabularies to prepare, besides one token for each code (published: 4)."
    )
    steps: int = setting(16000, "Batches in all.", 1)
    batch: int = setting(
        32, "Windows in a batch, drawn from all frames of the training episodes.", 2
    )
    learning_rate: float = setting(
        1e-3, "Adam's, at the start; it falls to 0 along half a cosine.", above=0
    )
    warm_up: int = setting(
        1000, "Batches before the codebook starts from k-means and quantisation begins.", 0
    )
    restart_every: int = setting(
        400, "Batches without a window after which a code is set to a random latent.", 1
    )
    restart_until: float = setting(0.8, "Share of the batches after which no code is restarted.")
    validation: float = setting(0.1, "Share of the episodes for validation.", above=0, below=1)
    std_floor: float = setting(
        0.05, "Least standard deviation of a joint in the normaliser.", unit="rad", above=0
    )
    checkpoint_every: int = setting(1000, "Batches between checkpoints, and validations.", 1)
    threads: int = setting(1, "Threads of torch; results depend on their number in rounding.", 1)
    seed: int = setting(0, "Seed of weights, split, batches and k-means.", 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.levels:
            raise RuleSafeError("levels is empty; valid: one or more")
        codes = self.architecture.codes
        for count in self.clusters:
            if not 2 <= count < codes:
                raise RuleSafeError(f"{count} clusters of {codes} codes; valid: 2 to {codes - 1}")

    @property
    def architecture(self) -> Architecture:
        """What is built."""
        if self.quantiser == "fsq":
            count = math.prod(self.levels)
            return Architecture("fsq", dimensions=len(self.levels), codes=count, levels=self.levels)
        return Architecture("vq", dimensions=self.dimensions, codes=self.codes)
