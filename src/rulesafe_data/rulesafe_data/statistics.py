"""Statistics of features in the shapes that LeRobot's format keeps them in.

A vector feature of D numbers has min, max, mean, std and quantiles of shape (D,), a picture of
shape (3, 1, 1) with values in 0..1, a single number of shape (1,); `count` is always (1,).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}

Statistics = dict[str, Any]
"""Name of a statistic -> nested lists of numbers."""


def of_array(array: NDArray) -> Statistics:
    """Statistics over the rows of (N,) or (N, D), N > 0."""
    rows = np.asarray(array, np.float64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    found = {
        "min": rows.min(axis=0),
        "max": rows.max(axis=0),
        "mean": rows.mean(axis=0),
        "std": rows.std(axis=0),
    }
    found |= zip(QUANTILES, np.quantile(rows, list(QUANTILES.values()), axis=0), strict=True)
    return {name: value.tolist() for name, value in found.items()} | {"count": [len(rows)]}


class ImageStatistics:
    """Statistics of pictures that pass by one at a time, kept as a histogram for each colour.

    Every fourth picture counts: neighbours differ little, and counting takes time.
    """

    EVERY = 4

    def __init__(self) -> None:
        self._histograms = np.zeros((3, 256), np.int64)
        self._seen = self._counted = 0

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Count a picture (H, W, 3)."""
        if self._seen % self.EVERY == 0:
            for channel in range(3):
                values = picture[..., channel].reshape(-1)
                self._histograms[channel] += np.bincount(values, minlength=256)
            self._counted += 1
        self._seen += 1

    def result(self) -> Statistics:
        """The statistics; at least one picture must have been counted."""
        levels = np.arange(256) / 255
        total = self._histograms[0].sum()
        mean = self._histograms @ levels / total
        variance = self._histograms @ levels**2 / total - mean**2
        reached = np.cumsum(self._histograms, axis=1) / total
        there = self._histograms > 0
        found = {
            "min": levels[there.argmax(axis=1)],
            "max": levels[255 - there[:, ::-1].argmax(axis=1)],
            "mean": mean,
            "std": np.sqrt(np.maximum(variance, 0)),
        }
        for name, quantile in QUANTILES.items():
            found[name] = levels[(reached >= quantile).argmax(axis=1)]
        shaped = {name: value.reshape(3, 1, 1).tolist() for name, value in found.items()}
        return shaped | {"count": [self._counted]}


def merged(parts: Sequence[Mapping[str, Any]]) -> Statistics:
    """Statistics of several episodes as one, as LeRobot joins them.

    Exact but for the quantiles, which are the episodes' means, weighted with their counts.
    """
    arrays = {name: np.array([part[name] for part in parts], np.float64) for name in parts[0]}
    counts = arrays["count"]
    weights = counts.reshape(-1, *(1,) * (arrays["mean"].ndim - 1)) / counts.sum()
    mean = (weights * arrays["mean"]).sum(axis=0)
    variance = (weights * (arrays["std"] ** 2 + (arrays["mean"] - mean) ** 2)).sum(axis=0)
    found = {
        "min": arrays["min"].min(axis=0),
        "max": arrays["max"].max(axis=0),
        "mean": mean,
        "std": np.sqrt(variance),
    }
    found |= {name: (weights * arrays[name]).sum(axis=0) for name in QUANTILES}
    shaped = {name: value.tolist() for name, value in found.items()}
    return shaped | {"count": [int(counts.sum())]}
