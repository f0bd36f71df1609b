"""JSON lines and file sizes."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rulesafe_core.files import disk_full_errors, write_atomically
from rulesafe_core.text_files import cleaned, parse_json, read_bytes

MAX_LINES_BYTES = 1 << 30
"""Maximum size of a file of JSON lines, bytes."""

ZARR_FILES = {".zgroup", ".zarray", ".zattrs"}
"""Hidden files that are part of a dataset."""


def write_json(path: Path, content: Any) -> None:
    """Write indented JSON atomically."""
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def append_line(path: Path, entry: Mapping[str, Any]) -> None:
    """Append a line of JSON. If the process is killed, the line may be incomplete; `read_lines`
    skips it.

    Raises:
        RuleSafeError: the disk is full.
    """
    with disk_full_errors(path), path.open("a+b") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        incomplete = file.read() not in (b"", b"\n")
        file.write(b"\n" * incomplete + json.dumps(entry).encode() + b"\n")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete entries of `append_line` in order; none if the file does not exist."""
    for text in read_bytes(path, MAX_LINES_BYTES).splitlines() if path.exists() else ():
        try:
            entry = parse_json(text)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield cleaned(entry)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all files in a folder, recursively and sorted, without temporary files."""
    for path in sorted(folder.rglob("*")):
        names = path.relative_to(folder).parts
        temporary = any(name.startswith(".") and name not in ZARR_FILES for name in names)
        if path.is_file() and not temporary:
            yield path


def size_below(folder: Path) -> int:
    """Return the total size of the files in a folder, in bytes."""
    return sum(path.stat().st_size for path in files_below(folder))
