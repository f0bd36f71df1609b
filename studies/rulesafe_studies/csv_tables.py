"""The tables of docs/results whose data are CSV files: one function each, as in tables.py."""

from collections.abc import Iterator, Mapping

from rulesafe_studies.data import DATA, pick, read_csv
from rulesafe_studies.tables import Cells

SIMPLE = {"no memory": "none", "raw history": "raw", "VQ (J=4)": "vq"}


def interval(row: Mapping[str, str], start: str = "") -> str:
    """Return the rate of a CSV row with its interval; `start`: first part of the columns' names."""
    keys = [f"{start}{end}" for end in ("", "_low", "_high")] if start else ["rate", "low", "high"]
    return "{} % ({}..{})".format(*(row[key] for key in keys))


def policies() -> list[Mapping[str, str]]:
    """Return the episodes of docs/results/policies.md that this project counted."""
    return [row for row in read_csv(DATA / "policies.csv") if row["source"] == "ours"]


def one_rule() -> Iterator[Cells]:
    """Yield memory, and success under rule_001 and rule_020 on both splits."""
    for title, memory in SIMPLE.items():
        same = {"policy": "DP3-SF", "memory": memory, "training": "all"}
        yield (
            title,
            *(
                interval(pick(policies(), rule=rule, split=split, **same))
                for rule in ("rule_001", "rule_020")
                for split in ("varied", "shifted")
            ),
        )


TOKENS = (*((j, "40", "0") for j in ("2", "4", "32", "256")), ("4", "20", "0"), ("4", "40", "0"))
TOKENS += (("4", "40", "1 repeated"), ("4", "60", "1"))
"""J, M and training of the columns of the table by number of tokens."""


def token_counts() -> Iterator[Cells]:
    """Yield the counts by vocabulary size and memory length."""
    same = {"policy": "DP3-SF", "memory": "vq", "rule": "rule_020", "split": "shifted"}
    found = [pick(policies(), J=j, M=m, training=seed, **same) for j, m, seed in TOKENS]
    yield "opened", *(f"{row['opened']}/{row['episodes']}" for row in found)


PROBED: Cells = ("", ", mask only", ", raw memory", ", raw memory of the hand")
PROBED += tuple(f", tokens J = {j}" for j in (4, 32, 256))
PROBED += tuple(f", tokens rule_001_rule_020_hand, J = {j}" for j in (4, 32))
PROBED += tuple(f", tokens {name}, J = 4" for name in ("ema", "by_usage", "fsq"))
"""Inputs of the probe in its table, after "joints"."""


def step_probe() -> Iterator[Cells]:
    """Yield input, and accuracy of the probe of rule_020 on both splits."""
    rows = read_csv(DATA / "step_probe.csv")
    for name in PROBED:
        row = pick(rows, rules="rule_020", input=f"joints{name}")
        yield row["input"], *(interval(row, f"{split}_accuracy") for split in ("varied", "shifted"))


def token_stability() -> Iterator[Cells]:
    """Yield tokens, the share that is unchanged in each condition, and that by chance."""
    rows = read_csv(DATA / "token_stability.csv")
    models = ("J = 4", "J = 32", *(f"rule_001_rule_020_hand, J = {j}" for j in (4, 32)))
    for name in (*(f"tokens unchanged, {m}" for m in models), "raw windows, relative change"):
        row = pick(rows, episodes="varied", input=name)
        chance = f"{row['chance']} %" if row["chance"] else ""
        yield name, *(interval(row, kind) for kind in ("noise", "faster", "slower")), chance


def expert(*wanted: tuple[str, str, str]) -> Iterator[Cells]:
    """Yield the expert's success and speed for each (title, page, rule) of expert.csv."""
    rows = read_csv(DATA / "expert.csv")
    for title, page, rule in wanted:
        row = pick(rows, page=page, by="rule", rule=rule)
        opened, attempts = int(row["opened"]), int(row["attempts"])
        rate = f"{100 * opened / attempts:.1f} %"
        cells = (f"{opened}/{attempts}", rate, f"{row['low']}..{row['high']}", row["frames"])
        speed = (row["seconds"], f"{row['planning']} %", row["states_h"])
        yield title, *cells, *speed, *([row["all_h"]] if row["all_h"] else [])
