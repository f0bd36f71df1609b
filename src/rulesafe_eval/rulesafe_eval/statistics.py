"""Rates and means with what is known of their truth: Wilson, bootstrap, paired tests.

Intervals are of 95 %. Bootstraps resample episodes, with a fixed seed: the same results give the
same figures.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from policy_node.policy import CHUNK
from rulesafe_data.intervals import BATCH, ratio_interval, wilson

RESAMPLES = 9999

Line = Mapping[str, Any]


def bootstrap(values: ArrayLike, clusters: Sequence[Hashable] = ()) -> tuple[float, float]:
    """The percentile bootstrap interval of a mean; the mean itself where all values are equal.

    `clusters`: to which each value belongs, where some depend on each other; these are resampled
    together.
    """
    sample = np.asarray(values, float)
    if len(sample) < 2 or np.ptp(sample) == 0:
        mean = float(sample.mean()) if len(sample) else 0.0
        return mean, mean
    sums, sizes = cluster_sums(sample, clusters or range(len(sample)))
    if len(sums) < 2:
        return float(sample.min()), float(sample.max())  # one cluster tells nothing of others
    return ratio_interval(sums, sizes, RESAMPLES)


def cluster_sums(
    values: ArrayLike, clusters: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each cluster's sum and size, both (C,), in the order of their first values."""
    index = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    at = [index[cluster] for cluster in clusters]
    sums = np.bincount(at, np.asarray(values, float))
    return sums.astype(np.float64), np.bincount(at).astype(np.float64)


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p of McNemar's test, by the pairs of which one alone succeeded: the
    probability of a split at least as uneven where either is as likely."""
    discordant = only_first + only_second
    return float(stats.binomtest(only_first, discordant).pvalue) if discordant else 1.0


def sign_flips(differences: ArrayLike) -> float:
    """The two-sided p of paired differences by random changes of sign (exact up to 13 pairs).

    1 for no pair, for one, whose other sign is as far from 0, and where no pair differs.
    """
    sample = np.asarray(differences, float)
    if len(sample) < 2 or not sample.any():
        return 1.0
    found = stats.permutation_test(
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
    """One row for all episodes, one for each rule, and one for each safe."""
    rows = [{"rule": "all", "safe": "all", **_row(lines)}]
    rows += [{"rule": k, "safe": "all", **_row(v)} for k, v in groups(lines, "rule").items()]
    rows += [{"rule": "all", "safe": k, **_row(v)} for k, v in groups(lines, "safe").items()]
    return rows


def groups(lines: Sequence[Line], key: str) -> dict[str, list[Line]]:
    """Episodes by one of their facts, sorted by it."""
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


def in_words(row: Line) -> tuple[int, int, str, str, str]:
    """A row of `summary` for people: episodes, opened, success and both scores with intervals."""
    success = percent(row["success_rate"], row["success_interval"])
    scores = (mean(row[score], row[f"{score}_interval"]) for score in SCORES)
    return row["episodes"], row["opened"], success, *scores


def percent(rate: float, ends: Sequence[float]) -> str:
    """A rate with its interval, in %."""
    return f"{100 * rate:.0f} % ({100 * ends[0]:.0f}..{100 * ends[1]:.0f})"


def mean(value: float, ends: Sequence[float]) -> str:
    """A mean with its interval."""
    return f"{value:.2f} ({ends[0]:.2f}..{ends[1]:.2f})"


def failures(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """How often episodes failed at which step, and why; the most frequent first within a rule."""
    counted = Counter(
        (line["rule"], line["failed_step"], line["failed_event"], line["cause"])
        for line in lines
        if not line["opened"]
    )
    names = ("rule", "step", "event", "cause")
    ordered = sorted(counted.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    return [{**dict(zip(names, key, strict=True)), "count": count} for key, count in ordered]


CLIPPED = 0.5
"""Share of targets out of the joints' limits from which people are told: a trained policy has up
to a quarter, where it is lost, one that speaks in degrees nearly all."""


def clipped(lines: Sequence[Line]) -> str:
    """A warning where CLIPPED or more of the targets were out of the joints' limits; else none."""
    # As they are counted: rows of a policy's chunks, and what is executed of them or of an oracle.
    given = sum(line["inferences"] * CHUNK + line["frames"] for line in lines)
    count = sum(line["clipped_actions"] for line in lines)
    if not given or count < CLIPPED * given:
        return ""
    return (
        f"{count} of {given} targets ({100 * count / given:.0f} %) were out of the joints' limits "
        "and were clipped; they are absolute positions, rad, in the order of ACTION_JOINTS"
    )


def timings(lines: Sequence[Line]) -> dict[str, Any]:
    """What the episodes cost: of the clock, so it differs from run to run."""
    noted = [line["timing"] for line in lines if line["timing"]]
    cpu = sum(timing["cpu_seconds"] for timing in noted)
    asked = [1000 * s for timing in noted for s in timing["inference_seconds"]]
    found: dict[str, Any] = {
        "wall_seconds": round(sum(timing["wall_seconds"] for timing in noted), 1),
        "cpu_seconds": round(cpu, 1),
        "episodes_per_core_hour": round(3600 * len(noted) / cpu, 1) if cpu else None,
        "inferences": len(asked),
    }
    quantiles: dict[str, Callable[[Any], Any]] = {
        "inference_median_ms": np.median,
        "inference_p99_ms": lambda values: np.percentile(values, 99),
    }
    return found | {k: round(float(f(asked)), 2) if asked else None for k, f in quantiles.items()}
