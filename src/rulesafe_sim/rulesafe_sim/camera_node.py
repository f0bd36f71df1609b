"""Cameras in a separate process with a node of its own, so that a simulation publishes its states
at a constant rate while images are rendered.

The simulation sends the joint positions of a frame through a pipe; the cameras render and publish
them, and answer with the stamp. Images depend only on the scene and the joint positions, so they
are bit-identical to those that the simulation itself would render.
"""

import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2

from rulesafe_core import convert
from rulesafe_core.cameras import POINTS, POINTS_TOPIC, ROOT, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import ros_context
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.episodes import Episode

if TYPE_CHECKING:  # rendering modules are imported only in the process of the cameras
    from rulesafe_sim.cameras import CameraRig
    from rulesafe_sim.observer import Observer
    from rulesafe_sim.simulation import Joints

REFRESH = 1.0
"""Time without a request (s of wall time) after which the last images are republished, for late
subscribers while simulated time is stopped."""

READY = -1
"""Answer of the process when its topics exist. Other answers are stamps or the text of an error."""

NICENESS = 5
"""Increment of the process's nice value: states are published before images are rendered."""


@dataclass(frozen=True)
class CameraRequest:
    """A frame to render.

    Attributes:
        stamp: stamp of the messages, ns.
        joints: joint positions of robot and safe.
        instant: control steps since the reset, see `Observer.observe`.
    """

    stamp: int
    joints: "Joints"
    instant: int


class CameraNode(Node):
    """Renders and publishes the images of received joint positions.

    Args:
        config: split and robot of the scenes.
        cameras: the cameras.
        name: name of the node.
        keys: observations to publish; a subclass may add messages.
    """

    def __init__(
        self, config: SimulationConfig, cameras: CameraSet, name: str, keys: Collection[str]
    ) -> None:
        super().__init__(name)
        from rulesafe_sim.simulation import Simulation

        self._simulation = Simulation(config, render=True)
        self._cameras, self._keys = cameras, keys
        self._observer: Observer | None = None
        self._last: dict[str, Any] = {}  # the messages of the last frame by topic
        self._publishers_of = {
            topic: self.create_publisher(kind, topic, convert.IMAGE_QOS)
            for topic, kind in self.topics().items()
        }

    def topics(self) -> dict[str, type]:
        """Return the message type of each topic."""
        kinds: dict[str, type] = {}
        for camera in self._cameras:
            if camera.key in self._keys:
                kinds |= {camera.topic(): Image, camera.topic("camera_info"): CameraInfo}
        if POINTS in self._keys:
            kinds[POINTS_TOPIC] = PointCloud2
        return kinds

    def begin(self, episode: Episode) -> None:
        """Build the scene of an episode. Raises RuleSafeError, see `Simulation.reset`."""
        from rulesafe_sim.observer import Observer

        self._simulation.reset(episode.source, episode.safe, episode.seed, episode.variation)
        self._observer = Observer(self._simulation, self._cameras)
        self._last = {}

    @property
    def rig(self) -> "CameraRig":
        """The cameras of the current scene."""
        assert self._observer is not None
        return self._observer.rig

    def show(self, request: CameraRequest) -> None:
        """Render and publish a frame."""
        assert self._observer is not None
        self._simulation.show(request.joints)
        observation = self._observer.observe(self._keys, request.instant)
        self._last = self.encode(observation, request.stamp)
        self.republish()

    def encode(self, observation: Mapping[str, Any], stamp: int) -> dict[str, Any]:
        """Return the messages of a frame by topic."""
        messages: dict[str, Any] = {}
        for camera in self._cameras:
            if (rgb := observation.get(camera.key)) is None:
                continue
            matrix, frame = self.rig.intrinsics(camera.name), camera.optical_frame
            messages[camera.topic()] = convert.to_image(rgb, stamp, frame)
            messages[camera.topic("camera_info")] = convert.to_camera_info(
                matrix, camera.width, camera.height, stamp, frame
            )
        if POINTS in observation:
            messages[POINTS_TOPIC] = convert.to_cloud(observation[POINTS], stamp, ROOT)
        return messages

    def republish(self) -> None:
        """Publish the messages of the last frame again."""
        for topic, message in self._last.items():
            self._publishers_of[topic].publish(message)

    def serve(self, pipe: Connection) -> None:
        """Render the newest request repeatedly until the pipe is closed."""
        pipe.send(READY)
        while True:
            if not pipe.poll(REFRESH):
                self.republish()
                continue
            request: CameraRequest | None = None
            pending = True
            while pending:
                message = pipe.recv()
                if isinstance(message, Episode):
                    self.begin(message)
                    request = None
                else:
                    request = message
                pending = pipe.poll()
            if request:
                self.show(request)
                pipe.send(request.stamp)


class SimCameraNode(CameraNode):
    """The cameras of the simulation node.

    Args:
        config, cameras: as for CameraNode.
        observe: whether to publish images and the point cloud of the observation.
        film_size: width and height of additional images for a video, pixels; 0: none.
    """

    def __init__(
        self, config: SimulationConfig, cameras: CameraSet, observe: bool, film_size: int
    ) -> None:
        self._film_size = film_size
        super().__init__(config, cameras, "sim_camera_node", cameras.keys if observe else ())

    def topics(self) -> dict[str, type]:
        film = {camera.film_topic: CompressedImage for camera in self._cameras}
        return super().topics() | (film if self._film_size else {})

    def begin(self, episode: Episode) -> None:
        super().begin(episode)
        if self._film_size:
            from rulesafe_sim.cameras import CameraRig

            simulation, cameras = self._simulation, self._cameras.resized(self._film_size)
            shifted = simulation.variation.cameras.apply(cameras)
            self._film = CameraRig(simulation.scene, shifted, simulation.mounts)

    def encode(self, observation: Mapping[str, Any], stamp: int) -> dict[str, Any]:
        messages = super().encode(observation, stamp)
        if self._film_size:
            self._simulation.show_links()
            self._film.take()
            for camera in self._cameras:
                rgb = self._film.rgb(camera.name)
                messages[camera.film_topic] = convert.to_jpeg(rgb, stamp, camera.optical_frame)
        return messages


def _run(pipe: Connection, make: Callable[..., CameraNode], args: tuple[Any, ...]) -> None:
    """Run the process until the pipe is closed; the text of an error is sent through it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the simulation, which closes it
    os.nice(NICENESS)
    with ros_context(_without_node_name(sys.argv)):
        try:
            make(*args).serve(pipe)
        except (EOFError, ConnectionError):
            pass
        except (RuleSafeError, OSError) as error:
            with suppress(OSError):
                pipe.send(str(error))


def _without_node_name(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of the simulation's process without those that rename its node: other
    remappings and the namespace apply to the cameras, too."""
    kept: list[str] = []
    for argument in arguments:
        if re.match(r"(\w+:)?__(node|name):=", argument):
            kept.pop()  # -r or --remap
        else:
            kept.append(argument)
    return kept


class CameraProcess:
    """Starts the process of a camera node and sends requests to it.

    All methods but `close` raise RuleSafeError if the process has ended.

    Args:
        make: class of the node.
        args: its arguments.
    """

    def __init__(self, make: Callable[..., CameraNode], *args: Any) -> None:
        context = multiprocessing.get_context("spawn")  # rclpy and SAPIEN do not support fork
        self._pipe, pipe = context.Pipe()
        self._process = context.Process(target=_run, args=(pipe, make, args), daemon=True)
        self._process.start()
        pipe.close()
        self._awaited: int | None = READY  # then the stamp of the newest request; None: nothing

    def begin(self, episode: Episode) -> None:
        """Begin an episode."""
        self._awaited = None
        self._send(episode)

    def show(self, request: CameraRequest) -> None:
        """Request a frame. If the cameras are still busy with one, the newest request replaces
        those before."""
        self._awaited = request.stamp
        self._send(request)

    def published(self, timeout: float = 0) -> bool:
        """Return whether the images of the newest request were published, and before the first
        scene whether the topics exist, after waiting for at most `timeout` s."""
        try:
            while self._pipe.poll(timeout if self._awaited is not None else 0):
                answer = self._pipe.recv()
                if isinstance(answer, str):
                    raise RuleSafeError(answer)
                if answer == self._awaited:
                    self._awaited = None
        except (OSError, EOFError):
            raise RuleSafeError(ENDED) from None
        return self._awaited is None

    def _send(self, message: Episode | CameraRequest) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            self.published()  # raises the error that the process has sent
            raise RuleSafeError(ENDED) from None

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()


ENDED = "the camera process has ended; see its output above, or set cameras:=false"
