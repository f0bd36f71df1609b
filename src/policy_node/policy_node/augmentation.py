"""Augmentation in training: noise on the posture; other times between the values of memories, and
disturbances of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import CHUNK

FAR = 6.0
"""Largest factor on the noise of a window that is far from the demonstrations."""

RETURN = 0.1
"""Largest change of a target on the way back to a demonstration, rad per step of the chunk."""


def far_offsets(
    offsets: NDArray[np.float32], share: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Multiply the offsets of the arm (B, 7), rad, of a share of the windows by random factors up
    to FAR, in place. Return the offsets (B, 50, 7) that remain at each step of their chunks."""
    far = rng.random(len(offsets)) < share
    offsets[far] *= rng.uniform(1, FAR, (far.sum(), 1)).astype(np.float32)
    steps = np.arange(1, CHUNK + 1, dtype=np.float32)[:, None]
    left = np.maximum(np.abs(offsets[:, None]) - RETURN * steps, 0) * far[:, None, None]
    return np.sign(offsets[:, None]) * left.astype(np.float32)


def warp_time(ends: NDArray[np.int64], warp: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the frames (B, M) of memory values, oldest first, with random gaps between them.

    Each gap is multiplied by a random factor with mean 1 and standard deviation `warp`, plus a
    deviation of `warp` / 2 that all gaps of a window share. The newest frame is unchanged.
    """
    gaps = np.diff(ends, axis=1)
    factors = 1 + warp * rng.standard_normal(gaps.shape)
    factors += warp / 2 * rng.standard_normal((len(ends), 1))
    back = np.cumsum((gaps * factors.clip(0.1))[:, ::-1], axis=1)[:, ::-1]
    found = ends.copy()
    found[:, :-1] = ends[:, -1:] - np.rint(back).astype(np.int64)
    return found


def disturb(
    values: NDArray[Any], mask: NDArray[np.bool_], share: float, rng: np.random.Generator
) -> None:
    """Disturb the memories of a batch in place, half of `share` of them in each of two ways: up to
    a third of the values, at random places, are those of another window at these places; or one to
    three of the newest ones are missing, and the others are in their places.

    Args:
        values: (B, M) or (B, M, 13), oldest first.
        mask: (B, M), True where observed.
    """
    count, length = mask.shape
    replaced, delayed = rng.random((2, count)) < share / 2
    shares = replaced[:, None] * rng.uniform(0, 1 / 3, (count, 1))
    places = rng.random((count, length)) < shares
    others = rng.permutation(count)
    values[places], mask[places] = values[others][places], mask[others][places]
    steps = rng.integers(1, 4, size=count)
    for step in range(1, 4):
        rows = np.flatnonzero(delayed & (steps == step))
        values[rows, step:], mask[rows, step:] = values[rows, :-step], mask[rows, :-step]
        mask[rows, :step] = False
