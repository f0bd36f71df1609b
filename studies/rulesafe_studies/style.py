"""Colours and style of the figures in docs/results."""

from typing import Any

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
