"""Messages of policy servers: their values and forms, and what is refused."""

import io

import msgpack
import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_openpi import wire


def npy(value):
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return {"__ndarray_class__": True, "as_npy": file.getvalue()}


@pytest.mark.parametrize("form", [wire.openpi, wire.npy, wire.msgpack_numpy])
def test_messages_keep_their_values_in_all_forms(form):
    message = {"a": np.arange(6, dtype=np.int16).reshape(2, 3), "b": np.float32(2.5)}
    message |= {"c": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "d": np.zeros((0, 13), bool)}
    found = wire.decode(wire.encode({**message, "e": {"f": [1, "x", None]}}, form))
    assert found.pop("e") == {"f": [1, "x", None]}
    for name, value in message.items():
        assert (found[name] == value).all() and found[name].dtype == value.dtype
        assert found[name].shape == value.shape


def test_numpy_reads_and_writes_the_same_files():
    for value in (np.arange(6, dtype=np.uint8).reshape(1, 2, 3), np.float64(3), np.zeros((3, 0))):
        assert (np.load(io.BytesIO(wire.npy(value)["as_npy"])) == value).all()
        assert wire.decode(msgpack.packb(npy(value))).tolist() == value.tolist()
    columns = np.asfortranarray(np.arange(6).reshape(2, 3))
    assert b"True" in npy(columns)["as_npy"]
    assert (wire.decode(msgpack.packb(npy(columns))) == columns).all()


def test_the_package_msgpack_numpy_reads_and_writes_the_same_messages(peers, monkeypatch):
    """GR00T N1.7 uses this package."""
    installed = peers("msgpack_numpy", "msgpack-numpy==0.4.8")
    monkeypatch.syspath_prepend(installed["PYTHONPATH"])
    package = pytest.importorskip("msgpack_numpy")
    values = {"a": np.arange(6, dtype=np.float32).reshape(1, 2, 3), "b": np.float64(3)}
    for found in (
        msgpack.unpackb(wire.encode(values, wire.msgpack_numpy), object_hook=package.decode),
        wire.decode(msgpack.packb(values, default=package.encode)),
    ):
        assert (found["a"] == values["a"]).all() and found["a"].dtype == np.float32
        assert found["b"] == 3.0


def npy_file(header, data=b"", version=1):
    """Return the map of a message for an .npy file."""
    head = b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(2, "little") + header
    return {"__ndarray_class__": True, "as_npy": head + data}


def header(shape, dtype="<f4"):
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()


REFUSED = [
    b"\xc1",
    b"",
    b"\x81\x01" * 2000,
    {"a": [{}] * (wire.MAX_ITEMS + 1)},
    {b"__ndarray__": True, b"data": b"12", b"dtype": "<f4", b"shape": [1]},
    {b"__ndarray__": True, b"data": b"", b"dtype": "<f4", b"shape": [-1, 0]},
    {b"__ndarray__": True, b"data": bytes(8), b"dtype": "O", b"shape": [1]},
    {b"__ndarray__": True, b"data": bytes(8), b"dtype": "f4,f4", b"shape": [1]},
    {b"__ndarray__": True, b"data": b"", b"dtype": "f4,(", b"shape": [0]},
    {b"__ndarray__": True},
    {b"__npgeneric__": True, b"data": "x", b"dtype": "<f4"},
    {b"__npgeneric__": True, b"data": 300, b"dtype": "|i1"},
    {"__ndarray_class__": True},
    {"__ndarray_class__": True, "as_npy": "text"},
    {"__ndarray_class__": True, "as_npy": b"\x93NUMPY\x01"},
    npy_file(b"[]"),
    npy_file(header("(9999999999,)")),
    npy_file(header("(1,)", "|O"), b"cos\nsystem\n."),
    npy_file(header("(-1,)")),
    npy_file(header("(1 1)"), bytes(4)),
    npy_file(header("()"), bytes(4), version=2),
    {b"nd": True, b"type": "O", b"kind": b"O", b"shape": [1], b"data": b"cos\nsystem\n."},
    {b"nd": True, b"type": [["a", "<f4"]], b"kind": b"V", b"shape": [1], b"data": bytes(4)},
    {b"nd": True, b"type": "<f4", b"shape": [2], b"data": bytes(4)},
    {b"nd": False, b"type": "<f4", b"data": bytes(8)},
    {b"nd": True},
]
"""Messages, or values in a message."""


def test_an_invalid_message_is_refused():
    assert wire.decode_dict(msgpack.packb({"a": npy_file(header("()"), bytes(4))})) == {"a": 0}
    for content in REFUSED:
        data = content if isinstance(content, bytes) else msgpack.packb({"a": content})
        with pytest.raises(RuleSafeError, match="a message is not valid"):
            wire.decode_dict(data)
            pytest.fail(f"{content!r:.200} was read")
    with pytest.raises(RuleSafeError, match="a message must be a map, not list"):
        wire.decode_dict(wire.encode([1]))


def test_a_large_message_is_refused_before_it_is_parsed(monkeypatch):
    monkeypatch.setattr(wire, "MAX_BYTES", 10)
    with pytest.raises(RuleSafeError, match="11 bytes; the limit is 10"):
        wire.decode(bytes(11))
    with pytest.raises(TypeError, match="cannot contain a object"):
        wire.encode({"a": object()})
