"""Messages of policy servers: msgpack with numpy arrays.

The encoding is that of Physical Intelligence, openpi, `openpi_client.msgpack_numpy`: an array is a
map with the keys b"__ndarray__", b"data", b"dtype", b"shape", a numpy scalar one with
b"__npgeneric__", b"data", b"dtype".
"""

import re
from math import prod
from typing import Any

import msgpack
import numpy as np

from rulesafe_core.errors import RuleSafeError

MAX_BYTES = 64_000_000
"""Maximum size of a message; an observation with images and a point cloud has 0.4 MB."""

API_KEY = "RULESAFE_API_KEY"
"""Environment variable with the API key of client and server."""

DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248])")
"""Names of the numpy types that messages may have: numbers and bools."""

MAX_ITEMS = 10_000
"""Maximum number of entries of a map or list, which need more memory than their bytes."""

_INVALID: tuple[type[Exception], ...] = (ValueError, TypeError, KeyError, OverflowError)
_INVALID += (RecursionError, MemoryError, msgpack.exceptions.UnpackException)


def encode(message: Any) -> bytes:
    """Return a message of dicts, lists, numbers, text, bytes and numpy arrays as bytes."""
    packed: bytes = msgpack.packb(message, default=_pack)
    return packed


def decode(data: bytes) -> Any:
    """Return the content of a message. Arrays are read-only views of `data`.

    Raises:
        RuleSafeError: the message is too large or not valid.
    """
    if len(data) > MAX_BYTES:
        raise RuleSafeError(f"a message has {len(data)} bytes; the limit is {MAX_BYTES}")
    try:
        return msgpack.unpackb(
            data, object_hook=_unpack, max_map_len=MAX_ITEMS, max_array_len=MAX_ITEMS
        )
    except _INVALID as error:
        text = f"a message is not valid msgpack with numpy arrays: {error!r}"
        raise RuleSafeError(text) from error


def decode_dict(data: bytes) -> dict[Any, Any]:
    """Return the content of a message that is a map. Raises RuleSafeError."""
    content = decode(data)
    if not isinstance(content, dict):
        raise RuleSafeError(f"a message must be a map, not {type(content).__name__}")
    return content


def _pack(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)) and DTYPE.fullmatch(value.dtype.str):
        dtype = {b"dtype": value.dtype.str}
        if isinstance(value, np.generic):
            return {b"__npgeneric__": True, b"data": value.item(), **dtype}
        return {b"__ndarray__": True, b"data": value.tobytes(), **dtype, b"shape": value.shape}
    raise TypeError(f"messages cannot contain a {type(value).__name__}")


def _unpack(value: dict[Any, Any]) -> Any:
    if b"__ndarray__" in value:
        dtype, shape = _dtype(value[b"dtype"]), tuple(value[b"shape"])
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"shape {shape!r}")
        if prod(shape) * dtype.itemsize != len(value[b"data"]):
            raise ValueError(f"{len(value[b'data'])} bytes for the shape {shape} of {dtype}")
        return np.frombuffer(value[b"data"], dtype).reshape(shape)
    if b"__npgeneric__" in value:
        return _dtype(value[b"dtype"]).type(value[b"data"])
    return value


def _dtype(name: Any) -> np.dtype[Any]:
    if not isinstance(name, str) or not DTYPE.fullmatch(name):
        raise ValueError(f"numpy type {name!r}")
    return np.dtype(name)
