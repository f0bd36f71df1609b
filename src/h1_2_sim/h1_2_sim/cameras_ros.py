"""Cameras of the simulated robot, like a camera driver.

They publish images with their camera infos, and the first camera's depth, aligned to its image,
from which `camera_points` computes the point cloud.
"""

from collections.abc import Mapping
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from h1_2_sim.convert import to_depth
from rulesafe_core.cameras import POINTS, CameraSet
from rulesafe_render.renderer import CameraRig
from rulesafe_sim.cameras_ros import CameraPublisher


class RobotCameras(CameraPublisher):
    """The cameras of the robot."""

    def __init__(self, node: Node, cameras: CameraSet) -> None:
        super().__init__(node, cameras, [key for key in cameras.keys if key != POINTS])

    def topics(self) -> dict[str, type]:
        depth = self._cameras.depth.topic
        added = {depth("depth/image_raw"): Image, depth("depth/camera_info"): CameraInfo}
        return super().topics() | added

    def encode(self, observation: Mapping[str, Any], rig: CameraRig, stamp: int) -> dict[str, Any]:
        messages, camera = super().encode(observation, rig, stamp), self._cameras.depth
        depth = to_depth(rig.depth(camera.name), stamp, camera.optical_frame)
        # Depth has the same pixels as the image.
        info = messages[camera.topic("camera_info")]
        return messages | {
            camera.topic("depth/image_raw"): depth,
            camera.topic("depth/camera_info"): info,
        }
