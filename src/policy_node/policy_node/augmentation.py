"""Augmentation of memories in training: other times between their values, and disturbances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
