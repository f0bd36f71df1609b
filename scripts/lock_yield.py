#!/usr/bin/env python3
"""Count how many replies of a language model pass each stage of the verification of locks.

Usage: lock_yield.py OUT.json NAME=RUN[,RUN...] ...

RUN is an --out of `rulesafe rules generate` that has ended. The runs of one NAME have the same
settings, and their replies are pooled. Prints the table of docs/lock_design.md.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.text_files import read_json
from rulesafe_data.intervals import wilson
from rulesafe_design import answers
from rulesafe_design.generate import REPORT, REQUEST

STAGES = {
    "parsed": tuple(answers.KINDS),
    "accepted": ("syntax", "forbidden"),
    "compiled": ("error", "time", "memory", "crash", "output", "clock", "state", "states"),
    "openable": ("trivial", "shut", "long", "plan"),
    "new": ("duplicate", "description", "surplus"),
}
"""Stage, in their order -> the outcomes of replies that fail in it."""

POOLED = ("asked", "tokens_in", "tokens_out")


def passed(outcomes: dict[str, int]) -> dict[str, int]:
    """Return the number of replies that pass each stage and those before it."""
    left = sum(outcomes.values())
    found = {}
    for stage, kinds in STAGES.items():
        left -= sum(outcomes.get(kind, 0) for kind in kinds)
        found[stage] = left
    return found


def row(name: str, outcomes: dict[str, int]) -> str:
    """Return a row of the table: counts, and rates in percent with 95 % Wilson intervals."""
    count = sum(outcomes.values())
    cells = [name, str(count)]
    for stage in passed(outcomes).values():
        low, high = wilson(stage, count)
        cells.append(f"{stage} ({100 * low:.0f}-{100 * high:.0f} %)")
    return f"| {' | '.join(cells)} |"


def pooled(runs: list[Path]) -> dict[str, Any]:
    """Return the settings and the sums of some runs."""
    requests = [read_json(run / REQUEST, "a request") for run in runs]
    reports = [read_json(run / REPORT, "a report") for run in runs]
    outcomes: Counter[str] = Counter()
    for report in reports:
        outcomes.update(report["outcomes"])
    origins = [request["origin"] for request in requests]
    if any(origin != origins[0] for origin in origins):
        sys.exit(f"{', '.join(map(str, runs))}: different models or settings")
    sums = {key: sum(report[key] for report in reports) for key in POOLED}
    return {"origin": origins[0], **sums, "outcomes": dict(sorted(outcomes.items()))}


def main(out: str, *named: str) -> None:
    found = {}
    for text in named:
        name, equals, runs = text.partition("=")
        if not equals or name in found:
            sys.exit(f"{text!r}: each argument is NAME=RUN[,RUN...], with a NAME of its own")
        try:
            found[name] = pooled([Path(run) for run in runs.split(",")])
        except (OSError, RuleSafeError) as error:
            sys.exit(f"{text}: {error}; a RUN is a folder of `rules generate` that has ended")
    write_atomically(Path(out), (json.dumps(found, indent=1) + "\n").encode())
    print(f"| replies | n | {' | '.join(STAGES)} |\n|{' --- |' * (len(STAGES) + 2)}")
    for name, content in found.items():
        print(row(name, content["outcomes"]))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
