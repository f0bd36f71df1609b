"""metadata.yaml of a bag in rosbag2's format: files, times and topics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from rosbags.interfaces import Qos

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.strict_yaml import parse_yaml
from rulesafe_core.text_files import MAX_YAML_BYTES, read_text
from rulesafe_data.bags import qos

NAME = "metadata.yaml"
VERSION = 9
"""Format version of ROS 2 Jazzy."""

DROPPED = "rulesafe_dropped"
"""Key of custom_data: number of lost messages by topic, as YAML."""

DISTRO = "jazzy"

STORAGES = {".mcap": "mcap", ".db3": "sqlite3"}
"""Storage identifier by the suffix of a file."""


@dataclass(frozen=True)
class Topic:
    """A topic of a bag.

    Attributes:
        name: name, such as /joint_states.
        type: message type, such as sensor_msgs/msg/JointState.
        offered: quality of service offered by each publisher.
        type_hash: REP 2011 hash, such as RIHS01_...; empty if unknown.
        definition: definition of the message and of all nested messages; empty if unknown.
        encoding: encoding of the definition: ros2msg or ros2idl.
    """

    name: str
    type: str
    offered: tuple[Qos, ...] = ()
    type_hash: str = ""
    definition: str = field(default="", repr=False)
    encoding: str = "ros2msg"


@dataclass(frozen=True)
class FileInfo:
    """A file of a bag; start and end in ns, both 0 without messages."""

    path: str
    start: int
    end: int
    counts: Mapping[str, int]  # messages by topic

    @property
    def messages(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Metadata:
    """The content of metadata.yaml.

    Attributes:
        files: files in chronological order.
        topics: topics by name.
        storage: mcap or sqlite3.
        compression: compression mode of rosbag2: empty, file or message (not MCAP chunk
            compression).
        dropped: number of lost messages by topic; None if they were not counted.
    """

    files: tuple[FileInfo, ...]
    topics: Mapping[str, Topic]
    storage: str = "mcap"
    compression: str = ""
    dropped: Mapping[str, int] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Number of messages by topic."""
        counts = dict.fromkeys(self.topics, 0)
        for file in self.files:
            for name, count in file.counts.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    @property
    def span(self) -> tuple[int, int]:
        """Times of the first and last message, ns; (0, 0) without messages."""
        filled = [file for file in self.files if file.messages]
        if not filled:
            return 0, 0
        return min(file.start for file in filled), max(file.end for file in filled)

    @property
    def messages(self) -> int:
        return sum(self.counts.values())


def to_text(metadata: Metadata) -> str:
    """Format the content of metadata.yaml."""
    start, end = metadata.span
    counts = metadata.counts
    content = {
        "version": VERSION,
        "storage_identifier": metadata.storage,
        "duration": {"nanoseconds": end - start},
        "starting_time": {"nanoseconds_since_epoch": start},
        "message_count": metadata.messages,
        "topics_with_message_count": [
            {"topic_metadata": _plain_topic(topic), "message_count": counts[topic.name]}
            for topic in metadata.topics.values()
        ],
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [file.path for file in metadata.files],
        "files": [_plain_file(file) for file in metadata.files],
        "custom_data": {DROPPED: yaml.safe_dump(dict(metadata.dropped or {})).strip()},
        "ros_distro": DISTRO,
    }
    return yaml.safe_dump({"rosbag2_bagfile_information": content}, sort_keys=False, width=1000)


def _plain_topic(topic: Topic) -> dict[str, Any]:
    return {
        "name": topic.name,
        "type": topic.type,
        "serialization_format": "cdr",
        "offered_qos_profiles": qos.to_plain(topic.offered),
        "type_description_hash": topic.type_hash,
    }


def _plain_file(file: FileInfo) -> dict[str, Any]:
    return {
        "path": file.path,
        "starting_time": {"nanoseconds_since_epoch": file.start},
        "duration": {"nanoseconds": file.end - file.start},
        "message_count": file.messages,
    }


def write(folder: Path, metadata: Metadata) -> None:
    """Write metadata.yaml atomically; raise RuleSafeError if the disk is full."""
    write_atomically(folder / NAME, to_text(metadata).encode())


def read(folder: Path) -> Metadata:
    """Read metadata.yaml, also of rosbag2. The first file gets the message counts of the bag.

    Raises:
        RuleSafeError: the file is missing or invalid.
    """
    path = folder / NAME
    try:
        content = parse_yaml(read_text(path, MAX_YAML_BYTES))["rosbag2_bagfile_information"]
        topics = [_topic(entry["topic_metadata"]) for entry in content["topics_with_message_count"]]
        counts = [entry["message_count"] for entry in content["topics_with_message_count"]]
        start = content["starting_time"]["nanoseconds_since_epoch"]
        end = start + content["duration"]["nanoseconds"]
        by_topic = dict(zip((topic.name for topic in topics), counts, strict=True))
        paths = content["relative_file_paths"]
        if not all(isinstance(name, str) for name in paths):
            raise TypeError("relative_file_paths must be a list of texts")
        # Some recorders state the folder of the bag, too, or no storage.
        paths = [name if (folder / name).exists() else Path(name).name for name in paths]
        storage = STORAGES.get(Path(paths[0]).suffix) if paths else None
        dropped = (content.get("custom_data") or {}).get(DROPPED)
        return Metadata(
            files=tuple(
                FileInfo(name, start, end, {} if i else by_topic) for i, name in enumerate(paths)
            ),
            topics={topic.name: topic for topic in topics},
            storage=storage or content["storage_identifier"],
            compression=content.get("compression_mode", "").lower(),
            dropped=None if dropped is None else dict(parse_yaml(dropped) or {}),
        )
    except FileNotFoundError:
        raise RuleSafeError(f"{folder} has no {NAME}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RuleSafeError(
            f"{path} is not valid bag metadata: {error!r}; `rulesafe bag info {folder} --repair` "
            "copies the bag and writes it again"
        ) from error


def _topic(entry: Mapping[str, Any]) -> Topic:
    return Topic(
        entry["name"],
        entry["type"],
        qos.from_plain(entry.get("offered_qos_profiles", ())),
        entry.get("type_description_hash", ""),
    )


def merged(files: Sequence[tuple[FileInfo, Mapping[str, Topic]]], **other: Any) -> Metadata:
    """Merge the metadata of files; topics of later files replace those of earlier ones."""
    topics: dict[str, Topic] = {}
    for _, found in files:
        topics |= found
    return Metadata(tuple(file for file, _ in files), topics, **other)
