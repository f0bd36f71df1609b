"""A PointNet, which encodes a point cloud as a vector."""

from itertools import pairwise

import torch
from torch import Tensor, nn

CENTRE = (0.6, -0.2, 0.3, 0.5, 0.5, 0.5)
"""Centre of the visible volume with safe and arm: m in the pelvis frame; r, g, b."""

EXTENT = (0.3, 0.3, 0.3, 0.5, 0.5, 0.5)
"""About half of the extent of the visible volume: m in the pelvis frame; r, g, b."""

CLOUDS = 2
"""Point clouds of which the critical points are found at once on a CPU: few, so that activations
stay in its cache."""


class PointNet(nn.Module):
    """Encodes point clouds (..., N, 6) as (..., features).

    A shared MLP on each point, max pooling, and a linear layer; after Qi et al., 2017, without its
    transforms, as in DP3. In training, only critical points (at which a feature has its maximum)
    have a gradient; the other points are left out after the maxima are known.

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
        if torch.is_grad_enabled() and scaled.numel():
            scaled = scaled.take_along_dim(self._critical(scaled)[..., None], dim=-2)
        found: Tensor = self.cloud(self.points(scaled).amax(dim=-2))
        return found

    @torch.no_grad()
    def _critical(self, points: Tensor) -> Tensor:
        """Return the indices (..., M) of the critical points among scaled points (..., N, 3 or 6);
        a cloud with fewer than M is filled with others, which do not change the maxima."""
        clouds = points.reshape(-1, *points.shape[-2:])
        parts = clouds.split(CLOUDS) if clouds.device.type == "cpu" else (clouds,)
        best = torch.cat([self.points(part).argmax(dim=-2) for part in parts])
        critical = torch.zeros_like(clouds[..., 0], dtype=torch.int32).scatter_(1, best, 1)
        kept = critical.topk(int(critical.sum(dim=1).max())).indices
        return kept.view(*points.shape[:-2], -1)
