"""Clustering of codes by k-means; clusters are numbered by the time of their first use."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from rulesafe_core.errors import RuleSafeError

Weights = Callable[[NDArray[np.float32]], NDArray[Any]]
"""Maps the usage (K,) of codes, as shares of the windows, to their weights (K,) in k-means."""

CLUSTERERS: dict[str, Weights] = {
    "unweighted": lambda usage: np.ones(len(usage)),  # as published
    # The lower bound allows more clusters than there are codes in use.
    "by_usage": lambda usage: np.maximum(usage, 1e-9),
}


def k_means(points: NDArray[np.float32], clusters: int, seed: int) -> NDArray[np.float32]:
    """Return (clusters, D) centroids of points (N, D) from one run with k-means++ seeding."""
    return _k_means(points, np.ones(len(points)), clusters, seed, runs=1).astype(np.float32)


def _k_means(
    points: NDArray[Any], weights: NDArray[Any], clusters: int, seed: int, runs: int = 10
) -> NDArray[np.float64]:
    # Double precision, because the order of sums over threads varies and must not matter.
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
    """Return the arrays `clusters.J` (K,) and `centroids.J` (J, D) of a model for each J and for K.

    Each code is assigned to its nearest centroid. Clusters are numbered by `first_use`. For J = K
    each code is a cluster of its own.

    Args:
        codebook: (K, D).
        usage: (K,) share of the training windows.
        paths: codes (N,) at all frames of each training episode.
        counts: numbers of clusters J, below K.
        weights: one of CLUSTERERS.
        seed: random seed of k-means.

    Raises:
        RuleSafeError: a J is not in 2 .. K - 1.
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
    """Return when each of `count` tokens is first used, averaged over the episodes that contain it.

    0 is the first frame of an episode and 1 the last; infinite for a token that never occurs."""
    total, episodes = np.zeros(count), np.zeros(count)
    for path in paths:
        tokens, frames = np.unique(path, return_index=True)
        total[tokens] += frames / max(len(path) - 1, 1)
        episodes[tokens] += 1
    return np.divide(total, episodes, out=np.full(count, np.inf), where=episodes > 0)
