"""What a network is trained on and asked with, as tensors; what a network is."""

from abc import abstractmethod
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor, nn

from policy_node.configs import NetworkConfig


@dataclass
class Batch:
    """B observations, and the actions that followed them; None: not asked for by the family.

    T frames at 10 Hz, oldest first, the present one last. Joints, rows of memory and actions are
    normalised (`normaliser.Normaliser`).

    Attributes:
        joints: (B, T, 13) float32.
        points: (B, C, N, 6) float32, x, y, z in m in the pelvis frame and r, g, b in 0..1, of the
            last C frames; the network looks at the last `cloud_frames` of these.
        sights: (B, C, features) float32, in place of points: what `Network.sight` sees in them.
        images: (B, 2, H, W, 3) uint8, of the present frame, in the order of CAMERAS. In training
            perhaps smaller, see `NetworkConfig.picture`.
        language: (B, L) int64, ids that `Network.words` gave, padded in front with 0.
        language_mask: (B, L) bool, True where there is a word.
        memory: (B, M) int64 tokens, or (B, M, 13) float32 joint rows, oldest first, 0 where not
            observed.
        memory_mask: (B, M) bool, True where observed.
        actions: (B, P + 50, 13) float32: row P is the chunk's first. Before it, P targets of the
            past, for a family that wants them. None when a chunk is asked for.
    """

    joints: Tensor
    points: Tensor | None = None
    sights: Tensor | None = None
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
        """The same on another device."""
        return replace(self, **{name: value.to(device) for name, value in self.tensors().items()})

    def tensors(self) -> dict[str, Tensor]:
        """What there is, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


class Network(nn.Module):
    """A family's network, made as `Network(config, memory_shape)`.

    What it wants to see its config says (`configs.NetworkConfig`). All that `loss` draws comes
    from torch's global generator, which training seeds.
    """

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """A scalar, from a batch with actions."""

    @abstractmethod
    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """(B, 50, 13) normalised actions on the batch's device; the same from the same state of
        the generator, which is one of that device."""

    @abstractmethod
    def parts(self) -> dict[str, nn.Module]:
        """The parts that a description lists, by name; together all parameters."""

    def built(self, config: NetworkConfig) -> NetworkConfig:
        """What makes this network again without files that parts of it were loaded from, given
        the configuration it was made with."""
        return config

    def sight(self) -> nn.Module | None:
        """The part that clouds alone go into, (..., N, 6) -> (..., features), where it stays as it
        is in training; None where there is none, or it learns."""
        return None

    def words(self, instruction: str) -> list[int]:
        """The ids of an instruction's words, for `Batch.language`; none unless the family reads."""
        return []
