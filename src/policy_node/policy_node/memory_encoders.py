"""Encoders of a memory, which summarise its values as one vector."""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from policy_node.attention import sinusoids
from policy_node.schedules import JOINTS
from vq_memory_node.memory import MemoryShape


class MemoryEncoder(nn.Module):
    """Encodes a memory (B, M) int64 or (B, M, 13) and its mask (B, M) as a vector (B, features).

    Args:
        shape: the memory's shape.
        embedding: width of the embedding of a value.
        features: number of features of the result.
        channels: channels of each convolution over the memory.
        network: convolutions, then a linear layer; gru: the last state of a GRU; transformer: the
            last output of two layers with causal attention.
    """

    def __init__(
        self,
        shape: MemoryShape,
        embedding: int,
        features: int,
        channels: tuple[int, ...],
        network: Literal["convolutions", "gru", "transformer"] = "convolutions",
    ) -> None:
        super().__init__()
        self.vocabulary = shape.vocabulary
        self.entries: nn.Module
        self.time: nn.Module
        self.out: nn.Module
        if network == "transformer":
            embedding = features
        if shape.kind == "tokens":
            self.entries = nn.Embedding(shape.vocabulary + 1, embedding)  # last: not observed
        else:
            self.entries = nn.Linear(JOINTS + 1, embedding)  # last input: 1 if observed
        if network == "convolutions":
            self.time, width = _convolutions((embedding, *channels), shape.length)
            self.out = nn.Linear(width, features)
        else:
            self.time = (
                _Gru(embedding, features) if network == "gru" else _CausalTransformer(features)
            )
            self.out = nn.Identity()

    def forward(self, memory: Tensor, mask: Tensor) -> Tensor:
        if isinstance(self.entries, nn.Embedding):
            entries = self.entries(memory.where(mask, self.vocabulary))
        else:
            observed = mask[..., None].to(memory.dtype)
            entries = self.entries(torch.cat([memory * observed, observed], dim=-1))
        found: Tensor = self.out(self.time(entries.transpose(1, 2)))
        return found


def _convolutions(channels: tuple[int, ...], length: int) -> tuple[nn.Sequential, int]:
    """Return convolutions (B, channels, M) -> (B, width), and the width."""
    layers: list[nn.Module] = []
    for into, out in pairwise(channels):
        layers += [nn.Conv1d(into, out, 5, stride=2, padding=2), nn.ReLU()]
        length = (length - 1) // 2 + 1
    return nn.Sequential(*layers, nn.Flatten()), channels[-1] * length


class _Gru(nn.Module):
    """(B, width, M) -> (B, features), the last state."""

    def __init__(self, width: int, features: int) -> None:
        super().__init__()
        self.cell = nn.GRU(width, features, batch_first=True)

    def forward(self, entries: Tensor) -> Tensor:
        _, last = self.cell(entries.transpose(1, 2))
        state: Tensor = last[0]
        return state


class _CausalTransformer(nn.Module):
    """(B, width, M) -> (B, width), the last output. Positions count back from the newest value."""

    def __init__(self, width: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, entries: Tensor) -> Tensor:
        x = entries.transpose(1, 2)
        back = torch.arange(x.shape[1] - 1, -1, -1, device=x.device)
        causal = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        found: Tensor = self.layers(x + sinusoids(back, x.shape[2]), mask=causal, is_causal=True)
        return found[:, -1]
