"""DP3: a cloud's features, the joints and the memory steer a U-Net that removes noise from actions.

After Ze et al., "3D Diffusion Policy", 2024; memory after Wang et al., "VQ-Memory": a small
convolutional network makes one vector of its tokens. Differs from the published code: clouds are
shifted and scaled by fixed figures; the points' colours are looked at too; only the last
`cloud_frames` clouds are; a mask tells which part of the memory was observed; scales of FiLM are
counted from 1 (unet.py); at the tiny size everything is narrower.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from policy_node.batches import Batch, Network
from policy_node.configs import Dp3Config
from policy_node.memories import MemoryShape
from policy_node.policy import CHUNK
from policy_node.schedules import Diffusion
from policy_node.unet import UNet
from rulesafe_sim.joints import ACTION_JOINTS

JOINTS = len(ACTION_JOINTS)

CENTRE = (0.6, -0.2, 0.3, 0.5, 0.5, 0.5)
"""Middle of what the camera sees of safe and arm: m in the pelvis frame; r, g, b."""

EXTENT = (0.3, 0.3, 0.3, 0.5, 0.5, 0.5)
"""Half of its extent, about."""


class PointNet(nn.Module):
    """Clouds (B, N, 6) -> (B, features): one perceptron on each point, the greatest of each
    channel, one linear map. After Qi et al., 2017, without its transforms, as DP3."""

    def __init__(self, config: Dp3Config) -> None:
        super().__init__()
        self.centre: Tensor
        self.extent: Tensor
        self.channels = 6 if config.colour else 3
        layers: list[nn.Module] = []
        for into, out in pairwise((self.channels, *config.pointnet)):
            layers += [nn.Linear(into, out), nn.LayerNorm(out), nn.ReLU()]
        self.points = nn.Sequential(*layers)
        width, features = config.pointnet[-1], config.cloud_features
        self.cloud = nn.Sequential(nn.Linear(width, features), nn.LayerNorm(features))
        self.register_buffer("centre", torch.tensor(CENTRE[: self.channels]), persistent=False)
        self.register_buffer("extent", torch.tensor(EXTENT[: self.channels]), persistent=False)

    def forward(self, points: Tensor) -> Tensor:
        seen = (points[..., : self.channels] - self.centre) / self.extent
        found: Tensor = self.cloud(self.points(seen).amax(dim=-2))
        return found


class MemoryEncoder(nn.Module):
    """A memory to one vector (B, features): convolutions over time, then one linear map of all."""

    def __init__(self, config: Dp3Config, shape: MemoryShape) -> None:
        super().__init__()
        width = config.memory_embedding
        self.entries: nn.Module
        self.vocabulary = shape.vocabulary
        if shape.kind == "tokens":
            self.entries = nn.Embedding(shape.vocabulary + 1, width)  # the last: not observed
        else:
            self.entries = nn.Linear(JOINTS + 1, width)  # the last: whether observed
        layers: list[nn.Module] = []
        length = shape.length
        for into, out in pairwise((width, *config.memory_channels)):
            layers += [nn.Conv1d(into, out, 5, stride=2, padding=2), nn.ReLU()]
            length = (length - 1) // 2 + 1
        self.time = nn.Sequential(*layers, nn.Flatten())
        self.out = nn.Linear(config.memory_channels[-1] * length, config.memory_features)

    def forward(self, memory: Tensor, mask: Tensor) -> Tensor:
        """memory (B, M) int64 or (B, M, 13) float32, mask (B, M) bool."""
        if isinstance(self.entries, nn.Embedding):
            entries = self.entries(memory.where(mask, self.vocabulary))
        else:
            seen = mask[..., None].to(memory.dtype)
            entries = self.entries(torch.cat([memory * seen, seen], dim=-1))
        found: Tensor = self.out(self.time(entries.transpose(1, 2)))
        return found


class Dp3(Network):
    """The network. `config.past` actions come before the chunk and are thrown away."""

    def __init__(self, config: Dp3Config, memory: MemoryShape) -> None:
        super().__init__()
        self.config = config
        self.cloud = PointNet(config)
        layers: list[nn.Module] = []
        for into, out in pairwise((JOINTS, *config.state)):
            layers += [nn.Linear(into, out), nn.ReLU()]
        self.state = nn.Sequential(*layers[:-1])
        self.memory = MemoryEncoder(config, memory) if memory.kind != "none" else None
        condition = config.cloud_features * config.cloud_frames + config.state[-1] * config.frames
        condition += config.memory_features if self.memory else 0
        self.unet = UNet(
            JOINTS,
            condition,
            config.channels,
            config.blocks,
            config.kernel,
            config.groups,
            config.step_features,
        )
        self.diffusion = Diffusion(config.train_steps, config.sample_steps)

    def condition(self, batch: Batch) -> Tensor:
        """What steers the U-Net, (B, C)."""
        assert batch.points is not None
        clouds = batch.points[:, -self.config.cloud_frames :, : self.config.points]
        parts = [self.cloud(clouds).flatten(1), self.state(batch.joints).flatten(1)]
        if self.memory is not None:
            parts.append(self.memory(batch.memory, batch.memory_mask))
        return torch.cat(parts, dim=-1)

    def loss(self, batch: Batch) -> Tensor:
        assert batch.actions is not None
        condition = self.condition(batch)
        return self.diffusion.loss(lambda *noisy: self.unet(*noisy, condition), batch.actions)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        condition = self.condition(batch)
        shape = (len(batch), self.config.past + CHUNK, JOINTS)
        rows = self.diffusion.sample(
            lambda *noisy: self.unet(*noisy, condition), shape, condition.device, generator
        )
        return rows[:, self.config.past :]

    def parts(self) -> dict[str, nn.Module]:
        found: dict[str, nn.Module] = {"cloud": self.cloud, "state": self.state}
        if self.memory is not None:
            found["memory"] = self.memory
        return found | {"unet": self.unet}
