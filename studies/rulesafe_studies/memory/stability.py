"""Share of tokens that do not change under joint noise or at another speed of the episode.

Windows that end at frames 0, STRIDE, 2 * STRIDE, ... are encoded with and without the disturbance.
Another speed is simulated by linear resampling of the window, which ends at the same instant of the
task, so that tokens at the same fraction of the episode are compared.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulesafe_data.intervals import ratio_interval
from vq_memory_node.memory import Memory
from vq_memory_node.windows import STRIDE, window_at

Window = NDArray[np.float32]
Disturbance = Callable[[Window, int, np.random.Generator], Window]
"""Maps (positions (N, 13) rad, frame, generator) to the disturbed window that ends at `frame`."""

NOISE = 0.01
"""Standard deviation of the joint noise, rad."""

RESAMPLES = 2000
"""Number of bootstrap resamples."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Stability:
    """Effect of one disturbance on the tokens of one vocabulary.

    Attributes:
        unchanged: share of unchanged tokens.
        chance: share that would be unchanged if tokens were drawn at random with the frequencies
            of the undisturbed tokens; it is high for few clusters.
        tokens: number of undisturbed tokens, each compared in every draw.
    """

    unchanged: Estimate
    chance: float
    tokens: int


def noisy(positions: Window, frame: int, random: np.random.Generator, window: int) -> Window:
    """Return the window with independent Gaussian noise of NOISE rad on each joint and frame."""
    stored = window_at(positions, frame, window)
    # Repeated frames before the start are one measurement, with one error.
    missing = max(window - 1 - frame, 0)
    error = random.normal(0.0, NOISE, stored.shape)
    error[:missing] = error[missing]
    return (stored + error).astype(np.float32)


def at_speed(positions: Window, frame: int, speed: float, window: int) -> Window:
    """Return the window that ends at `frame` if the episode ran at `speed` times its speed.

    Its frames are `speed` stored frames apart, interpolated linearly."""
    instants = np.clip(frame - speed * np.arange(window - 1, -1, -1), 0, None)
    before = np.floor(instants).astype(int)
    after = np.minimum(before + 1, len(positions) - 1)
    part = (instants - before)[:, None]
    return ((1 - part) * positions[before] + part * positions[after]).astype(np.float32)


def disturbances(window: int) -> dict[str, Disturbance]:
    """Return noise of NOISE rad, and speeds 10 % higher and lower, by column of the CSV file."""
    return {
        "noise": lambda q, t, random: noisy(q, t, random, window),
        "faster": lambda q, t, _: at_speed(q, t, 1.1, window),
        "slower": lambda q, t, _: at_speed(q, t, 0.9, window),
    }


def stability(
    trajectories: Sequence[Window],
    memory: Memory,
    disturb: Mapping[str, Disturbance],
    seeds: int = 5,
) -> dict[str, Stability]:
    """Return the share of unchanged tokens by disturbance, with bootstrap intervals over episodes.

    Args:
        trajectories: positions (N, 13) of each episode, rad.
        memory: a memory of tokens.
        disturb: disturbances by name, as returned by `disturbances`.
        seeds: number of noise draws; other disturbances are the same in every draw.
    """
    stored = [
        [memory.value(window_at(q, t, memory.window)) for t in range(0, len(q), STRIDE)]
        for q in trajectories
    ]
    counts = np.bincount(np.concatenate(stored), minlength=memory.vocabulary)
    chance = float(np.sum((counts / counts.sum()) ** 2))
    found = {}
    for name, change in disturb.items():
        same = np.zeros(len(trajectories))
        for seed in range(seeds):
            for episode, (q, tokens) in enumerate(zip(trajectories, stored, strict=True)):
                random = np.random.default_rng([seed, episode])
                same[episode] += sum(
                    memory.value(change(q, number * STRIDE, random)) == token
                    for number, token in enumerate(tokens)
                )
        lengths = np.array([len(tokens) for tokens in stored])
        found[name] = Stability(_bootstrap(same, seeds * lengths), chance, int(lengths.sum()))
    return found


def raw_change(
    trajectories: Sequence[Window],
    disturb: Mapping[str, Disturbance],
    window: int,
) -> dict[str, Estimate]:
    """Return the relative change of raw windows by disturbance.

    It is the RMS of (disturbed - stored) over the RMS of (stored - mean posture of all episodes),
    with unweighted joints in rad. Intervals are by bootstrap over episodes."""
    mean = np.concatenate(trajectories).mean(axis=0, dtype=float)
    found = {}
    for name, change in disturb.items():
        moved, spread = np.zeros(len(trajectories)), np.zeros(len(trajectories))
        for episode, q in enumerate(trajectories):
            random = np.random.default_rng([0, episode])
            for frame in range(0, len(q), STRIDE):
                stored = window_at(q, frame, window).astype(float)
                moved[episode] += np.sum((change(q, frame, random) - stored) ** 2)
                spread[episode] += np.sum((stored - mean) ** 2)
        ratio = _bootstrap(moved, spread)
        found[name] = Estimate(*np.sqrt([ratio.value, ratio.low, ratio.high]).tolist())
    return found


def _bootstrap(above: NDArray, below: NDArray) -> Estimate:
    """Return the ratio of sums, with the percentile interval over resampled episodes."""
    low, high = ratio_interval(above, below, RESAMPLES)
    return Estimate(float(above.sum() / below.sum()), low, high)
