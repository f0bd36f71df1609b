"""Conversion of a memory to ROS messages."""

from array import array

import numpy as np

from rulesafe_core.convert import to_header
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.rolling import RollingMemory

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
