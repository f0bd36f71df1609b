"""Convert arrays to Parquet tables and back; a vector per frame is a fixed-size list per row.

Pages and JSON metadata have checksums, which are verified when they are read."""

import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import check_regular, write_atomically

METADATA_KEY = b"rulesafe"
"""Key of JSON metadata in the schema of a table."""

CHECKSUM_KEY = b"rulesafe_crc32"
"""Key of the checksum of the JSON metadata."""


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
    return with_metadata(table, text)


def with_metadata(table: pa.Table, text: str) -> pa.Table:
    """Return the table with JSON metadata and their checksum in its schema."""
    raw = text.encode()
    return table.replace_schema_metadata({METADATA_KEY: raw, CHECKSUM_KEY: _checksum(raw)})


def _checksum(raw: bytes) -> bytes:
    return str(zlib.crc32(raw)).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r}")


@contextmanager
def open_table(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; raise RuleSafeError if it is damaged, here or in the `with` block.

    Raises:
        OSError: the file does not exist or cannot be opened.
    """
    check_regular(path)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            metadata = file.schema_arrow.metadata or {}
            text = metadata.get(METADATA_KEY, b"")
            if text and metadata.get(CHECKSUM_KEY) != _checksum(text):
                raise ValueError("the checksum of the metadata is wrong")
            yield file
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise RuleSafeError(f"{path} is damaged or no table of RuleSafe: {error}") from error


def metadata_of(file: pq.ParquetFile) -> dict[str, Any]:
    """Return the JSON metadata in the schema; raise KeyError if there is none."""
    return dict(json.loads((file.schema_arrow.metadata or {})[METADATA_KEY]))


def about(path: Path) -> dict[str, Any]:
    """Read the JSON metadata in the schema of a file, without reading rows."""
    with open_table(path) as file:
        return metadata_of(file)


def row_count(path: Path) -> int:
    """Return the number of rows of a file."""
    with open_table(path) as file:
        return int(file.metadata.num_rows)


def read_columns(path: Path, names: Iterable[str] | None = None) -> dict[str, NDArray]:
    """Read the named columns of a file (default: all) as arrays."""
    # For one small local file, the overhead of threads and the dataset API exceeds the gain.
    with open_table(path) as file:
        table = file.read(columns=None if names is None else list(names), use_threads=False)
    return {name: to_array(table.column(name)) for name in table.column_names}


def write_table(path: Path, table: pa.Table, **options: Any) -> None:
    """Write a table atomically as Parquet with zstd; raise RuleSafeError if the disk is full."""
    buffer = io.BytesIO()
    options = {"compression": "zstd", "write_page_checksum": True} | options
    pq.write_table(table, buffer, **options)
    write_atomically(path, buffer.getbuffer())
