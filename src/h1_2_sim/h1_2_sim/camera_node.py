"""Cameras of the simulated robot in a separate process, like a camera driver.

They publish images with their camera infos, and the first camera's depth, aligned to its image,
from which `camera_points` computes the point cloud.
"""

from collections.abc import Mapping
from typing import Any

from sensor_msgs.msg import CameraInfo, Image

from h1_2_sim.convert import to_depth
from rulesafe_core.cameras import POINTS, CameraSet
from rulesafe_sim.camera_node import CameraNode
from rulesafe_sim.config import SimulationConfig


class RobotCameraNode(CameraNode):
    """The cameras of the robot; `split`: what varies in the scenes."""

    def __init__(self, split: str, cameras: CameraSet) -> None:
        keys = [key for key in cameras.keys if key != POINTS]
        super().__init__(SimulationConfig(split=split), cameras, "camera_side_node", keys)

    def topics(self) -> dict[str, type]:
        depth = self._cameras.depth.topic
        added = {depth("depth/image_raw"): Image, depth("depth/camera_info"): CameraInfo}
        return super().topics() | added

    def encode(self, observation: Mapping[str, Any], stamp: int) -> dict[str, Any]:
        messages, camera = super().encode(observation, stamp), self._cameras.depth
        depth = to_depth(self.rig.depth(camera.name), stamp, camera.optical_frame)
        # Depth has the same pixels as the image.
        info = messages[camera.topic("camera_info")]
        return messages | {
            camera.topic("depth/image_raw"): depth,
            camera.topic("depth/camera_info"): info,
        }
