"""Settings of a training run; no torch here, so that a command line can show them at once."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from rulesafe_core.errors import RuleSafeError, unknown_name
from vq_memory_node.model_files import Architecture

Quantiser = Literal["straight_through", "ema", "fsq"]
Clustering = Literal["unweighted", "by_usage"]
Seen = Literal["arm_and_hand", "hand"]


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a training run; which figures are published is said at each.

    Attributes:
        quantiser: straight_through: as published. ema: the codebook follows by moving averages.
            fsq: finite scalar quantisation with `levels`.
        sees: arm_and_hand: all 13 joints, as published. hand: its six alone. Tokens then tell what
            the hand does and not where, so that they mean the same at another safe.
        clustering: unweighted: as published. by_usage: codes count as often as they occur.
        codes: codes of the codebook (published: 256). Not for fsq.
        dimensions: numbers in a latent. Not for fsq.
        levels: values of each dimension. For fsq alone.
        weight: lambda, of commitment and codebook term (published: 4).
        clusters: vocabularies to prepare, beside one token for each code (published: 4).
        steps: batches in all.
        batch: windows in a batch, drawn from all frames of the training episodes.
        learning_rate: Adam's, at the start; it falls to 0 along half a cosine.
        warm_up: batches before the codebook starts from k-means; until then nothing is quantised.
        restart_every: a code that no window chose for so many batches is set to a random latent.
        restart_until: share of the batches after which codes are left alone.
        validation: share of the episodes that are not learned from.
        std_floor: least standard deviation of a joint in the normaliser, rad.
        checkpoint_every: batches between two checkpoints, and two validations.
        threads: of torch; another number may add in another order.
        seed: of weights, split, batches and k-means.
    """

    quantiser: Quantiser = "straight_through"
    sees: Seen = "arm_and_hand"
    clustering: Clustering = "unweighted"
    codes: int = 256
    dimensions: int = 32
    levels: tuple[int, ...] = (8, 6, 5)
    weight: float = 4.0
    clusters: tuple[int, ...] = (2, 4, 32)
    steps: int = 16000
    batch: int = 32
    learning_rate: float = 1e-3
    warm_up: int = 1000
    restart_every: int = 400
    restart_until: float = 0.8
    validation: float = 0.1
    std_floor: float = 0.05
    checkpoint_every: int = 1000
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Errors: RuleSafeError, naming the setting and its range."""
        for name, least in (("steps", 1), ("batch", 2), ("codes", 2), ("dimensions", 1)):
            _at_least(name, getattr(self, name), least)
        for name in ("restart_every", "checkpoint_every", "threads"):
            _at_least(name, getattr(self, name), 1)
        for name in ("warm_up", "weight", "seed"):
            _at_least(name, getattr(self, name), 0)
        if not (self.learning_rate > 0 and self.std_floor > 0 and 0 < self.validation < 1):
            raise RuleSafeError(
                "learning_rate and std_floor must be above 0, validation between 0 and 1"
            )
        if self.quantiser not in get_args(Quantiser):
            raise unknown_name("quantiser", self.quantiser, get_args(Quantiser))
        if self.sees not in get_args(Seen):
            raise unknown_name("sees", self.sees, get_args(Seen))
        if self.clustering not in get_args(Clustering):
            raise unknown_name("clustering", self.clustering, get_args(Clustering))
        if min(self.levels, default=0) < 2:
            raise RuleSafeError(f"levels {self.levels}: one or more, each 2 or more")
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


def _at_least(name: str, value: float, least: int) -> None:
    if value < least:
        raise RuleSafeError(f"{name} is {value}; it must be {least} or more")
