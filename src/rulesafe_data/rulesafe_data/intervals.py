"""95 % confidence intervals of rates and ratios; the bootstrap seed is fixed."""

import numpy as np
import scipy
from numpy.typing import NDArray

BATCH = 500
"""Number of resamples per batch, which limits memory: 20 rules have thousands of episodes."""


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return the Wilson interval of a rate; (0, 1) if there are no trials."""
    if not count:
        return 0.0, 1.0
    found = scipy.stats.binomtest(successes, count).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def ratio_interval(above: NDArray, below: NDArray, resamples: int) -> tuple[float, float]:
    """Return the percentile bootstrap interval of `above.sum() / below.sum()`, resampled in pairs.

    For a cluster bootstrap of a mean, pass the sums and the sizes of the clusters. With one pair
    both bounds are the ratio itself, since its variation is unknown.
    """
    if len(above) < 2:
        ratio = float(above.sum() / below.sum())
        return ratio, ratio
    found = scipy.stats.bootstrap(
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
