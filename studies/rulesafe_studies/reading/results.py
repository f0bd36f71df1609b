"""Results of the study `reading` with the robot: table and figure of docs/results/reading.md."""

from bisect import bisect
from collections.abc import Iterator
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rulesafe_eval.statistics import bootstrap, percent
from rulesafe_eval.table import Pooled
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.proofs import prove
from rulesafe_studies.data import DATA, pooled
from rulesafe_studies.style import INK, axes_of_rates

AGENTS = {
    "ReaderWithExpert": ("reader, motions of the expert (privileged)", "#13406f"),
    "reader": ("reader, learned skills", "#2468b0"),
    "two_level": ("two levels, trained under the twenty rules", "#e08e2b"),
    "Cycle": ("best cycle, motions of the expert (privileged)", "#9aa0a8"),
    "CycleOfTwenty": (
        "best cycle of the twenty rules, motions of the expert (privileged)",
        "#9aa0a8",
    ),
    "FrequentPlan": ("most frequent plan, motions of the expert (privileged)", "#6d737b"),
    "memoryless": ("memoryless oracle (privileged)", "#b05c8f"),
    "expert": ("expert (privileged)", INK),
}
"""Agents: title and colour."""

SETS = ("all", "sampled_test", "written_test")
"""Sets of locks, the columns of the table."""

STEPS, BITS = (2, 5, 7, 9), (0, 1, 1.5, 2, 2.5)
"""Least steps of a shortest plan, and least bits that it requires besides the phases, of the groups
of locks in the figure."""


def episodes(agent: str, rules: str) -> Pooled | None:
    """Return the stored episodes of an agent under some rules; those under `written_test` can be
    part of those under `written`. None: not measured."""
    for name in (rules, "written") if rules == "written_test" else (rules,):
        if (path := DATA / f"reading/{agent}_{name}.json").exists():
            found, locks = pooled([path]), expand_rules(rules)
            return replace(found, lines={k: v for k, v in found.lines.items() if k[1] in locks})
    return None


def rows() -> Iterator[tuple[str, ...]]:
    """Yield agent and, for each set of locks, count and success rate with an interval over the
    locks."""
    for agent, (title, _) in AGENTS.items():
        cells = []
        for rules in SETS:
            if (found := episodes(agent, rules)) is None:
                cells += ["", ""]
                continue
            opened = found.values("opened")
            interval = bootstrap(opened, [key[1] for key in found.lines])
            cells += [f"{opened.sum():.0f}/{len(opened)}", percent(opened.mean(), interval)]
        yield title, *cells


def draw() -> Figure:
    """Draw success of the agents by the steps of a shortest plan and by the memory it requires."""
    figure = Figure(figsize=(9, 3.4), dpi=200, layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    _draw_groups(panels[0], "sampled_test", "steps", STEPS)
    _draw_groups(panels[1], "written", "steps", STEPS)
    _draw_groups(panels[2], "written", "bits", BITS)
    panels[0].set_ylabel("success (%)")
    lines = {line.get_label(): line for axes in panels for line in axes.get_lines()}
    titles = [title for title, _ in AGENTS.values() if title in lines]
    figure.legend(
        [lines[title] for title in titles],
        titles,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=8,
    )
    return figure


def _draw_groups(axes: Axes, rules: str, key: str, least: tuple[float, ...]) -> None:
    """Draw success under some rules for each group of locks by a quantity of their proofs."""
    proofs = {name: prove(lock) for name, lock in expand_rules(rules).items()}
    groups = {name: bisect(least, getattr(proof, key)) - 1 for name, proof in proofs.items()}
    for agent, (title, color) in AGENTS.items():
        found = episodes(agent, rules) or episodes(agent, f"{rules}_test")
        if found is None:
            continue
        opened: list[list[float]] = [[] for _ in least]
        for (_, lock, *_), line in found.lines.items():
            opened[groups[lock]].append(float(line["opened"]))
        x = [i for i, values in enumerate(opened) if values]
        y = [100 * sum(opened[i]) / len(opened[i]) for i in x]
        axes.plot(x, y, "o-", color=color, markersize=4, linewidth=1.2, label=title)
    values = [getattr(proof, key) for proof in proofs.values()]
    ends = [*(end - 1 for end in least[1:]), max(values)] if key == "steps" else []
    names = [f"{low} to {high}" for low, high in zip(least, ends, strict=False)]
    axes.set_xticks(range(len(least)), names or [f"{low:g}" for low in least])
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("steps of a shortest plan" if ends else "least bits of memory it requires")
    axes_of_rates(axes, rules)
