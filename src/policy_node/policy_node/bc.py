"""Behaviour cloning: a residual MLP maps the observation to the chunk, without a generative model.

All rules and safes are learned by one network. Its condition is the instruction, the scene
features with the identity of the safe as estimated in the episode so far, the joint positions and
the memory. Joint positions are encoded by sines of several frequencies (Tancik et al., "Fourier
features let networks learn high frequency functions", 2020): the next motion changes within
centimetres. The loss is the absolute error, so that a chunk follows the majority of the
demonstrations instead of their mean.

    rulesafe policy train demos --policy bc --memory vq --out policy
"""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import l1_loss

from policy_node.batches import Batch, Network
from policy_node.configs import BcConfig, NetworkConfig
from policy_node.language import InstructionEncoder, tokenize
from policy_node.memory_encoders import MemoryEncoder
from policy_node.policy import CHUNK
from policy_node.scene_encoder import SceneEncoder, make_encoder
from policy_node.schedules import JOINTS
from vq_memory_node.memory import MemoryShape


class ResidualMlp(nn.Module):
    """x -> x + MLP(x), with a normalised input; (..., width)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Mish(), nn.Linear(2 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = x + self.layers(x)
        return found


class Bc(Network):
    """The network of behaviour cloning."""

    def __init__(self, config: BcConfig, memory: MemoryShape) -> None:
        super().__init__()
        self.config = config
        self.encoder = make_encoder(config.encoder, config.images)
        self.instruction = InstructionEncoder(config.language, config.heads)
        self.memory = None
        if memory.kind != "none":
            widths = config.memory_embedding, config.memory_features, config.memory_channels
            self.memory = MemoryEncoder(memory, *widths)
        features = config.language + self.encoder.features + JOINTS * config.frames
        features += 2 * config.waves * JOINTS
        features += config.memory_features if self.memory else 0
        self.body = nn.Sequential(
            nn.Linear(features, config.width),
            *(ResidualMlp(config.width) for _ in range(config.blocks)),
            nn.LayerNorm(config.width),
        )
        self.head = nn.Linear(config.width, CHUNK * JOINTS)
        # Targets relative to the posture depend linearly on it.
        self.direct = nn.Linear(JOINTS, CHUNK * JOINTS)

    def predict(self, batch: Batch) -> Tensor:
        """Return the chunks (B, 50, 13), normalised."""
        if batch.language is None or batch.language_mask is None:
            raise ValueError("the batch has no instructions, which the network requires")
        now = batch.joints[:, -1]
        scales = math.pi * 2.0 ** torch.arange(self.config.waves, device=now.device)
        angles = (now[:, None] * scales[:, None]).flatten(1)
        parts = [
            self.instruction(batch.language, batch.language_mask),
            batch.scene(self.encoder, 1, self.config.points).flatten(1),
            batch.joints.flatten(1),
            angles.sin(),
            angles.cos(),
        ]
        if self.memory is not None:
            parts.append(self.memory(batch.memory, batch.memory_mask))
        found: Tensor = self.head(self.body(torch.cat(parts, dim=-1)))
        return (found + self.direct(now)).view(-1, CHUNK, JOINTS)

    def loss(self, batch: Batch) -> Tensor:
        if batch.actions is None:
            raise ValueError("the batch has no actions, which the loss requires")
        return l1_loss(self.predict(batch), batch.actions)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        return self.predict(batch)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        return replace(self.config, encoder=self.encoder.config)

    def scene_encoder(self) -> SceneEncoder:
        return self.encoder

    def token_ids(self, instruction: str) -> list[int]:
        return tokenize(instruction)

    def parts(self) -> dict[str, nn.Module]:
        names = ("encoder", "instruction", "memory", "body", "head", "direct")
        parts = {name: getattr(self, name) for name in names}
        return {name: part for name, part in parts.items() if part is not None}
