"""`rulesafe eval table --format`: one row per policy and condition, for a paper or a program."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rulesafe_eval.comparison import row_of
from rulesafe_eval.statistics import FEWEST
from rulesafe_eval.table import Condition, Pooled, also_pooled, pool

PLACES = 3
"""Digits of a share after the point."""

END = r"\\"
LATEX = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}"})


def rows(contents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns of each policy in each condition. Differences are to the first policy of
    the condition, on the episodes that both have. Ends of intervals are empty if there are too few
    places for a bootstrap."""
    return [row for condition, kinds in pool(contents).items() for row in _rows(condition, kinds)]


def _rows(condition: Condition, kinds: Mapping[str, Pooled]) -> list[dict[str, Any]]:
    first, *_ = kinds.values()
    return [_row(condition, policy, found, first) for policy, found in kinds.items()]


def _row(condition: Condition, policy: str, found: Pooled, first: Pooled) -> dict[str, Any]:
    row: dict[str, Any] = {"rules": len(condition.rules), "rule": condition.names}
    row |= dict(zip(("safes", "split", "step_seconds"), condition[1:], strict=True))
    opened = found.values("opened")
    row |= {"policy": policy, "trainings": len(found.seconds), "seeds": found.poses}
    row |= {"episodes": len(opened), "opened": int(opened.sum())}
    for name, key in (("success", "opened"), ("process_score", "process_score")):
        row |= {name: float(found.values(key).mean())}
        row[f"{name}_low"], row[f"{name}_high"] = found.interval(key) or ("", "")
    frames = found.values("frames")[opened > 0]
    row["frames_to_open"] = round(float(np.median(frames))) if len(frames) else ""
    row |= dict.fromkeys(("pairs", "difference", "difference_low", "difference_high", "p"), "")
    keys = found.shared(first) if found is not first else []
    if keys:
        compared = row_of(condition.names, [(first.lines[key], found.lines[key]) for key in keys])
        row |= {"pairs": len(keys), "difference": compared["success_difference"]}
        row["p"] = f"{compared['success_p']:.2g}"
        if compared["places"] >= FEWEST:
            row["difference_low"], row["difference_high"] = compared["success_interval"]
    return row


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
    with 95 % intervals, and the difference of success to the first policy in percentage points,
    with its p, below each other by condition; of several rules only all together, but for rules
    that another policy has alone. Command and notes are comments above it."""
    comments = [f"% {' '.join(text.split())}" for text in (command, *notes)]
    heads = ("policy", "seeds", "opened", r"success [\%]", "process score", "difference", "$p$")
    lines = [*comments, r"\begin{tabular}{llrrrrr}", r"\toprule", f"{' & '.join(heads)} {END}"]
    pooled = pool(contents)
    pooled_too = also_pooled(pooled)
    for condition, kinds in pooled.items():
        if condition in pooled_too:
            continue
        title = f"{condition.names}, {condition.where}".translate(LATEX)
        lines += [r"\midrule", rf"\multicolumn{{{len(heads)}}}{{l}}{{{title}}} {END}"]
        for row in _rows(condition, kinds):
            cells = [
                row["policy"].translate(LATEX),
                row["seeds"].replace("..", "--"),
                f"{row['opened']}/{row['episodes']}",
                _interval(row, "success", 100, ".0f"),
                _interval(row, "process_score", 1, ".2f"),
                _interval(row, "difference", 100, "+.0f") if row["pairs"] else "",
                row["p"],
            ]
            lines.append(f"{' & '.join(cells)} {END}")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _interval(row: Mapping[str, Any], name: str, scale: float, form: str) -> str:
    ends: Iterable[Any] = (row[f"{name}_low"], row[f"{name}_high"])
    value, *found = (f"{scale * end:{form}}" for end in (row[name], *ends) if end != "")
    if "+" in form:  # a minus sign only in mathematics
        value, *found = (f"${end}$" for end in (value, *found))
    joined = (" to " if "+" in form else "--").join(found)
    return f"{value} ({joined})" if joined else value
