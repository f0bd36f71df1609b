"""The figures of `rulesafe memory plot`: token strips and the codebook."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rulesafe_core.files import draft_file
from rulesafe_data.films.colours import cluster_colours
from vq_memory_node.encoding import codes_of
from vq_memory_node.model_files import MemoryModel
from vq_memory_node.trajectories import Trajectories
from vq_memory_node.windows import RATE, STRIDE

ROWS = 3
"""Number of trajectories in a figure of strips."""

LINE, GREY = "#30343a", "#9aa0a6"


def draw_all(out: Path, model: MemoryModel, found: Trajectories, clusters: int) -> Iterator[Path]:
    """Draw all figures into a folder; yield the path of each file after it is written.

    Args:
        out: the folder.
        model: the memory model.
        found: the trajectories.
        clusters: number of clusters in the lower strips and in the codebook's colours.

    Raises:
        RuleSafeError: the model does not offer this number of clusters.
        ModuleNotFoundError: scikit-learn is not installed.
    """
    fine, coarse = model.clusters(model.architecture.codes), model.clusters(clusters)
    components, _ = principal(model.arrays["codebook"])
    order = np.argsort(components[:, 0], kind="stable")
    for rule in sorted(set(found.rules)):
        path = out / f"strips_{rule or 'unknown'}.png"
        draw_strips(path, rule, strips_of(model, found, rule, ROWS), fine, coarse, order)
        yield path
    path = out / "codebook.png"
    draw_codebook(path, map_of(model), coarse)
    yield path


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


def map_of(model: MemoryModel) -> Map:
    """Return the codebook in two dimensions."""
    from sklearn.manifold import TSNE

    codebook = model.arrays["codebook"]
    components, explained = principal(codebook)
    perplexity = min(30.0, (len(codebook) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(codebook)
    return Map(
        components[:, :2],
        (float(explained[0]), float(explained[1])),
        np.asarray(tsne, float),
        model.arrays["usage"].astype(float),
    )


def code_colours(order: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return one RGBA colour per token (K, 4): a gradient along the token order `order` (K,), in
    which similar tokens are neighbours."""
    colours = np.empty((len(order), 4))
    colours[order] = matplotlib.colormaps["viridis"](np.linspace(0, 1, len(order)))
    return colours


def draw_strips(
    path: Path,
    title: str,
    strips: Sequence[Strip],
    fine: NDArray[np.integer],
    clusters: NDArray[np.integer],
    order: NDArray[np.integer],
) -> None:
    """Write a PNG of token strips: by code in the upper axes, by cluster in the lower.

    Args:
        path: output file.
        title: title of the figure.
        strips: one row each, from the top.
        fine: (K,) token of each code, with one token per code.
        clusters: (K,) token of each code, with one token per cluster.
        order: (K,) codes by their position along the codebook's first principal component.
    """
    count = int(clusters.max()) + 1
    longest = max(strip.frames for strip in strips) / RATE
    height = 0.34 * len(strips) + 0.75
    figure = Figure(figsize=(9.6, 2 * height + 0.5), dpi=150, layout="constrained")
    figure.suptitle(title, fontsize=10)
    above, below = figure.subplots(2, 1, sharex=True)
    used = len(np.unique(np.concatenate([strip.codes for strip in strips])))
    above.set_title(f"{len(clusters)} codes ({used} used here)", loc="left", fontsize=9)
    below.set_title(f"{count} clusters", loc="left", fontsize=9)
    _rows(above, strips, fine, code_colours(fine[order]))
    _rows(below, strips, clusters, cluster_colours(count))
    note = "black lines: number of completed steps of the plan"
    below.set_xlabel(f"time (s); {note}" if any(strip.changes for strip in strips) else "time (s)")
    below.set_xlim(0, longest + 0.2)
    _save(figure, path)


def _rows(
    axes: Axes, strips: Sequence[Strip], names: NDArray[np.integer], colours: NDArray[np.float64]
) -> None:
    """Draw each strip as a row of blocks, STRIDE frames wide.

    A block begins where its window ends, and spans the time in which its token is the newest."""
    for row, strip in enumerate(strips):
        tokens = names[strip.codes]
        starts = np.arange(len(tokens)) * STRIDE / RATE
        widths = np.minimum(starts + STRIDE / RATE, strip.frames / RATE) - starts
        chosen = colours[tokens]
        axes.barh(
            np.full(len(tokens), row), widths, 0.62, starts, color=chosen, edgecolor="white", lw=0.5
        )
        dark = chosen[:, :3] @ (0.299, 0.587, 0.114) < 0.5
        for start, width, token, on_dark in zip(starts, widths, tokens, dark, strict=True):
            if width > 0.5 * STRIDE / RATE:
                axes.text(
                    *(start + width / 2, row, str(token)),
                    ha="center",
                    va="center",
                    fontsize=5.5,
                    color="white" if on_dark else LINE,
                )
        for frame, step in strip.changes:
            at = frame / RATE
            axes.plot([at, at], [row - 0.33, row + 0.33], color="black", lw=1.2)
            axes.text(at, row - 0.35, str(step), fontsize=6, ha="center", va="bottom")
    axes.set_ylim(len(strips) - 0.55, -0.75)
    axes.set_yticks(range(len(strips)), [strip.name for strip in strips], fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)


def draw_codebook(path: Path, found: Map, clusters: NDArray[np.integer]) -> None:
    """Write a PNG: the codebook by PCA and t-SNE, coloured by cluster (K,), sized by usage."""
    count = int(clusters.max()) + 1
    figure = Figure(figsize=(9.6, 4.6), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = cluster_colours(count)
    size = 8 + 250 * found.usage / max(found.usage.max(), 1e-12)
    for axes, points in ((left, found.pca), (right, found.tsne)):
        unused = points[found.usage == 0].T
        if unused.size:
            axes.scatter(*unused, marker="x", s=14, lw=0.8, color=GREY, label="unused")
        for cluster in range(count):
            chosen = (clusters == cluster) & (found.usage > 0)
            axes.scatter(
                *points[chosen].T,
                s=size[chosen],
                color=colours[cluster],
                alpha=0.75,
                edgecolor="white",
                lw=0.5,
                label=f"{cluster}",
            )
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_color(GREY)
    first, second = (100 * share for share in found.explained)
    left.set_title("PCA", loc="left", fontsize=9)
    left.set_xlabel(f"first component ({first:.0f} % of the variance)")
    left.set_ylabel(f"second component ({second:.0f} %)")
    right.set_title("t-SNE", loc="left", fontsize=9)
    right.set_xlabel("area: share of the training windows")
    handles, labels = right.get_legend_handles_labels()
    legend = figure.legend(
        handles, labels, title="cluster", loc="outside right upper", frameon=False, fontsize=8
    )
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_sizes([30])  # type: ignore[attr-defined]
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with draft_file(path) as draft:
        figure.savefig(draft, format="png")
