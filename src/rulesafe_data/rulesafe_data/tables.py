"""Convert arrays to Parquet tables and back; a vector per frame is a fixed-size list per row."""

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically

METADATA_KEY = b"rulesafe"
"""Key of JSON metadata in the schema of a table."""


def to_column(array: NDArray) -> pa.Array:
    """Convert an array (N,) or (N, D) to a column of N rows; raise RuleSafeError otherwise."""
    if array.ndim == 1:
        return pa.array(array)
    if array.ndim != 2 or not array.shape[1]:
        raise RuleSafeError(f"a column must have shape (N,) or (N, D), got {array.shape}")
    flat = pa.array(np.ascontiguousarray(array).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def to_array(column: pa.ChunkedArray) -> NDArray:
    """Convert a column of numbers, or of lists of equal length, to an array (N,) or (N, D)."""
    joined = column.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):  # an empty column stays chunked
        joined = pa.concat_arrays(joined.chunks) if joined.num_chunks else pa.array([], joined.type)
    if not (pa.types.is_fixed_size_list(joined.type) or pa.types.is_list(joined.type)):
        return joined.to_numpy(zero_copy_only=False)
    return joined.flatten().to_numpy(zero_copy_only=False).reshape(len(joined), -1)


def to_table(columns: Mapping[str, NDArray], about: Mapping[str, Any]) -> pa.Table:
    """Create a table with JSON metadata in its schema.

    Raises:
        RuleSafeError: `about` has a value that is neither JSON nor a numpy number or array.
    """
    table = pa.table({name: to_column(np.asarray(array)) for name, array in columns.items()})
    try:
        text = json.dumps(about, default=_plain)
    except TypeError as error:
        raise RuleSafeError(f"facts must be JSON-serialisable: {error}") from error
    return table.replace_schema_metadata({METADATA_KEY: text.encode()})


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r}")


def about(path: Path) -> dict[str, Any]:
    """Read the JSON metadata in the schema of a file, without reading rows."""
    return json.loads((pq.read_schema(path).metadata or {}).get(METADATA_KEY, b"{}"))


def read_columns(path: Path, names: Iterable[str] | None = None) -> dict[str, NDArray]:
    """Read the named columns of a file (default: all) as arrays."""
    # For one small local file, the overhead of threads and the dataset API exceeds the gain.
    with pq.ParquetFile(path) as file:
        table = file.read(columns=None if names is None else list(names), use_threads=False)
    return {name: to_array(table.column(name)) for name in table.column_names}


def write_table(path: Path, table: pa.Table, **options: Any) -> None:
    """Write a table atomically as Parquet with zstd; raise RuleSafeError if the disk is full."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **({"compression": "zstd"} | options))
    write_atomically(path, buffer.getbuffer())
