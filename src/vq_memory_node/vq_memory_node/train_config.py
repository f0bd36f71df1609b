"""Settings of a training run. Does not import torch, so that the command line starts quickly."""

from dataclasses import dataclass
from typing import Literal

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.settings import Settings, setting
from vq_memory_node.model_files import Architecture
from vq_memory_node.windows import WINDOW

Quantiser = Literal["straight_through", "ema"]
Clustering = Literal["unweighted", "by_usage"]
Seen = Literal["arm_and_hand", "hand"]


@dataclass(frozen=True)
class MemoryTrainConfig(Settings):
    """Settings of a training run."""

    quantiser: Quantiser = setting(
        "straight_through",
        "straight_through: codebook learned by gradient, as published. ema: codebook of moving "
        "averages.",
    )
    sees: Seen = setting(
        "arm_and_hand",
        "Input joints. arm_and_hand: all 13, as published. hand: the hand's six, so that tokens do "
        "not depend on the arm's posture, which differs between safes.",
    )
    clustering: Clustering = setting(
        "unweighted",
        "Weights of codes in k-means. unweighted: as published. by_usage: share of the windows.",
    )
    codes: int = setting(256, "Number of codes in the codebook (published: 256).", 2)
    dimensions: int = setting(32, "Size of a latent.", 1, len(ACTION_JOINTS) * WINDOW)
    weight: float = setting(
        4.0, "Weight (lambda) of commitment and codebook terms (published: 4).", 0
    )
    clusters: tuple[int, ...] = setting(
        (2, 4, 32),
        "Numbers of clusters to compute; one cluster per code is always added (published: 4).",
    )
    steps: int = setting(16000, "Number of batches.", 1)
    batch: int = setting(
        32, "Windows per batch, drawn from all frames of the training episodes.", 2
    )
    learning_rate: float = setting(
        1e-3, "Initial learning rate of Adam; cosine decay to 0.", above=0
    )
    warm_up: int = setting(
        1000, "Batches without quantisation, before k-means initialises the codebook.", 0
    )
    restart_every: int = setting(
        400, "Interval, in batches, at which unused codes are set to random latents.", 1
    )
    restart_until: float = setting(0.8, "Fraction of the batches after which no code is restarted.")
    validation: float = setting(0.1, "Fraction of the episodes for validation.", above=0, below=1)
    std_floor: float = setting(
        0.05, "Minimum standard deviation of a joint in the normaliser.", unit="rad", above=0
    )
    checkpoint_every: int = setting(
        1000, "Batches between two checkpoints, each with a validation.", 1
    )
    threads: int = setting(1, "Number of torch threads; it affects rounding.", 1)
    seed: int = setting(0, "Seed of weights, split, batches and k-means.", 0, 2**32 - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        codes = self.architecture.codes
        for count in self.clusters:
            if not 2 <= count < codes:
                raise RuleSafeError(f"{count} clusters of {codes} codes; valid: 2 to {codes - 1}")
        if self.warm_up >= self.steps:
            raise RuleSafeError(
                f"warm_up is {self.warm_up}; valid: below the number of steps, {self.steps}, since "
                "the codebook is initialised after the warm-up"
            )

    @property
    def architecture(self) -> Architecture:
        """The architecture of these settings."""
        return Architecture(dimensions=self.dimensions, codes=self.codes)
