"""Statistics of features in the shapes of LeRobot's format.

min, max, mean, std and quantiles have the shape (D,) for a vector of D numbers, (3, 1, 1) with
values in 0..1 for an image, and (1,) for a scalar; `count` always has the shape (1,).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}

Statistics = dict[str, Any]
"""Maps the name of a statistic to nested lists of numbers."""


def of_array(array: NDArray) -> Statistics:
    """Compute statistics over the first axis of an array (N,) or (N, D), N > 0."""
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
    """Statistics of a sequence of images, accumulated in a histogram per colour channel.

    Only every fourth image is used, to save time: consecutive images differ little.
    """

    EVERY = 4

    def __init__(self) -> None:
        self._histograms = np.zeros((3, 256), np.int64)
        self._added = self._used = 0

    def add(self, image: NDArray[np.uint8]) -> None:
        """Add an image (H, W, 3)."""
        if self._added % self.EVERY == 0:
            for channel in range(3):
                values = image[..., channel].reshape(-1)
                self._histograms[channel] += np.bincount(values, minlength=256)
            self._used += 1
        self._added += 1

    def result(self) -> Statistics:
        """Return the statistics; at least one image must have been added."""
        levels = np.arange(256) / 255
        total = self._histograms[0].sum()
        mean = self._histograms @ levels / total
        variance = self._histograms @ levels**2 / total - mean**2
        cumulative = np.cumsum(self._histograms, axis=1) / total
        present = self._histograms > 0
        found = {
            "min": levels[present.argmax(axis=1)],
            "max": levels[255 - present[:, ::-1].argmax(axis=1)],
            "mean": mean,
            "std": np.sqrt(np.maximum(variance, 0)),
        }
        for name, quantile in QUANTILES.items():
            found[name] = levels[(cumulative >= quantile).argmax(axis=1)]
        shaped = {name: value.reshape(3, 1, 1).tolist() for name, value in found.items()}
        return shaped | {"count": [self._used]}


def merged(parts: Sequence[Mapping[str, Any]]) -> Statistics:
    """Merge the statistics of several episodes like LeRobot.

    The result is exact except for the quantiles, which are means weighted by count.
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
