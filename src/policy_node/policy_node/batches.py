"""Batches of observations, and the interface of networks."""

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from policy_node.configs import NetworkConfig
from policy_node.normaliser import Normaliser
from policy_node.scene_encoder import SceneEncoder


@dataclass
class Batch:
    """B observations and the actions that followed them.

    An observation has T frames at 10 Hz, oldest first, ending with the current frame. Joints, raw
    memory and actions are normalised (`normaliser.Normaliser`). Inputs that a family does not use
    are None.

    Attributes:
        joints: (B, T, 13) float32, joint positions.
        points: (B, C, N, 6) float32, point clouds of the last C frames: x, y, z in m in the pelvis
            frame and r, g, b in 0..1. C is at least `NetworkConfig.cloud_frames`, the number that
            the network uses.
        scene_features: (B, C, features) float32, the output of `Network.scene_encoder`, instead of
            its inputs, `points` or `images`.
        images: (B, K, H, W, 3) uint8 of K cameras at the current frame, in their order. In training
            they may be smaller, see `NetworkConfig.image_size`.
        language: (B, L) int64, ids of `Network.token_ids`, padded in front with 0.
        language_mask: (B, L) bool, True where there is a token.
        memory: (B, M) int64 tokens, or (B, M, 13) float32 joint positions, oldest first, 0 where
            not observed.
        memory_mask: (B, M) bool, True where observed.
        subtask: (B,) int64, the subtask to execute, an index into `layout.SUBTASKS`.
        actions: (B, P + 50, 13) float32: P past actions, for families that use them, then the
            chunk. None at inference.
    """

    joints: Tensor
    points: Tensor | None = None
    scene_features: Tensor | None = None
    images: Tensor | None = None
    language: Tensor | None = None
    language_mask: Tensor | None = None
    memory: Tensor | None = None
    memory_mask: Tensor | None = None
    subtask: Tensor | None = None
    actions: Tensor | None = None

    def __len__(self) -> int:
        """Return the batch size B."""
        return len(self.joints)

    def to(self, device: torch.device | str) -> "Batch":
        """Return the same batch on another device."""
        return replace(self, **{name: value.to(device) for name, value in self.tensors().items()})

    def scene(self, encoder: nn.Module, frames: int = 1, count: int | None = None) -> Tensor:
        """Return the scene features (B, frames, features) of the last frames: those in the batch if
        there are any, else the output of `encoder` for the first `count` points or, without
        points, for the images."""
        if self.scene_features is not None:
            return self.scene_features[:, -frames:]
        if self.points is not None:
            inputs = self.points[:, -frames:, :count]
        else:
            assert self.images is not None and frames == 1
            inputs = self.images[:, None]
        features: Tensor = encoder(inputs)
        return features

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors that are not None, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


class Windows(Protocol):
    """The windows of some episodes as batches, see `training_data.ObservationWindows`."""

    normaliser: Normaliser
    first: NDArray[np.int64]

    def __len__(self) -> int: ...

    def batch(
        self, indices: NDArray[np.int64], rng: np.random.Generator | None = None
    ) -> Batch: ...


class Network(nn.Module):
    """Base class of the networks of policy families, created as `Network(config, memory_shape)`.

    The config defines the inputs (`configs.NetworkConfig`). `loss` draws all random numbers from
    torch's global generator, which training seeds.
    """

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """Return the training loss, a scalar, of a batch with actions."""

    @abstractmethod
    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """Return (B, 50, 13) normalised actions on the batch's device; they depend on the batch and
        the state of the generator, which is on the same device, only, and in networks with a state
        (`reset`) on the episode's earlier calls."""

    def choose(self, batch: Batch) -> Tensor | None:
        """Return the subtask (B,) to execute, for families that choose one; it becomes
        `Batch.subtask` before `sample`."""
        return None

    def reset(self) -> None:
        """Begin a new episode, for networks that continue what they began (`skills`)."""

    def store_demonstrations(self, windows: Windows) -> None:
        """Store what the network needs of the training data, before the first step."""

    def parts(self) -> dict[str, nn.Module]:
        """Return the parts that `rulesafe policy describe` lists; together they contain all
        parameters."""
        return dict(self.named_children())

    def built(self, config: NetworkConfig) -> NetworkConfig:
        """Return the configuration that creates this network without the files of its frozen parts,
        given the configuration from which it was created."""
        return config

    def scene_encoder(self) -> SceneEncoder | None:
        """Return the frozen encoder of point clouds, (..., N, 6) -> (..., features), or None if
        there is none or if it is trained."""
        return None

    def normaliser(self) -> Normaliser | None:
        """Return the normaliser that a frozen part of the network requires; None: it is fitted to
        the training data."""
        return None

    def token_ids(self, instruction: str) -> list[int]:
        """Return the token ids of an instruction, for `Batch.language`."""
        return []
