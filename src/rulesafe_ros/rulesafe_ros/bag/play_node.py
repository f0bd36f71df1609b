"""Plays a bag: its messages as they were, at their times or faster, with what their publishers
offered."""

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
from rulesafe_core.ros import ros_context
from rulesafe_core.settings import Settings, setting
from rulesafe_core.signals import collected_signals, exit_code
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.qos import is_latched
from rulesafe_data.bags.reading import Bag, Message
from rulesafe_ros.bag import convert
from rulesafe_ros.bag.keys import HELP, keys
from rulesafe_ros.bag.playback import FASTER, Playback
from rulesafe_ros.bag.selection import Selection

COMMANDS = ("/policy/action_chunk", "/arm_sdk", "/lowcmd", "/inspire/cmd")
"""Topics that move a robot: played only where that is asked for."""

STATE = {"/clock", "/joint_states", "/episode/status", "/lowstate"}
"""Topics that say how the one robot of a graph is."""

NAP = 0.02
"""s between two looks at the keys."""

MEETING = 5.0
"""s that readers which the graph knows of may take, after the delay, to be connected."""

LOOK = 1.0
"""s between two looks, while it plays, for others who write the same topics."""

ACKNOWLEDGED = 5.0
"""s in which, at the end, reliable readers may still take what was played."""


@dataclass(frozen=True)
class Playing(Settings):
    """How a bag is played."""

    selection: Selection = Selection((".*",))
    rate: float = setting(1.0, "Time of the bag per wall time.")
    clock: float = setting(
        0.0,
        "Rate of /clock with the bag's times; 0: the recorded /clock.",
        0,
        unit="Hz",
    )
    start: float = setting(0.0, "Time of the bag that is skipped.", 0, unit="s")
    delay: float = setting(1.0, "Time for subscribers to find the publishers.", 0, unit="s")
    loop: bool = setting(False, "Begin again at the end.")
    paused: bool = setting(False, "Begin paused.")
    commands: bool = setting(False, "Play COMMANDS too.")


class PlayNode(Node):
    """The publishers of a bag."""

    def __init__(self, bag: Bag, playing: Playing, said: Callable[[str], None]):
        super().__init__("rulesafe_bag_player", start_parameter_services=False)
        self._bag, self._playing, self._said = bag, playing, said
        self._out: dict[str, Any] = {}
        self._time = self.create_publisher(Clock, "/clock", STATE_QOS) if playing.clock else None
        for topic in bag.topics.values():
            if reason := self._left_out(topic):
                said(f"left out: {topic.name} ({reason})")
            elif topic.name in playing.selection:
                kind = convert.interface_class(topic.type)
                offer = convert.to_offer(topic.offered)
                self._out[topic.name] = self.create_publisher(kind, topic.name, offer)
        if not self._out:
            raise RuleSafeError(f"{bag.path} has no topic to play: {', '.join(sorted(bag.topics))}")
        self._ticked = self._looked = 0.0
        self._known: set[str] = set()  # who was told of
        self.worst_lag = 0.0

    def _left_out(self, topic: Topic) -> str:
        """Why a wanted topic is not played; empty if it is."""
        if topic.name not in self._playing.selection:
            return ""
        if topic.name in COMMANDS and not self._playing.commands:
            return "it moves robots: --commands plays it"
        if topic.name == "/clock" and self._time:
            return "--clock makes another"
        try:
            convert.interface_class(topic.type)
        except RuleSafeError as error:
            return str(error)
        return ""

    def check(self) -> None:
        """Tells, once, of other nodes that write the same topics. Errors: RuleSafeError where one
        of them is a robot or a simulation: who listens would take one for the other."""
        self._looked = time.monotonic()
        others: dict[str, set[str]] = {}
        for name in self._out:
            for info in convert.publishers(self, name):
                if info.node_name != self.get_name():
                    others.setdefault(info.node_name, set()).add(name)
        for node, topics in sorted(others.items()):
            told = f"{node} writes too: {', '.join(sorted(topics))}"
            if STATE & topics:
                raise RuleSafeError(
                    f"{told}; two cannot be one robot: end it, play in another ROS_DOMAIN_ID, or "
                    "choose other topics by --topics"
                )
            if told not in self._known:
                self._known.add(told)
                self._said(told)

    @property
    def met(self) -> bool:
        """Whether every reader that the graph knows of is connected."""
        return all(
            publisher.get_subscription_count() >= self.count_subscribers(name)
            for name, publisher in self._out.items()
        )

    def play(self, pressed: Callable[[], str], stopped: Callable[[], object]) -> int:
        """Plays the bag once; how many messages. Ends early where somebody stopped it."""
        begin, _ = self._bag.metadata.span
        begin += round(self._playing.start * SECOND)
        playing, played = self._playing, 0
        if playing.start:
            self._latch(begin)
        playback = Playback(begin, time.monotonic(), playing.rate, playing.paused)
        for message in self._bag.messages(list(self._out), begin):
            if not self._wait(message.when, playback, pressed, stopped):
                return played
            self._publish(message)
            played += 1
            if not playback.paused:
                self.worst_lag = max(self.worst_lag, playback.lag(message.when, time.monotonic()))
        return played

    def _latch(self, begin: int) -> None:
        """Says again what late readers would have got at this time of the bag (ns)."""
        latched = [t.name for t in self._bag.topics.values() if any(map(is_latched, t.offered))]
        wanted = [name for name in latched if name in self._out]
        last = {message.topic: message for message in self._bag.messages(wanted, end=begin)}
        for message in last.values():
            self._publish(message)

    def _wait(
        self,
        when: int,
        playback: Playback,
        pressed: Callable[[], str],
        stopped: Callable[[], object],
    ) -> bool:
        """Until this time of the bag; whether it came."""
        while True:
            wall = time.monotonic()
            key = pressed()
            if key == "quit" or stopped():
                return False
            if key == "pause":
                playback.toggle(wall)
                self._said("paused" if playback.paused else "playing")
            elif key in ("faster", "slower"):
                playback.scale(FASTER if key == "faster" else 1 / FASTER, wall)
                self._said(f"rate {playback.rate:.2f}")
            elif key == "next":
                playback.jump(when, wall)
            self._tick(playback, wall)
            if wall - self._looked >= LOOK:  # one may begin later, or be found late
                self.check()
            left = playback.wait(when, wall)
            if left == 0:
                return True
            time.sleep(min(left, NAP, 1 / self._playing.clock if self._time else NAP))

    def _tick(self, playback: Playback, wall: float) -> None:
        """/clock, when it is due."""
        if self._time and wall - self._ticked >= 1 / self._playing.clock:
            self._ticked = wall
            self._time.publish(Clock(clock=to_time(playback.now(wall))))

    def _publish(self, message: Message) -> None:
        self._out[message.topic].publish(message.data)

    def settle(self) -> None:
        """Waits until reliable readers have everything."""
        end = time.monotonic() + ACKNOWLEDGED
        for publisher in self._out.values():
            if publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE:
                left = max(0.0, end - time.monotonic())
                publisher.wait_for_all_acked(Duration(nanoseconds=round(left * SECOND)))


def play(bag: Bag, playing: Playing, said: Callable[[str], None] = print) -> int:
    """Plays a bag to its end, or until Ctrl-C; the exit code.

    Errors: RuleSafeError where nothing of it can be played, or it is damaged.
    """
    with collected_signals() as came, keys() as pressed, ros_context():
        node = PlayNode(bag, playing, said)
        _play(node, playing, pressed, came, said)
        node.destroy_node()
        return exit_code(came)


def _play(
    node: PlayNode,
    playing: Playing,
    pressed: Callable[[], str],
    came: list[int],
    said: Callable[[str], None],
) -> None:
    quits: list[str] = []

    def key() -> str:
        name = pressed()
        if name == "quit":
            quits.append(name)
        return name

    begin = time.monotonic()
    while not came:
        waited = time.monotonic() - begin
        if waited >= playing.delay and (node.met or waited >= playing.delay + MEETING):
            break
        time.sleep(NAP)
    node.check()
    said(HELP)
    rounds = 0
    while not came and not quits and (playing.loop or not rounds):
        played = node.play(key, lambda: came)
        rounds += 1
        said(f"played {played} messages")
    node.settle()
    if node.worst_lag > 1.0:
        said(f"fell behind by up to {node.worst_lag:.1f} s: a lower --rate keeps the times")
