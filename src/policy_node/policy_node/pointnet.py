"""What a cloud looks like, as one vector."""

from itertools import pairwise

import torch
from torch import Tensor, nn

CENTRE = (0.6, -0.2, 0.3, 0.5, 0.5, 0.5)
"""Middle of what the camera sees of safe and arm: m in the pelvis frame; r, g, b."""

EXTENT = (0.3, 0.3, 0.3, 0.5, 0.5, 0.5)
"""Half of its extent, about."""


class PointNet(nn.Module):
    """Clouds (..., N, 6) -> (..., features): one perceptron on each point, the greatest of each
    channel, one linear map. After Qi et al., 2017, without its transforms, as DP3.

    Args:
        channels: of the perceptron.
        features: numbers that a cloud becomes.
        colour: whether r, g, b of the points are looked at, besides x, y, z.
    """

    def __init__(self, channels: tuple[int, ...], features: int, colour: bool = True) -> None:
        super().__init__()
        self.centre: Tensor
        self.extent: Tensor
        self.features = features
        self._looks = 6 if colour else 3
        layers: list[nn.Module] = []
        for into, out in pairwise((self._looks, *channels)):
            layers += [nn.Linear(into, out), nn.LayerNorm(out), nn.ReLU()]
        self.points = nn.Sequential(*layers)
        self.cloud = nn.Sequential(nn.Linear(channels[-1], features), nn.LayerNorm(features))
        self.register_buffer("centre", torch.tensor(CENTRE[: self._looks]), persistent=False)
        self.register_buffer("extent", torch.tensor(EXTENT[: self._looks]), persistent=False)

    def forward(self, points: Tensor) -> Tensor:
        seen = (points[..., : self._looks] - self.centre) / self.extent
        found: Tensor = self.cloud(self.points(seen).amax(dim=-2))
        return found
