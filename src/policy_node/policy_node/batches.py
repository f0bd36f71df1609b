"""Batches, which networks are trained on and sample from, and the interface of networks."""

from abc import abstractmethod
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor, nn

from policy_node.configs import NetworkConfig
from policy_node.scene_encoder import SceneEncoder


@dataclass
class Batch:
    """B observations, and the actions that followed them; None: not used by the family.

    T frames at 10 Hz, oldest first, the present one last. Joints, raw memory and actions are
    normalised (`normaliser.Normaliser`).

    Attributes:
        joints: (B, T, 13) float32.
        points: (B, C, N, 6) float32, x, y, z in m in the pelvis frame and r, g, b in 0..1, of the
            last C frames; the network uses the last `cloud_frames` of these.
        scene_features: (B, C, features) float32, in place of points: what `Network.scene_encoder`
            computes from them.
        images: (B, 2, H, W, 3) uint8, of the present frame, in the order of CAMERAS. In training
            perhaps smaller, see `NetworkConfig.picture`.
        language: (B, L) int64, ids of `Network.token_ids`, padded in front with 0.
        language_mask: (B, L) bool, True where there is a token.
        memory: (B, M) int64 tokens, or (B, M, 13) float32 joint positions, oldest first, 0 where
            not observed.
        memory_mask: (B, M) bool, True where observed.
        actions: (B, P + 50, 13) float32: step P is the chunk's first. Before it are P targets of
            the past, for a family that uses them. None when a chunk is sampled.
    """

    joints: Tensor
    points: Tensor | None = None
    scene_features: Tensor | None = None
    images: Tensor | None = None
    language: Tensor | None = None
    language_mask: Tensor | None = None
    memory: Tensor | None = None
    memory_mask: Tensor | None = None
    actions: Tensor | None = None

    def __len__(self) -> int:
        """B."""
        return len(self.joints)

    def to(self, device: torch.device | str) -> "Batch":
        """Return the same batch on another device."""
        return replace(self, **{name: value.to(device) for name, value in self.tensors().items()})

    def scene(self, encoder: nn.Module, frames: int = 1, count: int | None = None) -> Tensor:
        """Return the scene features (B, frames, features) of the last frames: those of the batch,
        or the encoder's for the first `count` points."""
        if self.scene_features is not None:
            return self.scene_features[:, -frames:]
        assert self.points is not None
        features: Tensor = encoder(self.points[:, -frames:, :count])
        return features

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors that are not None, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


class Network(nn.Module):
    """A family's network, made as `Network(config, memory_shape)`.

    Its config says what it observes (`configs.NetworkConfig`). All random numbers of `loss` come
    from torch's global generator, which training seeds.
    """

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """Return a scalar for a batch with actions."""

    @abstractmethod
    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """Return (B, 50, 13) normalised actions on the batch's device; the same for the same state
        of the generator, which is one of that device."""

    @abstractmethod
    def parts(self) -> dict[str, nn.Module]:
        """Return the parts that a description lists, by name; together all parameters."""

    def built(self, config: NetworkConfig) -> NetworkConfig:
        """Return a configuration that makes this network again without the files that parts of it
        were loaded from, given the configuration it was made with."""
        return config

    def scene_encoder(self) -> SceneEncoder | None:
        """Return the part that only point clouds are input of, (..., N, 6) -> (..., features), if
        it is frozen in training; None where there is none, or it is trained."""
        return None

    def token_ids(self, instruction: str) -> list[int]:
        """Return the ids of an instruction's tokens, for `Batch.language`."""
        return []
