"""Small bags of real messages, written without ROS."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rosbags.interfaces import QosDurability
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from rulesafe_data.bags.definitions import definition
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.qos import DEFAULT
from rulesafe_data.bags.writing import BagWriter

INTERFACES = Path(__file__).parents[3] / "src/rulesafe_interfaces/msg"
TOKENS = "rulesafe_interfaces/msg/MemoryTokens"
_STORE = get_typestore(Stores.ROS2_JAZZY)
_STORE.register(get_types_from_msg((INTERFACES / "MemoryTokens.msg").read_text(), TOKENS))
STRING_HASH, TOKENS_HASH = _STORE.hash_rihs01("std_msgs/msg/String"), _STORE.hash_rihs01(TOKENS)
LATCHED = DEFAULT._replace(durability=QosDurability.TRANSIENT_LOCAL)


@pytest.fixture(scope="session")
def string() -> Topic:
    """A topic of text."""
    return Topic("/said", "std_msgs/msg/String", (DEFAULT,), STRING_HASH, "string data")


@pytest.fixture
def tokens() -> Topic:
    """A topic of a type that only this project has, latched."""
    pytest.importorskip("rulesafe_interfaces", reason="ROS 2 is not installed")
    return Topic("/memory/tokens", TOKENS, (LATCHED,), TOKENS_HASH, definition(TOKENS))


@pytest.fixture
def serialise() -> Callable[..., bytes]:
    """serialise(type, **fields) -> CDR."""

    def make(kind: str, **fields) -> bytes:
        return bytes(_STORE.serialize_cdr(_STORE.types[kind](**fields), kind))

    return make


@pytest.fixture
def said(serialise) -> Callable[[int], bytes]:
    """said(number) -> a std_msgs/String, some 200 bytes."""
    return lambda number: serialise("std_msgs/msg/String", data=f"{number:06d}" + 200 * "x")


@pytest.fixture
def write(tmp_path, string, said) -> Callable[..., Path]:
    """write(count, name, **options) -> folder of a bag of /said, ten messages a second."""

    def make(count: int, name: str = "bag", **options) -> Path:
        with BagWriter(tmp_path / name, **options) as bag:
            bag.add(string)
            for number in range(count):
                bag.write("/said", number * 10**8, number * 10**8 + 7, said(number))
        return tmp_path / name

    return make


@pytest.fixture
def foreign(tmp_path, string, said) -> Callable[..., Path]:
    """foreign(storage, compression) -> folder of a bag of /said that rosbags wrote."""

    def make(storage: StoragePlugin, compression: CompressionMode = CompressionMode.NONE) -> Path:
        store = get_typestore(Stores.ROS2_JAZZY)
        writer = Writer(tmp_path / "foreign", version=9, storage_plugin=storage)
        writer.set_compression(compression, CompressionFormat.ZSTD)
        with writer as bag:
            channel = bag.add_connection("/said", string.type, typestore=store)
            for number in range(30):
                bag.write(channel, number * 10**8, said(number))
        return tmp_path / "foreign"

    return make
