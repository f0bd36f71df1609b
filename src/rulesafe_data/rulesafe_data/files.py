"""Files that are there whole or not at all, and what to say when there is no room for them."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.files import DRAFT, draft_of, locked, says_when_full, sweep, write_atomically

__all__ = [
    "DRAFT",
    "ZARR_FILES",
    "draft_of",
    "files_below",
    "locked",
    "read_json",
    "says_when_full",
    "sha256",
    "size_below",
    "sweep",
    "write_atomically",
    "write_json",
]

ZARR_FILES = {".zgroup", ".zarray", ".zattrs"}
"""Hidden files that belong to a dataset."""


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically, in the indented form that diffs well."""
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read_json(path: Path, what: str) -> Any:
    """Read JSON. Errors: RuleSafeError, naming the file as `what`, if it is no JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise RuleSafeError(f"{path} is not {what}: {error}") from error


def sha256(path: Path) -> str:
    """The hexadecimal SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def files_below(folder: Path) -> Iterator[Path]:
    """Every complete file below a folder, sorted; what a killed writer left is passed over."""
    for path in sorted(folder.rglob("*")):
        names = path.relative_to(folder).parts
        temporary = any(name.startswith(".") and name not in ZARR_FILES for name in names)
        if path.is_file() and not temporary:
            yield path


def size_below(folder: Path) -> int:
    """Bytes of every file below a folder."""
    return sum(path.stat().st_size for path in files_below(folder))
