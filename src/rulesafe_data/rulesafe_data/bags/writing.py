"""Write a bag: MCAP files, split by size or time, and at the end metadata.yaml.

Example::

    with BagWriter(Path("bag")) as bag:
        bag.add(Topic("/chatter", "std_msgs/msg/String", definition="string data"))
        bag.write("/chatter", when, published, raw)

Messages are flushed every `flush` s, so that a killed writer loses only later ones; `repair`
completes its bag.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

from mcap.writer import Writer

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import disk_full_errors
from rulesafe_core.settings import Settings, setting
from rulesafe_data.bags import files, metadata
from rulesafe_data.bags.metadata import Metadata, Topic


@dataclass(frozen=True)
class Splitting(Settings):
    """Limits after which a bag continues in another file."""

    megabytes: float = setting(
        0.0, "Maximum size of a file (10^6 bytes, compressed); 0: no limit.", 0
    )
    seconds: float = setting(0.0, "Maximum time span of the messages in a file; 0: no limit.", 0)


class BagWriter:
    """Writes a bag to a new folder. It is a context manager and not thread-safe.

    Args:
        folder: folder of the bag, which must not exist; the files are named after it.
        compression: one of `files.COMPRESSIONS`.
        splitting: limits of a file.
        flush: wall time (s) after which messages are flushed to the file.

    Attributes:
        topics: added topics by name.
        dropped: number of lost messages by topic, written to the bag.

    Raises:
        RuleSafeError: `folder` exists, compression or topic are unknown, or the disk is full.
    """

    def __init__(
        self,
        folder: Path,
        compression: str = "zstd",
        splitting: Splitting = Splitting(),
        flush: float = 0.5,
    ):
        if compression not in files.COMPRESSIONS:
            raise unknown_name("compression", compression, files.COMPRESSIONS)
        if folder.exists():
            raise RuleSafeError(f"{folder} exists already: choose a new folder for the bag (--out)")
        self.folder = folder
        self.topics: dict[str, Topic] = {}
        self.dropped: dict[str, int] = {}
        self._compression, self._splitting, self._flush = compression, splitting, flush
        self._paths: list[Path] = []
        self._written_dropped: dict[str, int] = {}
        self._check_disk = partial(
            disk_full_errors,
            folder,
            "Earlier messages are kept: free disk space, then complete the bag with rulesafe bag "
            f"info {folder} --repair, or record to another folder",
        )
        with self._check_disk():
            folder.mkdir(parents=True)
            self._begin()

    def _begin(self) -> None:
        """Start a file with all topics."""
        path = self.folder / f"{self.folder.name}_{len(self._paths)}.mcap"
        self._stream: IO[bytes] = path.open("xb")
        self._paths.append(path)
        self._writer: Writer = files.open_writer(self._stream, self._compression)
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._first: int | None = None  # time of the file's first message, ns
        self._flushed = time.monotonic()
        for topic in self.topics.values():
            self._channels[topic.name] = files.register(self._writer, topic, self._schemas)

    def add(self, topic: Topic) -> None:
        """Add a topic before its messages, or replace it."""
        if topic.name not in self._channels:
            self._channels[topic.name] = files.register(self._writer, topic, self._schemas)
        self.topics[topic.name] = topic

    def write(self, topic: str, when: int, published: int, data: bytes) -> None:
        """Write a serialised message (CDR) with its times of reception and publication (ns)."""
        if topic not in self._channels:
            raise unknown_name("topic of this bag", topic, self._channels)
        with self._check_disk():
            if self._first is not None and self._is_full(when):
                self._end()
                self._begin()
            self._first = when if self._first is None else self._first
            self._writer.add_message(self._channels[topic], when, data, published)
            self.tick()

    def _is_full(self, when: int) -> bool:
        split, first = self._splitting, self._first or 0
        if split.seconds and when - first >= split.seconds * 10**9:
            return True
        return bool(split.megabytes) and self._stream.tell() >= split.megabytes * 10**6

    def tick(self) -> None:
        """Flush if it is due; call it periodically while there are no messages."""
        if time.monotonic() - self._flushed >= self._flush:
            self.flush()

    def flush(self) -> None:
        """Flush all messages to the file; raise RuleSafeError if the disk is full."""
        with self._check_disk():
            self._write_dropped()
            self._writer.flush()
        self._flushed = time.monotonic()

    def _write_dropped(self) -> None:
        """Write the counts of lost messages to the file, for a repair."""
        if self.dropped != self._written_dropped:
            self._written_dropped = dict(self.dropped)
            plain = {topic: str(count) for topic, count in self.dropped.items()}
            self._writer.flush()  # a metadata record must not be inside a chunk
            self._writer.add_metadata(metadata.DROPPED, plain)

    def _end(self) -> None:
        self._write_dropped()
        self._writer.finish()
        self._stream.close()

    def close(self) -> Metadata:
        """Complete the files; write and return the metadata."""
        with self._check_disk():
            if not self._stream.closed:
                self._end()
            return complete(self.folder, self._paths, self.dropped, self.topics)

    def __enter__(self) -> "BagWriter":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def complete(
    folder: Path,
    paths: list[Path],
    dropped: Mapping[str, int] | None,
    topics: Mapping[str, Topic] | None = None,
) -> Metadata:
    """Write and return the metadata of finished files; `topics` override those in the files."""
    found = metadata.merged([files.describe(path) for path in paths], dropped=dropped)
    if topics:
        found = replace(found, topics={**found.topics, **topics})
    metadata.write(folder, found)
    return found
