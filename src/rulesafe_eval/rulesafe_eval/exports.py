"""`rulesafe eval table --format`: one row per policy and condition, for a paper or a program."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rulesafe_eval.table import ALL, Condition, Pooled, pool

PLACES = 3
"""Digits of a share after the point."""

LATEX = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}"})


def rows(contents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns of each policy in each condition. Ends of intervals are empty if there are
    too few places for a bootstrap."""
    return [
        _row(condition, policy, found)
        for condition, kinds in pool(contents).items()
        for policy, found in kinds.items()
    ]


def _row(condition: Condition, policy: str, found: Pooled) -> dict[str, Any]:
    rule, safes, split, seconds = condition
    row: dict[str, Any] = {"rule": rule, "safes": safes, "split": split, "step_seconds": seconds}
    opened = found.values("opened")
    row |= {"policy": policy, "trainings": len(found.seconds), "episodes": len(opened)}
    row["opened"] = int(opened.sum())
    for name, key in (("success", "opened"), ("process_score", "process_score")):
        low, high = found.interval(key) or ("", "")
        values = (found.values(key).mean(), low, high)
        row |= {
            f"{name}{end}": value if value == "" else round(float(value), PLACES)
            for end, value in zip(("", "_low", "_high"), values, strict=True)
        }
    frames = found.values("frames")[opened > 0]
    return row | {"frames_to_open": round(float(np.median(frames))) if len(frames) else ""}


def as_csv(contents: Sequence[Mapping[str, Any]]) -> str:
    """Return `rows` as CSV (RFC 4180, with \\n)."""
    found, text = rows(contents), io.StringIO()
    writer = csv.DictWriter(text, list(found[0]) if found else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def as_latex(contents: Sequence[Mapping[str, Any]], command: str, notes: Sequence[str] = ()) -> str:
    """Return a table for the package booktabs: success in percent and process score of each policy,
    with 95 % intervals, below each other by condition; of several rules only all together, but for
    rules that another policy has alone. Command and notes are comments above it."""
    comments = [f"% {' '.join(text.split())}" for text in (command, *notes)]
    lines = [*comments, r"\begin{tabular}{lrrr}", r"\toprule"]
    lines.append(r"policy & opened & success [\%] & process score \\")
    before, found = None, rows(contents)
    together = {(row["policy"], _conditions(row)) for row in found if row["rule"] == ALL}
    alone = {
        (row["rule"], _conditions(row))
        for row in found
        if (row["policy"], _conditions(row)) not in together
    }
    for row in found:
        condition = (row["rule"], _conditions(row))
        if row["rule"] != ALL and condition not in alone:
            continue
        if condition != before:
            before, safes = condition, len(row["safes"].split(", "))
            where = row["safes"] if safes == 1 else f"{safes} safes"
            title = f"{row['rule']}, {where}, split {row['split']}".translate(LATEX)
            lines += [r"\midrule", rf"\multicolumn{{4}}{{l}}{{{title}}} \\"]
        cells = [
            str(row["policy"]).translate(LATEX),
            f"{row['opened']}/{row['episodes']}",
            _interval(row, "success", 100, ".0f"),
            _interval(row, "process_score", 1, ".2f"),
        ]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _conditions(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("safes", "split", "step_seconds"))


def _interval(row: Mapping[str, Any], name: str, scale: float, form: str) -> str:
    ends: Iterable[Any] = (row[f"{name}_low"], row[f"{name}_high"])
    value = f"{scale * row[name]:{form}}"
    if "" in ends:
        return value
    return f"{value} ({'--'.join(f'{scale * end:{form}}' for end in ends)})"
