"""Plots of reports and tables, as SVG, by matplotlib without a display."""

import io
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rulesafe_eval.diagnosis import CAUSES
from rulesafe_eval.statistics import FEWEST, groups

Line = Mapping[str, Any]

BLUE, ORANGE, GREY = "#2b6ca3", "#d69e2e", "#9aa1a9"
CAUSE_COLOURS = dict(
    zip(CAUSES, ("#9aa1a9", "#7a3b8f", "#be463c", "#d69e2e", "#2b6ca3"), strict=True)
)

WIDEST = 50
"""Characters of a line of a row's name."""


def svg(figure: Figure) -> bytes:
    """Return the figure as an SVG file, identical for identical figures."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    return buffer.getvalue()


def success(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Plot success rate and the two mean scores, with intervals, for each row, such as a rule."""
    figure, axes = _figure(len(rows))
    at = np.arange(len(rows))[::-1]
    names = (
        ("success_rate", "success_interval", "opened", BLUE, "o"),
        ("process_score", "process_score_interval", "process score", ORANGE, "s"),
        ("order_free_score", "order_free_score_interval", "order-free score", GREY, "D"),
    )
    for shift, (key, interval, label, colour, mark) in zip((0.22, 0, -0.22), names, strict=True):
        values = np.array([row[key] for row in rows])
        ends = np.array([row[interval] for row in rows]).T  # (2, rows)
        # Rounding must not make a length negative where all values of a bootstrap are equal.
        lengths = np.abs([values - ends[0], ends[1] - values])
        if key != "success_rate":
            lengths[:, [row["episodes"] < FEWEST for row in rows]] = np.nan  # no error bar
        axes.errorbar(
            values, at + shift, xerr=lengths, fmt=mark, color=colour, capsize=3, label=label
        )
    names_of_rows = (f"{row['rule']} ({row['episodes']})" for row in rows)
    axes.set_yticks(at, [fill(name, WIDEST) for name in names_of_rows], parse_math=False)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.6, len(rows) - 0.4)  # complete markers
    axes.set_xlabel("mean and 95 % interval")
    _finish(axes)
    return figure


def survival(lines: Sequence[Line]) -> Figure:
    """Plot the share of episodes that completed each number of steps of the plan, by rule."""
    by_rule = groups(lines, "rule")
    figure, axes = _figure(8)
    for number, (rule, played) in enumerate(by_rule.items()):
        steps = len(played[0]["plan"])
        done = np.array([line["steps_done"] for line in played])
        share = [(done >= k).mean() for k in range(steps + 1)]
        # Curves that coincide stay visible: later ones are thinner.
        width = max(1.0, 4.0 - number)
        axes.plot(range(steps + 1), share, marker="o", linewidth=width, label=rule)
    axes.set_xlabel("completed steps of the plan")
    axes.set_ylabel("share of episodes")
    axes.set_ylim(-0.03, 1.03)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    _finish(axes)
    return figure


def causes(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Plot the failures by rule and step, divided by cause."""
    places = list(
        dict.fromkeys(
            (row["rule"], row["step"], row["event"])
            for row in sorted(rows, key=lambda row: (row["rule"], row["step"], row["event"]))
        )
    )
    figure, axes = _figure(len(places))
    at = np.arange(len(places))[::-1]
    left = np.zeros(len(places))
    for cause, colour in CAUSE_COLOURS.items():
        counts = np.zeros(len(places))
        for row in rows:
            if row["cause"] == cause:
                counts[places.index((row["rule"], row["step"], row["event"]))] += row["count"]
        if counts.any():
            label = cause.replace("_", " ")
            axes.barh(at, counts, left=left, color=colour, label=label, height=0.6)
            left += counts
    axes.set_yticks(at, [f"{rule}: step {step} ({event})" for rule, step, event in places])
    axes.set_xlabel("failed episodes")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(-0.6, len(places) - 0.4)
    _finish(axes)
    return figure


def lengths(lines: Sequence[Line]) -> Figure:
    """Plot the simulated time of the successful episodes, by rule."""
    by_rule = groups([line for line in lines if line["opened"]], "rule")
    figure, axes = _figure(len(by_rule))
    at = np.arange(len(by_rule))[::-1]
    for y, played in zip(at, by_rule.values(), strict=True):
        seconds = [line["simulated_time"] for line in played]
        jitter = np.linspace(-0.15, 0.15, len(seconds)) if len(seconds) > 1 else [0.0]
        axes.plot(seconds, y + jitter, "o", color=BLUE, alpha=0.6, markersize=4)
        axes.plot([np.median(seconds)] * 2, [y - 0.3, y + 0.3], color=ORANGE, linewidth=2)
    axes.set_yticks(at, list(by_rule))
    axes.set_ylim(-0.6, len(by_rule) - 0.4)
    longest = max(line["simulated_time"] for played in by_rule.values() for line in played)
    axes.set_xlim(0, 1.03 * longest)  # complete markers
    axes.set_xlabel("simulated time to success, s; median in orange")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _figure(rows: int) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, 1.1 + 0.42 * max(rows, 2)))
    return figure, figure.add_subplot()


def _finish(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
