"""The view's ear on a ROS 2 graph: takes what is there, whoever writes it, and calls its services.

Messages are taken as bytes, and some times a second the newest are looked at: a simulation at many
times real time is not held up by its viewer.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future as Answer
from contextlib import contextmanager
from functools import partial
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, ShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.task import Future
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, JointState, PointCloud2
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_chunk, to_ns
from rulesafe_core.ros import executing, ros_context
from rulesafe_demos.film.messages import decode_memory
from rulesafe_interfaces.msg import BridgeState, EpisodeStatus, MemoryTokens
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_ros.view import convert
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.model import Model
from rulesafe_ros.view.options import ViewOptions
from rulesafe_ros.view.relay import Relay
from rulesafe_ros.view.sources import Offer, Source, Wish, choose, sources

LOOK = 0.5
"""s between looks at who writes what."""

TICK = 0.05
"""s between looks at what has come in."""

SILENCE = 3.0
"""s without joint states and status after which nobody seems to be there."""

KINDS = {
    f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}": kind
    for kind in (
        *(Image, CompressedImage, PointCloud2, CameraInfo, JointState, JointTrajectory),
        *(MemoryTokens, EpisodeStatus, BridgeState, Time, Bool, String, DiagnosticArray),
    )
}
"""Message class by the name of its type."""


class ViewNode(Node):
    """Feeds a model and a board, and passes every message on to a relay."""

    def __init__(self, board: Board, model: Model, options: ViewOptions, relay: Relay):
        super().__init__("rulesafe_view")
        self._board, self._model, self._relay = board, model, relay
        self._sources = sources(options)
        self._wishes: dict[str, Wish] = {}
        self._subscriptions_by_source: dict[str, Subscription] = {}
        self._inbox: dict[str, deque[bytes]] = {}
        self._heard = float("-inf")  # s of the steady clock
        self._reset = self.create_client(ResetEpisode, "/episode/reset")
        self._pause = self.create_client(SetBool, "/episode/pause")
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK, self._look, clock=steady)
        self.create_timer(TICK, self._tick, clock=steady)
        self._look()

    # Listening ----------------------------------------------------------------------------

    def _look(self) -> None:
        """Subscribes to what is there, and says what the page can do about it."""
        for source in self._sources:
            wish = choose(source, [(topic, self._offers(topic)) for topic in source.topics])
            if wish is not None and wish != self._wishes.get(source.name):
                self._subscribe(source, wish)
        self._tell()

    def _tell(self) -> None:
        graph = {
            "alive": time.monotonic() - self._heard < SILENCE,
            "reset": self._reset.service_is_ready(),
            "pause": self._pause.service_is_ready(),
        }
        self._board.put("graph", graph)

    def _offers(self, topic: str) -> list[Offer]:
        return [
            Offer(
                info.topic_type,
                info.qos_profile.reliability == ReliabilityPolicy.RELIABLE,
                info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL,
            )
            for info in self.get_publishers_info_by_topic(topic)
        ]

    def _subscribe(self, source: Source, wish: Wish) -> None:
        if old := self._subscriptions_by_source.pop(source.name, None):
            self.destroy_subscription(old)
        self._wishes[source.name] = wish
        inbox = self._inbox[source.name] = deque(maxlen=source.depth)
        quality = QoSProfile(
            depth=source.depth,
            reliability=ReliabilityPolicy.RELIABLE
            if wish.reliable
            else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL
            if wish.latched
            else DurabilityPolicy.VOLATILE,
        )
        alive = source.name in ("joints", "status")

        def take(raw: bytes) -> None:
            if alive:
                self._heard = time.monotonic()
            if source.shown:
                inbox.append(raw)
            try:
                self._relay.message(wish.topic, wish.kind, raw, wish.latched)
            except RuleSafeError as error:
                self.get_logger().warning(f"not for Foxglove: {error}", once=True)

        self._subscriptions_by_source[source.name] = self.create_subscription(
            KINDS[wish.kind], wish.topic, take, quality, raw=True
        )

    def _tick(self) -> None:
        """What has come in since the last time goes to the board."""
        for name, show in SHOWN.items():
            inbox = self._inbox.get(name)
            if not inbox or (name in UNSEEN and not self._board.readers):
                continue
            while inbox:
                message = deserialize_message(inbox.popleft(), KINDS[self._wishes[name].kind])
                topic = self._wishes[name].topic
                try:
                    show(self._model, self._board, message)
                except (RuleSafeError, ValueError) as error:
                    self._model.notice([(topic, "warning", str(error))])
        self._relay.frames(self._model.frames)

    # Commands -----------------------------------------------------------------------------

    def reset_episode(self, rule: str, safe: str, seed: int) -> "Answer[tuple[bool, str]]":
        """Begins an episode; whether it began, and what was answered."""
        return _ask(self._reset, ResetEpisode.Request(rule=rule, safe=safe, seed=seed))

    def pause(self, paused: bool) -> "Answer[tuple[bool, str]]":
        """Lets simulated time stand still, or go on."""
        return _ask(self._pause, SetBool.Request(data=paused))


def _ask(client: Client, request: Any) -> "Answer[tuple[bool, str]]":
    answer: Answer[tuple[bool, str]] = Answer()
    if not client.service_is_ready():
        answer.set_result((False, f"nobody offers {client.srv_name}: does a simulation run?"))
        return answer

    def done(future: Future) -> None:
        response = future.result()
        if not answer.cancelled():
            answer.set_result((bool(response.success), str(response.message)))

    client.call_async(request).add_done_callback(done)
    return answer


# What becomes of each message ---------------------------------------------------------------


def _picture(name: str) -> Callable[[Model, Board, Image | CompressedImage], None]:
    def show(model: Model, board: Board, message: Image | CompressedImage) -> None:
        board.put_bytes(name, convert.image_bytes(message))

    return show


def _text(name: str) -> Callable[[Model, Board, Any], None]:
    return lambda model, board, message: board.put(name, message.data)


def _points(model: Model, board: Board, message: PointCloud2) -> None:
    board.put_bytes("points", convert.cloud_bytes(message))


def _joints(model: Model, board: Board, message: JointState) -> None:
    positions: Sequence[float] = message.position
    model.joints(to_ns(message.header.stamp), dict(zip(message.name, positions, strict=False)))


def _chunk(model: Model, board: Board, message: JointTrajectory) -> None:
    model.chunk(decode_chunk(message, to_ns(message.header.stamp)))


UNSEEN = ("head", "front", "points")
"""Made only while somebody looks."""

SHOWN: dict[str, Callable[[Model, Board, Any], None]] = {
    "started": lambda model, board, message: model.started(to_ns(message)),
    "robot": lambda model, board, message: model.robot(message.data),
    "safe": lambda model, board, message: model.safe(message.data),
    "instruction": _text("instruction"),
    "paused": _text("paused"),
    "status": lambda model, board, message: model.status(convert.status_section(message)),
    "joints": _joints,
    "chunk": _chunk,
    "tokens": lambda model, board, message: model.tokens(
        decode_memory(message), message.model_hash
    ),
    "bridge": lambda model, board, message: board.put("bridge", convert.bridge_section(message)),
    "diagnostics": lambda model, board, message: model.notice(convert.complaints(message)),
    "head": _picture("head"),
    "front": _picture("front"),
    "points": _points,
}
"""By the source's name; what an episode begins with comes first."""


@contextmanager
def receiving(
    board: Board, model: Model, options: ViewOptions, relay: Relay, failed: Callable[[], object]
) -> Iterator[ViewNode]:
    """Run a ViewNode in a thread; `failed` is called there if it ends by an error."""
    # As in a launch: the buttons must not reach a robot elsewhere in the network.
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    make = partial(ViewNode, board, model, options, relay)
    # Signals are the web server's: it ends the node.
    with ros_context(), executing(make) as (node, executor):

        def spin() -> None:
            try:
                executor.spin()
            except (ExternalShutdownException, ShutdownException):
                return
            except BaseException:
                failed()
                raise

        thread = threading.Thread(target=spin, name="ros")
        thread.start()
        try:
            yield node
        finally:
            executor.shutdown()
            thread.join()
