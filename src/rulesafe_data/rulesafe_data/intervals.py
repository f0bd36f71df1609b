"""Intervals of 95 % for rates and means; the seed is fixed, so equal data give equal figures."""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

BATCH = 500
"""Resamples that are in memory at once: 20 rules have thousands of episodes."""


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return the Wilson interval of a rate; (0, 1) without a trial."""
    if not count:
        return 0.0, 1.0
    found = stats.binomtest(successes, count).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def ratio_interval(above: NDArray, below: NDArray, resamples: int) -> tuple[float, float]:
    """Return the percentile bootstrap interval of `above.sum() / below.sum()`, resampled in pairs.

    With the sums and the sizes of clusters it is that of a mean whose clusters are resampled. One
    pair tells nothing of others: the ratio itself.
    """
    if len(above) < 2:
        ratio = float(above.sum() / below.sum())
        return ratio, ratio
    found = stats.bootstrap(
        (above, below),
        lambda above, below, axis=-1: above.sum(axis) / below.sum(axis),
        n_resamples=resamples,
        batch=BATCH,
        paired=True,
        vectorized=True,
        method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)
