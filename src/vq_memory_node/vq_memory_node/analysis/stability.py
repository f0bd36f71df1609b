"""How many tokens stay the same when the joints are noisy or the episode runs at another speed.

Windows that end at frames 0, STRIDE, 2 * STRIDE, ... are encoded as stored and disturbed. Another
speed resamples the trajectory linearly about the same instant of the task, so that a token is
compared with the one at the same fraction of the episode.
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
"""(positions (N, 13) rad, frame, generator) to the disturbed window that ends at this frame."""

NOISE = 0.01
"""rad, standard deviation of the joints' noise."""

RESAMPLES = 2000
"""Of the bootstrap."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Stability:
    """One disturbance's effect on one vocabulary.

    Attributes:
        unchanged: share of tokens that stayed.
        chance: share that would stay if tokens were drawn at random with the stored tokens'
            frequencies; with two clusters many stay whatever happens.
        tokens: number of stored tokens, each compared in every draw.
    """

    unchanged: Estimate
    chance: float
    tokens: int


def noisy(positions: Window, frame: int, random: np.random.Generator, window: int) -> Window:
    """The window with independent Gaussian noise of NOISE rad on every joint and frame."""
    seen = window_at(positions, frame, window)
    # A frame that is repeated before the start is one measurement, with one error.
    missing = max(window - 1 - frame, 0)
    error = random.normal(0.0, NOISE, seen.shape)
    error[:missing] = error[missing]
    return (seen + error).astype(np.float32)


def at_speed(positions: Window, frame: int, speed: float, window: int) -> Window:
    """The window that ends where the stored one does, had the episode run at `speed` times its
    speed: frames stand `speed` stored frames apart, between which it interpolates."""
    instants = np.clip(frame - speed * np.arange(window - 1, -1, -1), 0, None)
    before = np.floor(instants).astype(int)
    after = np.minimum(before + 1, len(positions) - 1)
    part = (instants - before)[:, None]
    return ((1 - part) * positions[before] + part * positions[after]).astype(np.float32)


def disturbances(window: int) -> dict[str, Disturbance]:
    """The disturbances of the report, by name."""
    return {
        f"noise of {NOISE} rad": lambda q, t, random: noisy(q, t, random, window),
        "10 % faster": lambda q, t, _: at_speed(q, t, 1.1, window),
        "10 % slower": lambda q, t, _: at_speed(q, t, 0.9, window),
    }


def stability(
    trajectories: Sequence[Window],
    memory: Memory,
    disturb: Mapping[str, Disturbance],
    seeds: int = 5,
) -> dict[str, Stability]:
    """What each disturbance leaves unchanged; intervals by bootstrap over episodes.

    Args:
        trajectories: positions (N, 13) of each episode, rad.
        memory: one whose values are tokens.
        disturb: by name, from `disturbances`.
        seeds: draws of the noise; the other disturbances are the same in every draw.
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
    """How far each disturbance moves the raw windows, against their own spread: the root of the
    ratio of mean squares of (disturbed - stored) and of (stored - mean posture of all episodes),
    joints in rad and unweighted. The interval is by bootstrap over episodes."""
    mean = np.concatenate(trajectories).mean(axis=0, dtype=float)
    found = {}
    for name, change in disturb.items():
        moved, spread = np.zeros(len(trajectories)), np.zeros(len(trajectories))
        for episode, q in enumerate(trajectories):
            random = np.random.default_rng([0, episode])
            for frame in range(0, len(q), STRIDE):
                seen = window_at(q, frame, window).astype(float)
                moved[episode] += np.sum((change(q, frame, random) - seen) ** 2)
                spread[episode] += np.sum((seen - mean) ** 2)
        ratio = _bootstrap(moved, spread)
        found[name] = Estimate(*np.sqrt([ratio.value, ratio.low, ratio.high]).tolist())
    return found


def _bootstrap(above: NDArray, below: NDArray) -> Estimate:
    """The ratio of sums, with the percentile interval over resampled episodes."""
    low, high = ratio_interval(above, below, RESAMPLES)
    return Estimate(float(above.sum() / below.sum()), low, high)
