"""Writes a bag: the files, split by size or time, and metadata.yaml when it is complete.

Example::

    with BagWriter(Path("bag")) as bag:
        bag.add(Topic("/chatter", "std_msgs/msg/String", definition="string data"))
        bag.write("/chatter", when, published, raw)

Messages go to the file at least every `flush` seconds: who kills the writer loses no more, and
`mending` makes a bag of what is there.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from mcap.writer import Writer

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import says_when_full
from rulesafe_core.settings import Settings, setting
from rulesafe_data.bags import files, metadata
from rulesafe_data.bags.metadata import Metadata, Topic


@dataclass(frozen=True)
class Splitting(Settings):
    """When a bag is continued in another file."""

    megabytes: float = setting(0.0, "Size of a file (10^6 bytes, compressed); 0: any.", 0)
    seconds: float = setting(0.0, "Time that the messages of a file span; 0: any.", 0)


class BagWriter:
    """Writes a bag into a new folder; not for several threads. A context manager: it closes the
    bag whatever happened within.

    Args:
        folder: made; its name begins those of the files.
        compression: one of `files.COMPRESSIONS`.
        splitting: into files.
        flush: s (of wall time) after which messages are in the file.

    Attributes:
        topics: by name, what was added; add a topic again to correct what is known of it.
        dropped: messages that got lost on their way here, by topic, for `close` to note.

    Errors: RuleSafeError where something is at `folder`, for an unknown compression or topic, and
    on a full disk.
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
            raise RuleSafeError(f"{folder} exists already: a bag needs a folder of its own (--out)")
        self.folder = folder
        self.topics: dict[str, Topic] = {}
        self.dropped: dict[str, int] = {}
        self._compression, self._splitting, self._flush = compression, splitting, flush
        self._paths: list[Path] = []
        self._noted: dict[str, int] = {}
        folder.mkdir(parents=True)
        self._begin()

    def _begin(self) -> None:
        """A new file, which knows all topics from its beginning on."""
        path = self.folder / f"{self.folder.name}_{len(self._paths)}.mcap"
        self._stream: IO[bytes] = path.open("xb")
        self._paths.append(path)
        self._writer: Writer = files.open_writer(self._stream, self._compression)
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._first: int | None = None  # time of its first message, ns
        self._flushed = time.monotonic()
        for topic in self.topics.values():
            self._channels[topic.name] = files.register(self._writer, topic, self._schemas)

    def add(self, topic: Topic) -> None:
        """A topic whose messages will come, or what is known anew of one."""
        if topic.name not in self._channels:
            self._channels[topic.name] = files.register(self._writer, topic, self._schemas)
        self.topics[topic.name] = topic

    def write(self, topic: str, when: int, published: int, data: bytes) -> None:
        """A message: its topic, when it came and when it was sent (ns), and what it is (CDR)."""
        if topic not in self._channels:
            raise unknown_name("topic of this bag", topic, self._channels)
        with says_when_full(self.folder):
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
        """Brings what has waited long enough into the file; call it when no messages come."""
        if time.monotonic() - self._flushed >= self._flush:
            self.flush()

    def flush(self) -> None:
        """Brings everything into the file. Errors: RuleSafeError on a full disk."""
        with says_when_full(self.folder):
            self._note_dropped()
            self._writer.flush()
        self._flushed = time.monotonic()

    def _note_dropped(self) -> None:
        """So that a mended bag tells of them too."""
        if self.dropped != self._noted:
            self._noted = dict(self.dropped)
            plain = {topic: str(count) for topic, count in self.dropped.items()}
            self._writer.flush()  # a record of metadata must not come into a chunk
            self._writer.add_metadata(metadata.DROPPED, plain)

    def _end(self) -> None:
        self._note_dropped()
        self._writer.finish()
        self._stream.close()

    def close(self) -> Metadata:
        """Completes the files and writes metadata.yaml, which it gives."""
        with says_when_full(self.folder):
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
    """Writes the metadata.yaml of finished files; `topics`: what is known better than there."""
    found = metadata.merged([files.describe(path) for path in paths], dropped=dropped)
    if topics:
        found = replace(found, topics={**found.topics, **topics})
    metadata.write(folder, found)
    return found
