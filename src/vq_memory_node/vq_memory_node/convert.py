"""The memory's messages to plain data and back."""

from array import array

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy

from rulesafe_core.convert import to_header
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.grids import Grid
from vq_memory_node.memory import Reading
from vq_memory_node.tokenizers import Tokenizer

JOINTS_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
"""/joint_states: two seconds of a robot at 500 Hz may wait, since each one that is lost is a gap in
the memory and not just an old value."""

MAX_VOCABULARY = np.iinfo(np.uint16).max
"""What the message can count."""


def to_memory_tokens(reading: Reading, time: int, tokenizer: Tokenizer, grid: Grid) -> MemoryTokens:
    """What a memory tells; `time`: ns, of the newest frame that went in."""
    return MemoryTokens(
        header=to_header(time, ""),
        tokens=array("H", reading.values.astype(np.uint16).tobytes()),
        mask=reading.mask.tolist(),
        vocabulary_size=tokenizer.vocabulary,
        stride=grid.stride,
        window=tokenizer.window,
        model_hash=tokenizer.hash,
    )


def from_memory_tokens(message: MemoryTokens) -> Reading:
    """What a memory told: see `Reading`."""
    return Reading(np.array(message.tokens, np.int64), np.array(message.mask, np.bool_))
