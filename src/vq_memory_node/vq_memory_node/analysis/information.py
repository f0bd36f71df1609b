"""How much of the task's true step the tokens tell: mutual information, with a baseline.

The step of one rule is no step of another, so everything is conditional on the rule: joint counts
are taken rule by rule, information and entropy are summed with the rules' shares of the frames.

    share = I(token; step | rule) / H(step | rule), 0: nothing is told, 1: everything

Counts overestimate information, the more so the more tokens there are. The baseline shows by how
much: the same tokens, turned in each episode by a random number of frames, end to beginning. That
keeps how often each token comes and how long it lasts, and loses when. The interval is a bootstrap
over episodes, whose frames hang together. Resampling overestimates once more, so that only the
deviations from the resamples' mean are used: the interval tells the spread, the baseline the bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from rulesafe_core.errors import RuleSafeError

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """Share of the step's entropy that the tokens tell.

    Attributes:
        value: as counted, in 0..1.
        low, high: its 95 % interval, within 0..1.
        baseline: the mean share of turned tokens.
    """

    value: float
    low: float
    high: float
    baseline: float


def information_share(
    tokens: Sequence[Ints],
    steps: Sequence[Ints],
    rules: Sequence[str],
    resamples: int = 1000,
    turns: int = 20,
    seed: int = 0,
) -> Share:
    """The share of the true step's entropy that the token of the same frame tells.

    Args:
        tokens: of each episode (N,), from 0.
        steps: of each episode (N,), from 0.
        rules: of each episode.
        resamples: of the bootstrap.
        turns: turned copies, for the baseline.
        seed: of both.

    Errors: RuleSafeError where no rule has two different steps: there is nothing to tell.
    """
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(np.array(rules) == rule) for rule in sorted(set(rules))]
    counts, once = _counts(tokens, steps), np.ones((1, len(rules)))
    value = _shares(counts, groups, once)[0]
    if np.isnan(value):
        raise RuleSafeError("the step never changes in these episodes: there is nothing to tell")
    drawn = np.zeros((resamples, len(rules)))  # how often each episode is in a resample
    for members in groups:
        chance = np.full(len(members), 1 / len(members))
        drawn[:, members] = rng.multinomial(len(members), chance, resamples)
    shares = np.nan_to_num(_shares(counts, groups, drawn))
    low, high = value + np.quantile(shares - shares.mean(), [0.025, 0.975])
    baseline = []
    for _ in range(turns):
        turned = [np.roll(token, int(rng.integers(len(token)))) for token in tokens]
        baseline.append(_shares(_counts(turned, steps), groups, once)[0])
    ends = float(max(low, 0)), float(min(high, 1))
    return Share(float(value), *ends, float(np.mean(baseline)))


def _counts(tokens: Sequence[Ints], steps: Sequence[Ints]) -> Floats:
    """Return the frames (E, J, S) of each episode by token and step."""
    shape = [1 + max(int(column.max()) for column in columns) for columns in (tokens, steps)]
    counts = np.zeros((len(tokens), *shape))
    for found, token, step in zip(counts, tokens, steps, strict=True):
        np.add.at(found, (token, step), 1)
    return counts


def _shares(counts: Floats, groups: Sequence[Ints], weights: Floats) -> Floats:
    """Return the shares (B,) for weights (B, E) of the episodes; NaN where no step changes.

    Args:
        counts: from `_counts`.
        groups: the episodes of each rule.
        weights: how often each episode counts.
    """
    told, wanted = np.zeros(len(weights)), np.zeros(len(weights))
    for members in groups:
        joint = np.tensordot(weights[:, members], counts[members], axes=1)  # (B, J, S)
        step = _entropy(joint.sum(axis=1))
        told += step + _entropy(joint.sum(axis=2)) - _entropy(joint.reshape(len(joint), -1))
        wanted += step
    return np.divide(told, wanted, out=np.full_like(told, np.nan), where=wanted > 0)


def _entropy(counts: Floats) -> Floats:
    """Return the entropies (B,) of counts (B, C), in nats times the sum of the counts."""
    total = counts.sum(axis=1)
    return xlogy(total, total) - xlogy(counts, counts).sum(axis=1)
