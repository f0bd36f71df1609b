"""Cameras of the simulated robot in a separate process, like a camera driver.

They publish both images with their camera infos, and the head camera's depth, aligned to its image,
from which `camera_points` computes the point cloud.
"""

from collections.abc import Mapping
from typing import Any

from sensor_msgs.msg import CameraInfo, Image

from h1_2_sim.convert import to_depth
from rulesafe_sim.camera_frames import optical_frame
from rulesafe_sim.camera_node import CameraNode
from rulesafe_sim.config import SimulationConfig

DEPTH = "head"
"""The camera that measures depth."""


class RobotCameraNode(CameraNode):
    """The cameras of the robot; `split`: what varies in the scenes."""

    def __init__(self, split: str) -> None:
        super().__init__(SimulationConfig(split=split), "camera_side_node")

    def topics(self) -> dict[str, type]:
        where = f"/camera/{DEPTH}/depth"
        return super().topics() | {f"{where}/image_raw": Image, f"{where}/camera_info": CameraInfo}

    def encode(self, observation: Mapping[str, Any], stamp: int) -> dict[str, Any]:
        messages = super().encode(observation, stamp)
        depth = to_depth(self.rig.depth(DEPTH), stamp, optical_frame(DEPTH))
        return messages | {
            f"/camera/{DEPTH}/depth/image_raw": depth,
            # The same pixels.
            f"/camera/{DEPTH}/depth/camera_info": messages[f"/camera/{DEPTH}/camera_info"],
        }
