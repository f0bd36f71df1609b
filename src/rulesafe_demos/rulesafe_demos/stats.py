"""`rulesafe demos stats`: how often attempts succeed, how long they are, and why others fail."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from statistics import fmean

import pyarrow.parquet as pq
from rich import box
from rich.table import Table
from scipy.stats import binomtest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_data import layout
from rulesafe_data.demo_folder import Folder
from rulesafe_data.inventory import describe
from rulesafe_data.recording import read_facts
from rulesafe_demos.attempts import Request, load_request


@dataclass(frozen=True)
class Row:
    """What statistics need of an attempt."""

    rule: str
    safe: str
    attempt: int
    success: bool
    frames: int  # of 0.1 s
    retries: int
    resampled: int  # places of the safe that were out of reach before this one
    failure: str
    wall_seconds: float | None  # None where timings.jsonl does not tell
    planning_seconds: float | None
    cpu_seconds: float | None
    picture_seconds: float | None  # CPU time of pictures, clouds and the dataset's files

    @property
    def cause(self) -> str:
        """The failure without its numbers, so that like falls to like."""
        return re.sub(r"-?\d+(\.\d+)?", "N", self.failure)


@dataclass(frozen=True)
class Group:
    """Statistics of some attempts."""

    name: str
    rows: Sequence[Row]

    @property
    def attempts(self) -> int:
        return len(self.rows)

    @property
    def successes(self) -> int:
        return sum(row.success for row in self.rows)

    @property
    def rate(self) -> float:
        """Successes of attempts, 0..1."""
        return self.successes / self.attempts

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the rate at 95 %."""
        low, high = binomtest(self.successes, self.attempts).proportion_ci(method="wilson")
        return float(low), float(high)

    @property
    def frames(self) -> float:
        """Mean frames (0.1 s) of the successes, NaN without any."""
        return _mean(row.frames for row in self.rows if row.success)

    @property
    def retries(self) -> float:
        """Mean retries of an attempt."""
        return _mean(row.retries for row in self.rows)

    @property
    def resampled(self) -> int:
        return sum(row.resampled for row in self.rows)

    @property
    def seconds(self) -> float:
        """Mean wall time (s) of an attempt, physics and planning; NaN where unknown."""
        return _mean(row.wall_seconds for row in self.rows if row.wall_seconds is not None)

    @property
    def planning_share(self) -> float:
        """Share of the wall time that went into planning, NaN where unknown."""
        timed = [row for row in self.rows if row.wall_seconds]
        wall = sum(row.wall_seconds or 0.0 for row in timed)
        return sum(row.planning_seconds or 0.0 for row in timed) / wall if wall else float("nan")

    @property
    def states_per_hour(self) -> float:
        """Successes in an hour of CPU time without pictures, failed attempts included; NaN where
        unknown."""
        cpu = _mean(row.cpu_seconds for row in self.rows if row.cpu_seconds is not None)
        return 3600 * self.rate / cpu if cpu else float("nan")

    @property
    def demonstrations_per_hour(self) -> float:
        """The same with all observations and the dataset's files."""
        pictures = _mean(r.picture_seconds for r in self.rows if r.picture_seconds is not None)
        return 1 / (1 / self.states_per_hour + pictures / 3600) if self.rate else float("nan")


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else float("nan")


def load_rows(directory: Path, request: Request) -> list[Row]:
    """Every attempt in a directory, by rule and number. Errors: RuleSafeError if there is none."""
    folder = Folder(directory)
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
                    frames=max(0, pq.read_metadata(path).num_rows - 1),
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
        raise RuleSafeError(f"{directory} holds no attempts yet")
    return rows


def grouped(rows: Sequence[Row], by: Callable[[Row], str]) -> list[Group]:
    """A group for each value, in the order of their names, and one of all."""
    names = sorted({by(row) for row in rows})
    groups = [Group(name, [row for row in rows if by(row) == name]) for name in names]
    return [*groups, Group("all", rows)]


def _cell(value: float, digits: int = 0, unit: str = "") -> str:
    return "" if isnan(value) else f"{value:.{digits}f}{unit}"


COLUMNS: dict[str, Callable[[Group], str]] = {
    "opened": lambda g: f"{g.successes}/{g.attempts}",
    "rate": lambda g: f"{100 * g.rate:.1f} %",
    "interval": lambda g: f"{100 * g.interval[0]:.0f}..{100 * g.interval[1]:.0f}",
    "frames": lambda g: _cell(g.frames),
    "retries": lambda g: _cell(g.retries, 2),
    "redrawn": lambda g: str(g.resampled),
    "s each": lambda g: _cell(g.seconds, 1),
    "planning": lambda g: _cell(100 * g.planning_share, 0, " %"),
    "states/h": lambda g: _cell(g.states_per_hour),
    "all/h": lambda g: _cell(g.demonstrations_per_hour),
}
"""Columns of the tables for people; LEGEND tells what they are."""

LEGEND = (
    "Rates are successes of attempts, with Wilson's interval (%) at 95 %; frames (0.1 s) are means "
    "of the successes; retries are means of all attempts; redrawn counts places of the safe that "
    "were out of the arm's reach; s each is the wall time of an attempt in its process, planning "
    "the share of it that went into planning; states/h and all/h are demonstrations in an hour of "
    "CPU time, without and with pictures and clouds."
)


NARROW = 100
"""Letters in a line below which a terminal has no room for all columns."""

LESS = ("retries", "redrawn", "planning", "states/h", "all/h")
"""Columns that a narrow terminal does without; the .csv has them."""


def table(groups: Sequence[Group], title: str, width: int) -> Table:
    """For a terminal of `width` letters."""
    columns = {n: c for n, c in COLUMNS.items() if width >= NARROW or n not in LESS}
    found = Table(title=title, box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1))
    found.add_column("", no_wrap=True)
    for name in columns:
        found.add_column(name, justify="right", no_wrap=True)
    for i, group in enumerate(groups):
        cells = [cell(group) for cell in columns.values()]
        found.add_row(group.name, *cells, end_section=i == len(groups) - 2)
    return found


def markdown(groups: Sequence[Group], head: str) -> str:
    """For a report."""
    lines = [f"| {head} | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    for group in groups:
        lines.append(f"| {group.name} | {' | '.join(c(group) for c in COLUMNS.values())} |")
    return "\n".join(lines)


def causes(rows: Sequence[Row]) -> list[tuple[int, str, str]]:
    """Failures by cause, most frequent first: how many, the cause, and where as
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
    """The figures in full precision, a line for each group; shares and rates in 0..1."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ["rate", "low", "high", "frames", "retries", "resampled", "seconds", "planning_share"]
    names += ["states_per_hour", "demonstrations_per_hour"]
    writer.writerow(["name", "attempts", "successes", *names])
    for group in groups:
        low, high = group.interval
        figures = [group.rate, low, high, group.frames, group.retries, group.resampled]
        figures += [group.seconds, group.planning_share]
        figures += [group.states_per_hour, group.demonstrations_per_hour]
        cells = [f"{figure:.6g}" for figure in figures]
        writer.writerow([group.name, group.attempts, group.successes, *cells])
    write_atomically(path, text.getvalue().encode())


@dataclass(frozen=True)
class Stats:
    """The statistics of a directory."""

    request: Request
    rows: Sequence[Row]
    by_rule: Sequence[Group]


def collect(directory: Path) -> Stats:
    """Reads a directory's attempts. Errors: RuleSafeError where there are none."""
    request = load_request(directory)
    rows = load_rows(directory, request)
    return Stats(request, rows, grouped(rows, lambda row: row.rule))


def sizes(directory: Path) -> list[str]:
    """What the dataset weighs, if it was rendered: a line on its frames and one on its bytes."""
    if not (directory / layout.INFO).is_file():
        return []
    found = describe(directory)
    count, total = len(found.sizes), found.total
    parts = {"videos": total.video, "clouds": total.cloud, "tables": total.table}
    each = ", ".join(f"{name} {size / count / 1e6:.2f} MB" for name, size in parts.items() if size)
    return [
        f"dataset: {count} episodes, {total.frames} frames, {found.bytes / 1e6:.0f} MB",
        f"an episode of {total.frames / count:.0f} frames: {each}",
    ]


def report(found: Stats, directory: Path) -> str:
    """The result as a Markdown page, with the command that gave it."""
    versions = ", ".join(f"{name} {version}" for name, version in found.request.versions.items())
    failures = [f"- {n} x: {cause}\n  ({where})" for n, cause, where in causes(found.rows)]
    weighed = sizes(directory)
    passes = "" if weighed else " --passes states"
    return "\n".join(
        [
            "# Demonstrations and their dataset"
            if weighed
            else "# How often the expert opens safes",
            "",
            f"    {found.request.command()}{passes} --out DIR",
            "    rulesafe demos stats DIR --report FILE.md",
            "",
            "By contact, in the physics. A rule's attempts take the safes in turn, each with a "
            f"seed of its own. {LEGEND} {versions}.",
            "",
            markdown(grouped(found.rows, lambda row: row.rule), "rule"),
            "",
            markdown(grouped(found.rows, lambda row: row.safe), "safe"),
            "",
            *(line for text in weighed for line in (f"{text[0].upper()}{text[1:]}.", "")),
            "## Failures by cause" if failures else "No failures.",
            *(["", *failures] if failures else []),
            "",
        ]
    )
