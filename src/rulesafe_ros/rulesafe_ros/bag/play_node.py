"""Play a bag: publish its messages unchanged, at their times or at another rate, with the recorded
QoS."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import STATE_QOS, to_time
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import publishers_of, ros_context
from rulesafe_core.settings import Settings, setting
from rulesafe_core.signals import collected_signals, exit_code
from rulesafe_core.terminal_keys import key_actions
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.qos import is_latched
from rulesafe_data.bags.reading import Bag
from rulesafe_ros.bag import convert
from rulesafe_ros.bag.keyboard import ACTIONS, HELP
from rulesafe_ros.bag.playback import FASTER, PlaybackClock
from rulesafe_ros.bag.selection import Selection

COMMANDS = ("/policy/action_chunk", "/arm_sdk", "/lowcmd", "/inspire/cmd")
"""Topics that command a robot; they are played only on request."""

STATE = {"/clock", "/joint_states", "/episode/status", "/lowstate"}
"""Topics with the robot's state, which only one node of a graph may publish."""

POLL = 0.02
"""Interval between polls of the keyboard, s."""

MATCHING_TIME = 0.5
"""Time for subscribers, which have discovered the node, to discover its new publishers, s."""

CONNECTION_TIMEOUT = 5.0
"""Timeout for connections of known subscribers, s."""

CHECK_PERIOD = 1.0
"""Interval between checks for other publishers of the same topics, s."""

ACKNOWLEDGEMENT_TIMEOUT = 5.0
"""Timeout at the end for acknowledgements of reliable subscribers, s."""


@dataclass(frozen=True)
class PlayOptions(Settings):
    """Options of the playback of a bag."""

    selection: Selection = Selection((".*",))
    rate: float = setting(1.0, "Playback speed: bag time per wall time.")
    clock: float = setting(
        0.0,
        "Rate of /clock with the bag's time; 0: the recorded /clock.",
        0,
        unit="Hz",
    )
    start: float = setting(0.0, "Time to skip at the start of the bag.", 0, unit="s")
    delay: float = setting(1.0, "Time for discovery of other nodes.", 0, unit="s")
    loop: bool = setting(False, "Restart at the end of the bag.")
    paused: bool = setting(False, "Start paused.")
    commands: bool = setting(False, "Include the topics of COMMANDS.")


class PlayNode(Node):
    """Publishes the messages of a bag.

    Args:
        bag: the bag.
        options: options of the playback.
        report: called with messages for the user.
        next_action: returns the action of the next key, see `rulesafe_core.terminal_keys`.
        signals: received signals, a list that grows; the first one stops the playback.

    Attributes:
        stopped: whether a key or a signal has stopped the playback.
        worst_lag: largest delay of a message, s of wall time.
    """

    def __init__(
        self,
        bag: Bag,
        options: PlayOptions,
        report: Callable[[str], None],
        next_action: Callable[[], str],
        signals: list[int],
    ):
        super().__init__("rulesafe_bag_player", start_parameter_services=False)
        self._bag, self._options, self._report = bag, options, report
        self._next_action, self._signals = next_action, signals
        self._topics: dict[str, Topic] = {}
        self._out: dict[str, Any] = {}
        self._clock_publisher: Any = None
        for topic in bag.topics.values():
            if reason := self._skip_reason(topic):
                report(f"not played: {topic.name} ({reason})")
            elif topic.name in options.selection:
                self._topics[topic.name] = topic
        if not self._topics:
            raise RuleSafeError(
                f"{bag.path}: no topic to play; topics of the bag: {', '.join(sorted(bag.topics))}"
            )
        self._clock_published = self._checked = 0.0  # steady clock, s
        self._reported: set[str] = set()
        self._quit = False
        self.worst_lag = 0.0

    @property
    def stopped(self) -> bool:
        return self._quit or bool(self._signals)

    def _skip_reason(self, topic: Topic) -> str:
        """Return why a selected topic is not played; empty if it is played or not selected."""
        if topic.name not in self._options.selection:
            return ""
        if topic.name in COMMANDS and not self._options.commands:
            return "it commands a robot; play it with --commands"
        if topic.name == "/clock" and self._options.clock:
            return "replaced by --clock"
        try:
            convert.interface_class(topic.type)
        except RuleSafeError as error:
            return str(error)
        return ""

    def connect(self) -> None:
        """Create the publishers, and wait until all known subscribers are connected.

        The check comes first, since nodes of a running simulation, such as evaluator_node, end when
        they discover a second publisher of the robot's state.

        Raises:
            RuleSafeError: see `check`.
        """
        self._pause(self._options.delay)
        self.check()
        if self._signals:
            return
        for topic in self._topics.values():
            kind, offer = convert.interface_class(topic.type), convert.to_offer(topic.offered)
            self._out[topic.name] = self.create_publisher(kind, topic.name, offer)
        if self._options.clock:
            self._clock_publisher = self.create_publisher(Clock, "/clock", STATE_QOS)
        self._pause(min(self._options.delay, MATCHING_TIME))
        self._pause(CONNECTION_TIMEOUT, self._connected)

    def _pause(self, seconds: float, over: Callable[[], bool] = lambda: False) -> None:
        """Wait for this time, until `over` returns true or until a signal."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (over() or self._signals):
            time.sleep(POLL)

    def _connected(self) -> bool:
        return all(
            publisher.get_subscription_count() >= self.count_subscribers(name)
            for name, publisher in self._out.items()
        )

    def check(self) -> None:
        """Report other publishers of the same topics, each once.

        Raises:
            RuleSafeError: another node, such as a simulation, publishes a robot's state too;
                subscribers would mix it with that of the bag.
        """
        self._checked = time.monotonic()
        others: dict[str, set[str]] = {}
        for name in self._topics:
            for node in set(publishers_of(self, name).values()) - {self.get_name()}:
                others.setdefault(node, set()).add(name)
        for node, topics in sorted(others.items()):
            line = f"{node} also publishes {', '.join(sorted(topics))}"
            if STATE & topics:
                raise RuleSafeError(
                    f"{line}; only one node may publish a robot's state: stop {node}, play in "
                    "another ROS_DOMAIN_ID, or select other topics with --topics"
                )
            if line not in self._reported:
                self._reported.add(line)
                self._report(line)

    def play(self) -> int:
        """Play the bag once or until it is stopped; return the number of played messages."""
        begin = self._bag.metadata.span[0] + round(self._options.start * SECOND)
        if self._options.start:
            self._publish_latched(begin)
        playback = PlaybackClock(begin, time.monotonic(), self._options.rate, self._options.paused)
        played = 0
        for message in self._bag.messages(list(self._out), begin):
            if not self._wait(message.when, playback):
                break
            self._out[message.topic].publish(message.data)
            played += 1
            if not playback.paused:
                self.worst_lag = max(self.worst_lag, playback.lag(message.when, time.monotonic()))
        return played

    def _publish_latched(self, begin: int) -> None:
        """Publish the last messages of latched topics before this time of the bag (ns)."""
        latched = [t.name for t in self._bag.topics.values() if any(map(is_latched, t.offered))]
        topics = [name for name in latched if name in self._out]
        last = {message.topic: message for message in self._bag.messages(topics, end=begin)}
        for message in last.values():
            self._out[message.topic].publish(message.data)

    def _wait(self, when: int, playback: PlaybackClock) -> bool:
        """Wait until this time of the bag (ns); return False if the playback was stopped."""
        while True:
            wall = time.monotonic()
            self._act(self._next_action(), when, playback, wall)
            if self.stopped:
                return False
            if self._clock_publisher and wall - self._clock_published >= 1 / self._options.clock:
                self._clock_published = wall
                self._clock_publisher.publish(Clock(clock=to_time(playback.now(wall))))
            if wall - self._checked >= CHECK_PERIOD:  # a publisher may be discovered later
                self.check()
            left = playback.wait(when, wall)
            if left == 0:
                return True
            time.sleep(min(left, POLL, 1 / self._options.clock if self._clock_publisher else POLL))

    def _act(self, action: str, when: int, playback: PlaybackClock, wall: float) -> None:
        if action == "quit":
            self._quit = True
        elif action == "pause":
            playback.toggle(wall)
            self._report("paused" if playback.paused else "playing")
        elif action in ("faster", "slower"):
            playback.scale(FASTER if action == "faster" else 1 / FASTER, wall)
            self._report(f"rate {playback.rate:.2f}")
        elif action == "next":
            playback.jump(when, wall)

    def wait_for_acknowledgements(self) -> None:
        """Wait until reliable subscribers have acknowledged all messages, or the timeout."""
        end = time.monotonic() + ACKNOWLEDGEMENT_TIMEOUT
        for publisher in self._out.values():
            if publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE:
                left = max(0.0, end - time.monotonic())
                publisher.wait_for_all_acked(Duration(nanoseconds=round(left * SECOND)))


def play(bag: Bag, options: PlayOptions, report: Callable[[str], None] = print) -> int:
    """Play a bag to its end or until Ctrl-C, and return the exit code.

    Raises:
        RuleSafeError: there is no topic to play, the bag is damaged, or another node publishes
            a robot's state.
    """
    with collected_signals() as signals, key_actions(ACTIONS) as next_action, ros_context():
        node = PlayNode(bag, options, report, next_action, signals)
        node.connect()
        report(HELP)
        first = True
        while not node.stopped and (options.loop or first):
            first = False
            report(f"played {node.play()} messages")
        node.wait_for_acknowledgements()
        if node.worst_lag > 1.0:
            report(f"messages were up to {node.worst_lag:.1f} s late: use a lower --rate")
        node.destroy_node()
        return exit_code(signals)
