"""Rates and means with their uncertainty: Wilson, Newcombe and bootstrap intervals, paired tests.

Intervals are 95 % intervals. Bootstraps resample episodes with a fixed seed, so that the same
results give the same statistics.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from policy_node.policy import CHUNK
from rulesafe_data.intervals import BATCH, ratio_interval, wilson

RESAMPLES = 9999

FEWEST = 6
"""Minimum number of independent pairs or episodes for a bootstrap interval in tables. Below it, a
two-sided sign test cannot give p < 0.05 (5 pairs: 2 / 2**5 = 0.06; 6 pairs: 0.03), and a percentile
bootstrap is too narrow: it has no width at all if all values are equal."""

FEW_PAIRS = (
    f"Fewer than {FEWEST} pairs with different safes or seeds: counts without intervals, since no "
    "outcome of so few pairs is significant (two-sided sign test, p < 0.05)."
)
FEW_EPISODES = (
    f"Scores of fewer than {FEWEST} episodes have no interval: a bootstrap of so few values is too "
    "narrow."
)

Line = Mapping[str, Any]


def bootstrap(values: ArrayLike, clusters: Sequence[Hashable] = ()) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean; the mean itself if all values are equal.

    `clusters`: the cluster of each value, if some values depend on each other; clusters are
    resampled as units.
    """
    sample = np.asarray(values, float)
    if len(sample) < 2 or np.ptp(sample) == 0:
        mean = float(sample.mean()) if len(sample) else 0.0
        return mean, mean
    sums, sizes = cluster_sums(sample, clusters or range(len(sample)))
    if len(sums) < 2:
        return float(sample.min()), float(sample.max())  # one cluster: its variance is unknown
    return ratio_interval(sums, sizes, RESAMPLES)


def cluster_sums(
    values: ArrayLike, clusters: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum and the size of each cluster, both (C,), in order of first occurrence."""
    index = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    at = [index[cluster] for cluster in clusters]
    sums = np.bincount(at, np.asarray(values, float))
    return sums.astype(np.float64), np.bincount(at).astype(np.float64)


def newcombe(both: int, only_first: int, only_second: int, neither: int) -> tuple[float, float]:
    """Return the interval of a difference of paired rates, second minus first.

    Unlike a bootstrap it has a width if all pairs agree. Newcombe, Improved confidence intervals
    for the difference between binomial proportions based on paired data, Statistics in Medicine
    17 (1998), 2635-2650, method 10.

    Args:
        both, only_first, only_second, neither: number of pairs by outcome, one pair or more.
    """
    count = both + only_first + only_second + neither
    first, second = both + only_first, both + only_second
    (low1, high1), (low2, high2) = wilson(first, count), wilson(second, count)
    first_rate, second_rate = first / count, second / count
    product = float(both * neither - only_first * only_second)
    if product > 0:
        product = max(product - count / 2, 0.0)  # continuity correction of the correlation
    margins = first * (count - first) * second * (count - second)
    correlation = product / np.sqrt(margins) if margins else 0.0

    def distance(one: float, other: float) -> float:
        squared: float = one**2 - 2 * correlation * one * other + other**2
        return float(np.sqrt(squared))

    difference = second_rate - first_rate
    return (
        difference - distance(second_rate - low2, high1 - first_rate),
        difference + distance(high2 - second_rate, first_rate - low1),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of McNemar's test from the pairs in which only one succeeded:
    the probability of a split at least as uneven if both are equally likely."""
    discordant = only_first + only_second
    return float(scipy.stats.binomtest(only_first, discordant).pvalue) if discordant else 1.0


def sign_flips(differences: ArrayLike) -> float:
    """Return the two-sided p of a sign-flip test of paired differences (exact up to 13 pairs).

    It is 1 with fewer than two pairs, and if no pair differs.
    """
    sample = np.asarray(differences, float)
    if len(sample) < 2 or not sample.any():
        return 1.0
    found = scipy.stats.permutation_test(
        (sample,),
        np.mean,
        permutation_type="samples",
        n_resamples=RESAMPLES,
        batch=BATCH,
        random_state=np.random.default_rng(0),
    )
    return float(found.pvalue)


SCORES = ("process_score", "order_free_score")


def summary(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return one row for all episodes, one for each rule, and one for each safe."""
    rows = [{"rule": "all", "safe": "all", **_row(lines)}]
    rows += [{"rule": k, "safe": "all", **_row(v)} for k, v in groups(lines, "rule").items()]
    rows += [{"rule": "all", "safe": k, **_row(v)} for k, v in groups(lines, "safe").items()]
    return rows


def groups(lines: Sequence[Line], key: str) -> dict[str, list[Line]]:
    """Return the episodes grouped by the value of a key, sorted by it."""
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        found[line[key]].append(line)
    return dict(sorted(found.items()))


def _row(lines: Sequence[Line]) -> dict[str, Any]:
    opened = [line for line in lines if line["opened"]]
    low, high = wilson(len(opened), len(lines))
    row: dict[str, Any] = {
        "episodes": len(lines),
        "opened": len(opened),
        "success_rate": len(opened) / len(lines) if lines else 0.0,
        "success_interval": [low, high],
    }
    for score in SCORES:
        values = [line[score] for line in lines]
        row[score] = float(np.mean(values)) if values else 0.0
        row[f"{score}_interval"] = list(bootstrap(values))
    frames = [line["frames"] for line in opened]
    row["frames_to_open"] = float(np.median(frames)) if frames else None
    return row


def as_text(row: Line) -> tuple[int, int, str, str, str]:
    """Return a row of `summary` as text: episodes, opened, success and scores with intervals."""
    success = percent(row["success_rate"], row["success_interval"])
    enough = row["episodes"] >= FEWEST
    scores = (mean(row[score], row[f"{score}_interval"] if enough else None) for score in SCORES)
    return row["episodes"], row["opened"], success, *scores


def percent(rate: float, ends: Sequence[float] | None) -> str:
    """Return a rate with its interval, if any, as text, in %."""
    return f"{100 * rate:.0f} %" + (f" ({100 * ends[0]:.0f}..{100 * ends[1]:.0f})" if ends else "")


def mean(value: float, ends: Sequence[float] | None) -> str:
    """Return a mean with its interval, if any, as text."""
    return f"{value:.2f}" + (f" ({ends[0]:.2f}..{ends[1]:.2f})" if ends else "")


def failures(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return the number of failures by rule, step and cause; the most frequent first."""
    counted = Counter(
        (line["rule"], line["failed_step"], line["failed_event"], line["cause"])
        for line in lines
        if not line["opened"]
    )
    names = ("rule", "step", "event", "cause")
    ordered = sorted(counted.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    return [{**dict(zip(names, key, strict=True)), "count": count} for key, count in ordered]


CLIPPED = 0.5
"""Fraction of targets out of the joint limits from which a warning is printed. A trained policy has
up to a quarter where it fails; a policy that returns degrees has nearly all."""


def clipped(lines: Sequence[Line]) -> str:
    """Return a warning if a fraction CLIPPED or more of the targets was out of limits, else ""."""
    # Files of earlier versions lack `targets`; their chunks usually have CHUNK steps.
    given = sum(line.get("targets", line["inferences"] * CHUNK or line["frames"]) for line in lines)
    count = sum(line["clipped_actions"] for line in lines)
    if not given or count < CLIPPED * given:
        return ""
    return (
        f"{count} of {given} targets ({100 * count / given:.0f} %) were out of the joints' limits "
        "and were clipped; they are absolute positions, rad, in the order of ACTION_JOINTS"
    )


def timings(lines: Sequence[Line]) -> dict[str, Any]:
    """Return wall, CPU and inference times of the episodes, which differ between runs."""
    timed = [line["timing"] for line in lines if line["timing"]]
    cpu = sum(timing["cpu_seconds"] for timing in timed)
    latencies = [1000 * s for timing in timed for s in timing["inference_seconds"]]
    found: dict[str, Any] = {
        "wall_seconds": round(sum(timing["wall_seconds"] for timing in timed), 1),
        "cpu_seconds": round(cpu, 1),
        "episodes_per_core_hour": round(3600 * len(timed) / cpu, 1) if cpu else None,
        "inferences": len(latencies),
    }
    quantiles: dict[str, Callable[[Any], Any]] = {
        "inference_median_ms": np.median,
        "inference_p99_ms": lambda values: np.percentile(values, 99),
    }
    return found | {
        k: round(float(f(latencies)), 2) if latencies else None for k, f in quantiles.items()
    }
