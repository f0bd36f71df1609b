"""A bag whose recorder was killed: its files get their index, the bag its metadata.yaml.

A file that is unfinished holds whole chunks and, at its end, perhaps a torn one. What is whole is
copied, message by message, into a new file, which then takes the old one's place; without a whole
chunk the file goes.
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
from rulesafe_core.files import says_when_full
from rulesafe_data.bags import files, metadata
from rulesafe_data.bags.writing import complete

LOCK = ".recording"
"""A file that the recorder holds while it writes."""

DRAFT = ".mending"
"""Suffix of a file that is being copied."""


@dataclass(frozen=True)
class Mended:
    """What came of mending.

    Attributes:
        files: names of the files that got an index.
        removed: names of files without a single whole chunk.
        messages: in the whole bag.
        lost: bytes at the files' ends that could not be read.
    """

    files: tuple[str, ...]
    removed: tuple[str, ...]
    messages: int
    lost: int


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Holds a bag that is being written or mended. A killed process lets go of it.

    Errors: RuleSafeError where another process holds it.
    """
    path = folder / LOCK
    with path.open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise RuleSafeError(f"{folder} is being recorded at this moment: end that first") from (
                None
            )
        yield
        path.unlink(missing_ok=True)


def pieces(folder: Path) -> list[Path]:
    """The MCAP files of a bag, in the order in which they were written."""

    def number(path: Path) -> tuple[int, str]:
        found = re.search(r"_(\d+)\.mcap$", path.name)
        return (int(found[1]) if found else 0, path.name)

    return sorted(folder.glob("*.mcap"), key=number)


def unfinished(folder: Path) -> list[Path]:
    """The MCAP files of a bag that have no index."""
    return [path for path in pieces(folder) if not files.is_finished(path)]


def mend(folder: Path) -> Mended:
    """Mends a bag of MCAP files. Errors: RuleSafeError where there is nothing to make a bag of,
    where it is being recorded, and on a full disk (everything stays as it was then)."""
    if not folder.is_dir() or not pieces(folder):
        raise RuleSafeError(f"{folder} has no .mcap files: there is nothing to mend")
    with held(folder), says_when_full(folder):
        mended: list[str] = []
        removed: list[str] = []
        lost = 0
        for path in unfinished(folder):
            size = path.stat().st_size
            kept = _copy(path)
            lost += size - kept
            (mended if kept else removed).append(path.name)
        left = pieces(folder)
        if not left:
            raise RuleSafeError(f"{folder} has not one whole chunk of messages: nothing is left")
        found = complete(folder, left, _dropped(left))
    return Mended(tuple(mended), tuple(removed), found.messages, lost)


def _copy(path: Path) -> int:
    """Replaces a file by one with an index; how many of its bytes were whole, 0 if it is gone."""
    draft = path.with_suffix(DRAFT)
    good = messages = 0
    schemas: dict[int, int] = {}
    channels: dict[int, int] = {}
    with path.open("rb") as source, draft.open("wb") as target:
        writer = files.open_writer(target, "zstd")
        for record in files.records(source):
            good = source.tell()
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
    return good


def _dropped(paths: list[Path]) -> dict[str, int]:
    """What the recorder noted last of messages that got lost."""
    found: dict[str, Any] = {}
    for path in paths:
        with path.open("rb") as stream:
            for record in files.records(stream):
                if isinstance(record, Metadata) and record.name == metadata.DROPPED:
                    found |= record.metadata
    return {topic: int(count) for topic, count in found.items()}
