"""A point cloud as one vector."""

from itertools import pairwise

import torch
from torch import Tensor, nn

CENTRE = (0.6, -0.2, 0.3, 0.5, 0.5, 0.5)
"""Centre of the volume that the camera sees of safe and arm: m in the pelvis frame; r, g, b."""

EXTENT = (0.3, 0.3, 0.3, 0.5, 0.5, 0.5)
"""About half of its extent."""


class PointNet(nn.Module):
    """Point clouds (..., N, 6) -> (..., features): a shared MLP on each point, the maximum of each
    channel, a linear layer. After Qi et al., 2017, without its transforms, as DP3.

    Args:
        channels: of the MLP.
        features: of a point cloud.
        colour: whether r, g, b of the points are used, besides x, y, z.
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
