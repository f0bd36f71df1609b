"""Reads a bag: who wrote what, and the messages in the order of time.

Example::

    bag = Bag(Path("bag"))
    for message in bag.messages(["/joint_states"]):
        print(message.when, len(message.data))
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from mcap.reader import make_reader
from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag2 import Reader, ReaderError

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_data.bags import files, metadata
from rulesafe_data.bags.metadata import Metadata, Topic


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        topic: its name.
        when: when it was recorded, ns.
        published: when it was sent, ns; the same where the bag does not tell.
        data: CDR.
    """

    topic: str
    when: int
    published: int
    data: bytes


class Storage(Protocol):
    """The files of a bag."""

    def topics(self) -> dict[str, Topic]:
        """By name, with their definitions."""

    def messages(self, topics: Collection[str], start: int, end: int) -> Iterator[Message]:
        """Of these topics, from `start` up to but without `end` (ns), in the order of time."""


class McapStorage:
    """MCAP files, as `writing` and rosbag2 write them."""

    def __init__(self, folder: Path, found: Metadata):
        self._paths = [folder / piece.path for piece in found.pieces]

    def topics(self) -> dict[str, Topic]:
        return dict(metadata.merged([files.describe(path) for path in self._paths]).topics)

    def messages(self, topics: Collection[str], start: int, end: int) -> Iterator[Message]:
        for path in self._paths:
            with path.open("rb") as stream:
                read = make_reader(stream).iter_messages(
                    topics, starting_at=start, ending_before=end, log_time_order=True
                )
                for _, channel, message in read:
                    yield Message(
                        channel.topic, message.log_time, message.publish_time, message.data
                    )


class RosbagsStorage:
    """What else rosbag2 writes: SQLite, and files or messages that are compressed as such."""

    def __init__(self, folder: Path, found: Metadata):
        self._folder = folder

    def topics(self) -> dict[str, Topic]:
        with Reader(self._folder) as reader:
            return {
                connection.topic: Topic(
                    connection.topic,
                    connection.msgtype,
                    type_hash=connection.digest or "",
                    definition=connection.msgdef.data,
                    encoding="ros2idl"
                    if connection.msgdef.format == MessageDefinitionFormat.IDL
                    else "ros2msg",
                )
                for connection in reader.connections
            }

    def messages(self, topics: Collection[str], start: int, end: int) -> Iterator[Message]:
        with Reader(self._folder) as reader:
            wanted = [c for c in reader.connections if c.topic in topics]
            for connection, when, data in reader.messages(wanted, start, end) if wanted else ():
                yield Message(connection.topic, when, when, bytes(data))


class Bag:
    """A bag that is complete.

    Attributes:
        path: its folder.
        metadata: what metadata.yaml tells, topics with their definitions.

    Errors: RuleSafeError where there is none, or one that is unfinished.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        found = _metadata(self.path)
        plain = found.storage == "mcap" and not found.compression
        self._storage: Storage = (McapStorage if plain else RosbagsStorage)(self.path, found)
        try:
            stored = self._storage.topics()
        except (ReaderError, OSError) as error:
            raise RuleSafeError(f"{self.path} cannot be read: {error}") from error
        topics = {
            name: replace(
                topic,
                definition=stored[name].definition if name in stored else "",
                encoding=stored[name].encoding if name in stored else topic.encoding,
            )
            for name, topic in found.topics.items()
        }
        self.metadata = replace(found, topics=topics)

    @property
    def topics(self) -> dict[str, Topic]:
        return dict(self.metadata.topics)

    def messages(
        self,
        topics: Collection[str] | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Message]:
        """Messages in the order in which they were recorded.

        Args:
            topics: names; None: all. One that the bag has not gives no messages.
            start, end: ns; from the one up to, but without, the other.
        """
        wanted = self.topics if topics is None else [name for name in topics if name in self.topics]
        if not wanted:
            return
        first, last = 0 if start is None else start, 2**63 - 1 if end is None else end
        try:
            yield from self._storage.messages(wanted, first, last)
        except (*files.DAMAGE, ReaderError, OSError) as error:
            raise RuleSafeError(f"{self.path} is damaged: {error}") from error

    def known(self, name: str) -> Topic:
        """A topic of the bag. Errors: RuleSafeError, listing those that it has."""
        if name not in self.topics:
            raise unknown_name(f"topic in {self.path}", name, sorted(self.topics))
        return self.topics[name]


def _metadata(folder: Path) -> Metadata:
    """Of a bag that is complete. Errors: RuleSafeError that says what to do."""
    if not folder.is_dir():
        raise RuleSafeError(
            f"{folder} is no bag: a bag is a folder with {metadata.NAME} and its files"
        )
    if (folder / metadata.NAME).is_file():
        return metadata.read(folder)
    if any(folder.glob("*.mcap")):
        raise RuleSafeError(
            f"{folder} is unfinished (its recorder was killed, or still runs): "
            f"rulesafe bag info {folder} --mend"
        )
    raise RuleSafeError(f"{folder} is no bag: it has neither {metadata.NAME} nor .mcap files")
