"""`rulesafe eval table --format`: one row per policy and condition, for a paper or a program."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rulesafe_eval.table import Condition, Pooled, pool

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
    row: dict[str, Any] = {"rules": len(condition.rules), "rule": condition.names}
    row |= dict(zip(("safes", "split", "step_seconds"), condition[1:], strict=True))
    opened = found.values("opened")
    row |= {"policy": policy, "trainings": len(found.seconds), "seeds": found.poses}
    row |= {"episodes": len(opened), "opened": int(opened.sum())}
    for name, key in (("success", "opened"), ("process_score", "process_score")):
        row |= {name: float(found.values(key).mean())}
        row[f"{name}_low"], row[f"{name}_high"] = found.interval(key) or ("", "")
    frames = found.values("frames")[opened > 0]
    return row | {"frames_to_open": round(float(np.median(frames))) if len(frames) else ""}


def as_csv(contents: Sequence[Mapping[str, Any]]) -> str:
    """Return `rows` as CSV (RFC 4180, with \\n)."""
    found, text = rows(contents), io.StringIO()
    writer = csv.DictWriter(text, list(found[0]) if found else [], lineterminator="\n")
    writer.writeheader()
    for row in found:
        rounded = {k: round(v, PLACES) for k, v in row.items() if isinstance(v, float)}
        writer.writerow(row | rounded)
    return text.getvalue()


def as_latex(contents: Sequence[Mapping[str, Any]], command: str, notes: Sequence[str] = ()) -> str:
    """Return a table for the package booktabs: success in percent and process score of each policy,
    with 95 % intervals, below each other by condition; of several rules only all together, but for
    rules that another policy has alone. Command, notes and seeds are comments."""
    comments = [f"% {' '.join(text.split())}" for text in (command, *notes)]
    lines = [*comments, r"\begin{tabular}{lrrr}", r"\toprule"]
    lines.append(r"policy & opened & success [\%] & process score \\")
    found = pool(contents)
    together = {(c[1:], kind) for c, kinds in found.items() if len(c.rules) > 1 for kind in kinds}
    for condition, kinds in found.items():
        if len(condition.rules) == 1 and all((condition[1:], kind) in together for kind in kinds):
            continue
        title = f"{condition.names}, {condition.where}".translate(LATEX)
        lines += [r"\midrule", rf"\multicolumn{{4}}{{l}}{{{title}}} \\"]
        for policy, pooled in kinds.items():
            row = _row(condition, policy, pooled)
            cells = [
                policy.translate(LATEX),
                f"{row['opened']}/{row['episodes']}",
                _interval(row, "success", 100, ".0f"),
                _interval(row, "process_score", 1, ".2f"),
            ]
            lines.append(f"{' & '.join(cells)} \\\\ % seeds {row['seeds']}")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _interval(row: Mapping[str, Any], name: str, scale: float, form: str) -> str:
    ends: Iterable[Any] = (row[f"{name}_low"], row[f"{name}_high"])
    value = f"{scale * row[name]:{form}}"
    if "" in ends:
        return value
    return f"{value} ({'--'.join(f'{scale * end:{form}}' for end in ends)})"
