"""The figures of docs/results, drawn from docs/results/data.

Intervals are those of the tables; where a table has none, they are Wilson's.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rulesafe_data.intervals import wilson
from rulesafe_eval.results import read_results
from rulesafe_eval.statistics import FEWEST
from rulesafe_locks.rules import RULES
from rulesafe_studies import peers
from rulesafe_studies.data import DATA, Row, pooled, read_csv, stored
from rulesafe_studies.moves import results as moves
from rulesafe_studies.reading import results as reading
from rulesafe_studies.style import (
    COLORS,
    GRID,
    INK,
    PAPER,
    STYLE,
    axes_of_rates,
    horizontal_axes_of_rates,
)
from rulesafe_studies.tables import BITS, LAST, MEMORIES, PROOFS, by_bits, required_bits

NAMES = {"none": "no memory", "raw": "raw joint-position history", "vq": "VQ-Memory (J=4)"}


def find(table: Iterable[Row], **wanted: str) -> Row | None:
    """Return the only row with these values, the pooled one if there are several trainings."""
    found = [row for row in table if wanted.items() <= row.items()]
    pooled = [row for row in found if row["training"] == "all"] or found
    if len(pooled) > 1:
        raise ValueError(f"{len(pooled)} rows with {wanted}")
    return pooled[0] if pooled else None


def rate(row: Row) -> tuple[float, float, float]:
    """Return success rate and ends of its interval (%); NaN ends without a number of episodes."""
    if not row["episodes"]:
        return float(row["rate"]), nan, nan
    opened, episodes = int(row["opened"]), int(row["episodes"])
    low, high = (100 * end for end in wilson(opened, episodes))
    ends = (float(row["low"]), float(row["high"])) if row["low"] else (low, high)
    return 100 * opened / episodes, *ends


def bar(axes: Axes, x: float, row: Row, width: float) -> None:
    """Draw a bar with its interval and its value."""
    value, low, high = rate(row)
    axes.bar(x, value, width, color=COLORS[row["memory"]])
    top = value
    if row["episodes"]:
        # An end that the table rounds can lie inside the rate.
        reach = np.maximum(0, [[value - low], [high - value]])
        axes.errorbar(x, value, reach, color=INK, linewidth=1, capsize=2)
        top = max(value, high)
    axes.text(x, top + 1.5, f"{value:.0f}", ha="center", va="bottom", fontsize=8)


def groups_of_bars(
    axes: Axes, groups: Sequence[tuple[str, Sequence[Row | None], bool]], width: float = 0.27
) -> None:
    """Draw (label, rows, whether the paper's) as groups of bars; the paper's are shaded."""
    shaded = sum(is_paper for *_, is_paper in groups)
    if 0 < shaded < len(groups):
        axes.text(-0.46, 122, "paper", va="top", fontsize=8)
        axes.text(shaded - 0.46, 122, "this project, safe_02", va="top", fontsize=8)
    axes.axvspan(-0.5, shaded - 0.5, color=PAPER, zorder=0)
    for i, (_, bars, _is_paper) in enumerate(groups):
        for j, row in enumerate(bars):
            x = i + (j - (len(bars) - 1) / 2) * width
            if row is not None:
                bar(axes, x, row, width * 0.9)
            else:
                axes.text(x, 1.5, "n/a", ha="center", va="bottom", fontsize=7, color=INK)
    axes.set_xticks(range(len(groups)), [label for label, *_ in groups])
    axes.set_xlim(-0.5, len(groups) - 0.5)


def legend(figure: Figure, memories: Iterable[str]) -> None:
    """Name the colours above the panels."""
    handles = [
        figure.axes[0].bar(0, 0, color=COLORS[memory], label=NAMES[memory]) for memory in memories
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False)


def draw_memory(table: Sequence[Row]) -> Figure:
    """Draw success by memory under rule_001 and rule_020: the paper and both splits."""
    figure = Figure(figsize=(7, 3.3), dpi=200, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True, width_ratios=(3, 4))
    for axes, rule, steps in zip(panels, ("rule_001", "rule_020"), (3, 8), strict=True):
        groups = []
        for policy in ("pi0", "DP3"):
            wanted = {"source": "paper", "policy": policy, "rule": rule}
            bars = by_memory(table, **wanted)
            if bars[0] is not None:
                groups.append((policy.replace("pi0", "π0"), bars, True))
        for split in ("varied", "shifted"):
            bars = by_memory(table, source="ours", policy="DP3-SF", rule=rule, split=split)
            groups.append((f"DP3-SF\n{split}", bars, False))
        groups_of_bars(axes, groups)
        axes_of_rates(axes, f"{rule} ({steps} steps)", 124)
    panels[0].set_ylabel("success (%)")
    legend(figure, COLORS)
    return figure


def by_memory(table: Iterable[Row], **wanted: str) -> list[Row | None]:
    """Return the rows without memory, with the raw history, and with four tokens."""
    table = [row for row in table if row["training"] != "1 repeated"]
    several = [row for row in table if row["training"] == "all" and wanted.items() <= row.items()]
    return [
        find(several or table, memory="none", **wanted),
        find(several or table, memory="raw", **wanted),
        find(several or table, memory="vq", J="4", M="40", **wanted),
    ]


def draw_models(table: Sequence[Row]) -> Figure:
    """Draw success under rule_020 with and without tokens: four policies and the paper's."""
    figure = Figure(figsize=(7, 3.0), dpi=200, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    names = {"DP3": "DP3-SF", "RDT": "RDT tiny", "CogACT": "CogACT tiny", "pi0": "pi0 tiny"}
    sides: tuple[tuple[str, str, list[str], dict[str, str]], ...] = (
        ("paper", "Paper", list(names), {}),
        ("ours", "This project, split varied", list(names.values()), {"split": "varied"}),
    )
    for axes, (source, title, policies, more) in zip(panels, sides, strict=True):
        groups = []
        for name in policies:
            bars = by_memory(table, source=source, policy=name, rule="rule_020", **more)
            label = name.replace("pi0", "π0").replace(" ", "\n")
            groups.append((label, [bars[0], bars[2]], source == "paper"))
        groups_of_bars(axes, groups, 0.38)
        axes_of_rates(axes, title)
    panels[0].set_ylabel("success, rule_020 (%)")
    legend(figure, ("none", "vq"))
    return figure


def draw_twenty(
    names: Mapping[str, str], folder: str, title: str, trainings: int | None = None
) -> Figure:
    """Draw success under each rule on ten safes by memory: the mean of the trainings and each of
    them. Rules are sorted by the memory that their shortest plan needs.

    Args:
        names: colour of a memory -> name of its stored results.
        folder: their folder.
        title: title of the figure.
        trainings: number of trainings, the first ones; None: all.
    """
    found: dict[str, list[dict[str, list[bool]]]] = {}
    for memory, name in names.items():
        for path in stored(name, [folder])[:trainings]:
            opened_by_rule: dict[str, list[bool]] = {rule: [] for rule in RULES}
            for episode in read_results(path)["episodes"]:
                opened_by_rule[episode["rule"]].append(episode["opened"])
            found.setdefault(memory, []).append(opened_by_rule)
    order = sorted(RULES, key=lambda rule: (PROOFS[rule].memory, PROOFS[rule].steps, rule))
    figure = Figure(figsize=(8, 3.4), dpi=200, layout="constrained")
    axes = figure.subplots()
    for j, (memory, results) in enumerate(found.items()):
        x = np.arange(len(order)) + (j - (len(found) - 1) / 2) * 0.28
        opened = np.array([[100 * np.mean(rates[rule]) for rule in order] for rates in results])
        axes.bar(x, opened.mean(0), 0.26, color=COLORS[memory])
        for each in opened:
            axes.plot(x, each, ".", color=INK, markersize=2.5)
    labels = [f"{rule[-3:]}\n{PROOFS[rule].bits:.1f}" for rule in order]
    axes.set_xticks(range(len(order)), labels)
    axes.set_xlim(-0.6, len(order) - 0.4)
    axes.set_xlabel("rule, and the bits of memory that its shortest plan needs besides the phases")
    axes_of_rates(axes, title)
    axes.set_ylabel("success (%)")
    legend(figure, found)
    return figure


def draw_memories() -> Figure:
    """Draw success with each memory in groups of episodes by the memory that the plan requires:
    mean of the trainings with its interval over the poses, and each training."""
    found = {name: by_bits(pooled(paths)) for name in MEMORIES if (paths := stored(name))}
    found = dict(sorted(found.items(), key=lambda item: item[1][-1].values("opened").mean()))
    ceilings = by_bits(pooled(stored("skills")))
    figure = Figure(figsize=(8, 4.9), dpi=200, layout="constrained")
    panels = figure.subplots(1, len(BITS), sharey=True)
    for i, (axes, ceiling) in enumerate(zip(panels, ceilings, strict=True)):
        axes.axvline(100 * ceiling.values("opened").mean(), color=INK, linestyle=":", linewidth=1)
        for y, (name, groups) in enumerate(found.items()):
            group, color = groups[i], COLORS.get(name, "#5b8f7b")
            if len({key[2:] for key in group.lines}) >= FEWEST:
                ends = 100 * np.array(group.interval("opened"))
                axes.plot(ends, (y, y), color=color, linewidth=1.2)
            axes.plot(100 * group.values("opened").mean(), y, "o", color=color, markersize=4.5)
            rates = [100 * np.divide(*group.opened(seed)) for seed in group.seconds]
            axes.plot(rates, [y] * len(rates), "|", color=INK, markersize=5, markeredgewidth=0.7)
        bits = [required_bits(line) for line in group.lines.values()]
        names = dict.fromkeys(f"{end:.2g}" for end in (min(bits), max(bits)))
        title = LAST.replace(", ", ",\n") if i == len(BITS) - 1 else f"{' to '.join(names)} bits"
        horizontal_axes_of_rates(axes, title, 0, 104)
        axes.set_xlabel("success (%)")
    titles = [MEMORIES[name].title for name in found]
    panels[0].set_yticks(range(len(found)), titles, fontsize=8)
    return figure


def draw_vocabulary(table: Sequence[Row]) -> Figure:
    """Draw success under rule_020 by vocabulary size J and by memory length M."""
    figure = Figure(figsize=(7, 3.0), dpi=200, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(4, 3))
    ours = [r for r in table if r["policy"] == "DP3-SF" and r["split"] == "shifted"]
    ours = [r for r in ours if r["rule"] == "rule_020" and r["memory"] == "vq"]
    paper = [r for r in table if r["policy"] == "pi0" and r["rule"] == "rule_020"]
    paper = [r for r in paper if r["memory"] == "vq"]
    first = [r for r in ours if r["training"] == "0"]
    second = [r for r in ours if r["training"] == "1 repeated" or r["M"] == "60"]
    same = {"source": "ours", "policy": "DP3-SF", "rule": "rule_020", "split": "shifted"}
    for memory in ("none", "raw"):
        if row := find(table, memory=memory, training="0", **same):
            value = rate(row)[0]
            left.axhline(value, color=COLORS[memory], linewidth=1, linestyle="--", zorder=1)
            left.text(3.2, value + 2, NAMES[memory], ha="right", fontsize=8)
    line(left, [r for r in first if r["M"] == "40"], "J", COLORS["vq"])
    line(left, [r for r in paper if r["M"] == "40"], "J", COLORS["none"])
    line(right, [r for r in first if r["J"] == "4"], "M", COLORS["vq"])
    line(right, second, "M", "#13406f", 0.07)
    line(right, [r for r in paper if r["J"] == "4"], "M", COLORS["none"])
    left.text(-0.1, 60, "DP3-SF, shifted", va="top", color=COLORS["vq"])
    left.text(1, 49, "paper, π0", color="#6d737b")
    right.text(0.1, 60, "DP3-SF,\n1st training", va="top", ha="center", color=COLORS["vq"])
    right.text(2, 66, "DP3-SF,\n2nd training", va="top", ha="center", color="#13406f")
    right.text(1, 49, "paper, π0", ha="center", color="#6d737b")
    left.set_xlim(-0.2, 3.2)
    right.set_xlim(-0.3, 2.3)
    axes_of_rates(left, "Vocabulary size J (M = 40)")
    axes_of_rates(right, "Memory length M (J = 4)")
    left.set_xticks(range(4), ["2", "4", "32", "256"])
    right.set_xticks(range(3), ["20", "40", "60"])
    left.set_ylabel("success, rule_020 (%)")
    return figure


def line(axes: Axes, found: Sequence[Row], key: str, color: str, dx: float = 0.0) -> None:
    """Draw rates with their intervals against J or M."""
    places = {"J": ["2", "4", "32", "256"], "M": ["20", "40", "60"]}[key]
    found = sorted(found, key=lambda row: places.index(row[key]))
    x = np.array([places.index(row[key]) + dx for row in found])
    y, low, high = np.array([rate(row) for row in found]).T
    axes.errorbar(x, y, np.maximum(0, [y - low, high - y]), color=color, marker="o", capsize=2.5)


def draw_step_probe(table: Sequence[Row]) -> Figure:
    """Draw how well a probe reads the step of rule_020, on new and on shifted episodes."""
    inputs = {"joints, mask only": "elapsed time only"}
    inputs |= {"joints, raw memory": "raw history, all joints"}
    inputs |= {"joints, raw memory of the hand": "raw history, hand"}
    inputs |= {f"joints, tokens J = {j}": f"tokens, all joints, J={j}" for j in (4, 32)}
    hand = "joints, tokens rule_001_rule_020_hand, J = "
    inputs |= {f"{hand}{j}": f"tokens, hand, J={j}" for j in (4, 32)}
    chosen = {row["input"]: row for row in table if row["rules"] == "rule_020"}
    figure = Figure(figsize=(7, 2.9), dpi=200, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    titles = {"varied": "Held-out episodes, varied", "shifted": "Out of distribution, shifted"}
    for axes, (split, title) in zip(panels, titles.items(), strict=True):
        for y, name in enumerate(inputs):
            keys = [f"{split}_accuracy{end}" for end in ("", "_low", "_high")]
            value, low, high = (float(chosen[name][key]) for key in keys)
            kind = "raw" if "raw" in name else "vq" if "tokens" in name else "none"
            axes.barh(y, value, 0.72, color=COLORS[kind])
            axes.errorbar(value, y, xerr=[[value - low], [high - value]], color=INK, capsize=2)
            axes.text(high + 1.5, y, f"{value:.0f}", va="center", fontsize=8)
        horizontal_axes_of_rates(axes, title, 0, 108)
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel("step read correctly (% of frames)")
    panels[0].set_yticks(range(len(inputs)), list(inputs.values()))
    panels[0].invert_yaxis()
    return figure


def draw_expert(table: Iterable[Row]) -> Figure:
    """Draw the mean time of the expert's successes by rule; the last bar, that of all rules, is set
    apart."""
    rows = [row for row in table if (row["page"], row["by"]) == ("expert", "rule")]
    figure = Figure(figsize=(7.92, 2.4), dpi=200, layout="constrained")
    axes = figure.subplots()
    where = np.append(np.arange(len(rows) - 1), len(rows) - 0.5)
    seconds = [float(row["frames"]) / 10 for row in rows]
    bars = axes.bar(where, seconds, color=COLORS["vq"])
    axes.bar_label(bars, fmt="%.0f", padding=2, fontsize=8)
    axes.set_ylabel("time to open [s]")
    axes.margins(y=0.12)
    axes.set_xticks(where, [row["rule"].removeprefix("rule_") for row in rows])
    axes.set_xlabel("rule")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    return figure


PEERS = {
    "ours": COLORS["vq"],
    "bare SAPIEN loop": INK,
    "ManiSkill, our scene": COLORS["raw"],
    "ManiSkill, our scene, its lights": COLORS["raw"],
    "ManiSkill PickCube": COLORS["none"],
    "robosuite Door": COLORS["none"],
}
"""Colours of the simulators in the comparison of speed; grey: another scene."""


def draw_peers(content: Mapping[str, Any]) -> Figure:
    """Draw simulated time per CPU time of our environment and of other simulators: the median of
    the rounds and each round."""
    figure = Figure(figsize=(8, 2.4), dpi=200, layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for cameras, axes in enumerate(panels):
        top = 0.0
        for y, (name, color) in enumerate(PEERS.items()):
            if rounds := peers.rates(content, name, cameras):
                value = float(np.median(rounds))
                axes.barh(y, value, 0.72, color=color)
                axes.plot(rounds, [y] * len(rounds), "|", color=INK, markersize=6)
                text = f"  {value:.0f}" if value >= 9.5 else f"  {value:.1f}"
                axes.text(max(rounds), y, text, va="center", fontsize=8)
                top = max(top, *rounds)
        axes.set_xlim(0, 1.2 * top)
        axes.set_title(("joint states", "one camera", "two cameras")[cameras], loc="left")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(length=0)
        axes.set_axisbelow(True)
        axes.grid(axis="x", color=GRID, linewidth=0.6)
    panels[1].set_xlabel("simulated s per CPU s (grey: another robot and scene)")
    panels[0].set_yticks(range(len(PEERS)), list(PEERS))
    panels[0].invert_yaxis()
    return figure


def draw_information(table: Sequence[Row]) -> Figure:
    """Draw the information of the newest token about the step, by number of tokens and by noise."""
    found: dict[str, dict[str, NDArray[np.float64]]] = {}
    for clusters in dict.fromkeys(row["clusters"] for row in table):
        own = sorted(
            (row for row in table if row["clusters"] == clusters),
            key=lambda row: float(row["noise_rad"]),
        )
        keys = ("noise_rad", "share", "low", "high", "baseline")
        found[clusters] = {key: np.array([float(row[key]) for row in own]) for key in keys}
    figure = Figure(figsize=(9.6, 3.9), dpi=150, layout="constrained")
    by_count, by_noise = figure.subplots(1, 2, sharey=True)
    for x, (clusters, line) in enumerate(found.items()):
        value, low, high = (line[key][0] for key in ("share", "low", "high"))
        ends = [[value - low], [high - value]]
        by_count.errorbar(x, value, ends, fmt="o", color=COLORS["vq"], capsize=3)
        by_count.plot(x, line["baseline"][0], "_", ms=16, mew=2, color=COLORS["none"])
        (drawn,) = by_noise.plot(line["noise_rad"], line["share"], "o-", label=f"J = {clusters}")
        color = drawn.get_color()
        by_noise.fill_between(line["noise_rad"], line["low"], line["high"], color=color, alpha=0.15)
        by_noise.plot(line["noise_rad"], line["baseline"], ":", color=color, linewidth=0.9)
    by_count.set_xticks(range(len(found)), list(found))
    by_count.set_xlabel("number of tokens J; grey: baseline, tokens shifted in time")
    by_count.set_ylabel("I(token; true step | rule) / H(true step | rule)")
    by_count.set_ylim(0, 1.3 * max(line["high"].max() for line in found.values()))
    by_noise.set_xlabel("joint noise (rad, standard deviation); dotted: baseline")
    by_noise.legend(frameon=False, fontsize=8, ncols=2)
    for axes in (by_count, by_noise):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        axes.grid(axis="y", color=GRID, linewidth=0.6)
    return figure


def draw_figures(out: Path) -> None:
    """Draw all figures into a folder."""
    table = read_csv(DATA / "policies.csv")
    with rc_context(STYLE):
        figures = {
            "memory": draw_memory(table),
            "models": draw_models(table),
            "twenty_rules": draw_twenty(
                {memory: memory for memory in COLORS}, "twenty_rules", "One policy of two levels"
            ),
            "network": draw_twenty(
                {"none": "none", "raw": "raw", "vq": "vq_all_joints"},
                "network",
                "One network, first training, tokens of all joints",
                trainings=1,
            ),
            "memories": draw_memories(),
            "moves": moves.draw(),
            "reading": reading.draw(),
            "vocabulary": draw_vocabulary(table),
            "step_probe": draw_step_probe(read_csv(DATA / "step_probe.csv")),
            "token_information": draw_information(read_csv(DATA / "token_information.csv")),
            "expert": draw_expert(read_csv(DATA / "expert.csv")),
            "peers": draw_peers(json.loads((DATA / "peers.json").read_text("utf-8"))),
        }
        for name, figure in figures.items():
            figure.savefig(out / f"{name}.png")
