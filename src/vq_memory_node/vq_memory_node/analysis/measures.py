"""What `rulesafe memory measure` finds: stability of tokens, and what a small network reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from vq_memory_node.analysis.frames import LabelledFrames, frames_of
from vq_memory_node.analysis.probe import ProbeConfig, Scores, most_frequent, probe
from vq_memory_node.analysis.stability import (
    Estimate,
    Stability,
    disturbances,
    raw_change,
    stability,
)
from vq_memory_node.analysis.trajectories import Trajectories
from vq_memory_node.memory import Memory, NoMemory, RawMemory, TokenMemory
from vq_memory_node.model_files import load_model
from vq_memory_node.windows import LENGTH, WINDOW

EVERY = 5
"""Frames from one that the network reads to the next; neighbours tell hardly more than one."""

BASELINE = "most frequent step"


@dataclass(frozen=True)
class ProbeResult:
    """How well the step is read from one input, over the seeds.

    Attributes:
        rules: the rules that were trained and tested together.
        source: what is read besides the current joints, or BASELINE.
        normal, shifted: accuracy and macro F1, with intervals, on held-out episodes of the
            normal split and on those of the shifted one.
    """

    rules: tuple[str, ...]
    source: str
    normal: tuple[Estimate, Estimate]
    shifted: tuple[Estimate, Estimate]


def token_memories(models: Sequence[Path | str]) -> dict[str, TokenMemory]:
    """Return a memory for each number of clusters of these models, by a name for people: those of
    the first model by their clusters alone.

    Errors: RuleSafeError if two models have one name, so that nobody could tell them apart.
    """
    names = [Path(model).name for model in models]
    if len(set(names)) < len(names):
        raise RuleSafeError(f"models need different names, got {', '.join(names)}")
    prefixes = ["", *(f"{name}, " for name in names[1:])]
    return {
        f"{prefix}J = {clusters}": TokenMemory(str(model), clusters)
        for prefix, model in zip(prefixes, models, strict=True)
        for clusters in load_model(model).clusterings
    }


def stabilities(
    data: Trajectories, found: Mapping[str, TokenMemory], seeds: int
) -> tuple[dict[str, dict[str, Stability]], dict[str, Estimate]]:
    """By tokenizer and disturbance, shares of tokens unchanged; by disturbance, the raw windows'
    relative change."""
    changes = disturbances(WINDOW)
    tokens = {
        name: stability(data.positions, memory, changes, seeds) for name, memory in found.items()
    }
    return tokens, raw_change(data.positions, changes, WINDOW)


@dataclass(frozen=True)
class OneToken(Memory):
    """A memory of one token only: its mask tells the time, its values nothing."""

    length: int = LENGTH

    @property
    def vocabulary(self) -> int:
        return 1

    def value(self, window: NDArray[np.float32]) -> int:
        return 0


class RawHand(RawMemory):
    """Raw memory of the hand's joints; the arm's are 0. With it, what tokens of the hand gain can
    be told from what leaving out the arm gains."""

    def value(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        value = window[-1].copy()
        value[: len(ARM_JOINTS)] = 0
        return value


def sources(found: Mapping[str, TokenMemory]) -> dict[str, Memory]:
    """Return what is read besides the current joints."""
    plain: dict[str, Memory] = {
        "joints alone": NoMemory(),
        "joints, mask alone": OneToken(),
        "joints, raw memory": RawMemory(),
        "joints, raw memory of the hand": RawHand(),
    }
    return plain | {f"joints, tokens {name}": memory for name, memory in found.items()}


def probe_results(
    normal: Trajectories,
    shifted: Trajectories,
    memories: Mapping[str, Memory],
    seeds: int,
    config: ProbeConfig = ProbeConfig(),
    every: int = EVERY,
) -> Iterator[ProbeResult]:
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
        for source, memory in memories.items()
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
        yield _result(group, BASELINE, [most_frequent(*some, rules, seed) for seed in range(seeds)])
        for source, memory in memories.items():
            both = parts[source]
            found = [probe(*both, rules, memory.vocabulary, seed, config) for seed in range(seeds)]
            yield _result(group, source, found)


def _numbered(frames: LabelledFrames) -> LabelledFrames:
    """The same with episodes numbered from 0 on."""
    _, numbers = np.unique(frames.episodes, return_inverse=True)
    return LabelledFrames(**{**vars(frames), "episodes": numbers})


def _result(
    rules: tuple[str, ...], source: str, found: Sequence[tuple[Scores, Scores]]
) -> ProbeResult:
    normal, shifted = zip(*found, strict=True)
    return ProbeResult(rules, source, _estimates(normal), _estimates(shifted))


def _estimates(scores: Sequence[Scores]) -> tuple[Estimate, Estimate]:
    return t_interval([s.accuracy for s in scores]), t_interval([s.macro_f1 for s in scores])


def t_interval(values: Sequence[float]) -> Estimate:
    """The mean of 2 or more shares with Student's interval of 95 %, cut at 0 and 1."""
    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return Estimate(mean, max(mean - half, 0.0), min(mean + half, 1.0))
