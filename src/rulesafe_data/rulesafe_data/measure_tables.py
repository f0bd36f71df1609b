"""What the benchmark prints and writes: the machine, and its figures as text or Markdown."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from rulesafe_core.versions import installed
from rulesafe_data.measuring import Measure

VERSIONS = ("rulesafe", "sapien", "numpy", "gymnasium", "torch", "ros-jazzy-rclpy")


def machine() -> dict[str, str]:
    """What the figures depend on: processor, memory, load, versions."""
    cpu = platform.processor() or platform.machine()
    memory = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].split(":", 1)[1].strip() if models else cpu
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    facts = {
        "processor": f"{cpu}, {len(os.sched_getaffinity(0))} cores",
        "memory": memory,
        "load before": "{:.1f} {:.1f} {:.1f} (1, 5, 15 min)".format(*os.getloadavg()),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    return facts | installed(VERSIONS)


def table(measures: Sequence[Measure]) -> str:
    """The figures as aligned text."""
    names = [f"{m.subject}: {_name(m)}" if m.subject else _name(m) for m in measures]
    width = max(map(len, names))
    lines = [f"{'':{width}}{'median':>9}{'p10':>9}{'p90':>9}{'n':>6}"]
    for name, m in zip(names, measures, strict=True):
        figures = "".join(f"{_short(x):>9}" for x in (m.median, m.p10, m.p90))
        lines.append(f"{name:{width}}{figures}{m.count:>6}")
    return "\n".join(lines)


def markdown(measures: Sequence[Measure]) -> str:
    """The figures of a part as a Markdown table: a row for each; where they are of several
    subjects, a row for each subject with its medians, and one with the numbers of samples."""
    if not any(m.subject for m in measures):
        rows = [["", "median", "10th to 90th percentile", "n"]]
        for m in measures:
            spread = f"{_short(m.p10)}..{_short(m.p90)}"
            rows.append([_name(m), _short(m.median), spread, str(m.count)])
        return markdown_table(rows)
    columns = list(dict.fromkeys(map(_name, measures)))
    found = {(m.subject, _name(m)): m for m in measures}
    rows = [["", *columns]]
    for subject in dict.fromkeys(m.subject for m in measures):
        cells = [found.get((subject, column)) for column in columns]
        rows.append([subject, *(_short(m.median) if m else "" for m in cells)])
    counts = [sorted({m.count for m in measures if _name(m) == column}) for column in columns]
    rows.append(["n", *("..".join(map(str, dict.fromkeys((c[0], c[-1])))) for c in counts)])
    return markdown_table(rows)


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows, the first of them the head; all columns but the first `left` to the right."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * left + "---:|" * (len(rows[0]) - left), *body])


def _name(measure: Measure) -> str:
    unit = f" [{measure.unit}]" if measure.unit else ""
    return f"{measure.name}{unit}{f' ({measure.note})' if measure.note else ''}"


def _short(figure: float) -> str:
    return f"{figure:.3g}" if abs(figure) < 100 else f"{figure:.0f}"
