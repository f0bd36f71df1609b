"""Message conversions and QoS of the simulated robot beyond those of rulesafe_core."""

from array import array

import numpy as np
from numpy.typing import NDArray
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image

from rulesafe_core.convert import to_header

ROBOT_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""QoS of the robot's own topics; the queue is short because old states are useless."""


def to_depth(depth: NDArray[np.float32], time: int, frame: str) -> Image:
    """Convert depth (H, W) along the optical axis, m, to 32FC1.

    Pixels without a surface have depth 0; in the message they are NaN (REP 118).
    """
    height, width = depth.shape
    message = Image(
        header=to_header(time, frame), height=height, width=width, encoding="32FC1", step=4 * width
    )
    message.data = array("B", np.where(depth > 0, depth, np.nan).astype("<f4").tobytes())
    return message
