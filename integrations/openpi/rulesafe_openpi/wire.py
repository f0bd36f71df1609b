"""Messages of policy servers: msgpack with numpy arrays, which have one of three forms.

- `openpi`: Physical Intelligence, openpi, `openpi_client.msgpack_numpy`: an array is a map with the
  keys b"__ndarray__", b"data", b"dtype", b"shape", a numpy scalar one with b"__npgeneric__",
  b"data", b"dtype".
- `npy`: NVIDIA, Isaac GR00T N1.6, `gr00t.policy.server_client`: an array is a map with the keys
  "__ndarray_class__" and "as_npy", a file of numpy's format .npy, version 1.0 (NumPy Enhancement
  Proposal 1).
- `msgpack_numpy`: the package msgpack-numpy 0.4, which Isaac GR00T N1.7 uses: an array is a map
  with the keys b"nd", b"type", b"kind", b"shape", b"data"; b"nd" is False for a numpy scalar.
"""

import io
import os
import re
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, Literal

import msgpack
import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError

MAX_BYTES = 64_000_000
"""Maximum size of a message; an observation with images and a point cloud has 0.4 MB."""

API_KEY = "RULESAFE_API_KEY"
"""Environment variable with the API key of client and server."""

DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248])")
"""Names of the numpy types that messages may have: numbers and bools."""

NPY_MAGIC = b"\x93NUMPY\x01\x00"
NPY_HEADER = re.compile(
    rb"\{'descr': '([^']{2,5})', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \}\s*"
)
"""Beginning of an .npy file, before the length of the header, and the header that numpy writes."""

MAX_ITEMS = 10_000
"""Maximum number of entries of a map or list, which need more memory than their bytes."""

_INVALID: tuple[type[Exception], ...] = (ValueError, TypeError, KeyError, OverflowError)
_INVALID += (RecursionError, MemoryError, msgpack.exceptions.UnpackException)


Form = Callable[[Any], dict[Any, Any]]
"""A function that returns the map for an array or a numpy scalar."""


def api_key() -> str:
    """Return the API key of the environment variable; empty if it is not set. Raises RuleSafeError,
    without the key in its message, if the key cannot be sent."""
    key = os.environ.get(API_KEY, "")
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise RuleSafeError(
            f"{API_KEY} has an invalid character; valid: printable ASCII without outer spaces"
        )
    return key


def openpi(value: Any) -> dict[Any, Any]:
    """Return the map for an array or a numpy scalar in the form of openpi."""
    dtype = {b"dtype": value.dtype.str}
    if isinstance(value, np.generic):
        return {b"__npgeneric__": True, b"data": value.item(), **dtype}
    return {b"__ndarray__": True, b"data": value.tobytes(), **dtype, b"shape": value.shape}


def npy(value: Any) -> dict[Any, Any]:
    """Return the map for an array in the form of GR00T N1.6; a scalar becomes an array ()."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(value), version=(1, 0), allow_pickle=False)
    return {"__ndarray_class__": True, "as_npy": file.getvalue()}


def msgpack_numpy(value: Any) -> dict[Any, Any]:
    """Return the map for an array or a numpy scalar in the form of the package msgpack-numpy."""
    content = {b"type": value.dtype.str, b"data": value.tobytes()}
    if isinstance(value, np.generic):
        return {b"nd": False, **content}
    return {b"nd": True, b"kind": b"", b"shape": value.shape, **content}


def encode(message: Any, form: Form = openpi) -> bytes:
    """Return a message of dicts, lists, numbers, text, bytes and numpy arrays as bytes."""
    packed: bytes = msgpack.packb(message, default=partial(_pack, form))
    return packed


def decode(data: bytes) -> Any:
    """Return the content of a message with arrays in any form. They are read-only views of `data`.

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


def _pack(form: Form, value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)) and DTYPE.fullmatch(value.dtype.str):
        return form(value)
    raise TypeError(f"messages cannot contain a {type(value).__name__}")


def _unpack(value: dict[Any, Any]) -> Any:
    if b"__ndarray__" in value:
        return _array(value[b"dtype"], value[b"shape"], value[b"data"])
    if b"__npgeneric__" in value:
        return _dtype(value[b"dtype"]).type(value[b"data"])
    if "__ndarray_class__" in value:
        return _read_npy(value["as_npy"])
    if b"nd" in value:
        if value[b"nd"]:
            return _array(value[b"type"], value[b"shape"], value[b"data"])
        return _array(value[b"type"], (), value[b"data"])[()]
    return value


def _read_npy(data: Any) -> NDArray[Any]:
    """Return the array of an .npy file. numpy's reader allocates the size that the header states
    before it reads the values, so this one compares both first."""
    start = len(NPY_MAGIC) + 2
    if not isinstance(data, bytes) or not data.startswith(NPY_MAGIC):
        raise ValueError("an array is not an .npy file of version 1.0")
    stop = start + int.from_bytes(data[len(NPY_MAGIC) : start], "little")
    header = NPY_HEADER.fullmatch(data, start, stop)
    if header is None:
        raise ValueError(f"header {data[start:stop][:100]!r} of an .npy file")
    shape = [int(size) for size in header[3].split(b",") if size.strip()]
    order: Literal["C", "F"] = "F" if header[2] == b"True" else "C"
    return _array(header[1].decode(), shape, memoryview(data)[stop:], order)


def _array(name: Any, sizes: Any, data: Any, order: Literal["C", "F"] = "C") -> NDArray[Any]:
    """Return the array of a type, a shape and its values; raise ValueError if they differ."""
    dtype, shape = _dtype(name), tuple(sizes)
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"shape {shape!r}")
    if prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"{len(data)} bytes for the shape {shape} of {dtype}")
    return np.frombuffer(data, dtype).reshape(shape, order=order)


def _dtype(name: Any) -> np.dtype[Any]:
    if not isinstance(name, str) or not DTYPE.fullmatch(name):
        raise ValueError(f"numpy type {name!r}")
    return np.dtype(name)
