"""Colours and style of the figures in docs/results."""

from typing import Any

from matplotlib.axes import Axes

COLORS = {"none": "#9aa0a8", "raw": "#e08e2b", "vq": "#2468b0"}
INK, GRID, PAPER = "#30343a", "#d8dadd", "#f1f2f4"
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.titlesize": 10,
    "xtick.major.size": 0,
}


def axes_of_rates(axes: Axes, title: str, top: float = 110) -> None:
    """Set up an axis of success rates in percent."""
    axes.set_ylim(0, top)
    axes.set_yticks(range(0, 101, 25))
    axes.set_title(title, loc="left", fontweight="bold", color=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=GRID, linewidth=0.6)


def horizontal_axes_of_rates(axes: Axes, title: str, low: float, high: float) -> None:
    """Set up an axis of horizontal rates in percent, with the limits low and high."""
    axes.set_xlim(low, high)
    axes.set_xticks(range(0, 101, 25))
    axes.set_title(title, loc="left", fontweight="bold", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=0)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
