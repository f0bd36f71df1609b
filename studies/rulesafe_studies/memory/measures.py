"""Measurements of the command `measure`: stability of tokens, and accuracy of a probe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_studies.controls import ElapsedTime
from rulesafe_studies.memory.frames import LabelledFrames, frames_of
from rulesafe_studies.memory.probe import ProbeConfig, Scores, most_frequent, probe
from rulesafe_studies.memory.stability import (
    Estimate,
    Stability,
    disturbances,
    raw_change,
    stability,
)
from vq_memory_node.memory import Memory, NoMemory, RawMemory, TokenMemory
from vq_memory_node.model_files import load_model
from vq_memory_node.trajectories import Trajectories
from vq_memory_node.windows import WINDOW

EVERY = 5
"""The probe uses every N-th frame, because neighbouring frames are nearly identical."""

BASELINE = "most frequent step"


@dataclass(frozen=True)
class ProbeResult:
    """Scores of a probe of the step with one set of inputs, over the seeds.

    Attributes:
        rules: rules that were trained and tested together.
        source: name of the inputs, or BASELINE.
        varied, shifted: accuracy and macro F1, with intervals, on held-out episodes of the
            split varied and on episodes of the split shifted.
    """

    rules: tuple[str, ...]
    source: str
    varied: tuple[Estimate, Estimate]
    shifted: tuple[Estimate, Estimate]


def token_memories(models: Sequence[Path | str]) -> dict[str, TokenMemory]:
    """Return a memory for each number of clusters of these models, by a display name.

    The display name contains the name of the model, except for the first model.

    Raises:
        RuleSafeError: two models have the same name.
    """
    names = [Path(model).name for model in models]
    if len(set(names)) < len(names):
        raise RuleSafeError(f"the models must have different names, got {', '.join(names)}")
    prefixes = ["", *(f"{name}, " for name in names[1:])]
    return {
        f"{prefix}J = {clusters}": TokenMemory(str(model), clusters)
        for prefix, model in zip(prefixes, models, strict=True)
        for clusters in load_model(model).clusterings
    }


def stabilities(
    data: Trajectories, found: Mapping[str, TokenMemory], seeds: int
) -> tuple[dict[str, dict[str, Stability]], dict[str, Estimate]]:
    """Return the shares of unchanged tokens by tokenizer and disturbance, and the relative change
    of raw windows by disturbance."""
    changes = disturbances(WINDOW)
    tokens = {
        name: stability(data.positions, memory, changes, seeds) for name, memory in found.items()
    }
    return tokens, raw_change(data.positions, changes, WINDOW)


class RawHand(RawMemory):
    """Raw memory of the hand's joints; the arm's are 0. Baseline for tokens of the hand, which
    separates the effect of tokens from that of leaving out the arm."""

    def value(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        value = window[-1].copy()
        value[: len(ARM_JOINTS)] = 0
        return value


def sources(found: Mapping[str, TokenMemory]) -> dict[str, Memory]:
    """Return the memories that the probe receives besides the current joints, by display name."""
    plain: dict[str, Memory] = {
        "joints": NoMemory(),
        "joints, mask only": ElapsedTime(),
        "joints, raw memory": RawMemory(),
        "joints, raw memory of the hand": RawHand(),
    }
    return plain | {f"joints, tokens {name}": memory for name, memory in found.items()}


def probe_results(
    varied: Trajectories,
    shifted: Trajectories,
    memories: Mapping[str, Memory],
    seeds: int,
    config: ProbeConfig = ProbeConfig(),
) -> Iterator[ProbeResult]:
    """Yield the scores with each memory, for each rule of both sets and for all rules together.

    Args:
        varied: episodes for training, validation and test.
        shifted: test episodes of another split.
        memories: memories as returned by `sources`.
        seeds: number of random seeds of split, weights and batch order, 2 or more.
        config: configuration of the network.

    Raises:
        RuleSafeError: the two sets have no rule in common, or one has no steps.
    """
    common = sorted(set(varied.rules) & set(shifted.rules) - {""})
    if not common:
        raise RuleSafeError("the episodes of the splits varied and shifted have no rule in common")
    groups = [(rule,) for rule in common] + ([tuple(common)] if len(common) > 1 else [])
    varied, shifted = varied.of_rules(common), shifted.of_rules(common)
    frames = {
        source: (
            frames_of(varied, memory, common, EVERY),
            frames_of(shifted, memory, common, EVERY),
        )
        for source, memory in memories.items()
    }
    for group in groups:
        inside = [i for i, rule in enumerate(varied.rules) if rule in group]
        outside = [i for i, rule in enumerate(shifted.rules) if rule in group]
        rules = [varied.rules[i] for i in inside]
        parts = {
            source: (_numbered(here.of(inside)), there.of(outside))
            for source, (here, there) in frames.items()
        }
        some = next(iter(parts.values()))
        yield _result(group, BASELINE, [most_frequent(*some, rules, seed) for seed in range(seeds)])
        for source, memory in memories.items():
            both = parts[source]
            found = [probe(*both, rules, memory.vocabulary, seed, config) for seed in range(seeds)]
            yield _result(group, source, found)


def _numbered(frames: LabelledFrames) -> LabelledFrames:
    """Return the same frames with episodes renumbered from 0."""
    _, numbers = np.unique(frames.episodes, return_inverse=True)
    return LabelledFrames(**{**vars(frames), "episodes": numbers})


def _result(
    rules: tuple[str, ...], source: str, found: Sequence[tuple[Scores, Scores]]
) -> ProbeResult:
    varied, shifted = zip(*found, strict=True)
    return ProbeResult(rules, source, _estimates(varied), _estimates(shifted))


def _estimates(scores: Sequence[Scores]) -> tuple[Estimate, Estimate]:
    return t_interval([s.accuracy for s in scores]), t_interval([s.macro_f1 for s in scores])


def t_interval(values: Sequence[float]) -> Estimate:
    """Return the mean of 2 or more shares with Student's 95 % interval, clipped to 0..1."""
    mean = float(np.mean(values))
    half = float(scipy.stats.t.ppf(0.975, len(values) - 1) * scipy.stats.sem(values))
    return Estimate(mean, max(mean - half, 0.0), min(mean + half, 1.0))
