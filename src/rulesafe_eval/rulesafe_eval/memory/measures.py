"""What `rulesafe memory measure` finds: stability of tokens, and what a small network reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rulesafe_eval.memory.frames import Frames, frames_of
from rulesafe_eval.memory.probe import ProbeConfig, Scores, most_frequent, probe
from rulesafe_eval.memory.stability import (
    Estimate,
    Stability,
    disturbances,
    raw_change,
    stability,
)
from rulesafe_eval.memory.trajectories import Trajectories
from rulesafe_sim.errors import RuleSafeError
from vq_memory_node.memory import Memory, NoMemory, RawMemory, VqMemory
from vq_memory_node.model_files import load_model
from vq_memory_node.tokenizers import CLUSTERS, Tokenizer, load_tokenizer

EVERY = 5
"""Frames from one that the network reads to the next; neighbours tell hardly more than one."""

GUESS = "most frequent step"


@dataclass(frozen=True)
class Read:
    """How well the step is read from one input, over the seeds.

    Attributes:
        rules: the rules that were trained and tested together.
        source: what is read besides the current joints, or GUESS.
        normal, shifted: accuracy and macro F1, with intervals, on held-out episodes of the
            normal split and on those of the shifted one.
    """

    rules: tuple[str, ...]
    source: str
    normal: tuple[Estimate, Estimate]
    shifted: tuple[Estimate, Estimate]


def stabilities(
    data: Trajectories, model: Path | str, seeds: int
) -> tuple[dict[int, dict[str, Stability]], dict[str, Estimate]]:
    """By clusters and disturbance, shares of tokens unchanged; by disturbance, the raw windows'
    relative change."""
    offered, window = load_model(model).clusterings, load_tokenizer(model).window
    changes = disturbances(window)
    tokens = {
        clusters: stability(data.positions, load_tokenizer(model, clusters), changes, seeds)
        for clusters in offered
    }
    return tokens, raw_change(data.positions, changes, window)


class OneToken:
    """A tokenizer that tells nothing: with it, a memory is its mask, which tells the time."""

    vocabulary = 1

    def __init__(self, like: Tokenizer) -> None:
        self.joints, self.window, self.hash = like.joints, like.window, "one token"

    def token(self, window: NDArray[np.float32]) -> int:
        return 0


def sources(model: Path | str) -> dict[str, tuple[Memory, int]]:
    """What is read besides the current joints, and its vocabulary (0: no tokens): the published
    vocabulary among others, and codes as they are."""
    like = load_tokenizer(model)
    found: dict[str, tuple[Memory, int]] = {
        "joints alone": (NoMemory(), 0),
        "joints, mask alone": (VqMemory(OneToken(like)), 1),
        "joints, raw memory": (RawMemory(), 0),
    }
    for clusters in (CLUSTERS, load_model(model).clusterings[-1]):
        tokenizer = load_tokenizer(model, clusters)
        found[f"joints, tokens J = {clusters}"] = (VqMemory(tokenizer), clusters)
    return found


def readings(
    normal: Trajectories,
    shifted: Trajectories,
    memories: dict[str, tuple[Memory, int]],
    seeds: int,
    config: ProbeConfig = ProbeConfig(),
    every: int = EVERY,
) -> Iterator[Read]:
    """Each input's scores, for each rule that both have and for all such rules together.

    Args:
        normal: episodes to train on and to hold out.
        shifted: episodes of another split.
        memories: from `sources`.
        seeds: 2 or more; of division, weights and order.
        config: of the network.
        every: frames from one that is read to the next.

    Errors: RuleSafeError if the two have no rule in common, or one does not tell the steps.
    """
    if seeds < 2:
        raise RuleSafeError(f"an interval takes 2 seeds or more, not {seeds}")
    common = sorted(set(normal.rules) & set(shifted.rules) - {""})
    if not common:
        raise RuleSafeError("the two sets of episodes have no rule in common")
    groups = [(rule,) for rule in common] + ([tuple(common)] if len(common) > 1 else [])
    normal, shifted = normal.of_rules(common), shifted.of_rules(common)
    frames = {
        source: (
            frames_of(normal, memory, common, every),
            frames_of(shifted, memory, common, every),
        )
        for source, (memory, _) in memories.items()
    }
    for group in groups:
        inside = [i for i, rule in enumerate(normal.rules) if rule in group]
        outside = [i for i, rule in enumerate(shifted.rules) if rule in group]
        rules = [normal.rules[i] for i in inside]
        parts = {
            source: (_numbered(here.of(inside)), there.of(outside))
            for source, (here, there) in frames.items()
        }
        some = next(iter(parts.values()))
        yield _read(group, GUESS, [most_frequent(*some, rules, seed) for seed in range(seeds)])
        for source, (_, vocabulary) in memories.items():
            both = parts[source]
            found = [probe(*both, rules, vocabulary, seed, config) for seed in range(seeds)]
            yield _read(group, source, found)


def _numbered(frames: Frames) -> Frames:
    """The same with episodes numbered from 0 on."""
    _, numbers = np.unique(frames.episodes, return_inverse=True)
    return Frames(**{**vars(frames), "episodes": numbers})


def _read(rules: tuple[str, ...], source: str, found: Sequence[tuple[Scores, Scores]]) -> Read:
    normal, shifted = zip(*found, strict=True)
    return Read(rules, source, _estimates(normal), _estimates(shifted))


def _estimates(scores: Sequence[Scores]) -> tuple[Estimate, Estimate]:
    return t_interval([s.accuracy for s in scores]), t_interval([s.macro_f1 for s in scores])


def t_interval(values: Sequence[float]) -> Estimate:
    """The mean of 2 or more shares with Student's interval of 95 %, cut at 0 and 1."""
    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return Estimate(mean, max(mean - half, 0.0), min(mean + half, 1.0))
