"""DP3: a cloud's features, the joints and the memory steer a U-Net that removes noise from actions.

After Ze et al., "3D Diffusion Policy", 2024; memory after Wang et al., "VQ-Memory": a small
convolutional network makes one vector of its tokens. Differs from the published code: clouds are
shifted and scaled by fixed figures; the points' colours are looked at too; only the last
`cloud_frames` clouds are; a mask tells which part of the memory was observed; scales of FiLM are
counted from 1 (unet.py). At the tiny size everything is narrower, the cloud is seen through an
encoder that was trained before (scene_encoder.py) and stays as it is; a perceptron and a linear map
guess the rows from what steers the U-Net, which tells what is to be added: steered by a vector
alone, a narrow U-Net takes long to place each row; the joints are part of that vector as they are
too, since a target relative to them contains them; and the loss is the absolute error: a chunk is
then what most demonstrations did, not their mean.
"""

from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor, nn

from policy_node.batches import Batch, Network
from policy_node.configs import Dp3Config, NetworkConfig
from policy_node.pointnet import PointNet
from policy_node.policy import CHUNK
from policy_node.scene_encoder import SceneEncoder, make_encoder, see
from policy_node.schedules import Diffusion, Predict
from policy_node.unet import UNet
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import MemoryShape

JOINTS = len(ACTION_JOINTS)


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


def _perceptron(into: int, width: int, out: int) -> nn.Sequential | None:
    """Two hidden layers of a width; None of the width 0."""
    if not width:
        return None
    hidden = [nn.Linear(into, width), nn.Mish(), nn.Linear(width, width), nn.Mish()]
    return nn.Sequential(*hidden, nn.Linear(width, out))


class Dp3(Network):
    """The network. `config.past` actions come before the chunk and are thrown away."""

    def __init__(self, config: Dp3Config, memory: MemoryShape) -> None:
        super().__init__()
        self.config, self.rows = config, config.past + CHUNK
        self.cloud: SceneEncoder | PointNet
        if config.encoder is None:
            self.cloud = PointNet(config.pointnet, config.cloud_features, config.colour)
        else:
            self.cloud = make_encoder(config.encoder)
        layers: list[nn.Module] = []
        for into, out in pairwise((JOINTS, *config.state)):
            layers += [nn.Linear(into, out), nn.ReLU()]
        self.state = nn.Sequential(*layers[:-1])
        self.memory = MemoryEncoder(config, memory) if memory.kind != "none" else None
        condition = self.cloud.features * config.cloud_frames + config.state[-1] * config.frames
        condition += config.memory_features if self.memory else 0
        condition += JOINTS * config.frames if config.direct else 0
        self.unet = UNet(
            JOINTS,
            condition,
            config.channels,
            config.blocks,
            config.kernel,
            config.groups,
            config.step_features,
        )
        self.guess = _perceptron(condition, config.guess, self.rows * JOINTS)
        linear = config.direct and config.guess
        self.linear = nn.Linear(condition, self.rows * JOINTS) if linear else None
        self.diffusion = Diffusion(config.train_steps, config.sample_steps, loss=config.loss)

    def condition(self, batch: Batch) -> Tensor:
        """What steers the U-Net, (B, C)."""
        seen = see(self.cloud, batch, self.config.cloud_frames, self.config.points)
        parts = [seen.flatten(1), self.state(batch.joints).flatten(1)]
        if self.config.direct:
            parts.append(batch.joints.flatten(1))
        if self.memory is not None:
            parts.append(self.memory(batch.memory, batch.memory_mask))
        return torch.cat(parts, dim=-1)

    def loss(self, batch: Batch) -> Tensor:
        assert batch.actions is not None
        return self.diffusion.loss(self._predictor(batch), batch.actions)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        shape = (len(batch), self.rows, JOINTS)
        device = batch.joints.device
        rows = self.diffusion.sample(self._predictor(batch), shape, device, generator)
        return rows[:, self.config.past :]

    def _predictor(self, batch: Batch) -> Predict:
        condition = self.condition(batch)
        if self.guess is None:
            return lambda noisy, time: self.unet(noisy, time, condition)
        guess = self.guess(condition)
        if self.linear is not None:
            guess = guess + self.linear(condition)
        guess = guess.view(-1, self.rows, JOINTS)
        return lambda noisy, time: guess + self.unet(noisy, time, condition)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        """See Network."""
        if isinstance(self.cloud, SceneEncoder):
            return replace(self.config, encoder=self.cloud.config)
        return config

    def sight(self) -> nn.Module | None:
        """See Network."""
        return self.cloud if isinstance(self.cloud, SceneEncoder) else None

    def parts(self) -> dict[str, nn.Module]:
        found: dict[str, nn.Module] = {"cloud": self.cloud, "state": self.state}
        if self.memory is not None:
            found["memory"] = self.memory
        found["unet"] = self.unet
        if self.guess is not None:
            found["guess"] = self.guess
        if self.linear is not None:
            found["linear"] = self.linear
        return found
