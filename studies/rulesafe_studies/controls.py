"""Memories for comparison with VQ-Memory: with less information, or with tokens that are not
learned. Each is selected by its path, such as `--memory rulesafe_studies.controls:ElapsedTime`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.settings import setting
from rulesafe_reader.memory import BENT, INDEX_FINGER
from vq_memory_node.memory import Memory, RawMemory, TokenMemory
from vq_memory_node.tokenizers import Tokenizer, load_tokenizer
from vq_memory_node.windows import LENGTH

ELBOW = ACTION_JOINTS.index("right_elbow_joint")

LONGEST = 2400
"""Number of frames in which grasps are counted, as many as the longest episode has."""


@dataclass(frozen=True)
class ElapsedTime(Memory):
    """Constant tokens: the number of observed ones is the time since the start of the episode."""

    length: int = setting(LENGTH, "M, number of stored tokens, 2 s apart.", 1)

    @property
    def vocabulary(self) -> int:
        return 1

    def value(self, window: NDArray[np.float32]) -> int:
        return 0


@dataclass(frozen=True)
class GraspBit(Memory):
    """One bit per instant, without learning: whether the index finger is bent, as in a pinch. 40
    bits in total, half of those of VQ-Memory with 4 tokens."""

    length: int = setting(LENGTH, "M, number of stored bits, 2 s apart.", 1)
    threshold: float = setting(
        BENT, "Position of the index finger above which the bit is 1; open: 0.4.", unit="rad"
    )

    @property
    def vocabulary(self) -> int:
        return 2

    def value(self, window: NDArray[np.float32]) -> int:
        return int(window[-1, INDEX_FINGER] > self.threshold)


@dataclass(frozen=True)
class StepCounter(Memory):
    """The number of grasps since the start of the episode, without what was grasped: a step counter
    that needs no learning. One token."""

    length: int = setting(1, "M, number of stored counts, 2 s apart.", 1)
    most: int = setting(31, "Largest number of grasps; further ones are not counted.", 1)

    @property
    def vocabulary(self) -> int:
        return self.most + 1

    @property
    def window(self) -> int:
        return LONGEST

    def value(self, window: NDArray[np.float32]) -> int:
        bent = window[:, INDEX_FINGER] > BENT
        return min(self.most, int((bent[1:] & ~bent[:-1]).sum()))


@dataclass(frozen=True)
class QuantisedJoints(Memory):
    """Two bits of the raw joint positions per instant, without learning: whether the index finger
    is bent, and whether the elbow is. 80 bits in total, as VQ-Memory with 4 tokens."""

    length: int = setting(LENGTH, "M, number of stored values, 2 s apart.", 1)
    elbow: float = setting(
        0.05,
        "Position of the elbow above which its bit is 1: the demonstrations' median.",
        unit="rad",
    )

    @property
    def vocabulary(self) -> int:
        return 4

    def value(self, window: NDArray[np.float32]) -> int:
        return 2 * int(window[-1, INDEX_FINGER] > BENT) + int(window[-1, ELBOW] > self.elbow)


@dataclass(frozen=True)
class RobotFrameJoints(RawMemory):
    """Raw joint positions as measured, also for a policy with a safe frame."""

    safe_frame = False


@dataclass(frozen=True)
class PastActions(Memory):
    """Raw actions that the policy commanded instead of the measured joint positions, at the same
    instants. In a grasp they differ by up to 0.3 rad: the commanded finger is inside the part."""

    length: int = setting(LENGTH, "M, number of stored actions, 2 s apart.", 1)
    input = "actions"

    def value(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        return window[-1]


@dataclass(frozen=True)
class RandomClusters(TokenMemory):
    """The codes of a VQ-VAE, merged at random instead of by k-means."""

    CODES: ClassVar[int] = 256

    model: str = "all_rules_hand"
    clusters: int = setting(4, "J, the number of different tokens.", 2, CODES)
    seed: int = setting(0, "Seed of the assignment of codes to tokens.", 0)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model, with one token per code."""
        return load_tokenizer(self.model, self.CODES)

    @cached_property
    def _tokens(self) -> NDArray[np.int64]:
        return np.random.default_rng(self.seed).integers(self.clusters, size=self.CODES)

    def value(self, window: NDArray[np.float32]) -> int:
        return int(self._tokens[self.tokenizer.token(window)])
