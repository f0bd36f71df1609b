"""Differences between the success rates of policies with several trainings."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_eval.statistics import RESAMPLES, sign_flips
from rulesafe_eval.table import Pooled


def grid(found: Pooled, places: Sequence[tuple[str, int]]) -> NDArray[np.float64]:
    """Return the share of opened episodes at each place (safe and seed) in each training that has
    episodes there (P, T); T is 1 if each training has places of its own."""
    seeds = sorted({key[0] for key in found.lines})
    rates = np.zeros((2, len(places), len(seeds)))  # opened, all
    for (seed, _, *place), line in found.lines.items():
        if tuple(place) in places:
            rates[:, places.index(tuple(place)), seeds.index(seed)] += line["opened"], 1
    if ((rates[1] > 0).sum(1) == 1).all():
        rates = rates.sum(2, keepdims=True)
    if np.ptp(rates[1]) > 0:
        raise ValueError("the trainings have different episodes")
    return rates[0] / rates[1]


class Difference(NamedTuple):
    """Difference of two success rates, second minus first: mean and ends of its 95 % interval in
    percentage points, and two-sided p."""

    mean: float
    low: float
    high: float
    p: float

    @property
    def text(self) -> str:
        return points(self.mean, self.low, self.high)


def points(mean: float, low: float, high: float) -> str:
    """Return a difference in percentage points with its interval as text."""
    return f"{mean:+.1f} ({low:+.1f}..{high:+.1f})"


def difference(first: Pooled, second: Pooled) -> Difference:
    """Compare two policies at the places of the second. Interval: percentile bootstrap over the
    places, which both have, and the trainings of each, unless these have places of their own. p:
    sign-flip test over the places."""
    places = sorted({key[2:] for key in second.lines})
    random = np.random.default_rng(0)
    at = random.integers(len(places), size=(RESAMPLES, len(places)))
    means, resampled = [], []
    for rates in (grid(first, places), grid(second, places)):
        trainings = random.integers(rates.shape[1], size=(RESAMPLES, rates.shape[1]))
        by_place = rates[:, trainings].mean(2).T  # (RESAMPLES, P)
        means.append(rates.mean(1))
        resampled.append(np.take_along_axis(by_place, at, 1).mean(1))
    gain = 100 * (means[1] - means[0])
    low, high = np.quantile(100 * (resampled[1] - resampled[0]), (0.025, 0.975))
    return Difference(gain.mean(), low, high, sign_flips(gain))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, A simple sequentially rejective multiple
    test procedure, Scandinavian Journal of Statistics 6, 1979)."""
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - place)))
        corrected[index] = largest
    return corrected
