"""Point clouds for policies: cropped to the workspace and sampled to a fixed number of points."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.transforms import Vec3

CLOUD_POINTS = 1024


@dataclass(frozen=True)
class Workspace:
    """An axis-aligned box in the pelvis frame (m), including its boundary.

    The default box contains the right hand, and the safe with its door open at all its poses.
    """

    low: Vec3 = (0.05, -0.85, -0.15)
    high: Vec3 = (1.0, 0.4, 0.75)

    def __post_init__(self) -> None:
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise RuleSafeError(
                f"the low corner of a workspace must be below its high corner on every axis, "
                f"got {self.low} and {self.high}"
            )

    def contains(self, points: NDArray) -> NDArray[np.bool_]:
        """Return a mask (N,) of the points (N, 3) inside the box."""
        inside = np.ones(len(points), bool)
        for axis in range(3):
            column = points[:, axis]
            inside &= (column >= self.low[axis]) & (column <= self.high[axis])
        return inside


class PointSampler(Protocol):
    """Selects `count` of N >= `count` points (N, 3) and returns distinct indices (count,)."""

    def __call__(
        self, points: NDArray[np.float32], count: int, rng: np.random.Generator
    ) -> NDArray[np.intp]: ...


@dataclass(frozen=True)
class UniformSampler:
    """Samples all visible pixels with equal probability, so near surfaces get more points."""

    def __call__(
        self, points: NDArray[np.float32], count: int, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        return rng.permutation(len(points))[:count]


@dataclass(frozen=True)
class FarthestSampler:
    """Farthest-point sampling (Gonzalez 1985): even coverage, independent of camera distance.

    The first point is random; each further point is the candidate farthest from those selected.
    At most `candidates` points, drawn uniformly, are considered, since cost grows with their
    number.
    """

    candidates: int = 4096

    def __call__(
        self, points: NDArray[np.float32], count: int, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        chosen = rng.permutation(len(points))[: max(self.candidates, count)]
        picked = np.empty(count, np.intp)
        candidates = points[chosen] - points[chosen].mean(axis=0)
        # |p - q|^2 = -2 q.p + |p|^2 + |q|^2 for all p as one product of (5,) and (5, N), the layout
        # that BLAS is fastest with: after rendering, this loop is the main cost of an observation.
        squares = np.einsum("ij,ij->i", candidates, candidates)
        ones = np.ones_like(squares)
        terms = np.ascontiguousarray(np.column_stack([candidates, squares, ones]).T, np.float32)
        factors = np.column_stack([-2 * candidates, ones, squares]).astype(np.float32)
        nearest = np.full(len(chosen), np.inf, np.float32)
        distance = np.empty_like(nearest)
        latest = 0
        for i in range(count):
            picked[i] = latest
            np.dot(factors[latest], terms, out=distance)
            np.minimum(nearest, distance, out=nearest)
            nearest[latest] = -np.inf  # prevents a second selection caused by rounding
            latest = int(nearest.argmax())
        return chosen[picked]


SAMPLERS: dict[str, PointSampler] = {"uniform": UniformSampler(), "farthest": FarthestSampler()}


def load_sampler(name: str) -> PointSampler:
    """Return a sampler by its name in SAMPLERS."""
    if name not in SAMPLERS:
        raise unknown_name("point cloud sampler", name, SAMPLERS)
    return SAMPLERS[name]


def sample_cloud(
    points: NDArray[np.float32],
    colors: NDArray[np.uint8],
    rng: np.random.Generator,
    workspace: Workspace = Workspace(),
    sampler: PointSampler = SAMPLERS["farthest"],
    count: int = CLOUD_POINTS,
) -> NDArray[np.float32]:
    """Sample a point cloud (count, 6): x, y, z in m (pelvis frame), then r, g, b in 0..1.

    `points` (N, 3) in m and `colors` (N, 3) in 0..255 have the same order. Only points in the
    workspace are used. If there are fewer than `count`, random ones are repeated; if there are
    none, the result is zeros. The result depends only on the arguments and the generator state.
    """
    inside = np.flatnonzero(workspace.contains(points))
    cloud = np.zeros((count, 6), np.float32)
    if not len(inside):
        return cloud
    if len(inside) < count:
        repeated = rng.integers(0, len(inside), count - len(inside))
        index = np.concatenate([inside, inside[repeated]])
    else:
        index = inside[sampler(points[inside], count, rng)]
    cloud[:, :3] = points[index]
    cloud[:, 3:] = colors[index] / np.float32(255)
    return cloud
