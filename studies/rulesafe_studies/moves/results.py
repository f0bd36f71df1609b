"""Results of baselines.py: the tables of docs/results/moves.md and its figure."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_json
from rulesafe_data.intervals import wilson
from rulesafe_eval.statistics import FEWEST, bootstrap, percent
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.proofs import prove
from rulesafe_studies.data import DATA
from rulesafe_studies.style import GRID

SETS = {
    "sampled_train": "training locks",
    "sampled_test": "new locks (sampled_test)",
    "sampled_hard": "new, harder locks (sampled_hard)",
}
AGENTS = {
    "random": "random moves",
    "table": "memoryless ceiling (best table of each lock)",
    "ppo": "PPO (MLP), no memory",
    "ppo_sampled": "PPO (MLP), no memory, sampled actions",
    "lstm": "RecurrentPPO (LSTM)",
    "transformer": "PPO, causal transformer",
}
REFERENCES = ("random", "table")
"""Random moves, and the best memoryless table of each lock, which nothing is trained for."""

COLORS = {
    "random": "#c3c7cc",
    "table": "#70767e",
    "ppo": "#e08e2b",
    "ppo_sampled": "#edc48e",
    "lstm": "#2f9e77",
    "transformer": "#2468b0",
}
FOLDER = DATA / "moves"

Results = Mapping[str, Mapping[str, Any]]
"""Trainings of an agent by their seeds, as in a file of baselines.py."""


def read(folder: Path, task: str, agent: str) -> Results:
    """Return the trainings of an agent.

    Raises:
        RuleSafeError: the file is not one of baselines.py, or of other sets of locks.
    """
    path = folder / f"{task}_{agent}.json"
    found: Results = read_json(path, "results of baselines.py")
    sizes = {rules: len(bits(rules)) for rules in SETS}
    try:
        counted = [
            {rules: len(counts) for rules, counts in each["opened"].items()}
            for each in found.values()
        ]
        complete = all("steps" in each or agent == "table" for each in found.values())
    except (AttributeError, KeyError, TypeError):
        counted, complete = [], False
    if not counted or not complete or any(each != sizes for each in counted):
        raise RuleSafeError(f"{path} has no complete results of these locks: {sizes}; delete it")
    return found


def agents(folder: Path, task: str) -> list[str]:
    """Return the agents that have results in the folder.

    Raises:
        RuleSafeError: there are none.
    """
    found = [agent for agent in AGENTS if (folder / f"{task}_{agent}.json").exists()]
    if not found:
        raise RuleSafeError(f"{folder} has no results ({task}_AGENT.json); run baselines.py")
    return found


@lru_cache(maxsize=8)
def bits(rules: str) -> tuple[float, ...]:
    """Return the certified bits of memory of each lock of a set."""
    return tuple(round(prove(rule).bits, 2) for rule in expand_rules(rules).values())


def values(results: Results, rules: str, attempt: int = -1) -> tuple[list[float], list[int]]:
    """Return the success rate of each lock in each training, and the index of the lock."""
    rates = [
        [counts[attempt] / found["episodes"] for counts in found["opened"][rules]]
        for found in results.values()
    ]
    return [rate for row in rates for rate in row], [n for row in rates for n in range(len(row))]


def summary(
    results: Results, rules: str, among: float | None = None, attempt: int = -1
) -> tuple[float, tuple[float, float] | None]:
    """Return the success rate with its 95 % interval; None with too few locks.

    The interval is a bootstrap over locks. If all rates are 0 or all are 1, it is Wilson's for the
    number of locks, since a bootstrap would have no width.

    Args:
        results: trainings of an agent.
        rules: set of locks.
        among: certified bits of the locks to count; None: all locks.
        attempt: index of the attempt.
    """
    rates, locks = values(results, rules, attempt)
    kept = [n for n, lock in enumerate(locks) if among in (None, bits(rules)[lock])]
    rates, locks = [rates[n] for n in kept], [locks[n] for n in kept]
    rate, count = float(np.mean(rates)), len(set(locks))
    if count < FEWEST:
        return rate, None
    return rate, wilson(round(rate * count), count) if rate in (0, 1) else bootstrap(rates, locks)


def rows(folder: Path = FOLDER, task: str = "plan", attempt: int = -1) -> Iterator[list[str]]:
    """Yield a row for each agent: success in each set, with the range of the trainings."""
    for agent in agents(folder, task):
        results = read(folder, task, agent)
        cells = [AGENTS[agent], str(len(results)) if agent not in REFERENCES else ""]
        for rules in SETS:
            rate, ends = summary(results, rules, attempt=attempt)
            each = [
                np.mean(values({seed: found}, rules, attempt)[0]) for seed, found in results.items()
            ]
            spread = f"; {100 * min(each):.0f} to {100 * max(each):.0f}" if len(each) > 1 else ""
            cells.append(percent(rate, None if agent == "table" else ends) + spread)
        yield cells


def rows_by_bits(folder: Path = FOLDER, task: str = "plan") -> Iterator[list[str]]:
    """Yield a row for each set and number of bits, with the success of each agent."""
    results = [read(folder, task, agent) for agent in agents(folder, task)]
    for rules in SETS:
        for group in sorted(set(bits(rules))):
            rates = [summary(each, rules, group)[0] for each in results]
            count = bits(rules).count(group)
            yield [f"`{rules}`", f"{group:g}", str(count), *(percent(r, None) for r in rates)]


def draw(folder: Path = FOLDER, task: str = "plan") -> Figure:
    """Draw success against certified bits, one panel for each set."""
    figure = Figure((10.0, 3.8), dpi=140, layout="constrained")
    panels = figure.subplots(1, len(SETS), sharey=True)
    for axes, (rules, title) in zip(panels, SETS.items(), strict=True):
        draw_set(axes, folder, task, rules)
        axes.set_title(f"{title}: {len(bits(rules))}")
    panels[0].set_ylabel("opened, %")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    return figure


def draw_set(axes: Axes, folder: Path, task: str, rules: str) -> None:
    groups = sorted(set(bits(rules)))
    for number, agent in enumerate(agents(folder, task)):
        results = read(folder, task, agent)
        found = [summary(results, rules, group) for group in groups]
        x = np.arange(len(groups)) + 0.06 * (number - 2.5)
        rates = [100 * rate for rate, _ in found]
        dashed = agent in REFERENCES
        axes.plot(
            x,
            rates,
            "s--" if dashed else "o-",
            color=COLORS[agent],
            label=AGENTS[agent],
            markersize=4,
            linewidth=1.2,
        )
        for at, (_, ends) in zip(x, found, strict=True):
            if ends and agent != "table":  # the ceiling is exact
                axes.plot([at, at], [100 * end for end in ends], color=COLORS[agent], linewidth=1)
    counts = [bits(rules).count(group) for group in groups]
    labels = [f"{group:g}\nn={count}" for group, count in zip(groups, counts, strict=True)]
    axes.set_xticks(range(len(groups)), labels)
    axes.set_xlabel("certified bits of memory; n: locks")
    axes.set_ylim(-4, 104)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
