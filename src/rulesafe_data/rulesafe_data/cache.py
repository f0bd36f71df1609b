"""Arrays that are computed once and then read from memory-mapped files, for training."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_file, locked
from rulesafe_core.text_files import read_json
from rulesafe_data.files import write_json


def cached(
    path: Path, source: Mapping[str, Any], rows: int, blocks: Callable[[], Iterable[NDArray[Any]]]
) -> NDArray[Any]:
    """Return the array (rows, ...) in a file, memory-mapped; the first call computes it.

    Other processes wait meanwhile. An interrupted computation is repeated.

    Args:
        path: path of the .npy file, beside which a .json file contains the source.
        source: what the array is computed from, JSON.
        rows: number of rows.
        blocks: yields the rows in order, in blocks of at least one row.

    Raises:
        RuleSafeError: the file contains the array of another source, or there is not enough disk
            space, which is reserved before the first row is written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    about = path.with_suffix(".json")
    with locked(path.parent / ".lock"):
        if not (about.is_file() and path.is_file()):
            about.unlink(missing_ok=True)
            with draft_file(path) as draft:
                _compute(draft, rows, blocks())
            write_json(about, dict(source))  # last, so that the array is complete if it exists
        elif read_json(about, "the source of a cached array") != source:
            raise RuleSafeError(
                f"{path} was computed from other or changed data; delete it, or use another cache "
                "folder"
            )
    found: NDArray[Any] = np.load(path, mmap_mode="r")
    return found


def _compute(path: Path, rows: int, blocks: Iterable[NDArray[Any]]) -> None:
    array: NDArray[Any] | None = None
    start = 0
    for block in blocks:
        if array is None:
            array = _reserved(path, block.dtype, (rows, *block.shape[1:]))
        array[start : start + len(block)] = block
        start += len(block)
    assert array is not None and start == rows


def _reserved(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Create a memory-mapped array, and reserve its disk space: a write to a page for which there
    is no space ends the process by a signal."""
    array: NDArray[Any] = np.lib.format.open_memmap(path, "w+", dtype, shape)
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array
