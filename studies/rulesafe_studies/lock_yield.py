"""Count how many replies of a language model pass each stage of their verification.

A run is the --out folder of a completed `rulesafe rules generate` (locks) or `rulesafe demos write`
(task programs).
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.text_files import read_json
from rulesafe_data.intervals import wilson
from rulesafe_demos.write import VERDICT
from rulesafe_design import answers
from rulesafe_design.generate import REPORT, REQUEST
from rulesafe_studies.data import DATA

RUN_FAILURES = ("error", "time", "memory", "crash", "output", "clock", "state")
"""Outcomes of a program that fails while it runs."""

STAGES = {
    "locks": {
        "parsed": tuple(answers.KINDS),
        "accepted": ("syntax", "forbidden"),
        "compiled": (*RUN_FAILURES, "states"),
        "openable": ("trivial", "shut", "long", "plan"),
        "new": ("duplicate", "description", "surplus"),
    },
    "programs": {
        "parsed": (*answers.KINDS, "repeated"),
        "accepted": ("syntax", "forbidden"),
        "ran": (*RUN_FAILURES, "planner"),
        "opened": ("closed",),
    },
}
"""Verification stages of locks and of task programs, in order -> outcomes that fail in them."""

FILE = DATA / "lock_yield.json"

SUMS = ("asked", "tokens_in", "tokens_out")


def passed(outcomes: dict[str, int], subject: str) -> dict[str, int]:
    """Return the number of replies that pass each stage and all stages before it.

    Args:
        outcomes: number of replies by outcome.
        subject: "locks" or "programs".
    """
    left = sum(outcomes.values())
    found = {}
    for stage, kinds in STAGES[subject].items():
        left -= sum(outcomes.get(kind, 0) for kind in kinds)
        found[stage] = left
    return found


def row(name: str, outcomes: dict[str, int], subject: str) -> list[str]:
    """Return a row of a table: counts, and rates in percent with 95 % Wilson intervals."""
    count = sum(outcomes.values())
    cells = [name, str(count)]
    for stage in passed(outcomes, subject).values():
        low, high = wilson(stage, count)
        cells.append(f"{stage} ({100 * low:.0f}-{100 * high:.0f} %)")
    return cells


def rows(subject: str, path: Path = FILE) -> Iterator[list[str]]:
    """Yield the rows of the table of "locks" or "programs" in docs/results/lock_yield.md."""
    for name, content in read_json(path, "counts of replies").items():
        if content["of"] == subject:
            yield row(name, content["outcomes"], subject)


def pooled(runs: list[Path]) -> dict[str, Any]:
    """Return the settings of runs and the sums of their counts."""
    return _programs(runs) if (runs[0] / VERDICT).is_file() else _locks(runs)


def _programs(runs: list[Path]) -> dict[str, Any]:
    verdicts = [read_json(run / VERDICT, "a verdict") for run in runs]
    models = sorted({verdict["model"] for verdict in verdicts})
    if len(models) > 1:
        raise RuleSafeError(f"different models: {', '.join(models)}")
    tries = [each for verdict in verdicts for each in verdict["tries"]]
    outcomes = Counter("opened" if each["opened"] else each["kind"] for each in tries)
    tokens = {key: sum(each[key] or 0 for each in tries) for key in ("tokens_in", "tokens_out")}
    return {
        "of": "programs",
        "origin": {"by": "model", "model": models[0]},
        "asked": len(tries),
        **tokens,
        "outcomes": dict(sorted(outcomes.items())),
    }


def _locks(runs: list[Path]) -> dict[str, Any]:
    requests = [read_json(run / REQUEST, "a request") for run in runs]
    reports = [read_json(run / REPORT, "a report") for run in runs]
    outcomes: Counter[str] = Counter()
    for report in reports:
        outcomes.update(report["outcomes"])
    origins = [request["origin"] for request in requests]
    if any(origin != origins[0] for origin in origins):
        raise RuleSafeError(f"{', '.join(map(str, runs))}: different models or settings")
    sums = {key: sum(report[key] for report in reports) for key in SUMS}
    return {"of": "locks", "origin": origins[0], **sums, "outcomes": dict(sorted(outcomes.items()))}


def count(named: Annotated[tuple[str, ...], tyro.conf.Positional], out: Path = FILE) -> None:
    """Count the replies in runs of a language model that pass each stage of their verification.

    Args:
        named: NAME=RUN[,RUN...]: the runs of one name have the same settings, and their replies are
            pooled. A run is a completed --out of `rulesafe rules generate` or `rulesafe demos
            write`.
        out: JSON file of the counts. `pages` writes its tables into docs/results/lock_yield.md.
    """
    found: dict[str, Any] = {}
    for text in named:
        name, equals, runs = text.partition("=")
        if not equals or name in found:
            raise RuleSafeError(f"{text!r}: each argument is NAME=RUN[,RUN...], with a unique NAME")
        try:
            found[name] = pooled([Path(run) for run in runs.split(",")])
        except (OSError, RuleSafeError) as error:
            raise RuleSafeError(f"{text}: {error}; a RUN is an --out that has ended") from error
    write_atomically(out, (json.dumps(found, indent=1) + "\n").encode())
    for content in found.values():
        print(content["of"], passed(content["outcomes"], content["of"]))
