"""The grasps of demonstrations: where the hand closes, and where it opens again.

They are known from the actions alone: a grasp is a subgoal without a label (compare James and
Davison, "Q-attention", 2022, whose keyframes are the poses at which the gripper changes).
"""

import numpy as np
from numpy.typing import NDArray

from policy_node.safe_frame import ArmChain
from rulesafe_core.joints import ARM_JOINTS
from vq_memory_node.clustering import k_means

LEVER = 0.15
"""Distance of three points on the hand's axes from its base, m, whose positions represent its
orientation: approximately that of the fingertips."""

GRASP = 24
"""Number of coordinates of a grasp."""


def grasp_poses(
    actions: NDArray[np.float32], first: NDArray[np.int64], ignored: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Return the poses of the hand where it closes and opens again in the grasp of each frame.

    The poses vary little between demonstrations of the same motion, while the arm's postures vary,
    since it has seven joints.

    The frames of a grasp begin where the hand has opened after the one before. The last grasp of
    an episode ends with the episode.

    Args:
        actions: (F, 13) commanded joint positions of some episodes, one after another, rad.
        first: (F,) index of the first frame of each frame's episode.
        ignored: (F,) frames whose grasps do not count, such as deliberate misses.

    Returns:
        (F, 24): x, y and z of four points of the hand, m, when it closes and when it opens again.
    """
    closed = _closed(actions[:, len(ARM_JOINTS) :], first)
    closes, opens = np.empty((2, len(actions)), int)
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
            closes[at : opened + 1], opens[at : opened + 1] = close, opened
            at = opened + 1
        closes[at:end], opens[at:end] = closes[max(begin, at - 1)], opens[max(begin, at - 1)]
    frames, inverse = np.unique([closes, opens], return_inverse=True)
    points = _hand_points(actions[frames, : len(ARM_JOINTS)])[inverse.reshape(2, -1)]
    return np.concatenate(list(points), axis=1)


def _hand_points(arm: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the positions (N, 12), m, of the hand's base and of three points on its axes, for
    postures (N, 7), rad."""
    rotation, position, _ = ArmChain().hand_pose(arm.astype(float))
    axes = position[:, None] + LEVER * rotation.transpose(0, 2, 1)
    return np.concatenate([position, *axes.transpose(1, 0, 2)], axis=1).astype(np.float32)


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
