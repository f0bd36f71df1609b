"""Behaviour cloning: a residual MLP maps the observation to the chunk, without a generative model.

All rules and safes are learned by one network. Instruction, memory and the scene features, with the
identity of the safe as estimated in the episode so far, modulate its layers (Perez et al., "FiLM:
visual reasoning with a general conditioning layer", 2018). Their input is the joint positions,
encoded by sines of several frequencies (Tancik et al., "Fourier features let networks learn high
frequency functions", 2020): the next motion changes within centimetres. The loss is the absolute
error, so that a chunk follows the majority of the demonstrations instead of their mean; errors of
the first steps, which are executed, have the largest weights, and windows before a grasp are drawn
more often.

    rulesafe policy train demos --policy bc --memory vq --out policy
"""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from policy_node.batches import Batch, Network
from policy_node.configs import BcConfig, NetworkConfig
from policy_node.language import InstructionEncoder, tokenize
from policy_node.memory_encoders import MemoryEncoder
from policy_node.policy import CHUNK
from policy_node.scene_encoder import SceneEncoder, make_encoder
from policy_node.schedules import JOINTS
from vq_memory_node.memory import MemoryShape


class ModulatedMlp(nn.Module):
    """x (B, width) -> x + MLP(x), whose normalised input is scaled and shifted by a condition
    (B, condition)."""

    def __init__(self, width: int, condition: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.film = nn.Linear(condition, 2 * width)
        self.layers = nn.Sequential(
            nn.Linear(width, 2 * width), nn.Mish(), nn.Linear(2 * width, width)
        )

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.film(condition).chunk(2, dim=-1)
        found: Tensor = x + self.layers(self.norm(x) * (1 + scale) + shift)
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
        features = config.language + self.encoder.features
        features += config.memory_features if self.memory else 0
        self.condition = nn.Sequential(
            nn.Linear(features, 2 * config.condition),
            nn.Mish(),
            nn.Linear(2 * config.condition, config.condition),
            nn.Mish(),
        )
        self.joints = nn.Linear((config.frames + 2 * config.waves) * JOINTS, config.width)
        blocks = (ModulatedMlp(config.width, config.condition) for _ in range(config.blocks))
        self.blocks = nn.ModuleList(blocks)
        self.head = nn.Sequential(
            nn.LayerNorm(config.width), nn.Linear(config.width, CHUNK * JOINTS)
        )
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
        ]
        if self.memory is not None:
            parts.append(self.memory(batch.memory, batch.memory_mask))
        condition = self.condition(torch.cat(parts, dim=-1))
        x = self.joints(torch.cat([batch.joints.flatten(1), angles.sin(), angles.cos()], dim=-1))
        for block in self.blocks:
            x = block(x, condition)
        found: Tensor = self.head(x) + self.direct(now)
        return found.view(-1, CHUNK, JOINTS)

    def loss(self, batch: Batch) -> Tensor:
        if batch.actions is None:
            raise ValueError("the batch has no actions, which the loss requires")
        errors = (self.predict(batch) - batch.actions).abs()
        weights = torch.exp(-torch.arange(CHUNK, device=errors.device) / self.config.decay)
        return (errors.mean(-1) * (weights / weights.mean())).mean()

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        return self.predict(batch)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        return replace(self.config, encoder=self.encoder.config)

    def scene_encoder(self) -> SceneEncoder:
        return self.encoder

    def token_ids(self, instruction: str) -> list[int]:
        return tokenize(instruction)
