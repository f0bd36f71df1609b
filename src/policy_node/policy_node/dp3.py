"""DP3: a U-Net denoises actions, conditioned on scene features, joints and memory.

After Ze et al., "3D Diffusion Policy", 2024; memory after Wang et al., "VQ-Memory": a small
convolutional network encodes the tokens as one vector. Differences to the published code: point
clouds are shifted and scaled by constants; the points' colours are used too; only the last
`cloud_frames` point clouds are used; a mask marks the observed part of the memory; scales of FiLM
are relative to 1 (unet.py).

Differences at the tiny size: all layers are narrower; a frozen, pretrained scene encoder replaces
the PointNet (scene_encoder.py); an MLP and a linear layer make an initial prediction of the actions
from the condition, and the U-Net predicts the residual, since a narrow U-Net that is conditioned on
a vector is slow to learn the current step of the task; the condition contains the joint positions
themselves, since targets are relative to them; the loss is the absolute error, so that a chunk
follows the majority of the demonstrations instead of their mean.
"""

from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor, nn

from policy_node.batches import Batch
from policy_node.configs import Dp3Config, NetworkConfig
from policy_node.memory_encoders import MemoryEncoder
from policy_node.pointnet import PointNet
from policy_node.policy import CHUNK
from policy_node.scene_encoder import SceneEncoder, make_encoder
from policy_node.schedules import JOINTS, DenoisingNetwork, Diffusion, Predict
from policy_node.unet import UNet
from vq_memory_node.memory import MemoryShape


def _mlp(into: int, width: int, out: int) -> nn.Sequential | None:
    """Return an MLP with two hidden layers, or None if `width` is 0."""
    if not width:
        return None
    hidden = [nn.Linear(into, width), nn.Mish(), nn.Linear(width, width), nn.Mish()]
    return nn.Sequential(*hidden, nn.Linear(width, out))


class Dp3(DenoisingNetwork):
    """The DP3 network."""

    def __init__(self, config: Dp3Config, memory: MemoryShape) -> None:
        super().__init__()
        self.config, self.past = config, config.past
        self.horizon = config.past + CHUNK
        self.cloud: SceneEncoder | PointNet
        if config.encoder is None:
            self.cloud = PointNet(config.pointnet, config.cloud_features, config.colour)
        else:
            self.cloud = make_encoder(config.encoder)
        layers: list[nn.Module] = []
        for into, out in pairwise((JOINTS, *config.state)):
            layers += [nn.Linear(into, out), nn.ReLU()]
        self.state = nn.Sequential(*layers[:-1])
        widths = config.memory_embedding, config.memory_features, config.memory_channels
        self.memory = MemoryEncoder(memory, *widths) if memory.kind != "none" else None
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
        self.guess = _mlp(condition, config.guess, self.horizon * JOINTS)
        linear = config.direct and config.guess
        self.linear = nn.Linear(condition, self.horizon * JOINTS) if linear else None
        self.schedule = Diffusion(config.train_steps, config.sample_steps, loss=config.loss)

    def condition(self, batch: Batch) -> Tensor:
        """Return the condition of the U-Net, (B, C)."""
        scene = batch.scene(self.cloud, self.config.cloud_frames, self.config.points)
        parts = [scene.flatten(1), self.state(batch.joints).flatten(1)]
        if self.config.direct:
            parts.append(batch.joints.flatten(1))
        if self.memory is not None:
            parts.append(self.memory(batch.memory, batch.memory_mask))
        return torch.cat(parts, dim=-1)

    def predictor(self, batch: Batch) -> Predict:
        condition = self.condition(batch)
        initial = self._initial_prediction(condition)
        return lambda noisy, time: initial + self.unet(noisy, time, condition)

    def sampler(self, batch: Batch) -> Predict:
        condition = self.condition(batch)
        initial = self._initial_prediction(condition)
        times = self.schedule.times.to(condition.device)
        modulations = iter(self.unet.modulations(times, condition))
        return lambda noisy, _: initial + self.unet.denoise(noisy, next(modulations))

    def _initial_prediction(self, condition: Tensor) -> Tensor | float:
        """Return the initial prediction (B, H, 13) for the condition (B, C); 0 without one."""
        if self.guess is None:
            return 0.0
        initial = self.guess(condition)
        if self.linear is not None:
            initial = initial + self.linear(condition)
        return initial.view(-1, self.horizon, JOINTS)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        scene = self.scene_encoder()
        return config if scene is None else replace(self.config, encoder=scene.config)

    def scene_encoder(self) -> SceneEncoder | None:
        return self.cloud if isinstance(self.cloud, SceneEncoder) else None
