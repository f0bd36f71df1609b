"""The cameras of the simulated robot, in a process of their own, as a camera driver's would be.

They are shown every joint ten times a second through a pipe, and render while the robot goes on.
What they publish: both pictures with their camera infos, and the head camera's depth, aligned with
its picture, of which `camera_points` makes the cloud.
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

DEPTH = "head"
"""The camera that measures depth."""


@dataclass(frozen=True)
class Scene:
    """What the cameras look at from now on."""

    rule: str
    safe: str
    seed: int


@dataclass(frozen=True)
class Glance:
    """Where everything is at a stamp (ns)."""

    stamp: int
    joints: Joints


class CameraNode(Node):
    """Renders and publishes what it is told to show."""

    def __init__(self, split: str) -> None:
        super().__init__("camera_side_node")
        from rulesafe_sim.observer import Observer
        from rulesafe_sim.simulation import Simulation

        self._simulation = Simulation(SimulationConfig(split=split), render=True)
        self._observe = Observer
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

    def begin(self, scene: Scene) -> None:
        """Builds the scene of an episode. Errors: RuleSafeError."""
        self._simulation.reset(scene.rule, scene.safe, scene.seed)
        self._observer = self._observe(self._simulation)

    def show(self, glance: Glance) -> None:
        """Takes and publishes the pictures of an instant."""
        assert self._observer is not None
        self._simulation.show(glance.joints)
        seen = self._observer.observe([f"{name}_rgb" for name in CAMERAS])
        for name in CAMERAS:
            rgb, frame = seen[f"{name}_rgb"], optical_frame(name)
            height, width, _ = rgb.shape
            intrinsics = self._observer.rig.intrinsics(name)
            info = convert.to_camera_info(intrinsics, width, height, glance.stamp, frame)
            self._images[name].publish(convert.to_image(rgb, glance.stamp, frame))
            self._infos[name].publish(info)
        depth = self._observer.rig.depth(DEPTH)
        self._depth.publish(to_depth(depth, glance.stamp, optical_frame(DEPTH)))

    def serve(self, told: Connection) -> None:
        """Shows the newest glance, again and again, until the other side has gone."""
        while rclpy.ok():
            glance: Glance | None = None
            pending = True
            while pending:
                message = told.recv()
                if isinstance(message, Scene):
                    self.begin(message)
                    glance = None
                else:
                    glance = message
                pending = told.poll()
            if glance:
                self.show(glance)


def _run(told: Connection, split: str) -> None:
    """The process: ends with the pipe, by Ctrl-C, or with one line for what can be mended."""
    with ros_context(handle_signals=True):
        try:
            CameraNode(split).serve(told)
        except (EOFError, KeyboardInterrupt):
            pass
        except RuleSafeError as error:
            print(f"camera_side_node: {error}", file=sys.stderr, flush=True)
        except Exception:
            if rclpy.ok():
                raise


class CameraProcess:
    """The other end: starts the cameras' process and tells it what to show.

    Errors of `begin` and `show`: RuleSafeError once that process has ended.
    """

    def __init__(self, split: str) -> None:
        context = multiprocessing.get_context("spawn")  # rclpy and SAPIEN bear no fork
        told, self._tell = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(told, split), daemon=True)
        self._process.start()
        told.close()

    def begin(self, scene: Scene) -> None:
        self._send(scene)

    def show(self, glance: Glance) -> None:
        self._send(glance)

    def _send(self, message: Scene | Glance) -> None:
        try:
            self._tell.send(message)
        except OSError:
            raise RuleSafeError("the cameras' process has ended; see what it said") from None

    def close(self) -> None:
        """Ends the process."""
        with suppress(OSError):
            self._tell.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
