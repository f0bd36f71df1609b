"""Repair a bag whose recorder was killed, or one with damaged files or without metadata.

All readable messages are copied to a new bag beside the original, which is not changed. Unreadable
parts are reported: an incomplete chunk at the end of an unfinished file, and damaged chunks.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any

import zstandard
from mcap.records import Channel, Message, Schema

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import disk_full_errors, temporary_path
from rulesafe_data.bags import files, metadata, sqlite
from rulesafe_data.bags.files import Damage, Report, data_files
from rulesafe_data.bags.reading import Bag
from rulesafe_data.bags.writing import complete

LOCK = ".recording"
"""Name of the lock file while a bag is written."""


@dataclass(frozen=True)
class Repaired:
    """The result of a repair.

    Attributes:
        folder: the new bag.
        messages: number of messages in each new file, by name; 0: no file was written.
        damage: the parts of the original that could not be read.
    """

    folder: Path
    messages: dict[str, int]
    damage: tuple[Damage, ...]


@contextmanager
def recording_lock(folder: Path) -> Iterator[None]:
    """Lock a bag while it is recorded; the lock is released if the process is killed."""
    path = folder / LOCK
    with path.open("w") as lock:
        flock(lock, LOCK_EX | LOCK_NB)
        yield
        path.unlink(missing_ok=True)


def _check_stopped(folder: Path) -> None:
    """Raise RuleSafeError if a recorder writes to the bag. The bag is not changed."""
    path = (folder if folder.is_dir() else folder.parent) / LOCK
    if not path.exists():
        return
    with path.open() as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            message = f"{folder} is being recorded: stop the recorder first"
            raise RuleSafeError(message) from None


def unfinished(folder: Path) -> list[Path]:
    """Return the MCAP files of a bag that have no index."""
    found = (path for path in data_files(folder) if path.suffix == ".mcap")
    return [path for path in found if not files.is_finished(path)]


def repair(folder: Path) -> Repaired:
    """Copy the readable messages of a bag, or of one of its files, to the new bag
    `folder`_repaired of MCAP files.

    Raises:
        RuleSafeError: the bag is complete and undamaged, or no message can be read, or the new
            folder exists, or the bag is being recorded, or the disk is full. Nothing is written.
    """
    paths = data_files(folder)
    if not paths:
        kinds = ", ".join(files.SUFFIXES)
        raise RuleSafeError(f"{folder} has no files {kinds}: there is nothing to repair")
    _check_stopped(folder)
    name = folder.resolve().name
    target = folder.resolve().with_name(
        f"{name if folder.is_dir() else name.partition('.')[0]}_repaired"
    )
    if target.exists():
        raise RuleSafeError(f"{target} exists already: remove or rename it, and repeat the command")
    damage: list[Damage] = []
    dropped: dict[str, Any] = {}
    draft = temporary_path(target)
    try:
        with disk_full_errors(target, "Nothing was written; free disk space"):
            draft.mkdir()
            copies, counts = [], {}
            for path in paths:
                copy = draft / f"{path.name.removesuffix('.zstd').removesuffix('.mcap')}.mcap"
                counts[path.name] = _copy(path, copy, damage, dropped)
                copies += [copy] * bool(counts[path.name])
            if not copies:
                reason = f": {damage[0]}" if damage else ""
                raise RuleSafeError(f"{folder} has no readable messages{reason}")
            if not damage and not unfinished(folder) and _described(folder, counts):
                raise RuleSafeError(f"{folder} is complete and undamaged: nothing to repair")
            complete(draft, copies, {topic: int(count) for topic, count in dropped.items()})
            draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Repaired(target, counts, tuple(damage))


def _described(folder: Path, counts: Mapping[str, int]) -> bool:
    """Return whether the bag can be read and lists the files and their number of messages."""
    try:
        about = Bag(folder).metadata
    except RuleSafeError:
        return False
    names = [file.path for file in about.files]
    return names == list(counts) and sum(about.counts.values()) == sum(counts.values())


def _copy(path: Path, target: Path, damage: list[Damage], dropped: dict[str, Any]) -> int:
    """Copy the readable messages of a file and return their number; without any, write no file.

    `damage` and `dropped` (the recorder's counts of lost messages by topic) are updated.
    """
    schemas: dict[int, int] = {}
    channels: dict[int, int] = {}
    count = unknown = 0
    with target.open("wb") as stream:
        writer = files.open_writer(stream, "zstd")

        def add(record: Schema | Channel) -> None:
            if isinstance(record, Schema) and record.id not in schemas:
                new = writer.register_schema(record.name, record.encoding, record.data)
                schemas[record.id] = new
            elif isinstance(record, Channel) and record.id not in channels:
                schema = schemas.get(record.schema_id, 0)
                channels[record.id] = writer.register_channel(
                    record.topic, record.message_encoding, schema, record.metadata
                )

        for record in _records(path, damage.append):
            if isinstance(record, (Schema, Channel)):
                add(record)
            elif isinstance(record, Message) and record.channel_id in channels:
                try:
                    data = _decompressed(record.data)
                except zstandard.ZstdError as error:
                    damage.append(Damage(path, 0, f"a message of {record.log_time} ns: {error}"))
                    continue
                count += 1
                writer.add_message(
                    channels[record.channel_id],
                    record.log_time,
                    data,
                    record.publish_time,
                    record.sequence,
                )
            elif isinstance(record, Message):
                unknown += 1
            else:
                writer.flush()
                writer.add_metadata(record.name, record.metadata)
                if record.name == metadata.DROPPED:
                    dropped |= record.metadata
        writer.finish()
        stream.flush()
        os.fsync(stream.fileno())
    if unknown:
        damage.append(Damage(path, 0, f"{unknown} messages whose topic is in a damaged part"))
    if not count:
        target.unlink()
    return count


def _records(path: Path, report: Report) -> Iterator[Any]:
    """Yield the records of a file, see `files.records`; compressed files are decompressed first."""
    read = sqlite.records if ".db3" in path.suffixes else files.records
    if path.suffix != ".zstd":
        yield from read(path, report)
        return
    with tempfile.TemporaryDirectory(prefix="rulesafe_bag_") as scratch:
        plain = Path(scratch, path.stem)
        with path.open("rb") as source, plain.open("wb") as target:
            try:
                zstandard.ZstdDecompressor().copy_stream(source, target)
            except zstandard.ZstdError as error:
                report(Damage(path, 0, str(error)))
        yield from read(plain, lambda damage: report(replace(damage, file=path)))


def _decompressed(data: bytes) -> bytes:
    """Return a message, decompressed if the recorder compressed single messages."""
    if not data.startswith(zstandard.FRAME_HEADER):
        return data
    return zstandard.ZstdDecompressor().stream_reader(data).read(files.CHUNK_LIMIT)
