"""Single MCAP files of a bag: writer, index and records."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import zstandard
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.stream_reader import CRCValidationError, StreamReader
from mcap.writer import CompressionType, Writer

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_data.bags import qos
from rulesafe_data.bags.metadata import FileInfo, Topic

COMPRESSIONS = {
    "none": CompressionType.NONE,
    "lz4": CompressionType.LZ4,
    "zstd": CompressionType.ZSTD,
}
"""Chunk compressions by name, supported by all MCAP readers."""

DAMAGE = (
    *(McapError, CRCValidationError, struct.error, zstandard.ZstdError, RuntimeError),
    *(ValueError, EOFError),
)
"""Exceptions of MCAP readers for incomplete or damaged files (lz4 raises RuntimeError)."""

QOS_KEY, HASH_KEY = "offered_qos_profiles", "topic_type_hash"
"""Keys of rosbag2 in the metadata of a channel."""

LIBRARY = "rulesafe"


def open_writer(stream: IO[bytes], compression: str) -> Writer:
    """Start an MCAP file; raise RuleSafeError if the compression is unknown."""
    if compression not in COMPRESSIONS:
        raise unknown_name("compression", compression, COMPRESSIONS)
    writer = Writer(stream, compression=COMPRESSIONS[compression])
    writer.start(profile="ros2", library=LIBRARY)
    return writer


def register(writer: Writer, topic: Topic, schemas: dict[str, int]) -> int:
    """Register a topic and return its channel id. `schemas`: registered schema ids by type, which
    is updated."""
    if topic.type not in schemas:
        encoding = topic.encoding if topic.definition else ""
        schemas[topic.type] = writer.register_schema(
            topic.type, encoding, topic.definition.encode()
        )
    about = {QOS_KEY: qos.to_text(topic.offered), HASH_KEY: topic.type_hash}
    return writer.register_channel(topic.name, "cdr", schemas[topic.type], about)


def topic_of(channel: Any, schema: Any) -> Topic:
    """Return the topic of a channel and its schema (None: no schema)."""
    return Topic(
        channel.topic,
        schema.name if schema else "",
        qos.from_plain(channel.metadata.get(QOS_KEY, "")),
        channel.metadata.get(HASH_KEY, ""),
        schema.data.decode() if schema else "",
        schema.encoding if schema else "ros2msg",
    )


def describe(path: Path) -> tuple[FileInfo, dict[str, Topic]]:
    """Read the index of a finished file; raise RuleSafeError if it has none."""
    try:
        with path.open("rb") as stream:
            summary = make_reader(stream).get_summary()
    except (*DAMAGE, OSError) as error:
        raise RuleSafeError(f"{path} is unfinished or not an MCAP file ({error})") from error
    if summary is None or summary.statistics is None:
        raise RuleSafeError(f"{path} has no index")
    topics: dict[str, Topic] = {}
    counts: dict[str, int] = {}
    for number, channel in summary.channels.items():
        topic = topic_of(channel, summary.schemas.get(channel.schema_id))
        topics[topic.name] = topic
        count = summary.statistics.channel_message_counts.get(number, 0)
        counts[topic.name] = counts.get(topic.name, 0) + count
    statistics = summary.statistics
    start, end = statistics.message_start_time, statistics.message_end_time
    return FileInfo(path.name, start, end, counts), topics


def records(stream: IO[bytes]) -> Iterator[Any]:
    """Yield the records of a file up to its end or the first damaged one, verifying checksums."""
    reader = StreamReader(stream, validate_crcs=True)
    try:
        yield from reader.records
    except DAMAGE:
        return


def is_finished(path: Path) -> bool:
    """Return whether a file has an index."""
    try:
        describe(path)
    except RuleSafeError:
        return False
    return True
