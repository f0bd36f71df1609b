"""Cameras of a simulation node: images are rendered and published in a thread, so that the states
are published at a constant rate. Rendering releases Python's global lock."""

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2

from rulesafe_core import convert
from rulesafe_core.cameras import POINTS, POINTS_TOPIC, ROOT, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.namespaces import relative
from rulesafe_render.renderer import CameraRig
from rulesafe_sim.bodies import Joints
from rulesafe_sim.observer import Observer, Views
from rulesafe_sim.simulation import Simulation

REFRESH = 1.0
"""Time without a request (s of wall time) after which the last images are republished, for late
subscribers while simulated time is stopped."""

CLOSING = 5.0
"""Longest wait (s) for the end of the thread."""


@dataclass(frozen=True)
class CameraRequest:
    """A frame to render.

    Attributes:
        stamp: stamp of the messages, ns.
        joints: joint positions of robot and safe.
        instant: control steps since the reset, see `SceneObserver.render`.
    """

    stamp: int
    joints: Joints
    instant: int


class CameraPublisher:
    """Renders and publishes the images of requested joint positions, in a thread.

    Args:
        node: the node whose topics they are.
        cameras: the cameras.
        keys: observations to publish; a subclass may add messages.
        film_size: width and height of additional images for a video, pixels; 0: none.
    """

    def __init__(
        self, node: Node, cameras: CameraSet, keys: Collection[str], film_size: int = 0
    ) -> None:
        self._cameras, self._keys, self._film_size = cameras, keys, film_size
        self._publishers_of = {
            topic: node.create_publisher(kind, relative(topic), convert.IMAGE_QOS)
            for topic, kind in self.topics().items()
        }
        self._last: dict[str, Any] = {}  # the messages of the last frame by topic
        self._change = threading.Condition()
        self._scene: tuple[Observer, Views | None] | None = None
        self._request: CameraRequest | None = None
        self._busy = self._closed = False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._serve, name="cameras", daemon=True)
        self._thread.start()

    def topics(self) -> dict[str, type]:
        """Return the message type of each topic."""
        kinds: dict[str, type] = {}
        for camera in self._cameras:
            if camera.name in self._keys:
                kinds |= {camera.topic(): Image, camera.topic("camera_info"): CameraInfo}
            if self._film_size:
                kinds[camera.film_topic] = CompressedImage
        if POINTS in self._keys:
            kinds[POINTS_TOPIC] = PointCloud2
        return kinds

    def begin(self, simulation: Simulation) -> None:
        """Build the scene of an episode that was just reset.

        Raises:
            RuleSafeError: there is no such link as that of a camera, or a mesh cannot be read.
        """
        film: Views | None = None
        if self._film_size:
            film = Views(simulation.bodies, self._cameras.resized(self._film_size))
        observer = Observer(simulation, self._cameras)
        _ = observer.views  # raises here, not in the thread
        with self._change:
            self._request, self._scene, self._last = None, (observer, film), {}

    def show(self, request: CameraRequest) -> None:
        """Request a frame. If the cameras are still busy with one, the newest request replaces
        those before."""
        with self._change:
            self._request = request
            self._change.notify_all()

    def published(self, timeout: float = 0) -> bool:
        """Return whether the images of the newest request were published, after waiting for at most
        `timeout` s.

        Raises:
            RuleSafeError: rendering has failed.
        """
        with self._change:
            self._change.wait_for(self._idle, timeout)
            if self._error:
                raise RuleSafeError(f"the cameras have failed: {self._error}") from self._error
            return self._idle()

    def close(self) -> None:
        """End the thread."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        self._thread.join(CLOSING)

    def _idle(self) -> bool:
        return self._error is not None or not (self._busy or self._request)

    def _serve(self) -> None:
        while True:
            with self._change:
                self._busy = False
                self._change.notify_all()
                self._change.wait_for(lambda: self._closed or self._request, REFRESH)
                if self._closed:
                    return
                request, scene, last = self._request, self._scene, self._last
                self._request, self._busy = None, request is not None
            try:
                if request and scene:
                    last = self._render(request, *scene)
                for topic, message in last.items():
                    self._publishers_of[topic].publish(message)
            except Exception as error:
                if self._closed:  # the node's context was shut down
                    return
                with self._change:
                    self._error = error
                    self._change.notify_all()
                return
            with self._change:
                if scene is self._scene:  # otherwise an episode has begun meanwhile
                    self._last = last

    def _render(
        self, request: CameraRequest, observer: Observer, film: Views | None
    ) -> dict[str, Any]:
        observation = observer.render(self._keys, request.joints, request.instant)
        messages = self.encode(observation, observer.rig, request.stamp)
        if film:
            rig = film.take(request.joints)
            for camera in self._cameras:
                messages[camera.film_topic] = convert.to_jpeg(
                    rig.rgb(camera.name), request.stamp, camera.optical_frame
                )
        return messages

    def encode(self, observation: Mapping[str, Any], rig: CameraRig, stamp: int) -> dict[str, Any]:
        """Return the messages of a frame by topic."""
        messages: dict[str, Any] = {}
        for camera in self._cameras:
            if (rgb := observation.get(camera.name)) is None:
                continue
            matrix, frame = rig.intrinsics(camera.name), camera.optical_frame
            messages[camera.topic()] = convert.to_image(rgb, stamp, frame)
            messages[camera.topic("camera_info")] = convert.to_camera_info(
                matrix, camera.width, camera.height, stamp, frame
            )
        if POINTS in observation:
            messages[POINTS_TOPIC] = convert.to_cloud(observation[POINTS], stamp, ROOT)
        return messages
