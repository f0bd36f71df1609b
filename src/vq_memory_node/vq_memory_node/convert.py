"""The memory as ROS messages."""

from array import array

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy

from rulesafe_core.convert import to_header
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.rolling import RollingMemory

JOINTS_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
"""/joint_states: the queue holds two seconds of a robot at 500 Hz, since each message that is lost
is a gap in the memory and not just an old value."""

MAX_VOCABULARY = np.iinfo(np.uint16).max
"""The largest number of tokens that the message can hold."""


def to_memory_tokens(rolling: RollingMemory, time: int) -> MemoryTokens:
    """Convert the tokens that a memory holds; `time`: stamp of the newest frame, ns."""
    reading, memory = rolling.read(), rolling.memory
    return MemoryTokens(
        header=to_header(time, ""),
        tokens=array("H", reading.values.astype(np.uint16).tobytes()),
        mask=reading.mask.tolist(),
        vocabulary_size=memory.vocabulary,
        stride=rolling.grid.stride,
        window=memory.window,
        model_hash=memory.hash,
    )
