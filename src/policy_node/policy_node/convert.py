"""Quality of service of the policy's topics, and the memory's messages to the policy's memory."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from policy_node.synchroniser import newest_values
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_tokens
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.memory import Reading, TokenMemory
from vq_memory_node.windows import STRIDE

PICTURES_QOS = QoSProfile(depth=20, reliability=ReliabilityPolicy.RELIABLE)
"""Images and point clouds: two seconds may wait, since several make one observation."""

TOKENS_QOS = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""/memory/tokens: late subscribers receive the last message, and all later ones are kept."""


def to_reading(message: MemoryTokens, memory: TokenMemory) -> Reading:
    """Return what the policy's own memory would hold after the same frames.

    Raises:
        RuleSafeError: the publisher's memory is another one, or shorter.
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
    return newest_values(Reading(*decode_tokens(message)), memory.length)
