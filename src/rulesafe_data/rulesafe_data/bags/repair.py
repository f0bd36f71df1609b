"""Repair a bag whose recorder was killed: write the indices of its files and metadata.yaml.

An unfinished file contains complete chunks and possibly an incomplete one at its end. The messages
of the complete chunks are copied to a new file that replaces the old one; a file without a complete
chunk is removed.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any

from mcap.records import Channel, Message, Metadata, Schema

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import disk_full_errors
from rulesafe_data.bags import files, metadata
from rulesafe_data.bags.writing import complete

LOCK = ".recording"
"""Name of the lock file while a bag is written."""

DRAFT = ".repair"
"""Suffix of the temporary copy of a file."""


@dataclass(frozen=True)
class Repaired:
    """The result of a repair.

    Attributes:
        files: names of repaired files.
        removed: names of removed files, which had no complete chunk.
        messages: number of messages in the bag.
        lost: number of bytes at the ends of the files that could not be read.
    """

    files: tuple[str, ...]
    removed: tuple[str, ...]
    messages: int
    lost: int


@contextmanager
def recording_lock(folder: Path) -> Iterator[None]:
    """Lock a bag while it is written or repaired; the lock is released if the process is killed.

    Raises:
        RuleSafeError: another process holds the lock.
    """
    path = folder / LOCK
    with path.open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            message = f"{folder} is being recorded: stop the recorder first"
            raise RuleSafeError(message) from None
        yield
        path.unlink(missing_ok=True)


def mcap_files(folder: Path) -> list[Path]:
    """Return the MCAP files of a bag, in the order in which they were written."""

    def number(path: Path) -> tuple[int, str]:
        found = re.search(r"_(\d+)\.mcap$", path.name)
        return (int(found[1]) if found else 0, path.name)

    return sorted(folder.glob("*.mcap"), key=number)


def unfinished(folder: Path) -> list[Path]:
    """Return the MCAP files of a bag that have no index."""
    return [path for path in mcap_files(folder) if not files.is_finished(path)]


def repair(folder: Path) -> Repaired:
    """Repair a bag of MCAP files.

    Raises:
        RuleSafeError: there are no messages to recover, the bag is being recorded, or the disk is
            full (the current file is then unchanged).
    """
    if not folder.is_dir() or not mcap_files(folder):
        raise RuleSafeError(f"{folder} has no .mcap files: there is nothing to repair")
    with recording_lock(folder), disk_full_errors(folder):
        repaired: list[str] = []
        removed: list[str] = []
        lost = 0
        for path in unfinished(folder):
            size = path.stat().st_size
            kept = _copy(path)
            lost += size - kept
            (repaired if kept else removed).append(path.name)
        remaining = mcap_files(folder)
        if not remaining:
            raise RuleSafeError(
                f"{folder} has no complete chunk of messages: nothing can be recovered"
            )
        found = complete(folder, remaining, _dropped(remaining))
    return Repaired(tuple(repaired), tuple(removed), found.messages, lost)


def _copy(path: Path) -> int:
    """Replace a file by a copy with an index; return the bytes read, 0 if it was removed."""
    draft = path.with_suffix(DRAFT)
    read = messages = 0
    schemas: dict[int, int] = {}
    channels: dict[int, int] = {}
    with path.open("rb") as source, draft.open("wb") as target:
        writer = files.open_writer(target, "zstd")
        for record in files.records(source):
            read = source.tell()
            if isinstance(record, Schema) and record.id not in schemas:
                schemas[record.id] = writer.register_schema(
                    record.name, record.encoding, record.data
                )
            elif isinstance(record, Channel) and record.id not in channels:
                channels[record.id] = writer.register_channel(
                    record.topic,
                    record.message_encoding,
                    schemas.get(record.schema_id, 0),
                    record.metadata,
                )
            elif isinstance(record, Message):
                messages += 1
                writer.add_message(
                    channels[record.channel_id],
                    record.log_time,
                    record.data,
                    record.publish_time,
                    record.sequence,
                )
            elif isinstance(record, Metadata):
                writer.flush()
                writer.add_metadata(record.name, record.metadata)
        writer.finish()
        target.flush()
        os.fsync(target.fileno())
    if not messages:
        draft.unlink()
        path.unlink()
        return 0
    draft.replace(path)
    return read


def _dropped(paths: list[Path]) -> dict[str, int]:
    """Return the latest counts of lost messages written by the recorder, by topic."""
    found: dict[str, Any] = {}
    for path in paths:
        with path.open("rb") as stream:
            for record in files.records(stream):
                if isinstance(record, Metadata) and record.name == metadata.DROPPED:
                    found |= record.metadata
    return {topic: int(count) for topic, count in found.items()}
