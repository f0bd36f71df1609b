"""Point clouds for policies: cropped to the workspace and sampled to a fixed number of points."""

from collections.abc import Callable
from dataclasses import dataclass
from math import frexp
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


def farthest_points(points: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Select the first point, then always the point farthest from those selected (Gonzalez 1985);
    of several points at the same distance the first one.

    Args:
        points: (N, 3) integers within +-1024, so that all distances are exact in single precision
            and the result does not depend on processor, libraries or order of operations.
        count: number of points to select, 1..N.

    Returns:
        Indices (count,) of the points.
    """
    picked = np.empty(count, np.intp)
    # |p - q|^2 = -2 q.p + |p|^2 + |q|^2 for all p as one product of (5,) and (5, N), the layout
    # that BLAS is fastest with.
    squares = np.einsum("ij,ij->i", points, points)
    ones = np.ones_like(squares)
    terms = np.ascontiguousarray(np.column_stack([points, squares, ones]).T, np.float32)
    factors = np.column_stack([-2 * points, ones, squares]).astype(np.float32)
    nearest = np.full(len(points), np.inf, np.float32)
    distance = np.empty_like(nearest)
    latest = 0
    for i in range(count):
        picked[i] = latest
        np.dot(factors[latest], terms, out=distance)
        np.minimum(nearest, distance, out=nearest)
        nearest[latest] = -np.inf  # prevents a second selection of equal points
        latest = int(nearest.argmax())
    return picked


@dataclass(frozen=True)
class FarthestSampler:
    """Farthest-point sampling: even coverage, independent of camera distance.

    The first point is random. At most `candidates` points, drawn uniformly, are considered, since
    cost grows with their number. Their distances are those of a grid of at least 1024 steps along
    the longest side of the cloud (1 mm for 1 m), see `farthest_points`.

    Attributes:
        candidates: largest number of points that are considered.
        select: `farthest_points`, or a compiled function with the same results.
    """

    candidates: int = 4096
    select: Callable[[NDArray[np.float32], int], NDArray[np.integer]] = farthest_points

    def __call__(
        self, points: NDArray[np.float32], count: int, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        considered = min(len(points), max(self.candidates, count))
        chosen = rng.choice(len(points), considered, replace=False)
        offsets = points.take(chosen, axis=0).astype(np.float32, copy=False)
        offsets -= offsets.min(axis=0)
        _, exponent = frexp(max(float(offsets.max()), 1e-6))
        offsets *= np.float32(2.0 ** (11 - exponent))  # to 1024..2048 steps, exactly
        return chosen[self.select(np.rint(offsets, out=offsets) - 1024, count)]


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
        index = inside[sampler(points.take(inside, axis=0), count, rng)]
    cloud[:, :3] = points[index]
    cloud[:, 3:] = colors[index] / np.float32(255)
    return cloud
