"""Data of the figures of `rulesafe memory plot`, which figures.py draws."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from vq_memory_node.analysis.encoding import codes_of, with_bar
from vq_memory_node.analysis.information import Share, information_share
from vq_memory_node.analysis.trajectories import Trajectories
from vq_memory_node.model_files import MemoryModel
from vq_memory_node.windows import STRIDE

NOISES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05)
"""Standard deviations of the joints' noise, rad."""

FEW = 10
"""Episodes of a rule below which the bootstrap intervals of the information are too narrow."""


@dataclass(frozen=True)
class Strip:
    """The codes of one trajectory, STRIDE frames apart.

    Attributes:
        codes: (F,) of the windows that end at frames 0, STRIDE, 2 STRIDE, ...
        changes: (frame, steps done from this frame on) at each change of the true step.
        frames: length of the trajectory.
        name: label of its row.
    """

    codes: NDArray[np.int64]
    changes: tuple[tuple[int, int], ...]
    frames: int
    name: str


def strips_of(model: MemoryModel, found: Trajectories, rule: str, rows: int) -> list[Strip]:
    """Return strips of a rule's first trajectories; RuleSafeError for an unknown rule."""
    chosen = found.of_rules([rule])
    strips = []
    for i in range(min(rows, len(chosen))):
        positions = chosen.positions[i]
        codes = codes_of(model, positions, range(0, len(positions), STRIDE))
        changes: tuple[tuple[int, int], ...] = ()
        if chosen.steps is not None:
            steps = chosen.steps[i]
            at = np.flatnonzero(np.diff(steps)) + 1
            changes = tuple((int(frame), int(steps[frame])) for frame in at)
        name = f"{i + 1}" + (f"\n{chosen.safes[i]}" if chosen.safes[i] else "")
        strips.append(Strip(codes, changes, len(positions), name))
    return strips


@dataclass(frozen=True)
class StepInformation:
    """Information of the newest token about the true step, for one number of tokens and one
    standard deviation of joint noise (rad)."""

    clusters: int
    noise: float
    share: Share


def information_of_tokens(
    model: MemoryModel,
    found: Trajectories,
    noises: Sequence[float] = NOISES,
    every: int = 5,
    seed: int = 0,
) -> list[StepInformation]:
    """Return mutual information with the true step for each number of clusters and each noise.

    Args:
        model: the memory model.
        found: trajectories with steps.
        noises: standard deviations of independent Gaussian noise of each joint and frame, rad.
        every: use every N-th frame.
        seed: random seed of noise, baseline and bootstrap.

    Raises:
        RuleSafeError: the trajectories have no steps, or only one.
    """
    if found.steps is None:
        raise RuleSafeError("these demonstrations do not contain the true step; use a dataset")
    steps = [column[::every] for column in found.steps]
    entries = []
    for noise in noises:
        codes = []
        for episode, positions in with_bar(found, f"encoding, noise {noise:g} rad"):
            rng = np.random.default_rng([seed, episode])
            noisy = positions + noise * rng.standard_normal(positions.shape, np.float32)
            frames = range(0, len(positions), every)
            codes.append(codes_of(model, noisy.astype(np.float32), frames))
        for clusters in model.clusterings:
            tokens = [model.clusters(clusters)[column] for column in codes]
            share = information_share(tokens, steps, found.rules, seed=seed)
            entries.append(StepInformation(clusters, noise, share))
    return entries


def few_episodes(rules: Sequence[str]) -> str:
    """Return a warning if a rule has fewer than FEW episodes, else "".

    Args:
        rules: of each episode.
    """
    counts = {rule: list(rules).count(rule) for rule in sorted(set(rules))}
    few = [f"{rule or 'unknown'} {count}" for rule, count in counts.items() if count < FEW]
    if not few:
        return ""
    return f"few episodes ({', '.join(few)}): intervals are too narrow below {FEW} per rule"


def write_information(path: Path, entries: Sequence[StepInformation]) -> None:
    """Write the results of `information_of_tokens` as CSV."""
    text = io.StringIO()
    text.write("clusters,noise_rad,share,low,high,baseline\n")
    for entry in entries:
        share = entry.share
        figures = (share.value, share.low, share.high, share.baseline)
        numbers = ",".join(f"{figure:.4f}" for figure in figures)
        text.write(f"{entry.clusters},{entry.noise:g},{numbers}\n")
    write_atomically(path, text.getvalue().encode())


@dataclass(frozen=True)
class Map:
    """The codebook in two dimensions, by PCA and by t-SNE.

    Attributes:
        pca: (K, 2) first two principal components.
        explained: shares of the variance that the two components explain.
        tsne: (K, 2) t-SNE.
        usage: (K,) share of the training windows.
    """

    pca: NDArray[np.float64]
    explained: tuple[float, float]
    tsne: NDArray[np.float64]
    usage: NDArray[np.float64]


def principal(codebook: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return principal components (K, D) of a codebook (K, D), and shares of the variance (D,)."""
    from sklearn.decomposition import PCA

    pca = PCA(svd_solver="full")
    return pca.fit_transform(codebook.astype(float)), pca.explained_variance_ratio_


def map_of(model: MemoryModel, seed: int = 0) -> Map:
    """Return the codebook in two dimensions."""
    from sklearn.manifold import TSNE

    codebook = model.arrays["codebook"]
    components, explained = principal(codebook)
    perplexity = min(30.0, (len(codebook) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(codebook)
    return Map(
        components[:, :2],
        (float(explained[0]), float(explained[1])),
        np.asarray(tsne, float),
        model.arrays["usage"].astype(float),
    )
