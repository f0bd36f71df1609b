"""The figure of docs/results/expert.md: success rate and mean frames of each rule."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from rulesafe_demos.stats import Group

GREEN, BLUE, LINE = "#2e8b57", "#4a76b8", "#30343a"


def draw(path: Path, groups: Sequence[Group]) -> None:
    """Write a PNG: success rates with their intervals above, mean frames of the successes below.
    The last group, that of all rules, is set apart."""
    count = len(groups)
    figure = Figure(figsize=(max(5.0, 1.2 + 0.32 * count), 4.2), dpi=200, layout="constrained")
    rates, frames = figure.subplots(2, 1, sharex=True)
    where = np.append(np.arange(count - 1), count - 0.5)

    rate = np.array([100 * group.rate for group in groups])
    ends = 100 * np.array([[group.low, group.high] for group in groups]).T
    # Rounding can put an end of the interval inside the rate; error bars must not be negative.
    reach = np.maximum(0.0, [rate - ends[0], ends[1] - rate])
    style = {"width": 0.8}
    rates.bar(where, rate, yerr=reach, capsize=2, color=GREEN, error_kw={"lw": 1}, **style)
    rates.set_ylabel("success (% of attempts)")
    rates.set_ylim(0, 106)
    rates.set_yticks(range(0, 101, 20))
    for x, group in zip(where, groups, strict=True):
        text = f"{group.successes}/{group.attempts}"
        color = "white" if group.rate > 0.25 else LINE
        rates.text(x, 2, text, rotation=90, ha="center", va="bottom", color=color, fontsize=8)

    mean = np.array([group.frames for group in groups])
    bars = frames.bar(where, np.nan_to_num(mean), color=BLUE, **style)
    labels = ["none" if np.isnan(value) else f"{value:.0f}" for value in mean]
    frames.bar_label(bars, labels, padding=2, fontsize=8)
    frames.set_ylabel("mean frames (0.1 s)")
    frames.margins(y=0.12)
    names = [group.name.replace("rule_", "") for group in groups]
    frames.set_xticks(where, names, rotation=90 if max(map(len, names)) > 4 else 0)
    frames.set_xlabel("rule")
    for axes in (rates, frames):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        axes.grid(axis="y", color="#d8dadd", linewidth=0.6)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
