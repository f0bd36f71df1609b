"""`make bench`: throughput and latency of this machine, in process and through ROS 2.

Each part runs in fresh processes, so that its memory and its first image are measured separately.
CPU seconds include all threads of a process, also those of the software renderer.
docs/results/benchmarks.md explains the tables.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated

import tyro

from policy_node.families import FAMILIES
from rulesafe_core.errors import RuleSafeError, missing_package, unknown_name
from rulesafe_data.markdown import markdown_table
from rulesafe_studies.measuring import Measure, machine

PARTS = {
    "physics": "simulation:physics",
    "loop": "simulation:loop",
    "moves": "simulation:moves",
    "observation": "simulation:observation",
    "first_frame": "simulation:first_frame",
    "planning": "planning:measured",
    "memory": "memory:measured",
    "policy": "policy:measured",
    "ros": "node:through_ros",
    "bridge": "bridge:measured",
    "engines": "engines:measured",
}
"""Part -> module of this package and its function, which takes the options and returns measures."""


@dataclass(frozen=True)
class BenchOptions:
    """Options of `make bench`.

    Attributes:
        parts: Parts to run.
        rule: Rule of the lock.
        safe: Id of the safe.
        model: Name or folder of the model, for the part memory.
        policies: Policy families, for the part policy; skills, which only execute subtasks, are not
            measured.
        memories: Memories of these policies, as `--memory` of `rulesafe policy train`.
        size: Size of these policies.
        data: Demonstrations with point clouds and images to measure training, for the part policy.
        cache: Folder for decoded point clouds and images, for the part policy; by default a
            temporary one. Decoding 200 demonstrations takes minutes and gigabytes.
        seconds: Simulated time of each loop in process; wall time of each run through ROS, s.
        json: JSON file to which the measures are written.
        markdown: Markdown file to which the tables are written.
    """

    parts: tuple[str, ...] = tuple(PARTS)
    rule: str = "rule_001"
    safe: str = "safe_01"
    model: str = "rule_001_rule_020"
    policies: tuple[str, ...] = tuple(name for name in FAMILIES.builtin if name != "skills")
    memories: tuple[str, ...] = ("none", "vq")
    size: str = "tiny"
    data: Path | None = None
    cache: Path | None = None
    seconds: float = 10.0
    json: Path | None = None
    markdown: Path | None = None


def bench(options: Annotated[BenchOptions, tyro.conf.arg(name="")]) -> int:
    """Measure physics, observations, policies and the ROS graph on this machine.

    Example: python -m rulesafe_studies bench --parts physics planning
    """
    for part in options.parts:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    for path in filter(None, (options.json, options.markdown)):
        path.parent.mkdir(parents=True, exist_ok=True)
    facts = machine()
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), flush=True)
    measures: list[Measure] = []
    failed: dict[str, str] = {}
    page = ["; ".join(f"{name} {value}" for name, value in facts.items()) + "."]
    for part in options.parts:
        try:
            module, function = PARTS[part].split(":")
            measure = getattr(import_module(f"rulesafe_studies.bench.{module}"), function)
            found = measure(options)
        except (RuleSafeError, ModuleNotFoundError) as error:
            failed[part] = str(missing_package(error) if isinstance(error, ImportError) else error)
            print(f"\n{part}: not measured: {failed[part]}", file=sys.stderr)
            continue
        measures += found
        page += [f"## {part}", markdown(found)]
        print(f"\n{table(found)}", flush=True)
    if options.json:
        figures = [asdict(measure) for measure in measures]
        content = {"machine": facts, "measures": figures, "failed": failed}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text("\n\n".join(page) + "\n")
    return 1 if failed else 0


def table(measures: Sequence[Measure]) -> str:
    """Return measures as aligned text."""
    names = [f"{m.subject}: {_name(m)}" if m.subject else _name(m) for m in measures]
    width = max(map(len, names))
    lines = [f"{'':{width}}{'median':>9}{'p10':>9}{'p90':>9}{'n':>6}"]
    for name, m in zip(names, measures, strict=True):
        figures = "".join(f"{_short(x):>9}" for x in (m.median, m.p10, m.p90))
        lines.append(f"{name:{width}}{figures}{m.count:>6}")
    return "\n".join(lines)


def markdown(measures: Sequence[Measure]) -> str:
    """Return measurements as a Markdown table.

    Without subjects, there is a row for each measurement (median, percentiles, n). With subjects,
    there is a row of medians for each subject, and a last row with the numbers of samples.
    """
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


def _name(measure: Measure) -> str:
    unit = f" [{measure.unit}]" if measure.unit else ""
    return f"{measure.name}{unit}{f' ({measure.note})' if measure.note else ''}"


def _short(figure: float) -> str:
    return f"{figure:.3g}" if abs(figure) < 100 else f"{figure:.0f}"
