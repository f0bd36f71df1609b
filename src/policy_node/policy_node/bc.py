"""Behaviour cloning: a residual MLP maps the observation to the chunk, without a generative model.

All rules and safes are learned by one network. Instruction, memory and the scene features, with the
identity of the safe as estimated in the episode so far, modulate its layers (Perez et al., "FiLM:
visual reasoning with a general conditioning layer", 2018). Their input is the joint positions,
encoded by sines of several frequencies (Tancik et al., "Fourier features let networks learn high
frequency functions", 2020): the next motion changes within centimetres. The loss is the absolute
error, so that a chunk follows the majority of the demonstrations instead of their mean; errors of
the first steps, which are executed, have the largest weights, and windows before a grasp are drawn
more often.

Where the next motion is uncertain, or changes with the memory, a smooth network mixes several
motions: five percent of one that ends 14 cm away are 7 mm. Therefore a classifier chooses one of
several modes first, and its embedding modulates the layers, too. The modes are clusters of the
postures to which the demonstrations move in the next five seconds (compare Shafiullah et al.,
"Behavior transformers", 2022).

    rulesafe policy train demos --policy bc --memory vq --out policy
"""

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from policy_node.batches import Batch, Network, Windows
from policy_node.configs import BcConfig, NetworkConfig
from policy_node.language import InstructionEncoder, tokenize
from policy_node.memory_encoders import MemoryEncoder
from policy_node.normaliser import Normaliser
from policy_node.policy import CHUNK
from policy_node.scene_encoder import SceneEncoder, make_encoder
from policy_node.schedules import JOINTS
from policy_node.skills import LEVERS
from vq_memory_node.clustering import k_means
from vq_memory_node.memory import MemoryShape

GOALS = (9, 19, 29, 39, 49)
"""Steps of a chunk whose postures determine its mode."""

CHOICE = 0.02
"""Weight of the cross-entropy of the mode in the loss."""

SAMPLE, PART = 30_000, 2000
"""Number of windows whose goals are clustered, and of those that are read at once."""


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

    centres: Tensor  # (modes, len(GOALS) * 13): goals of the modes

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
        joints = (config.frames + 2 * config.waves) * JOINTS
        self._normaliser: Normaliser | None = None  # in training only
        self.choice = None
        if config.modes:
            self.choice = nn.Sequential(
                nn.Linear(config.condition + joints, config.width),
                nn.Mish(),
                nn.Linear(config.width, config.width),
                nn.Mish(),
                nn.Linear(config.width, config.modes),
            )
            self.mode = nn.Embedding(config.modes, config.condition)
            nn.init.normal_(self.mode.weight, std=0.5)
            self.register_buffer("centres", torch.zeros(config.modes, len(GOALS) * JOINTS))
        self.joints = nn.Linear(joints, config.width)
        blocks = (ModulatedMlp(config.width, config.condition) for _ in range(config.blocks))
        self.blocks = nn.ModuleList(blocks)
        self.head = nn.Sequential(
            nn.LayerNorm(config.width), nn.Linear(config.width, CHUNK * JOINTS)
        )
        # Targets relative to the posture depend linearly on it.
        self.direct = nn.Linear(JOINTS, CHUNK * JOINTS)

    def predict(self, batch: Batch, mode: Tensor | None = None) -> Tensor:
        """Return the chunks (B, 50, 13), normalised, of modes (B,); None: of the most probable."""
        condition, joints = self._features(batch)
        if self.choice is not None:
            if mode is None:
                mode = self._logits(condition, joints).argmax(-1)
            condition = condition + self.mode(mode)
        return self._motion(batch, condition, joints)

    def _features(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the encoding of instruction, scene and memory (B, condition), and the encoded
        joint positions (B, ...)."""
        if batch.language is None or batch.language_mask is None:
            raise ValueError("the batch has no instructions, which the network requires")
        parts = [
            self.instruction(batch.language, batch.language_mask),
            batch.scene(self.encoder, 1, self.config.points).flatten(1),
        ]
        if self.memory is not None:
            parts.append(self.memory(batch.memory, batch.memory_mask))
        now = batch.joints[:, -1]
        scales = math.pi * 2.0 ** torch.arange(self.config.waves, device=now.device)
        angles = (now[:, None] * scales[:, None]).flatten(1)
        joints = torch.cat([batch.joints.flatten(1), angles.sin(), angles.cos()], dim=-1)
        return self.condition(torch.cat(parts, dim=-1)), joints

    def _logits(self, condition: Tensor, joints: Tensor) -> Tensor:
        assert self.choice is not None
        logits: Tensor = self.choice(torch.cat([condition, joints], dim=-1))
        return logits

    def _motion(self, batch: Batch, condition: Tensor, joints: Tensor) -> Tensor:
        x = self.joints(joints)
        for block in self.blocks:
            x = block(x, condition)
        found: Tensor = self.head(x) + self.direct(batch.joints[:, -1])
        return found.view(-1, CHUNK, JOINTS)

    def loss(self, batch: Batch) -> Tensor:
        if batch.actions is None:
            raise ValueError("the batch has no actions, which the loss requires")
        condition, joints = self._features(batch)
        choice = torch.zeros(())
        if self.choice is not None:
            mode = torch.cdist(self._goals(batch), self.centres).argmin(-1)
            choice = cross_entropy(self._logits(condition, joints), mode)
            condition = condition + self.mode(mode)
        errors = (self._motion(batch, condition, joints) - batch.actions).abs()
        weights = torch.exp(-torch.arange(CHUNK, device=errors.device) / self.config.decay)
        return (errors.mean(-1) * (weights / weights.mean())).mean() + CHOICE * choice

    def store_demonstrations(self, windows: Windows) -> None:
        if self.choice is None:
            return
        self._normaliser = windows.normaliser
        rng = np.random.default_rng(0)
        rows = rng.choice(len(windows), min(SAMPLE, len(windows)), replace=False)
        parts = np.array_split(rows, math.ceil(len(rows) / PART))
        goals = torch.cat([self._goals(windows.batch(part)) for part in parts]).numpy()
        count = min(self.config.modes, len(np.unique(goals, axis=0)))
        centres = k_means(goals, count, seed=0)
        self.centres.copy_(torch.from_numpy(np.resize(centres, self.centres.shape)))  # repeated

    def _goals(self, batch: Batch) -> Tensor:
        """Return the joint positions at the steps GOALS of the chunks (B, len(GOALS) * 13), in m,
        as they move the hand."""
        assert self._normaliser is not None and batch.actions is not None
        normaliser, now = self._normaliser, batch.joints[:, -1]
        positions = normaliser.joints.decode(now.cpu().numpy())
        chunks = normaliser.actions.decode(batch.actions.cpu().numpy(), positions)
        goals = (chunks[:, GOALS] * np.array(LEVERS, np.float32)).reshape(len(chunks), -1)
        return torch.from_numpy(goals).to(now.device)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        return self.predict(batch)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        return replace(self.config, encoder=self.encoder.config)

    def scene_encoder(self) -> SceneEncoder:
        return self.encoder

    def token_ids(self, instruction: str) -> list[int]:
        return tokenize(instruction)
