"""Read a bag: its topics, and its messages in chronological order.

Example::

    bag = Bag(Path("bag"))
    for message in bag.messages(["/joint_states"]):
        print(message.when, len(message.data))
"""

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag2 import Reader, ReaderError

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_data.bags import files, metadata
from rulesafe_data.bags.files import Damage
from rulesafe_data.bags.metadata import Metadata, Topic

REMEDY = "`rulesafe bag info {} --repair` copies the readable messages to a new bag"


@dataclass(frozen=True)
class Message:
    """A message of a bag.

    Attributes:
        topic: name of the topic.
        when: time of reception by the recorder, ns.
        published: time of publication, ns; if unknown, the time of reception.
        data: serialised message (CDR).
    """

    topic: str
    when: int
    published: int
    data: bytes


class McapStorage:
    """Reads MCAP files written by `writing` or rosbag2."""

    def __init__(self, folder: Path, found: Metadata):
        self._paths = [folder / file.path for file in found.files]
        self.damaged: dict[tuple[Path, int], Damage] = {}

    def topics(self) -> dict[str, Topic]:
        """Return the topics with their definitions, by name."""
        return dict(metadata.merged([files.describe(path) for path in self._paths]).topics)

    def messages(self, topics: Collection[str], start: int, end: int) -> Iterator[Message]:
        """Yield messages of these topics from `start` to before `end` (ns), sorted by time."""
        for path in self._paths:
            for topic, message in files.messages(path, topics, start, end, self._report):
                yield Message(topic, message.log_time, message.publish_time, message.data)

    def _report(self, damage: Damage) -> None:
        key = (damage.file, damage.offset)
        if key not in self.damaged:
            print(damage, file=sys.stderr)
            self.damaged[key] = damage


class RosbagsStorage:
    """Reads other storages of rosbag2: SQLite, and compressed files or messages."""

    damaged: Mapping[tuple[Path, int], Damage] = {}

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
    """A complete bag.

    Attributes:
        path: the bag's folder, or its only file, an .mcap file.
        folder: the folder of its files.
        metadata: content of metadata.yaml, with the definitions of the topics.

    Raises:
        RuleSafeError: the path is not a bag, or the bag is unfinished.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.folder = self.path if self.path.is_dir() else self.path.parent
        found = _metadata(self.path)
        plain = found.storage == "mcap" and not found.compression
        self._storage = (McapStorage if plain else RosbagsStorage)(self.folder, found)
        try:
            stored = self._storage.topics()
        except (ReaderError, OSError) as error:
            raise RuleSafeError(
                f"{self.path} cannot be read: {error}; {REMEDY.format(self.path)}"
            ) from error
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

    @property
    def damaged(self) -> tuple[Damage, ...]:
        """The damaged parts that `messages` has skipped and reported on stderr so far."""
        return tuple(self._storage.damaged.values())

    def messages(
        self,
        topics: Collection[str] | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Message]:
        """Yield messages in the order of reception; a damaged part is skipped, see `damaged`.

        Args:
            topics: names of topics; None: all. Unknown names are ignored.
            start, end: interval in ns, including `start`, excluding `end`.
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
        """Return a topic; raise RuleSafeError if the name is unknown."""
        if name not in self.topics:
            raise unknown_name(f"topic in {self.path}", name, sorted(self.topics))
        return self.topics[name]


def _metadata(path: Path) -> Metadata:
    """Read the metadata of a complete bag; raise RuleSafeError with a remedy otherwise."""
    if path.suffix == ".mcap" and path.is_file():
        try:
            return metadata.merged([files.describe(path)])
        except RuleSafeError as error:
            raise RuleSafeError(f"{error}; {REMEDY.format(path)}") from error
    if (path / metadata.NAME).is_file():
        return metadata.read(path)
    if files.data_files(path):
        raise RuleSafeError(
            f"{path} has no {metadata.NAME} (its recorder was killed or is still running, or files "
            f"were copied without it); {REMEDY.format(path)}"
        )
    raise RuleSafeError(
        f"{path} is not a bag: a bag is a folder with {metadata.NAME} and its files, or an .mcap "
        "file"
    )
