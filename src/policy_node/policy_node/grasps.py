"""The grasps of demonstrations: where the hand closes, and where it opens again.

They are known from the actions alone: a grasp is a subgoal without a label (compare James and
Davison, "Q-attention", 2022, whose keyframes are the poses at which the gripper changes).
"""

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.joints import ARM_JOINTS
from vq_memory_node.clustering import k_means


def grasp_postures(
    actions: NDArray[np.float32], first: NDArray[np.int64], ignored: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Return the postures at which the hand closes and opens again in the grasp of each frame.

    The frames of a grasp begin where the hand has opened after the one before. The last grasp of
    an episode ends with the episode.

    Args:
        actions: (F, 13) commanded joint positions of some episodes, one after another, rad.
        first: (F,) index of the first frame of each frame's episode.
        ignored: (F,) frames whose grasps do not count, such as deliberate misses.

    Returns:
        (F, 26) rad, or in the normalised frame of the actions.
    """
    closed = _closed(actions[:, len(ARM_JOINTS) :], first)
    found = np.empty((len(actions), 2 * actions.shape[1]), np.float32)
    starts = np.unique(first)
    for begin, end in zip(starts, np.append(starts[1:], len(actions)), strict=True):
        at = begin
        edges = np.flatnonzero(np.diff(closed[begin:end].astype(np.int8), prepend=0)) + begin
        runs = [
            (close, opened)
            for close, opened in zip(edges[::2], np.append(edges[1::2], end - 1), strict=False)
            if not ignored[max(begin, close - 1) : close + 1].any()
        ]
        for close, opened in runs or [(end - 1, end - 1)]:
            found[at : opened + 1] = np.concatenate([actions[close], actions[opened]])
            at = opened + 1
        found[at:end] = found[max(begin, at - 1)]
    return found


def _closed(fingers: NDArray[np.float32], first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether the hand is closed (F,): its fingers are nearer to the second of their two
    usual postures than to the one at the start of the episodes."""
    if not np.ptp(fingers, axis=0).any():
        return np.zeros(len(fingers), bool)
    rng = np.random.default_rng(0)
    sample = rng.choice(len(fingers), min(len(fingers), 20_000), replace=False)
    postures = k_means(fingers[sample], 2, seed=0)
    distances = np.linalg.norm(fingers[:, None] - postures, axis=-1)
    start = distances[np.unique(first)].mean(0).argmin()
    return np.asarray(distances.argmin(1) != start)
