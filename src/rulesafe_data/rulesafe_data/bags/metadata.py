"""metadata.yaml of a bag: its files, times and topics, in rosbag2's own form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from rosbags.interfaces import Qos

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_data.bags import qos

NAME = "metadata.yaml"
VERSION = 9
"""Of the form: what ROS 2 Jazzy writes."""

DROPPED = "rulesafe_dropped"
"""Key of custom_data: how many messages of each topic did not get into the bag, as YAML."""

DISTRO = "jazzy"


@dataclass(frozen=True)
class Topic:
    """What is known of a topic.

    Attributes:
        name: such as /joint_states.
        type: such as sensor_msgs/msg/JointState.
        offered: what each of its publishers offered.
        type_hash: REP 2011's, such as RIHS01_...; empty where it is not known.
        definition: the message's definition with all that it is made of; empty where unknown.
        encoding: of the definition: ros2msg or ros2idl.
    """

    name: str
    type: str
    offered: tuple[Qos, ...] = ()
    type_hash: str = ""
    definition: str = field(default="", repr=False)
    encoding: str = "ros2msg"


@dataclass(frozen=True)
class Piece:
    """One file of a bag. Times in ns; 0 and 0 without messages."""

    path: str
    start: int
    end: int
    counts: Mapping[str, int]  # messages by topic

    @property
    def messages(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Metadata:
    """What metadata.yaml tells.

    Attributes:
        pieces: the files in the order of time.
        topics: by name.
        storage: mcap or sqlite3.
        compression: mode of rosbag2's own compression: empty, file or message. MCAP's chunks are
            compressed without it.
        dropped: messages that did not get into the bag, by topic; None where nobody counted.
    """

    pieces: tuple[Piece, ...]
    topics: Mapping[str, Topic]
    storage: str = "mcap"
    compression: str = ""
    dropped: Mapping[str, int] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Messages by topic, of all files."""
        counts = dict.fromkeys(self.topics, 0)
        for piece in self.pieces:
            for name, count in piece.counts.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    @property
    def span(self) -> tuple[int, int]:
        """Times of the first and the last message, ns; 0 and 0 without messages."""
        filled = [piece for piece in self.pieces if piece.messages]
        if not filled:
            return 0, 0
        return min(piece.start for piece in filled), max(piece.end for piece in filled)

    @property
    def messages(self) -> int:
        return sum(self.counts.values())


def to_text(metadata: Metadata) -> str:
    """The content of metadata.yaml."""
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
        "relative_file_paths": [piece.path for piece in metadata.pieces],
        "files": [_plain_piece(piece) for piece in metadata.pieces],
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


def _plain_piece(piece: Piece) -> dict[str, Any]:
    return {
        "path": piece.path,
        "starting_time": {"nanoseconds_since_epoch": piece.start},
        "duration": {"nanoseconds": piece.end - piece.start},
        "message_count": piece.messages,
    }


def write(folder: Path, metadata: Metadata) -> None:
    """Writes metadata.yaml, whole or not at all. Errors: RuleSafeError on a full disk."""
    write_atomically(folder / NAME, to_text(metadata).encode())


def read(folder: Path) -> Metadata:
    """What metadata.yaml tells, rosbag2's too; counts by topic are those of the whole bag, at its
    first file. Errors: RuleSafeError where it is missing or something else."""
    path = folder / NAME
    try:
        content = yaml.safe_load(path.read_text("utf-8"))["rosbag2_bagfile_information"]
        topics = [_topic(entry["topic_metadata"]) for entry in content["topics_with_message_count"]]
        counts = [entry["message_count"] for entry in content["topics_with_message_count"]]
        start = content["starting_time"]["nanoseconds_since_epoch"]
        end = start + content["duration"]["nanoseconds"]
        by_topic = dict(zip((topic.name for topic in topics), counts, strict=True))
        paths = content["relative_file_paths"]
        dropped = (content.get("custom_data") or {}).get(DROPPED)
        return Metadata(
            pieces=tuple(
                Piece(name, start, end, {} if i else by_topic) for i, name in enumerate(paths)
            ),
            topics={topic.name: topic for topic in topics},
            storage=content["storage_identifier"],
            compression=content.get("compression_mode", "").lower(),
            dropped=None if dropped is None else dict(yaml.safe_load(dropped) or {}),
        )
    except FileNotFoundError:
        raise RuleSafeError(f"{folder} has no {NAME}") from None
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise RuleSafeError(f"{path} is not a bag's: {error!r}") from error


def _topic(entry: Mapping[str, Any]) -> Topic:
    return Topic(
        entry["name"],
        entry["type"],
        qos.from_plain(entry.get("offered_qos_profiles", ())),
        entry.get("type_description_hash", ""),
    )


def merged(pieces: Sequence[tuple[Piece, Mapping[str, Topic]]], **other: Any) -> Metadata:
    """The metadata of files, each with its topics; later files know them better."""
    topics: dict[str, Topic] = {}
    for _, found in pieces:
        topics |= found
    return Metadata(tuple(piece for piece, _ in pieces), topics, **other)
