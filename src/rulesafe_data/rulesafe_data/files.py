"""Files that are there whole or not at all, and what to say when there is no room for them."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import says_when_full, write_atomically

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


def append_line(path: Path, entry: Mapping[str, Any]) -> None:
    """Appends a line of JSON: there whole, or torn by a kill, and then passed over by `read_lines`.

    Errors: RuleSafeError on a full disk.
    """
    with says_when_full(path), path.open("a+b") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        torn = file.read() not in (b"", b"\n")
        file.write(b"\n" * torn + json.dumps(entry).encode() + b"\n")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """What `append_line` appended, in order; nothing where there is no file yet."""
    for text in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            yield json.loads(text)
        except json.JSONDecodeError:
            continue


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
