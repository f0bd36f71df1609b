"""Decode messages of a bag with the message definitions in the bag, without ROS.

Example::

    decoder = MessageDecoder(bag)
    for message in bag.messages(["/joint_states"]):
        joints = decoder(message)       # .name: list of str, .position: (n,) float64
"""

from collections.abc import Callable
from typing import Any

from rosbags.serde import SerdeError
from rosbags.typesys import (
    Stores,
    TypesysError,
    get_types_from_idl,
    get_types_from_msg,
    get_typestore,
)
from rosbags.typesys.store import Typestore

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.reading import Bag, Message

PARSERS: dict[str, Callable[[Topic], Any]] = {
    "ros2msg": lambda topic: get_types_from_msg(topic.definition, topic.type),
    "ros2idl": lambda topic: get_types_from_idl(topic.definition),
}
"""Parsers of message definitions by encoding."""


class MessageDecoder:
    """Decodes the messages of one bag.

    The decoded objects have the fields of the message; numeric arrays are numpy arrays (possibly
    read-only), arrays of strings are lists. If the bag has no definitions (old SQLite bags), those
    of ROS 2 Jazzy are used.

    Raises:
        RuleSafeError: the type is unknown, or the message cannot be decoded as its type.
    """

    def __init__(self, bag: Bag):
        self._types = {name: topic.type for name, topic in bag.topics.items()}
        self._stores: dict[str, Typestore] = {}
        self._topics = bag.topics

    def __call__(self, message: Message) -> Any:
        """Decode a message."""
        kind = self._types[message.topic]
        try:
            return self._store(message.topic).deserialize_cdr(message.data, kind)
        except (TypesysError, SerdeError, KeyError, ValueError, IndexError) as error:
            raise RuleSafeError(
                f"the message of {message.topic} at {message.when} ns cannot be decoded as {kind}: "
                f"{error!r}"
            ) from error

    def _store(self, name: str) -> Typestore:
        topic = self._topics[name]
        if topic.type not in self._stores:
            if topic.definition:
                store = get_typestore(Stores.EMPTY)
                store.register(PARSERS[topic.encoding](topic))
            else:
                store = get_typestore(Stores.ROS2_JAZZY)
                if topic.type not in store.fielddefs:
                    raise RuleSafeError(f"the bag has no definition of {topic.type} ({name})")
            self._stores[topic.type] = store
        return self._stores[topic.type]
