"""Quality of service and conversion of /memory/tokens messages."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from policy_node.synchroniser import newest_values
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_tokens
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.memory import Reading, TokenMemory
from vq_memory_node.windows import STRIDE

TOKENS_QOS = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""QoS of /memory/tokens: late subscribers receive the last message; a long queue avoids the loss of
tokens."""


def to_reading(message: MemoryTokens, memory: TokenMemory) -> Reading:
    """Return the reading of the policy's memory from the tokens of a message.

    Raises:
        RuleSafeError: the publisher uses another memory model or settings, or a shorter memory.
    """
    for what, received, expected in (
        ("model", message.model_hash, memory.hash),
        ("vocabulary size", message.vocabulary_size, memory.vocabulary),
        ("stride", message.stride, STRIDE),
        ("window", message.window, memory.window),
    ):
        if received != expected:
            raise RuleSafeError(
                f"/memory/tokens has {what} {received}; the policy was trained with {expected}; "
                "set memory_model and memory_clusters of the launch file accordingly"
            )
    return newest_values(Reading(*decode_tokens(message)), memory.length)
