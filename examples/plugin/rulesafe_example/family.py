"""The policy family and its configurations; without torch, so that commands can list them."""

from dataclasses import dataclass

from policy_node.configs import NetworkConfig
from policy_node.families import Family


@dataclass(frozen=True)
class LinearConfig(NetworkConfig):
    """Joints only; `embedding` is the width of a token's embedding."""

    embedding: int = 4


SIZES = {"tiny": LinearConfig(), "base": LinearConfig(embedding=16)}
LINEAR = Family("rulesafe_example.family:SIZES", "rulesafe_example.network:Linear", "the example")
