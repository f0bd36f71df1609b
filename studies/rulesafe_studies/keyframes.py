"""Memories of the last M keyframes of an episode, instead of values at fixed intervals.

Compare the keyframes of demonstrations that ARM detects from the gripper (James and Davison,
"Q-attention", 2022). Each memory is selected by its path, such as
`--memory rulesafe_studies.keyframes:GraspKeyframes`.

    memory           keyframe                                  value
    GraspKeyframes   a grasp is released                       joint positions
    GraspTokens      a grasp is released                       token of the last 5 s
    TokenKeyframes   the token changes (a learned detector)    joint positions
    OraclePhases     a part changes its phase; privileged      phases of all parts
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.settings import setting
from rulesafe_reader.memory import Grasps, released
from vq_memory_node.memory import Memory, TokenMemory
from vq_memory_node.tokenizers import CLUSTERS
from vq_memory_node.windows import LENGTH


@dataclass(frozen=True)
class GraspKeyframes(Grasps):
    """Raw joint positions at the last releases of a grasp, without learning."""

    length: int = setting(LENGTH, "M, number of stored releases.", 1)

    @property
    def window(self) -> int:
        return 2

    def value(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        return window[-1]


@dataclass(frozen=True)
class GraspTokens(TokenMemory):
    """Tokens of the windows that end with a release of a grasp, and thus contain the motion of the
    part. The default model's tokens depend on the arm, too."""

    model: str = "all_rules"
    clusters: int = setting(256, "J, number of tokens; the model's model.json lists valid ones.")
    length: int = setting(LENGTH, "M, number of stored tokens, one for each release.", 1)
    stride = 1

    def is_keyframe(self, window: NDArray[np.float32]) -> bool:
        return released(window)


@dataclass(frozen=True)
class TokenKeyframes(Memory):
    """Raw joint positions at the last changes of the token of a trained model, which detects the
    keyframes and is learned without labels."""

    model: str = "all_rules_hand"
    clusters: int = setting(
        CLUSTERS, "J, number of tokens; the model's model.json lists valid ones."
    )
    length: int = setting(LENGTH, "M, number of stored changes.", 1)
    stride = 1

    @cached_property
    def _tokens(self) -> TokenMemory:
        return TokenMemory(self.model, self.clusters)

    @property
    def window(self) -> int:
        return self._tokens.window + 1

    @property
    def hash(self) -> str:
        return self._tokens.hash

    def is_keyframe(self, window: NDArray[np.float32]) -> bool:
        return self._tokens.value(window[:-1]) != self._tokens.value(window[1:])

    def value(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        return window[-1]


@dataclass(frozen=True)
class OraclePhases(Memory):
    """The phases after each change of a part's phase, in order: the ceiling of all memories, since
    the state of a lock depends on nothing else. Privileged: not available to policies of
    submissions and on a robot."""

    length: int = setting(LENGTH, "M, number of stored changes.", 1)
    input = "phases"
    stride = 1

    @property
    def vocabulary(self) -> int:
        return 8

    @property
    def window(self) -> int:
        return 2

    def is_keyframe(self, window: NDArray[np.float32]) -> bool:
        return bool((window[-1] != window[0]).any())

    def value(self, window: NDArray[np.float32]) -> int:
        """Return 1 if the knob is open, plus 2 if the handle is, plus 4 if the door is."""
        return int(window[-1] @ (1, 2, 4))
