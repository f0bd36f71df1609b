"""The stored results in docs/results/data: CSV files, and results of evaluations."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rulesafe_core.files import write_atomically

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
