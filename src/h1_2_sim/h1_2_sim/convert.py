"""What the robot's side publishes beyond the simulation's messages."""

from array import array

import numpy as np
from numpy.typing import NDArray
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image

from rulesafe_core.convert import to_header

ROBOT_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""The robot's own topics: what is older than some states is of no use."""


def to_depth(depth: NDArray[np.float32], time: int, frame: str) -> Image:
    """Distances (H, W) along the optical axis in m as 32FC1, 0 where nothing is seen."""
    height, width = depth.shape
    message = Image(
        header=to_header(time, frame), height=height, width=width, encoding="32FC1", step=4 * width
    )
    message.data = array("B", np.ascontiguousarray(depth, "<f4").tobytes())
    return message
