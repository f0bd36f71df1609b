"""Cameras of the simulated robot in a separate process, like a camera driver.

The robot's process sends all joint positions through a pipe at 10 Hz and does not wait for the
rendering. The cameras publish both images with their camera infos, and the head camera's depth,
aligned to its image, from which `camera_points` computes the point cloud.
"""

from __future__ import annotations

import multiprocessing
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import rclpy
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from h1_2_sim.convert import to_depth
from rulesafe_core import convert
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros import ros_context
from rulesafe_sim.camera_topics import CAMERAS, optical_frame
from rulesafe_sim.config import SimulationConfig

if TYPE_CHECKING:
    from rulesafe_sim.simulation import Joints
    from rulesafe_sim.variation import Variation

DEPTH = "head"
"""The camera that measures depth."""


@dataclass(frozen=True)
class Scene:
    """Scene of an episode to render."""

    rule: str
    safe: str
    seed: int
    variation: Variation | None = None  # None: sampled from the split with the seed


@dataclass(frozen=True)
class CameraRequest:
    """Joint positions of robot and safe at a stamp (ns)."""

    stamp: int
    joints: Joints


class CameraNode(Node):
    """Renders and publishes images of received joint positions."""

    def __init__(self, split: str) -> None:
        super().__init__("camera_side_node")
        from rulesafe_sim.observer import Observer
        from rulesafe_sim.simulation import Simulation

        self._simulation = Simulation(SimulationConfig(split=split), render=True)
        self._observer_class = Observer
        self._observer: Observer | None = None
        publisher = self.create_publisher
        self._images = {
            name: publisher(Image, f"/camera/{name}/image_raw", convert.IMAGE_QOS)
            for name in CAMERAS
        }
        self._infos = {
            name: publisher(CameraInfo, f"/camera/{name}/camera_info", convert.IMAGE_QOS)
            for name in CAMERAS
        }
        self._depth = publisher(Image, f"/camera/{DEPTH}/depth/image_raw", convert.IMAGE_QOS)
        self._depth_info = publisher(
            CameraInfo, f"/camera/{DEPTH}/depth/camera_info", convert.IMAGE_QOS
        )

    def begin(self, scene: Scene) -> None:
        """Build the scene of an episode. Raises RuleSafeError, see `Simulation.reset`."""
        self._simulation.reset(scene.rule, scene.safe, scene.seed, scene.variation)
        self._observer = self._observer_class(self._simulation)

    def show(self, glance: CameraRequest) -> None:
        """Render and publish the images of one instant."""
        assert self._observer is not None
        self._simulation.show(glance.joints)
        images = self._observer.observe([f"{name}_rgb" for name in CAMERAS])
        for name in CAMERAS:
            rgb, frame = images[f"{name}_rgb"], optical_frame(name)
            height, width, _ = rgb.shape
            intrinsics = self._observer.rig.intrinsics(name)
            info = convert.to_camera_info(intrinsics, width, height, glance.stamp, frame)
            self._images[name].publish(convert.to_image(rgb, glance.stamp, frame))
            self._infos[name].publish(info)
            if name == DEPTH:  # the same pixels
                self._depth_info.publish(info)
        depth = self._observer.rig.depth(DEPTH)
        self._depth.publish(to_depth(depth, glance.stamp, optical_frame(DEPTH)))

    def serve(self, requests: Connection) -> None:
        """Render the newest request repeatedly until the pipe is closed."""
        while rclpy.ok():
            glance: CameraRequest | None = None
            pending = True
            while pending:
                message = requests.recv()
                if isinstance(message, Scene):
                    self.begin(message)
                    glance = None
                else:
                    glance = message
                pending = requests.poll()
            if glance:
                self.show(glance)


def _run(requests: Connection, split: str) -> None:
    """Run the process until the pipe is closed, Ctrl-C or a RuleSafeError, which is printed."""
    with ros_context(handle_signals=True):
        try:
            CameraNode(split).serve(requests)
        except (EOFError, KeyboardInterrupt):
            pass
        except RuleSafeError as error:
            print(f"camera_side_node: {error}", file=sys.stderr, flush=True)
        except Exception:
            if rclpy.ok():
                raise


class CameraProcess:
    """Starts the camera process and sends requests to it.

    `begin` and `show` raise RuleSafeError if the process has ended.
    """

    def __init__(self, split: str) -> None:
        context = multiprocessing.get_context("spawn")  # rclpy and SAPIEN do not support fork
        requests, self._requests = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(requests, split), daemon=True)
        self._process.start()
        requests.close()

    def begin(self, scene: Scene) -> None:
        self._send(scene)

    def show(self, glance: CameraRequest) -> None:
        self._send(glance)

    def _send(self, message: Scene | CameraRequest) -> None:
        try:
            self._requests.send(message)
        except OSError:
            raise RuleSafeError(
                "the camera process has ended: see its error above, or set cameras:=false"
            ) from None

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):
            self._requests.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
