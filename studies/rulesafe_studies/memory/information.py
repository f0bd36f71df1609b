"""Mutual information between tokens and the true step of the task, with a baseline.

Steps of different rules are different labels, so all quantities are conditional on the rule: joint
counts are taken per rule, and information and entropy are averages weighted by number of frames.

    share = I(token; step | rule) / H(step | rule), 0: no information, 1: tokens determine the step

Estimates from counts are too high, and the more so the more tokens there are. The baseline shows
this bias: in each episode, the tokens are rotated in time by a random number of frames. This keeps
the frequency and duration of each token but removes the relation to the step. The interval is a
bootstrap over episodes, because frames of one episode are dependent. Resampling adds a bias of its
own, so only deviations from the mean of the resamples are used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from rulesafe_core.errors import RuleSafeError
from vq_memory_node.encoding import codes_of, with_bar
from vq_memory_node.model_files import MemoryModel
from vq_memory_node.trajectories import Trajectories

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]

NOISES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05)
"""Standard deviations of the joints' noise, rad."""


@dataclass(frozen=True)
class Share:
    """Mutual information with the step, as a share of the step's entropy.

    Attributes:
        share: estimate from counts, in 0..1.
        low, high: 95 % interval of the estimate, within 0..1.
        baseline: mean share of tokens that are rotated in time.
    """

    share: float
    low: float
    high: float
    baseline: float


def information_share(
    tokens: Sequence[Ints],
    steps: Sequence[Ints],
    rules: Sequence[str],
    resamples: int = 1000,
    rotations: int = 20,
    seed: int = 0,
) -> Share:
    """Return the mutual information of tokens and true steps as a share of the step's entropy.

    Args:
        tokens: token at each frame, at least 0; one array (N,) per episode.
        steps: true task step at each frame, at least 0; one array (N,) per episode.
        rules: rule ID of each episode.
        resamples: number of bootstrap resamples.
        rotations: number of rotated copies for the baseline.
        seed: random seed of the bootstrap and of the rotations.

    Raises:
        RuleSafeError: the step never changes, so that its entropy is 0.
    """
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(np.array(rules) == rule) for rule in sorted(set(rules))]
    counts, once = _counts(tokens, steps), np.ones((1, len(rules)))
    value = _shares(counts, groups, once)[0]
    if np.isnan(value):
        raise RuleSafeError("the step never changes in these episodes; information needs two steps")
    drawn = np.zeros((resamples, len(rules)))  # count of each episode in each resample
    for members in groups:
        chance = np.full(len(members), 1 / len(members))
        drawn[:, members] = rng.multinomial(len(members), chance, resamples)
    shares = np.nan_to_num(_shares(counts, groups, drawn))
    low, high = value + np.quantile(shares - shares.mean(), [0.025, 0.975])
    baseline = []
    for _ in range(rotations):
        rotated = [np.roll(token, int(rng.integers(len(token)))) for token in tokens]
        baseline.append(_shares(_counts(rotated, steps), groups, once)[0])
    ends = float(max(low, 0)), float(min(high, 1))
    return Share(float(value), *ends, float(np.mean(baseline)))


def share_of_tokens(
    model: MemoryModel, found: Trajectories, noise: float, every: int, seed: int
) -> Iterator[tuple[int, Share]]:
    """Yield the number of tokens, and the information of the newest token about the true step, for
    each number of clusters of the model.

    Args:
        model: the memory model.
        found: trajectories with steps.
        noise: standard deviation of independent Gaussian noise of each joint and frame, rad.
        every: use every N-th frame.
        seed: random seed of noise, baseline and bootstrap.

    Raises:
        RuleSafeError: the trajectories have no steps, or only one.
    """
    if found.steps is None:
        raise RuleSafeError("these demonstrations do not contain the true step; use a dataset")
    steps = [column[::every] for column in found.steps]
    codes = []
    for episode, positions in with_bar(found, f"encoding, noise {noise:g} rad"):
        rng = np.random.default_rng([seed, episode])
        noisy = positions + noise * rng.standard_normal(positions.shape, np.float32)
        frames = range(0, len(positions), every)
        codes.append(codes_of(model, noisy.astype(np.float32), frames))
    for clusters in model.clusterings:
        tokens = [model.clusters(clusters)[column] for column in codes]
        yield clusters, information_share(tokens, steps, found.rules, seed=seed)


def _counts(tokens: Sequence[Ints], steps: Sequence[Ints]) -> Floats:
    """Return the number of frames (E, J, S) of each episode by token and step."""
    shape = [1 + max(int(column.max()) for column in columns) for columns in (tokens, steps)]
    counts = np.zeros((len(tokens), *shape))
    for found, token, step in zip(counts, tokens, steps, strict=True):
        np.add.at(found, (token, step), 1)
    return counts


def _shares(counts: Floats, groups: Sequence[Ints], weights: Floats) -> Floats:
    """Return the shares (B,) for weights (B, E) of the episodes; NaN where no step changes.

    Args:
        counts: frames by episode, token and step, as returned by `_counts`.
        groups: the episodes of each rule.
        weights: count of each episode.
    """
    information, entropy = np.zeros(len(weights)), np.zeros(len(weights))
    for members in groups:
        joint = np.tensordot(weights[:, members], counts[members], axes=1)  # (B, J, S)
        step = _entropy(joint.sum(axis=1))
        information += step + _entropy(joint.sum(axis=2)) - _entropy(joint.reshape(len(joint), -1))
        entropy += step
    empty = np.full_like(information, np.nan)
    return np.divide(information, entropy, out=empty, where=entropy > 0)


def _entropy(counts: Floats) -> Floats:
    """Return the entropies (B,) of counts (B, C), in nats times the sum of the counts."""
    total = counts.sum(axis=1)
    return xlogy(total, total) - xlogy(counts, counts).sum(axis=1)
