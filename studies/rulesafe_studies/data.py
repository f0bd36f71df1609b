"""The stored results in docs/results/data: CSV files, and results of evaluations."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.text_files import read_json
from rulesafe_data.files import write_json
from rulesafe_eval.table import Pooled, pool

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
DATA = RESULTS / "data"

Row = Mapping[str, str]


def read_csv(path: Path) -> list[Row]:
    """Return the rows of a CSV file; lines that begin with # are comments."""
    lines = path.read_text("utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], comments: Iterable[str] = ()) -> None:
    """Write a CSV file with comments above its header."""
    text = io.StringIO()
    text.writelines(f"# {line}\n" for line in comments)
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())


def pick(rows: Iterable[Row], **wanted: str) -> Row:
    """Return the only row with these values; ValueError if there are none or several."""
    found = [row for row in rows if wanted.items() <= row.items()]
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows with {wanted}")
    return found[0]


def stored(name: str, folders: Sequence[str] = ("twenty_rules", "memories")) -> list[Path]:
    """Return the stored evaluations of a policy, one for each training."""
    return sorted(path for each in folders for path in (DATA / each).glob(f"{name}_[0-9].json"))


def pool_rules(contents: Sequence[Mapping[str, Any]]) -> Pooled:
    """Return the episodes under all rules, one or more, of some results.json of one policy in one
    condition."""
    found = pool(contents)
    most = max(len(condition.rules) for condition in found)
    of_all = [kinds for condition, kinds in found.items() if len(condition.rules) == most]
    ((pooled,),) = (kinds.values() for kinds in of_all)
    return pooled


def pooled(paths: Iterable[Path]) -> Pooled:
    """Return the episodes of some evaluations of one policy in one condition."""
    return pool_rules([json.loads(path.read_text("utf-8")) for path in paths])


def collect(
    results: Annotated[Path, tyro.conf.Positional],
    study: Annotated[str, tyro.conf.Positional],
    data: Path = DATA,
) -> None:
    """Copy the complete results of a study to docs/results/data.

    Those of `network_vq_0_nominal` become `network/vq_0.json`, without the variations, which the
    seeds determine, and paths.

    Args:
        results: Folder `results` of `study.sh`.
        study: First word of the names of its results.
        data: Folder of the stored results.
    """
    found = sorted(results.glob(f"{study}_*/results.json"))
    if not found:
        raise RuleSafeError(f"{results} has no complete results of {study}")
    (data / study).mkdir(parents=True, exist_ok=True)
    for path in found:
        content = read_json(path, "results of an evaluation")
        for episode in content["episodes"]:
            del episode["variation"]
        setup = content["request"]["setup"]
        setup["policy"] = Path(setup["policy"]).name  # a folder of this machine
        name = path.parent.name.removeprefix(f"{study}_").replace("_nominal", "")
        write_json(data / study / f"{name}.json", content)
        print(data / study / f"{name}.json")
