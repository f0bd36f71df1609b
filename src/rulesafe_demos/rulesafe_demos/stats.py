"""`rulesafe demos stats`: success rates and lengths of attempts, and causes of failure."""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from math import isnan, nan
from pathlib import Path
from statistics import fmean

from rich import box
from rich.table import Table

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_data import layout
from rulesafe_data.attempt_recording import read_facts
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.files import size_below
from rulesafe_data.intervals import wilson
from rulesafe_data.store import EpisodeStore
from rulesafe_data.tables import row_count
from rulesafe_demos.attempts import load_request


@dataclass(frozen=True)
class Row:
    """The facts of an attempt that the statistics need."""

    rule: str
    safe: str
    attempt: int
    success: bool
    frames: int  # number of frames of 0.1 s
    retries: int
    resampled: int  # poses of the safe that were out of reach before this one
    failure: str
    wall_seconds: float | None  # None if results.jsonl has no entry
    planning_seconds: float | None
    cpu_seconds: float | None
    picture_seconds: float | None  # CPU time of images, point clouds and the dataset's files

    @property
    def cause(self) -> str:
        """The failure without its numbers, so that equal causes are counted together."""
        return re.sub(r"-?\d+(\.\d+)?", "N", self.failure)


@dataclass(frozen=True)
class Group:
    """Statistics of some attempts; rates and shares in 0..1, NaN if unknown.

    Attributes:
        name: what the attempts have in common.
        attempts: number of attempts.
        successes: number of attempts that opened the safe.
        rate: success rate.
        low, high: Wilson's 95 % interval of the rate.
        frames: mean frames (0.1 s) of the successes.
        retries: mean retries of an attempt.
        resampled: poses of the safe that were out of reach.
        seconds: mean wall time (s) of an attempt, physics and planning.
        planning_share: share of the wall time that went into planning.
        states_per_hour: successes per hour of CPU time without images, including failed attempts.
        demonstrations_per_hour: successes per hour of CPU time with all observations and the
            dataset's files, including failed attempts.
    """

    name: str
    attempts: int
    successes: int
    rate: float
    low: float
    high: float
    frames: float
    retries: float
    resampled: int
    seconds: float
    planning_share: float
    states_per_hour: float
    demonstrations_per_hour: float


def group(name: str, rows: Sequence[Row]) -> Group:
    """Return the statistics of one attempt or more."""
    successes = sum(row.success for row in rows)
    rate = successes / len(rows)
    low, high = wilson(successes, len(rows))
    timed = [row for row in rows if row.wall_seconds]
    wall = sum(row.wall_seconds or 0.0 for row in timed)
    planning = sum(row.planning_seconds or 0.0 for row in timed)
    cpu = _mean(row.cpu_seconds for row in rows)
    states = 3600 * rate / cpu if cpu else nan
    pictures = _mean(row.picture_seconds for row in rows)
    return Group(
        name=name,
        attempts=len(rows),
        successes=successes,
        rate=rate,
        low=low,
        high=high,
        frames=_mean(row.frames for row in rows if row.success),
        retries=_mean(row.retries for row in rows),
        resampled=sum(row.resampled for row in rows),
        seconds=_mean(row.wall_seconds for row in rows),
        planning_share=planning / wall if wall else nan,
        states_per_hour=states,
        demonstrations_per_hour=1 / (1 / states + pictures / 3600) if rate else nan,
    )


def grouped(rows: Sequence[Row], by: Callable[[Row], str]) -> list[Group]:
    """Return a group for each value, sorted by name, and one of all rows."""
    names = sorted({by(row) for row in rows})
    groups = [group(name, [row for row in rows if by(row) == name]) for name in names]
    return [*groups, group("all", rows)]


def _mean(values: Iterable[float | None]) -> float:
    """Return the mean of the known values, NaN if none is known."""
    found = [value for value in values if value is not None]
    return fmean(found) if found else nan


def load_rows(directory: Path) -> list[Row]:
    """Return every attempt in a directory, by rule and number. Raises RuleSafeError if there is
    none."""
    request, folder = load_request(directory), DemoFolder(directory)
    timings = folder.timings()
    rows = []
    for rule in request.rules:
        for number, success in folder.decided(rule).items():
            path = folder.file(rule, number, success)
            facts, timing = read_facts(path), timings.get((rule, number), {})
            rows.append(
                Row(
                    rule=rule,
                    safe=facts["safe"],
                    attempt=number,
                    success=success,
                    frames=max(0, row_count(path) - 1),
                    retries=facts["retries"],
                    resampled=facts["resampled"],
                    failure=facts["failure"],
                    wall_seconds=timing.get("wall_seconds"),
                    planning_seconds=timing.get("planning_seconds"),
                    cpu_seconds=timing.get("cpu_seconds"),
                    picture_seconds=timing.get("all_cpu"),
                )
            )
    if not rows:
        raise RuleSafeError(f"{directory} has no attempts yet; run rulesafe demos generate")
    return rows


def _cell(value: float, digits: int = 0, unit: str = "") -> str:
    return "" if isnan(value) else f"{value:.{digits}f}{unit}"


COLUMNS: dict[str, Callable[[Group], str]] = {
    "opened": lambda g: f"{g.successes}/{g.attempts}",
    "rate": lambda g: f"{100 * g.rate:.1f} %",
    "interval": lambda g: f"{100 * g.low:.0f}..{100 * g.high:.0f}",
    "frames": lambda g: _cell(g.frames),
    "retries": lambda g: _cell(g.retries, 2),
    "redrawn": lambda g: str(g.resampled),
    "s each": lambda g: _cell(g.seconds, 1),
    "planning": lambda g: _cell(100 * g.planning_share, 0, " %"),
    "states/h": lambda g: _cell(g.states_per_hour),
    "all/h": lambda g: _cell(g.demonstrations_per_hour),
}
"""Columns of the printed tables, which docs/demos.md explains."""

NARROW = 100
"""Width of a terminal, in characters, below which some columns are left out."""

LESS = ("retries", "redrawn", "planning", "states/h", "all/h")
"""Columns that are left out in a narrow terminal; the .csv has them."""


def table(groups: Sequence[Group], title: str, width: int) -> Table:
    """Return a table for a terminal of `width` characters."""
    columns = {n: c for n, c in COLUMNS.items() if width >= NARROW or n not in LESS}
    found = Table(title=title, box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1))
    found.add_column("", no_wrap=True)
    for name in columns:
        found.add_column(name, justify="right", no_wrap=True)
    for i, group in enumerate(groups):
        cells = [cell(group) for cell in columns.values()]
        found.add_row(group.name, *cells, end_section=i == len(groups) - 2)
    return found


def causes(rows: Sequence[Row]) -> list[tuple[int, str, str]]:
    """Return failures by cause, most frequent first: count, cause, and attempts as
    "rule_001 on safe_03 (attempt 12), ..."."""
    found = Counter(row.cause for row in rows if not row.success)
    where = {
        cause: ", ".join(
            f"{row.rule} on {row.safe} (attempt {row.attempt})"
            for row in rows
            if not row.success and row.cause == cause
        )
        for cause in found
    }
    return [(number, cause, where[cause]) for cause, number in found.most_common()]


def write_csv(path: Path, groups: Sequence[Group]) -> None:
    """Write the statistics in full precision, one line per group."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Group))
    for name, attempts, successes, *figures in map(astuple, groups):
        writer.writerow([name, attempts, successes, *(f"{figure:.6g}" for figure in figures)])
    write_atomically(path, text.getvalue().encode())


def sizes(directory: Path) -> list[str]:
    """Return a line on the dataset's frames and digest and one on its sizes; no lines if not
    rendered."""
    if not (directory / layout.INFO).is_file():
        return []
    store = EpisodeStore(directory)
    count, folders = len(store), ("meta", "data", "videos", layout.CLOUDS, "privileged")
    found = {name: size_below(directory / name) for name in folders}
    parts = {"videos": "videos", "clouds": layout.CLOUDS, "tables": "data"}
    each = ", ".join(
        f"{name} {found[part] / count / 1e6:.2f} MB" for name, part in parts.items() if found[part]
    )
    return [
        f"dataset: {count} episodes, {store.frames} frames, {sum(found.values()) / 1e6:.0f} MB, "
        f"digest {store.digest}",
        f"an episode of {store.frames / count:.0f} frames: {each}",
    ]


def dataset_lines(directory: Path) -> list[str]:
    """Return the statistics of a dataset without attempts, such as from `rulesafe bag to-dataset`.

    There is a line for each rule, or for each instruction if no rule is known, with episodes, mean
    frames (0.1 s), and the number of successes among the episodes in which it is known.
    """
    store = EpisodeStore(directory)
    lengths, opened = defaultdict(list), defaultdict(list)
    for episode in store.episodes:
        facts = store.privileged.facts(episode.index)
        name = str(facts.get("rule") or episode.task)
        lengths[name].append(episode.length)
        if "success" in facts:
            opened[name].append(bool(facts["success"]))
    lines = []
    for name in sorted(lengths):
        count, known = len(lengths[name]), opened[name]
        ending = f"{sum(known)} of {len(known)} opened" if known else "success not recorded"
        lines.append(
            f"{name}: {count} episode{'s' if count > 1 else ''} of "
            f"{fmean(lengths[name]):.0f} frames, {ending}"
        )
    none = "no rates and no stats.csv: no attempts of `rulesafe demos generate`"
    return [*lines, *sizes(directory), none]
