"""The policy's messages to plain data."""

import numpy as np
from numpy.typing import NDArray
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import PointCloud2, PointField

from policy_node.synchroniser import newest_values
from rulesafe_core.convert import from_cloud
from rulesafe_core.errors import RuleSafeError
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.convert import from_memory_tokens
from vq_memory_node.memory import Reading, TokenMemory
from vq_memory_node.windows import STRIDE

PICTURES_QOS = QoSProfile(depth=20, reliability=ReliabilityPolicy.RELIABLE)
"""Images and clouds: those of two seconds may wait, since several make one observation."""

TOKENS_QOS = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""/memory/tokens: the last one is told to who comes late, and all that come are kept."""

LAYOUT = [(name, 4 * i, PointField.FLOAT32) for i, name in enumerate(("x", "y", "z", "rgb"))]


def to_points(message: PointCloud2) -> NDArray[np.float32]:
    """The points (N, 6) of a cloud. Errors: RuleSafeError for one of another layout than ours."""
    found = [(field.name, field.offset, field.datatype) for field in message.fields]
    if found != LAYOUT or message.point_step != 16 or message.is_bigendian:
        names = ", ".join(name for name, _, _ in found)
        raise RuleSafeError(
            "a cloud's points are x, y, z and rgb, float32 each and nothing else; got "
            f"{names} in {message.point_step} bytes"
        )
    return from_cloud(message)


def to_reading(message: MemoryTokens, memory: TokenMemory) -> Reading:
    """Return the reading that the policy's own memory would give for the same joint states.

    Errors: RuleSafeError if the sender's memory is another one, or shorter.
    """
    for what, sent, expected in (
        ("the model", message.model_hash, memory.hash),
        ("a vocabulary", message.vocabulary_size, memory.vocabulary),
        ("a stride", message.stride, STRIDE),
        ("a window", message.window, memory.window),
    ):
        if sent != expected:
            raise RuleSafeError(
                f"/memory/tokens come of {what} {sent}; the policy was trained with {expected}"
            )
    return newest_values(from_memory_tokens(message), memory.length)
