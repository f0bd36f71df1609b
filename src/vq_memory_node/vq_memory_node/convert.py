"""Conversion of a memory to ROS messages."""

from array import array

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from rulesafe_core.convert import to_header
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.rolling import RollingMemory

TOKENS_QOS = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""QoS of subscribers of /memory/tokens: late ones receive the last message; a long queue avoids the
loss of tokens."""

MAX_VOCABULARY = np.iinfo(np.uint16).max
"""Largest vocabulary that the message type can represent."""


def to_memory_tokens(rolling: RollingMemory, time: int) -> MemoryTokens:
    """Convert the current tokens of a memory; `time`: stamp of the newest frame, ns."""
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
