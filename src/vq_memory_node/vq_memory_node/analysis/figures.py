"""The figures of `rulesafe memory plot`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.films.colours import OKABE_ITO, cluster_colours
from vq_memory_node.analysis.plots import (
    Map,
    StepInformation,
    Strip,
    few_episodes,
    information_of_tokens,
    map_of,
    principal,
    strips_of,
    write_information,
)
from vq_memory_node.analysis.trajectories import Trajectories
from vq_memory_node.model_files import MemoryModel
from vq_memory_node.windows import RATE, STRIDE

ROWS = 3
"""Number of trajectories in a figure of strips."""

LINE, GREY = "#30343a", "#9aa0a6"


def draw_all(
    out: Path, model: MemoryModel, found: Trajectories, clusters: int, every: int, seed: int
) -> Iterator[Path]:
    """Draw all figures into a folder; yield the path of each file after it is written.

    The figure of information is drawn only if the trajectories contain the true steps.

    Args:
        out: the folder.
        model: the memory model.
        found: the trajectories.
        clusters: number of clusters in the lower strips and in the codebook's colours.
        every: compute the information from every N-th frame.
        seed: random seed of noise, baseline, bootstrap and t-SNE.

    Raises:
        RuleSafeError: a number is not valid.
        ModuleNotFoundError: scikit-learn is not installed.
    """
    if every < 1 or seed < 0:
        raise RuleSafeError(
            f"every is {every} and seed {seed}; valid: every 1 or more, seed 0 or more"
        )
    fine, coarse = model.clusters(model.architecture.codes), model.clusters(clusters)
    components, _ = principal(model.arrays["codebook"])
    order = np.argsort(components[:, 0], kind="stable")
    for rule in sorted(set(found.rules)):
        path = out / f"strips_{rule or 'unknown'}.png"
        draw_strips(path, rule, strips_of(model, found, rule, ROWS), fine, coarse, order)
        yield path
    path = out / "codebook.png"
    draw_codebook(path, map_of(model, seed), coarse)
    yield path
    if found.steps is not None:
        entries = information_of_tokens(model, found, every=every, seed=seed)
        write_information(out / "information.csv", entries)
        yield out / "information.csv"
        draw_information(out / "information.png", entries, few_episodes(found.rules))
        yield out / "information.png"


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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


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


def draw_information(path: Path, entries: Sequence[StepInformation], warning: str = "") -> None:
    """Write a PNG: mutual information with the true step, by number of tokens and by noise.

    Args:
        path: output file.
        entries: the results.
        warning: title of the figure; empty: no title.
    """
    figure = Figure(figsize=(9.6, 3.9), dpi=150, layout="constrained")
    if warning:
        figure.suptitle(warning, fontsize=9, color="#b00020")
    by_count, by_noise = figure.subplots(1, 2, sharey=True)
    quiet = sorted((e for e in entries if e.noise == 0), key=lambda entry: entry.clusters)
    where = np.arange(len(quiet))
    value = np.array([entry.share.value for entry in quiet])
    reach = np.maximum(
        0, [[v - e.share.low, e.share.high - v] for v, e in zip(value, quiet, strict=True)]
    ).T
    by_count.errorbar(
        where, value, yerr=reach, fmt="o", color=OKABE_ITO[0], capsize=3, label="tokens", ms=5
    )
    by_count.plot(
        where,
        [entry.share.baseline for entry in quiet],
        ls="none",
        marker="_",
        ms=16,
        mew=2,
        color=GREY,
        label="baseline: shifted in time",
    )
    by_count.set_xticks(where, [str(entry.clusters) for entry in quiet])
    by_count.set_xlim(-0.5, len(quiet) - 0.5)
    by_count.set_xlabel("number of tokens J")
    by_count.set_ylabel("I(token; true step | rule) / H(true step | rule)")
    by_count.legend(frameon=False, fontsize=8)
    _noise_lines(by_noise, entries)
    by_count.set_ylim(0, min(1.02, 1.3 * max(entry.share.high for entry in entries)))
    for axes in (by_count, by_noise):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        axes.grid(axis="y", color="#d8dadd", linewidth=0.6)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _noise_lines(axes: Axes, entries: Sequence[StepInformation]) -> None:
    markers = "osD^vPX*"
    for place, clusters in enumerate(sorted({entry.clusters for entry in entries})):
        line = sorted((e for e in entries if e.clusters == clusters), key=lambda entry: entry.noise)
        noise = [entry.noise for entry in line]
        color = OKABE_ITO[place % len(OKABE_ITO)]
        axes.plot(
            noise,
            [entry.share.value for entry in line],
            marker=markers[place % len(markers)],
            ms=4.5,
            label=f"J = {clusters}",
            color=color,
        )
        low, high = ([getattr(e.share, end) for e in line] for end in ("low", "high"))
        axes.fill_between(noise, low, high, color=color, alpha=0.15, lw=0)
        axes.plot(noise, [e.share.baseline for e in line], color=color, lw=0.9, ls=":")
    axes.set_xlabel("joint noise (rad, standard deviation); dotted: baseline")
    axes.legend(frameon=False, fontsize=8, ncols=2)


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
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
