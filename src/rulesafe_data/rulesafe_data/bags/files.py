"""Single MCAP files of a bag: writer, index, records and messages.

The checksums of the index and of each chunk are verified. A damaged chunk is skipped and reported.
"""

import heapq
import os
import re
import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import lz4.frame
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.reader import make_reader
from mcap.records import Channel, Chunk, DataEnd, Footer, Message, Metadata, Schema
from mcap.stream_reader import CRCValidationError, breakup_chunk
from mcap.summary import Summary
from mcap.writer import CompressionType, Writer

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.text_files import open_regular
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
    *(ValueError, EOFError, KeyError, OverflowError, MemoryError),
)
"""Exceptions of MCAP readers for incomplete or damaged files (lz4 raises RuntimeError)."""

SUFFIXES = (".mcap", ".mcap.zstd", ".db3", ".db3.zstd")
"""Ends of the names of the files of bags."""

CHUNK_LIMIT = 1 << 28
"""Maximum size of a decompressed chunk, bytes. Recorders write chunks of a few megabytes."""

OVERHEAD = 300
"""Memory of a message besides its data, bytes."""

WAITING_LIMIT = 1 << 30
"""Maximum size of the messages of chunks that overlap in time, bytes, which are sorted in RAM."""

MAGIC = b"\x89MCAP0\r\n"
"""First and last bytes of a file."""

RECORD = struct.Struct("<BQ")
"""Start of a record: opcode and length of its content."""

FOOTER = struct.Struct("<QQI")
"""Content of the footer; its last field is the checksum of the index."""

PARSERS: dict[int, Callable[..., Any]] = {
    Opcode.SCHEMA: Schema.read,
    Opcode.CHANNEL: Channel.read,
    Opcode.CHUNK: Chunk.read,
    Opcode.METADATA: Metadata.read,
    Opcode.DATA_END: DataEnd.read,
}
"""Parsers of the records that are read outside of the index; a message needs its length too."""

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


@dataclass(frozen=True)
class Damage:
    """A part of a file that cannot be read.

    Attributes:
        file: path of the file.
        offset: position of the part in the file, bytes.
        reason: error of the reader.
        start, end: times of the first and last message, ns; None if they are unknown.
    """

    file: Path
    offset: int
    reason: str
    start: int | None = None
    end: int | None = None

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether messages between these times (ns) may be missing."""
        return (self.start or 0) <= end and (start <= self.end if self.end is not None else True)

    def __str__(self) -> str:
        times = ""
        if self.start is not None and self.end is not None:
            times = f", with messages from {self.start} to {self.end} ns"
        return f"{self.file}: skipped the damaged part at byte {self.offset}{times}: {self.reason}"


Report = Callable[[Damage], object]


def read_summary(stream: IO[bytes]) -> Summary | None:
    """Read the index of a file and verify its checksum; None if the file has no index."""
    if stream.seek(0, os.SEEK_END) < FOOTER.size + 2 * len(MAGIC):
        raise EOFError("it is shorter than its footer")
    stream.seek(0)
    summary = make_reader(stream).get_summary()
    if summary is None:
        return None
    end = stream.seek(-(FOOTER.size + len(MAGIC)), os.SEEK_END)
    start, offsets, expected = FOOTER.unpack(stream.read(FOOTER.size))
    stream.seek(start)
    actual = zlib.crc32(stream.read(end + FOOTER.size - 4 - start))
    if expected not in (0, actual):
        raise CRCValidationError(expected, actual, Footer(start, offsets, expected))
    return summary


def describe(path: Path) -> tuple[FileInfo, dict[str, Topic]]:
    """Read the index of a finished file; raise RuleSafeError if it has none."""
    try:
        with open_regular(path) as stream:
            summary = read_summary(stream)
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


def _unpack(chunk: Chunk) -> list[Any]:
    """Return the records of a chunk; raise one of DAMAGE if its size or checksum is wrong."""
    size = chunk.uncompressed_size
    if size > CHUNK_LIMIT:
        raise ValueError(f"the chunk has {size} bytes; at most {CHUNK_LIMIT} are read")
    data = chunk.data
    if chunk.compression == "zstd":
        data = zstandard.ZstdDecompressor().stream_reader(BytesIO(data)).read(size + 1)
    elif chunk.compression == "lz4":
        data = lz4.frame.LZ4FrameDecompressor().decompress(data, max_length=size + 1)
    if len(data) != size:
        raise ValueError(f"the chunk does not have the stated {size} bytes")
    return breakup_chunk(replace(chunk, compression="", data=data), validate_crc=True)


def records(path: Path, report: Report) -> Iterator[Any]:
    """Yield the schemas, channels, messages and metadata of a file, also of one without an index.

    Schemas and channels that an index lists come first, and again at their positions. Damaged
    records are reported and skipped. After a damaged length, reading continues at the next chunk in
    the index, if the file has one.
    """
    size = path.stat().st_size
    with open_regular(path) as stream:
        try:
            summary = read_summary(stream)
        except DAMAGE:
            summary = None
        starts: list[int] = []
        if summary is not None:
            starts = sorted(index.chunk_start_offset for index in summary.chunk_indexes)
            yield from summary.schemas.values()
            yield from summary.channels.values()
        stream.seek(0)
        checksum = zlib.crc32(stream.read(len(MAGIC)))
        undamaged = True

        def damage(offset: int, reason: object) -> None:
            nonlocal undamaged
            undamaged = False
            report(Damage(path, offset, str(reason) or type(reason).__name__))

        while (offset := stream.tell()) < size:
            head = stream.read(RECORD.size)
            opcode, length = RECORD.unpack(head) if len(head) == RECORD.size else (0, 0)
            if not 1 <= opcode <= Opcode.DATA_END or offset + RECORD.size + length > size:
                following = next((start for start in starts if start > offset), size)
                damage(offset, f"{following - offset} bytes without a complete record")
                stream.seek(following)
                continue
            content = stream.read(length)
            try:
                record = _parse(opcode, content)
                if isinstance(record, DataEnd):
                    expected = record.data_section_crc
                    if undamaged and expected not in (0, checksum):
                        damage(offset, CRCValidationError(expected, checksum, record))
                    return
                yield from _unpack(record) if isinstance(record, Chunk) else filter(None, [record])
            except DAMAGE as error:
                damage(offset, error)
            checksum = zlib.crc32(content, zlib.crc32(head, checksum))


def _parse(opcode: int, content: bytes) -> Any:
    """Return a record; None for a kind that is not read."""
    stream = ReadDataStream(BytesIO(content))
    if opcode == Opcode.MESSAGE:
        return Message.read(stream, len(content))
    return PARSERS[opcode](stream) if opcode in PARSERS else None


def messages(
    path: Path, topics: Collection[str], start: int, end: int, report: Report
) -> Iterator[tuple[str, Message]]:
    """Yield the messages of topics, with the topic, sorted by the time of reception.

    Args:
        path: a finished file.
        topics: names of topics.
        start, end: interval of the times of reception, ns, including `start`, excluding `end`.
        report: called with each damaged part, which is skipped.
    """
    with open_regular(path) as stream:
        summary = read_summary(stream)
        if summary is None:
            raise ValueError(f"{path} has no index")
        names = {n: c.topic for n, c in summary.channels.items() if c.topic in topics}
        waiting: list[tuple[int, int, int, Message]] = []  # by time, position, position in chunk
        size = 0  # of the waiting messages, bytes

        def add(position: int, found: list[Any]) -> None:
            nonlocal size
            for number, record in enumerate(found):
                wanted = isinstance(record, Message) and record.channel_id in names
                if wanted and start <= record.log_time < end:
                    size += len(record.data) + OVERHEAD
                    heapq.heappush(waiting, (record.log_time, position, number, record))

        def oldest() -> tuple[str, Message]:
            nonlocal size
            message = heapq.heappop(waiting)[-1]
            size -= len(message.data) + OVERHEAD
            return names[message.channel_id], message

        if not summary.chunk_indexes:
            add(0, list(records(path, report)))
        for index in sorted(summary.chunk_indexes, key=lambda index: index.message_start_time):
            first, last = index.message_start_time, index.message_end_time
            channels = index.message_index_offsets
            if last < start or first >= end or (channels and not names.keys() & channels.keys()):
                continue
            while waiting and waiting[0][0] < first:
                yield oldest()
            position = index.chunk_start_offset
            stream.seek(position + RECORD.size)
            try:
                if size > WAITING_LIMIT:
                    raise ValueError(f"the chunks before overlap; at most {WAITING_LIMIT} bytes")
                add(position, _unpack(_parse(Opcode.CHUNK, stream.read(index.chunk_length))))
            except DAMAGE as error:
                report(Damage(path, position, str(error) or type(error).__name__, first, last))
        while waiting:
            yield oldest()


def data_files(path: Path) -> list[Path]:
    """Return the files of a bag in the order in which they were written; a file of a bag is one of
    a single file. A compressed file is omitted if it is decompressed beside it."""

    def number(file: Path) -> tuple[int, str]:
        found = re.search(r"_(\d+)\.\w+(\.zstd)?$", file.name)
        return (int(found[1]) if found else 0, file.name)

    found = [path] if path.is_file() else sorted(path.glob("*"), key=number)
    named = [file for file in found if file.name.endswith(SUFFIXES)]
    return [f for f in named if f.suffix != ".zstd" or f.with_suffix("") not in named]


def is_finished(path: Path) -> bool:
    """Return whether a file has an index."""
    try:
        describe(path)
    except RuleSafeError:
        return False
    return True
