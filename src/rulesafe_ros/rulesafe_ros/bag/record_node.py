"""Records a graph: every topic that is wanted, as soon as somebody writes it, message by message as
it comes over the wire.

One thread hears, another writes. What did not arrive, or could not be written in time, is counted
by topic, told at once and noted in the bag.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import executing, ros_context
from rulesafe_core.signals import collected_signals, exit_code
from rulesafe_data.bags.background import BackgroundWriter
from rulesafe_data.bags.mending import held
from rulesafe_data.bags.metadata import Metadata, Topic
from rulesafe_data.bags.qos import is_latched
from rulesafe_data.bags.writing import BagWriter
from rulesafe_ros.bag import convert
from rulesafe_ros.bag.clocks import CLOCKS
from rulesafe_ros.bag.losses import Losses
from rulesafe_ros.bag.recording import Recording

LOOK = 0.1
"""s between two looks for new topics and publishers."""

SLOW = 1.0
"""s by which the graph may tell later of a writer than its messages do."""

SETTLE = 3.0
"""s after which a topic that appears is one that was not there before."""

NAP = 0.005
"""s between two looks for messages; their times are those of their arrival all the same."""

TELL = 5.0
"""s between two lines about losses, at least."""

DRAIN = 2.0
"""s in which, after Ctrl-C, what has arrived before it is still taken."""


@dataclass
class _Heard:
    """A topic that is recorded."""

    topic: Topic
    request: QoSProfile
    losses: Losses
    writers: int  # at the same time, at most
    changed: float  # when that became more


class RecordNode(Node):
    """Subscribes to what appears and hands what comes to the writer.

    Args:
        recording: see there.
        writer: of the bag.
        said: what to do with a line for people.
    """

    def __init__(
        self,
        recording: Recording,
        writer: BackgroundWriter,
        said: Callable[[str], None] = print,
    ):
        super().__init__("rulesafe_bag_recorder", start_parameter_services=False)
        self._recording, self._writer, self._said = recording, writer, said
        self._clock_of_bag = CLOCKS[recording.clock]()
        self._heard: dict[str, _Heard] = {}
        self._inputs: dict[str, Subscription] = {}  # recorded or not
        self._refused: dict[str, str] = {}
        self._waiting: list[tuple[str, int, bytes]] = []  # came before the first time
        self._told, self._told_losses = 0.0, 0
        self._began = time.monotonic()
        for topic in self._clock_of_bag.TOPICS:
            if topic not in recording.selection:
                take: Any = partial(self._on_message, topic)
                self._inputs[topic] = self.create_subscription(
                    Clock, topic, take, convert.DEPTH, raw=True
                )
        self.look()

    @property
    def losses(self) -> dict[str, int]:
        """Messages that got lost, by topic, of topics that lost some."""
        for name, heard in self._heard.items():
            heard.losses.overruns = self._writer.overruns[name]
            if time.monotonic() - heard.changed > SLOW:
                heard.losses.settle(heard.writers)
        return {name: h.losses.total for name, h in self._heard.items() if h.losses.total}

    @property
    def early(self) -> dict[str, int]:
        """Messages that were sent before their writers were discovered, by topic."""
        return {name: h.losses.early for name, h in self._heard.items() if h.losses.early}

    # Topics -------------------------------------------------------------------------------

    def look(self) -> None:
        """Subscribes to wanted topics that somebody writes by now, and follows their writers."""
        for name, _ in self.get_topic_names_and_types():
            if name in self._recording.selection:
                self._follow(name)
        self._tell_losses()

    def _follow(self, name: str) -> None:
        infos = convert.publishers(self, name)
        heard = self._heard.get(name)
        if not infos:
            return
        try:
            topic = convert.to_topic(name, infos)
        except RuleSafeError as error:
            if self._refused.get(name) != str(error):
                self._refused[name] = str(error)
                self._said(f"not recorded: {error}")
            return
        request = convert.to_request(topic.offered)
        if heard is None:
            self._writer.add(topic)
            fresh = time.monotonic() - self._began > SETTLE
            losses = Losses(fresh=fresh and not any(map(is_latched, topic.offered)))
            self._heard[name] = _Heard(topic, request, losses, len(infos), time.monotonic())
            self._subscribe(topic, request)
            self._said(f"recording {name} ({topic.type})")
            return
        if len(infos) > heard.writers:
            heard.writers, heard.changed = len(infos), time.monotonic()
        known = heard.topic.offered
        if new := [offer for offer in topic.offered if offer not in known]:
            heard.topic = replace(heard.topic, offered=(*known, *new))
            self._writer.add(heard.topic)
            request = convert.to_request(heard.topic.offered)
        else:
            request = heard.request
        if request != heard.request:  # a new publisher offers less: it would not be heard
            self.take()
            self.destroy_subscription(self._inputs.pop(name))
            heard.request = request
            self._subscribe(heard.topic, request)
            self._said(f"{name}: another publisher offers less, asked for that from now on")

    def _subscribe(self, topic: Topic, request: QoSProfile) -> None:
        """Asks for a topic; `take` takes what comes."""
        kind = convert.interface_class(topic.type)

        def lost(event: Any) -> None:
            self._heard[topic.name].losses.events = event.total_count

        events = SubscriptionEventCallbacks(message_lost=lost)
        # For a message that the executor gets hold of; rclpy's types know of one argument only.
        take: Any = partial(self._on_message, topic.name)
        subscribe = partial(self.create_subscription, kind, topic.name, take, request, raw=True)
        try:
            self._inputs[topic.name] = subscribe(event_callbacks=events)
        except UnsupportedEventTypeError:
            self._inputs[topic.name] = subscribe()

    # Messages -----------------------------------------------------------------------------

    def take(self) -> int:
        """Takes everything that has arrived, in the order of arrival; how many messages.

        Not by an executor, which wakes for each message: that took three times as long.
        """
        arrived: list[tuple[int, str, bytes, dict[str, Any]]] = []
        for name, subscription in self._inputs.items():
            handle, kind = subscription.handle, subscription.msg_type
            with handle:
                while (taken := handle.take_message(kind, True)) is not None:
                    raw, info = taken
                    arrived.append((info.get("received_timestamp") or 0, name, raw, info))
        for _, name, raw, info in sorted(arrived, key=itemgetter(0)):
            self._on_message(name, raw, info)
        return len(arrived)

    def _on_message(self, name: str, raw: bytes, info: dict[str, Any]) -> None:
        when = self._clock_of_bag.times(name, raw, info)
        heard = self._heard.get(name)
        if heard is None:  # only for the time's sake
            return
        heard.losses.heard(info.get("publication_sequence_number"))
        published = int(info.get("source_timestamp") or 0)
        if when is None:
            self._waiting.append((name, published, raw))
            return
        for other, sent, data in self._waiting:
            self._writer.write(other, when, sent or when, data)
        self._waiting.clear()
        self._writer.write(name, when, published or when, raw)

    def _tell_losses(self) -> None:
        losses = self.losses
        total = sum(losses.values())
        if total == self._told_losses or time.monotonic() - self._told < TELL:
            return
        self._told, self._told_losses = time.monotonic(), total
        self._writer.dropped(losses)
        self._said(f"lost so far: {in_words(losses)}")

    def finish(self) -> None:
        """Tells the writer of the losses; messages that came before any time get none."""
        for heard in self._heard.values():
            heard.losses.settle(heard.writers)
        self._writer.dropped(self.losses)
        if early := self.early:
            self._said(f"sent before their writers were discovered: {in_words(early)}")
        if self._waiting:
            self._said(
                f"{len(self._waiting)} messages were left out: no /clock came; record with --clock "
                "wall where there is no simulation"
            )


def in_words(losses: dict[str, int]) -> str:
    """Losses as a line."""
    return ", ".join(f"{count} of {name}" for name, count in sorted(losses.items())) or "none"


def record(recording: Recording, said: Callable[[str], None] = print) -> tuple[Metadata, int]:
    """Records until Ctrl-C, or the time is up; what is in the bag, and the exit code.

    Errors: RuleSafeError where something is at the folder, and on a full disk: what was written
    before is a bag then.
    """
    with collected_signals() as came:
        writer = BagWriter(recording.folder, recording.compression, recording.splitting)
        with held(recording.folder):
            background = BackgroundWriter(writer)
            try:
                _hear(recording, background, said, came)
            finally:
                found = background.close()
        return found, exit_code(came)


def _hear(
    recording: Recording, writer: BackgroundWriter, said: Callable[[str], None], came: list[int]
) -> None:
    end = time.monotonic() + (recording.seconds or float("inf"))
    looked = time.monotonic()
    make = partial(RecordNode, recording, writer, said)
    with ros_context(), executing(make) as (node, executor):
        while not came and time.monotonic() < end and writer.error is None:
            node.take()
            if time.monotonic() - looked >= LOOK:
                looked = time.monotonic()
                node.look()
                executor.spin_once(timeout_sec=0)  # the middleware's events
            time.sleep(NAP)
        until = time.monotonic() + DRAIN
        while node.take() and time.monotonic() < until:
            pass
        node.finish()
