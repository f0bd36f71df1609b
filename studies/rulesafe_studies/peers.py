"""The tables of the comparison with other simulators in docs/results/benchmarks.md."""

import json
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from rulesafe_data.markdown import markdown_table
from rulesafe_studies.data import DATA

COLUMNS = ("joint states", "one camera", "two cameras")  # by number of cameras


def rates(content: Mapping[str, Any], subject: str, cameras: int, time: str = "cpu") -> list[float]:
    """Return simulated s per s of CPU or wall time, by round; empty if not measured."""
    return [
        run["simulated"] / run[time]
        for run in content["runs"]
        if (run["subject"], run["cameras"]) == (subject, cameras)
    ]


def ratios(content: dict[str, Any], subject: str, cameras: int) -> list[float]:
    """Return our simulated s per CPU s divided by that of a subject, by round."""
    found, ours = rates(content, subject, cameras), rates(content, "ours", cameras)
    return [a / b for a, b in zip(ours, found, strict=True)] if found and ours else []


def short(value: float) -> str:
    """Return a number as text with at least two digits."""
    return f"{value:.0f}" if value >= 9.5 else f"{value:.2g}" if value >= 0.95 else f"{value:.2f}"


def ratio(values: list[float]) -> str:
    """Return the median of ratios, their minimum and their maximum as text."""
    if not values:
        return ""
    return f"{np.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


def rate_rows(content: dict[str, Any], time: str) -> list[list[str]]:
    """Return a table of simulated s per s of CPU or wall time, with its head."""
    rows = [["simulated s per " + ("CPU" if time == "cpu" else "wall") + " s", *COLUMNS]]
    for subject in content["versions"]:
        found = [rates(content, subject, cameras, time) for cameras in range(3)]
        rows.append([subject, *(short(float(np.median(v))) if v else "" for v in found)])
    return rows


def memory_rows(content: dict[str, Any]) -> list[list[str]]:
    """Return a table of the memory per process, MB, with its head."""
    rows = [["memory of a process (PSS) [MB]", *COLUMNS]]
    for subject in content["versions"]:
        runs = [run for run in content["runs"] if run["subject"] == subject]
        found = [[run["memory"] for run in runs if run["cameras"] == n] for n in range(3)]
        rows.append([subject, *(f"{np.median(values):.0f}" if values else "" for values in found)])
    return rows


def together_rows(content: dict[str, Any]) -> list[list[str]]:
    """Return a table of throughput and memory of our environment by number of processes."""
    head = ["processes of ours, together", "simulated s per wall s", "per CPU s", "MB per process"]
    rows = [head]
    for cameras in dict.fromkeys(run["cameras"] for run in content["parallel"]):
        for count in dict.fromkeys(run["processes"] for run in content["parallel"]):
            found = [
                run
                for run in content["parallel"]
                if (run["processes"], run["cameras"]) == (count, cameras)
            ]
            cells = [
                short(float(np.median([run["simulated"] / run[time] for run in found])))
                for time in ("wall", "cpu")
            ]
            size = f"{np.median([run['memory'] for run in found]):.0f}"
            rows.append([f"{count}, {COLUMNS[cameras]}", *cells, size])
    return rows


COMPARED = {
    "ManiSkill, our scene": "ManiSkill 3 on the same scene",
    "bare SAPIEN loop": "a bare loop on the same SAPIEN scene",
}
"""Description of the subjects that the first sentence names."""


def claim(content: dict[str, Any]) -> str:
    """Return a sentence with our ratios to the subjects of COMPARED."""
    sentences = []
    for subject, description in COMPARED.items():
        found = {cameras: ratios(content, subject, cameras) for cameras in (0, 2)}
        parts = [
            f"**{np.median(values):.2f}** with {COLUMNS[cameras]}"
            for cameras, values in found.items()
            if values
        ]
        if parts:
            sentences.append(f"divided by that of {description}: {' and '.join(parts)}")
    return f"Simulated time per CPU time of `RuleSafe-v1`, {'; '.join(sentences)}."


def tables(content: dict[str, Any]) -> str:
    """Return the tables of a comparison as Markdown."""
    subjects = list(content["versions"])
    quotients = [["ours / other, per CPU s", *COLUMNS]]
    for subject in subjects:
        if subject != "ours":
            found = [ratio(ratios(content, subject, cameras)) for cameras in range(3)]
            quotients.append([subject, *found])
    versions = "; ".join(
        f"{subject}: {', '.join(f'{name} {value}' for name, value in packages.items())}"
        for subject, packages in content["versions"].items()
        if subject not in ("bare SAPIEN loop", "ManiSkill, our scene, its lights")
    )
    facts = "; ".join(f"{name} {value}" for name, value in content["machine"].items())
    summary = (
        f"{content['rounds']} rounds of {content['seconds']:g} simulated s; ratios are medians of "
        "the rounds (smallest..largest)."
    )
    return "\n\n".join(
        [
            wrapped(claim(content)),
            markdown_table(rate_rows(content, "cpu")),
            markdown_table(quotients),
            summary,
            folded("Wall time", markdown_table(rate_rows(content, "wall"))),
            folded("Memory", markdown_table(memory_rows(content))),
            *([markdown_table(together_rows(content))] if content["parallel"] else []),
            folded("Machine and versions", wrapped(f"{facts}. {versions}.")),
        ]
    )


def folded(title: str, content: str) -> str:
    """Format Markdown as a folded section, for GitHub and for mkdocs (md_in_html)."""
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{content}\n\n</details>'


def wrapped(text: str) -> str:
    """Return a paragraph in lines of at most 100 columns."""
    return "\n".join(textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False))


def text() -> str:
    """Return the tables of the stored comparison."""
    return tables(json.loads((DATA / "peers.json").read_text("utf-8")))
