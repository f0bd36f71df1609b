"""A PointNet, which encodes a point cloud as a vector."""

from itertools import pairwise

import torch
from torch import Tensor, nn

CENTRE = (0.6, -0.2, 0.3, 0.5, 0.5, 0.5)
"""Centre of the visible volume with safe and arm: m in the pelvis frame; r, g, b."""

EXTENT = (0.3, 0.3, 0.3, 0.5, 0.5, 0.5)
"""About half of the extent of the visible volume: m in the pelvis frame; r, g, b."""

CLOUDS = 2
"""Point clouds of which the critical points are found at once: few, so that the activations stay in
the processor's cache."""


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
        if torch.is_grad_enabled():
            scaled = self._critical(scaled)
        found: Tensor = self.cloud(self.points(scaled).amax(dim=-2))
        return found

    @torch.no_grad()
    def _critical(self, points: Tensor) -> Tensor:
        """Return the critical points (..., M, 3 or 6) of scaled points (..., N, 3 or 6); a cloud
        with fewer than M is filled with other points of it, which do not change the maxima."""
        clouds = points.reshape(-1, *points.shape[-2:])
        best = torch.cat([self.points(part).argmax(dim=-2) for part in clouds.split(CLOUDS)])
        critical = torch.zeros_like(clouds[..., 0]).scatter_(1, best, 1.0)
        kept = critical.topk(int(critical.sum(dim=1).max())).indices
        few = clouds.take_along_dim(kept[..., None], dim=1)
        return few.view(*points.shape[:-2], *few.shape[1:])
