"""A PointNet, which encodes a point cloud as a vector."""

from itertools import pairwise

import torch
from torch import Tensor, nn

CENTRE = (0.6, -0.2, 0.3, 0.5, 0.5, 0.5)
"""Centre of the visible volume with safe and arm: m in the pelvis frame; r, g, b."""

EXTENT = (0.3, 0.3, 0.3, 0.5, 0.5, 0.5)
"""About half of the extent of the visible volume: m in the pelvis frame; r, g, b."""


class PointNet(nn.Module):
    """Encodes point clouds (..., N, 6) as (..., features).

    A shared MLP on each point, max pooling, and a linear layer; after Qi et al., 2017, without its
    transforms, as in DP3.

    Args:
        channels: channels of the MLP.
        features: number of output features.
        colour: whether the points' colours are used besides their positions.
    """

    def __init__(self, channels: tuple[int, ...], features: int, colour: bool = True) -> None:
        super().__init__()
        self.centre: Tensor
        self.extent: Tensor
        self.features = features
        self._inputs = 6 if colour else 3
        layers: list[nn.Module] = []
        for into, out in pairwise((self._inputs, *channels)):
            layers += [nn.Linear(into, out), nn.LayerNorm(out), nn.ReLU()]
        self.points = nn.Sequential(*layers)
        self.cloud = nn.Sequential(nn.Linear(channels[-1], features), nn.LayerNorm(features))
        self.register_buffer("centre", torch.tensor(CENTRE[: self._inputs]), persistent=False)
        self.register_buffer("extent", torch.tensor(EXTENT[: self._inputs]), persistent=False)

    def forward(self, points: Tensor) -> Tensor:
        scaled = (points[..., : self._inputs] - self.centre) / self.extent
        found: Tensor = self.cloud(self.points(scaled).amax(dim=-2))
        return found
