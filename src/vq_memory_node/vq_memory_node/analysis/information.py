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

from rulesafe_core.errors import RuleSafeError

Ints = NDArray[np.integer]


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


def share_told(
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
    counted = _Counts(tokens, steps, rules)
    if not counted.entropy(counted.one):
        raise RuleSafeError("the step never changes in these episodes: there is nothing to tell")
    value = float(counted.share(counted.one)[0])
    drawn = counted.share(counted.draw(resamples, rng))
    low, high = value + np.quantile(drawn - drawn.mean(), [0.025, 0.975])
    baseline = np.mean(
        [counted.turned(tokens, steps, rng).share(counted.one)[0] for _ in range(turns)]
    )
    return Share(value, float(max(low, 0)), float(min(high, 1)), float(baseline))


class _Counts:
    """Frames of each episode by token and step; sums over episodes, rule by rule."""

    def __init__(self, tokens: Sequence[Ints], steps: Sequence[Ints], rules: Sequence[str]):
        self.rules = tuple(rules)
        # (E, J, S)
        j = 1 + max(int(column.max()) for column in tokens)
        s = 1 + max(int(column.max()) for column in steps)
        self.counts = np.zeros((len(self.rules), j, s), np.float64)
        for found, token, step in zip(self.counts, tokens, steps, strict=True):
            np.add.at(found, (token, step), 1)
        self.members = [np.flatnonzero(np.array(rules) == rule) for rule in sorted(set(rules))]
        self.one = np.ones((1, len(self.rules)))

    def turned(
        self, tokens: Sequence[Ints], steps: Sequence[Ints], rng: np.random.Generator
    ) -> "_Counts":
        """The counts of tokens that were turned against the steps."""
        moved = [np.roll(token, int(rng.integers(len(token)))) for token in tokens]
        return _Counts(moved, steps, self.rules)

    def draw(self, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """(B, E) how often each episode was drawn, as many of each rule as there are."""
        weights = np.zeros((resamples, len(self.rules)))
        for members in self.members:
            chance = np.full(len(members), 1 / len(members))
            weights[:, members] = rng.multinomial(len(members), chance, resamples)
        return weights

    def share(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B,) shares for weights (B, E) of the episodes."""
        told, wanted = np.zeros(len(weights)), np.zeros(len(weights))
        for joint in self._joints(weights):
            step = _entropy(joint.sum(axis=1))
            told += step + _entropy(joint.sum(axis=2)) - _entropy(joint.reshape(len(joint), -1))
            wanted += step
        return np.divide(told, wanted, out=np.zeros_like(told), where=wanted > 0)

    def entropy(self, weights: NDArray[np.float64]) -> float:
        """Entropy of the step, in nats times frames."""
        return float(sum(_entropy(joint.sum(axis=1))[0] for joint in self._joints(weights)))

    def _joints(self, weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """For each rule (B, J, S), the frames by token and step."""
        return [
            np.tensordot(weights[:, members], self.counts[members], axes=1)
            for members in self.members
        ]


def _entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(B,) entropies of counts (B, C), in nats times the sum of the counts."""
    total = counts.sum(axis=1)
    positive = np.where(counts > 0, counts, 1.0)
    whole = np.where(total > 0, total, 1.0)
    return total * np.log(whole) - (counts * np.log(positive)).sum(axis=1)
