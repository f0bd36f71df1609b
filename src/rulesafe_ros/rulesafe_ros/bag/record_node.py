"""Record a graph: the serialized messages of each selected topic that has a publisher.

One thread receives and another one writes. Lost messages, and those that were not written in time,
are counted per topic, reported, and stored in the bag.
"""

import struct
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

from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import executing, ros_context
from rulesafe_core.signals import collected_signals, exit_code
from rulesafe_data.bags.background import BackgroundWriter
from rulesafe_data.bags.metadata import Metadata, Topic
from rulesafe_data.bags.qos import is_latched
from rulesafe_data.bags.repair import recording_lock
from rulesafe_data.bags.writing import BagWriter
from rulesafe_ros.bag import convert
from rulesafe_ros.bag.loss_counter import LossCounter
from rulesafe_ros.bag.record_options import RecordingOptions

DISCOVERY_PERIOD = 0.1
"""Interval between searches for topics and publishers, s."""

DISCOVERY_DELAY = 1.0
"""Largest delay of the discovery of a publisher after its first message, s."""

EXISTING_TOPICS_PERIOD = 3.0
"""Time after the start in which a discovered topic may have existed before, s."""

POLL_PERIOD = 0.005
"""Interval between polls for messages, s; message times are those of the arrival."""

REPORT_PERIOD = 5.0
"""Minimum interval between reports of lost messages, s."""

DRAIN_TIMEOUT = 2.0
"""Timeout after Ctrl-C for reading the messages that have arrived, s."""

PENDING_LIMIT = 100 * 10**6
"""Maximum size of the messages that wait for the first /clock, bytes; further ones are lost."""

CLOCK = "/clock"


@dataclass
class _Recorded:
    """A recorded topic.

    Attributes:
        publishers: largest number of simultaneous publishers.
        changed: time of the last increase of that number, s of the steady clock.
    """

    topic: Topic
    request: QoSProfile
    losses: LossCounter
    publishers: int
    changed: float


class RecordNode(Node):
    """Subscribes to selected topics and passes their messages to the writer.

    Args:
        recording: options of the recording.
        writer: writer of the bag.
        report: called with messages for the user.
    """

    def __init__(
        self,
        recording: RecordingOptions,
        writer: BackgroundWriter,
        report: Callable[[str], None] = print,
    ):
        super().__init__("rulesafe_bag_recorder", start_parameter_services=False)
        self._recording, self._writer, self._report = recording, writer, report
        self._sim_time: int | None = None  # ns, newest /clock
        self._recorded: dict[str, _Recorded] = {}
        self._inputs: dict[str, Subscription] = {}  # for recorded topics and /clock
        self._refused: dict[str, str] = {}
        self._pending: list[tuple[str, int, bytes]] = []  # arrived before the first /clock
        self._pending_bytes = 0
        self._reported, self._reported_losses = 0.0, 0
        self._start = time.monotonic()
        if recording.clock == "sim" and CLOCK not in recording.selection:
            take: Any = partial(self._on_message, CLOCK)
            self._inputs[CLOCK] = self.create_subscription(
                Clock, CLOCK, take, convert.DEPTH, raw=True
            )
        self.discover()

    @property
    def losses(self) -> dict[str, int]:
        """Number of lost messages of each topic with losses."""
        for name, recorded in self._recorded.items():
            recorded.losses.overruns = self._writer.overruns[name]
            if time.monotonic() - recorded.changed > DISCOVERY_DELAY:
                recorded.losses.settle(recorded.publishers)
        return {name: r.losses.total for name, r in self._recorded.items() if r.losses.total}

    # Topics -------------------------------------------------------------------------------

    def discover(self) -> None:
        """Subscribe to selected topics that have a publisher."""
        for name, _ in self.get_topic_names_and_types():
            if name in self._recording.selection:
                self._record_topic(name)
        self._report_losses()

    def _record_topic(self, name: str) -> None:
        infos = self.get_publishers_info_by_topic(name)
        recorded = self._recorded.get(name)
        if not infos:
            return
        try:
            topic = convert.to_topic(name, infos)
        except RuleSafeError as error:
            if self._refused.get(name) != str(error):
                self._refused[name] = str(error)
                self._report(f"not recorded: {error}")
            return
        if recorded is None:
            self._writer.add(topic)
            fresh = time.monotonic() - self._start > EXISTING_TOPICS_PERIOD
            losses = LossCounter(fresh=fresh and not any(map(is_latched, topic.offered)))
            request = convert.to_request(topic.offered)
            self._recorded[name] = _Recorded(topic, request, losses, len(infos), time.monotonic())
            self._subscribe(topic, request)
            self._report(f"recording {name} ({topic.type})")
            return
        if len(infos) > recorded.publishers:
            recorded.publishers, recorded.changed = len(infos), time.monotonic()
        known = recorded.topic.offered
        if new := [offer for offer in topic.offered if offer not in known]:
            recorded.topic = replace(recorded.topic, offered=(*known, *new))
            self._writer.add(recorded.topic)
            request = convert.to_request(recorded.topic.offered)
            if request != recorded.request:  # otherwise incompatible with the new publisher
                self.take()
                self.destroy_subscription(self._inputs.pop(name))
                recorded.request = request
                self._subscribe(recorded.topic, request)
                self._report(f"{name}: subscribed again, with the weaker QoS of a new publisher")

    def _subscribe(self, topic: Topic, request: QoSProfile) -> None:
        kind = convert.interface_class(topic.type)

        def lost(event: Any) -> None:
            self._recorded[topic.name].losses.events = event.total_count

        events = SubscriptionEventCallbacks(message_lost=lost)
        # Callback for messages taken by the executor; rclpy's types allow only one argument.
        take: Any = partial(self._on_message, topic.name)
        subscribe = partial(self.create_subscription, kind, topic.name, take, request, raw=True)
        try:
            self._inputs[topic.name] = subscribe(event_callbacks=events)
        except UnsupportedEventTypeError:
            self._inputs[topic.name] = subscribe()

    # Messages -----------------------------------------------------------------------------

    def take(self) -> int:
        """Take all messages that have arrived, in the order of arrival; return their number.

        An executor would wake up for each message and needs three times as long.
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
        when = self._time(name, raw, info)
        recorded = self._recorded.get(name)
        if recorded is None:  # /clock, which is subscribed to but not recorded
            return
        recorded.losses.received(info.get("publication_sequence_number"))
        published = int(info.get("source_timestamp") or 0)
        if when is None:
            if self._pending_bytes + len(raw) > PENDING_LIMIT:
                self._writer.overruns[name] += 1
                return
            self._pending_bytes += len(raw)
            self._pending.append((name, published, raw))
            return
        for other, other_published, data in self._pending:
            self._writer.write(other, when, other_published or when, data)
        self._pending.clear()
        self._pending_bytes = 0
        self._writer.write(name, when, published or when, raw)

    def _time(self, name: str, raw: bytes, info: dict[str, Any]) -> int | None:
        """Return the time of a message, ns: its arrival or the newest /clock; None without one.

        With /clock, as with `ros2 bag record --use-sim-time`, the bag has no pauses while a
        simulation waits for its policy.
        """
        if self._recording.clock == "wall":
            return int(info.get("received_timestamp") or 0) or time.time_ns()
        if name == CLOCK:
            seconds, nanoseconds = struct.unpack_from("<iI" if raw[1] & 1 else ">iI", raw, 4)
            self._sim_time = seconds * SECOND + nanoseconds
        return self._sim_time

    def _report_losses(self) -> None:
        losses = self.losses
        total = sum(losses.values())
        if total == self._reported_losses or time.monotonic() - self._reported < REPORT_PERIOD:
            return
        self._reported, self._reported_losses = time.monotonic(), total
        self._writer.dropped(losses)
        self._report(f"lost so far: {as_text(losses)}")

    def finish(self) -> None:
        """Count the lost messages, and report messages that were not recorded."""
        for recorded in self._recorded.values():
            recorded.losses.settle(recorded.publishers)
        self._writer.dropped(self.losses)
        early = {name: r.losses.early for name, r in self._recorded.items() if r.losses.early}
        if early:
            self._report(f"published before their publishers were discovered: {as_text(early)}")
        if self._pending:
            self._report(
                f"{len(self._pending)} messages were not recorded: no message on /clock; without a "
                "simulation, record with --clock wall"
            )


def as_text(losses: dict[str, int]) -> str:
    """Return the lost messages by topic as a line."""
    return ", ".join(f"{count} of {name}" for name, count in sorted(losses.items())) or "none"


def record(
    recording: RecordingOptions, report: Callable[[str], None] = print
) -> tuple[Metadata, int]:
    """Record until Ctrl-C or the end of the duration; return the metadata and the exit code.

    Raises:
        RuleSafeError: the folder exists, or the disk is full (earlier messages can be recovered).
    """
    with collected_signals() as signals:
        writer = BagWriter(recording.folder, recording.compression, recording.splitting)
        with recording_lock(recording.folder):
            background = BackgroundWriter(writer)
            try:
                _record(recording, background, report, signals)
            finally:
                found = background.close()
        return found, exit_code(signals)


def _record(
    recording: RecordingOptions,
    writer: BackgroundWriter,
    report: Callable[[str], None],
    signals: list[int],
) -> None:
    end = time.monotonic() + (recording.seconds or float("inf"))
    discovered = time.monotonic()
    make = partial(RecordNode, recording, writer, report)
    with ros_context(), executing(make) as (node, executor):
        while not signals and time.monotonic() < end and writer.error is None:
            node.take()
            if time.monotonic() - discovered >= DISCOVERY_PERIOD:
                discovered = time.monotonic()
                node.discover()
                executor.spin_once(timeout_sec=0)  # the middleware's events
            time.sleep(POLL_PERIOD)
        until = time.monotonic() + DRAIN_TIMEOUT
        while node.take() and time.monotonic() < until:
            pass
        node.finish()
