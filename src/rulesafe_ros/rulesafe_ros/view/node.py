"""The view's node: subscribes to the displayed topics and calls services of the simulation.

Messages are received in serialized form and only the newest ones are decoded, 20 times per second,
so that the view does not slow down a simulation.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import contextmanager
from functools import partial
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, ShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.task import Future
from sensor_msgs.msg import CompressedImage, Image, JointState, PointCloud2
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core.cameras import POINTS, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_chunk, to_ns
from rulesafe_core.namespaces import relative
from rulesafe_core.ros import executing, ros_context
from rulesafe_data.films.messages import decode_memory
from rulesafe_interfaces.msg import BridgeState, EpisodeStatus, MemoryTokens
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_ros.bag.convert import to_profile
from rulesafe_ros.view import convert
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.model import ViewModel
from rulesafe_ros.view.sources import (
    Offer,
    Source,
    SubscriptionRequest,
    choose,
    image_source,
    sources,
)

DISCOVERY_PERIOD = 0.5
"""Interval between searches for topics and publishers, s."""

UPDATE_PERIOD = 0.05
"""Interval between updates of the board, s."""

SILENCE = 3.0
"""Time without joint states and status after which the robot counts as absent, s."""

KINDS = {
    f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}": kind
    for kind in (
        *(Image, CompressedImage, PointCloud2, JointState, JointTrajectory),
        *(MemoryTokens, EpisodeStatus, BridgeState, Time, Bool, String, DiagnosticArray),
    )
}
"""Message classes by type name."""


class ViewNode(Node):
    """Passes messages to a model and a board."""

    def __init__(self, board: Board, model: ViewModel, cameras: CameraSet):
        super().__init__("rulesafe_view")
        self._board, self._model = board, model
        self._sources = sources(cameras)
        images = [image_source(camera.name) for camera in cameras]
        self._handlers = HANDLERS | {name: _image(name) for name in images}
        self._images = (*images, POINTS)  # decoded only while a page is open
        self._requests: dict[str, SubscriptionRequest] = {}
        self._subscriptions_by_source: dict[str, Subscription] = {}
        self._inbox: dict[str, deque[bytes]] = {}
        self._received = float("-inf")  # time of the newest robot state, s of the steady clock
        self._reset = self.create_client(ResetEpisode, "episode/reset")
        self._pause = self.create_client(SetBool, "episode/pause")
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(DISCOVERY_PERIOD, self._discover, clock=steady)
        self.create_timer(UPDATE_PERIOD, self._update, clock=steady)
        self._discover()

    # Subscriptions ------------------------------------------------------------------------

    def _discover(self) -> None:
        """Subscribe to published topics, and put the available services on the board."""
        for source in self._sources:
            request = choose(source, {topic: self._offers(topic) for topic in source.topics})
            if request is not None and request != self._requests.get(source.name):
                self._subscribe(source, request)
        graph = {
            "alive": time.monotonic() - self._received < SILENCE,
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
            for info in self.get_publishers_info_by_topic(relative(topic))
        ]

    def _subscribe(self, source: Source, request: SubscriptionRequest) -> None:
        if old := self._subscriptions_by_source.pop(source.name, None):
            self.destroy_subscription(old)
        self._requests[source.name] = request
        inbox = self._inbox[source.name] = deque(maxlen=source.depth)

        def on_message(raw: bytes) -> None:
            if source.name in ("joints", "status"):
                self._received = time.monotonic()
            inbox.append(raw)

        self._subscriptions_by_source[source.name] = self.create_subscription(
            KINDS[request.kind],
            relative(request.topic),
            on_message,
            to_profile(request.reliable, request.latched, source.depth),
            raw=True,
        )

    def _update(self) -> None:
        """Decode the messages received since the last update, and put them on the board."""
        for name, handle in self._handlers.items():
            inbox = self._inbox.get(name)
            if not inbox or (name in self._images and not self._board.viewers):
                continue
            while inbox:
                message = deserialize_message(inbox.popleft(), KINDS[self._requests[name].kind])
                topic = self._requests[name].topic
                try:
                    handle(self._model, self._board, message)
                except (RuleSafeError, ValueError) as error:
                    self._model.notice([(topic, "warning", str(error))])

    # Commands -----------------------------------------------------------------------------

    def reset_episode(self, rule: str, safe: str, seed: int) -> "ThreadFuture[tuple[bool, str]]":
        """Reset the episode; return success and the message of the service."""
        return _call(self._reset, ResetEpisode.Request(rule=rule, safe=safe, seed=seed))

    def pause(self, paused: bool) -> "ThreadFuture[tuple[bool, str]]":
        """Pause or resume simulated time; return success and the message of the service."""
        return _call(self._pause, SetBool.Request(data=paused))


def _call(client: Client, request: Any) -> "ThreadFuture[tuple[bool, str]]":
    result: ThreadFuture[tuple[bool, str]] = ThreadFuture()
    if not client.service_is_ready():
        message = f"service {client.srv_name} is not available; check that a simulation runs"
        result.set_result((False, message))
        return result

    def done(future: Future) -> None:
        response = future.result()
        if not result.cancelled():
            result.set_result((bool(response.success), str(response.message)))

    client.call_async(request).add_done_callback(done)
    return result


# Handlers of the messages that the page shows -----------------------------------------------


def _image(name: str) -> Callable[[ViewModel, Board, Image | CompressedImage], None]:
    def show(model: ViewModel, board: Board, message: Image | CompressedImage) -> None:
        board.put_bytes(name, convert.image_bytes(message))

    return show


def _data(name: str) -> Callable[[ViewModel, Board, Any], None]:
    return lambda model, board, message: board.put(name, message.data)


def _points(model: ViewModel, board: Board, message: PointCloud2) -> None:
    board.put_bytes(POINTS, convert.cloud_bytes(message))


def _joints(model: ViewModel, board: Board, message: JointState) -> None:
    positions: Sequence[float] = message.position
    model.joints(to_ns(message.header.stamp), dict(zip(message.name, positions, strict=False)))


def _chunk(model: ViewModel, board: Board, message: JointTrajectory) -> None:
    model.chunk(decode_chunk(message, to_ns(message.header.stamp)))


HANDLERS: dict[str, Callable[[ViewModel, Board, Any], None]] = {
    "started": lambda model, board, message: model.started(to_ns(message)),
    "robot": lambda model, board, message: model.robot(message.data),
    "safe": lambda model, board, message: model.safe(message.data),
    "instruction": _data("instruction"),
    "paused": _data("paused"),
    "status": lambda model, board, message: model.status(convert.status_section(message)),
    "joints": _joints,
    "chunk": _chunk,
    "tokens": lambda model, board, message: model.tokens(
        decode_memory(message), message.model_hash
    ),
    "bridge": lambda model, board, message: board.put("bridge", convert.bridge_section(message)),
    "diagnostics": lambda model, board, message: model.notice(convert.diagnostics(message)),
    POINTS: _points,
}
"""Handlers by source name, besides those of the cameras; messages from the start of an episode are
handled first."""


@contextmanager
def running_node(
    board: Board,
    model: ViewModel,
    cameras: CameraSet,
    failed: Callable[[], object],
) -> Iterator[ViewNode]:
    """Run a ViewNode in a thread; `failed` is called in that thread after an exception."""
    make = partial(ViewNode, board, model, cameras)
    # The web server handles the signals, and stops the node.
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
