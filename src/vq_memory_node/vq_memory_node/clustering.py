"""Codes merged into a few clusters, numbered by when they are first used."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from rulesafe_core.errors import RuleSafeError

Weights = Callable[[NDArray[np.float32]], NDArray[Any]]
"""The weights (K,) of codes in k-means, by their shares (K,) of the windows."""

CLUSTERERS: dict[str, Weights] = {
    "unweighted": lambda usage: np.ones(len(usage)),  # as published
    # Above 0, so that more clusters than codes in use do not fail.
    "by_usage": lambda usage: np.maximum(usage, 1e-9),
}


def k_means(points: NDArray[np.float32], clusters: int, seed: int) -> NDArray[np.float32]:
    """(clusters, D) centroids of points (N, D), by one run from k-means++."""
    return _k_means(points, np.ones(len(points)), clusters, seed, runs=1).astype(np.float32)


def _k_means(
    points: NDArray[Any], weights: NDArray[Any], clusters: int, seed: int, runs: int = 10
) -> NDArray[np.float64]:
    # In double precision, since threads add in any order and the same seed should find the same.
    means = KMeans(clusters, n_init=runs, random_state=seed)
    found: NDArray[np.float64] = means.fit(points.astype(float), None, weights).cluster_centers_
    return found


def clusterings(
    codebook: NDArray[np.float32],
    usage: NDArray[np.float32],
    paths: Sequence[NDArray[np.int64]],
    counts: Sequence[int],
    weights: Weights,
    seed: int,
) -> dict[str, NDArray[Any]]:
    """The arrays `clusters.J` (K,) and `centroids.J` (J, D) of a model, for each J and for K.

    Each code gets its nearest centroid. Clusters are numbered by `first_use`; J = K are the codes
    themselves, in that order.

    Args:
        codebook: (K, D).
        usage: (K,) share of the training windows.
        paths: the codes (N,) at all frames of each training episode.
        counts: the numbers of clusters J, below K.
        weights: one of CLUSTERERS.

    Errors: RuleSafeError if a J is not in 2 .. K - 1.
    """
    arrays: dict[str, NDArray[Any]] = {}
    codes = len(codebook)
    for count in counts:
        if not 2 <= count < codes:
            raise RuleSafeError(f"{count} clusters of {codes} codes; valid: 2 to {codes - 1}")
        centroids = _k_means(codebook, weights(usage), count, seed)
        labels = ((codebook[:, None] - centroids) ** 2).sum(2).argmin(1)
        arrays |= _numbered(labels, centroids, paths)
    return arrays | _numbered(np.arange(codes), codebook, paths)


def _numbered(
    labels: NDArray[np.int64], centroids: NDArray[Any], paths: Sequence[NDArray[np.int64]]
) -> dict[str, NDArray[Any]]:
    count = len(centroids)
    order = np.argsort(first_use([labels[path] for path in paths], count), kind="stable")
    numbers = np.empty(count, np.int64)
    numbers[order] = np.arange(count)
    return {
        f"clusters.{count}": numbers[labels],
        f"centroids.{count}": centroids[order].astype(np.float32),
    }


def first_use(paths: Sequence[NDArray[np.int64]], count: int) -> NDArray[np.float64]:
    """When each of `count` tokens is first used: its first frame over the episode's last, averaged
    over the episodes in which it occurs. 0 .. 1; infinite for a token that never occurs."""
    total, episodes = np.zeros(count), np.zeros(count)
    for path in paths:
        tokens, frames = np.unique(path, return_index=True)
        total[tokens] += frames / max(len(path) - 1, 1)
        episodes[tokens] += 1
    return np.divide(total, episodes, out=np.full(count, np.inf), where=episodes > 0)
