"""A memory of grasps: where the hand was at the end of each, and whether it held something."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.settings import setting
from vq_memory_node.memory import Memory

INDEX_FINGER = ACTION_JOINTS.index("R_index_proximal_joint")

BENT = 0.5
"""Position of the index finger above which the hand grasps, rad; open: 0.4."""

BEFORE = 8
"""Frames between the end of a motion and the frame in which the fingers are open."""


def released(window: NDArray[np.float32]) -> bool:
    """Return whether the hand releases a grasp in the last frame of a window (N, 13), rad, N > 1:
    the index finger is no longer bent."""
    return bool(window[-2, INDEX_FINGER] > BENT >= window[-1, INDEX_FINGER])


@dataclass(frozen=True)
class Grasps(Memory):
    """Joint positions at the end of the last grasps, before the fingers open."""

    length: int = setting(128, "M, number of stored grasps, more than an episode has.", 1)
    stride = 1

    @property
    def window(self) -> int:
        return BEFORE + 1

    def is_keyframe(self, window: NDArray[np.float32]) -> bool:
        return released(window)

    def value(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        return window[0]
