"""Mesh shapes of links, and the reader of their convex pieces in binary STL."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import Color, Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_bytes

MAX_HULL_BYTES = 1_000_000
"""Maximum size of a convex piece, about 20 000 triangles; pieces of an import have some hundred."""

_HEADER = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])

CONVEX_TOLERANCE = 1e-3
"""How far (fraction of its size) a corner of a convex piece may be outside a plane of a face."""


@dataclass(frozen=True)
class MeshShape(Shape):
    """A mesh file, scaled by `size` along x, y, z; its convex hull is the collision shape.

    `texture`: image of the colours, multiplied by `material.color / texture_color`, where
    `texture_color` is the mean colour of the image.
    """

    path: Path = Path()
    texture: Path | None = None
    texture_color: Color = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if len(self.size) != 3 or min(self.size) <= 0:
            raise RuleSafeError(f"{self.path}: a mesh needs three scales > 0, got {self.size}")


class Hull(NamedTuple):
    """A convex polyhedron, m."""

    vertices: NDArray[np.float64]  # (V, 3)
    triangles: NDArray[np.int64]  # (T, 3), counter-clockwise seen from outside
    normals: NDArray[np.float64]  # (T, 3), outwards, unit length
    volume: float  # m^3
    centroid: NDArray[np.float64]  # (3,)


def read_hull(path: Path) -> Hull:
    """Read a convex polyhedron from a binary STL file.

    Raises:
        RuleSafeError: the file cannot be read, is no binary STL, or its surface is not convex.
    """
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise RuleSafeError(f"cannot read the mesh {path}: {error.strerror}") from error
    return _read_hull(path, changed)


@lru_cache(maxsize=4096)
def _read_hull(path: Path, changed: int) -> Hull:
    try:
        content = read_bytes(path, MAX_HULL_BYTES)
    except OSError as error:
        raise RuleSafeError(f"cannot read the mesh {path}: {error.strerror}") from error
    count = int.from_bytes(content[_HEADER - 4 : _HEADER], "little")
    if len(content) < _HEADER or len(content) != _HEADER + count * _TRIANGLE.itemsize:
        raise RuleSafeError(f"{path} is not a binary STL file")
    corners = np.frombuffer(content, _TRIANGLE, offset=_HEADER)["corners"].astype(np.float64)
    if not np.isfinite(corners).all() or np.abs(corners).max(initial=0.0) > 1e3:
        raise RuleSafeError(f"{path} has coordinates that are not finite or beyond 1000 m")
    points = corners.reshape(-1, 3)
    vertices, index = np.unique(points, axis=0, return_inverse=True)
    triangles = index.reshape(-1, 3)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    keep = area > 1e-14
    triangles, normals = triangles[keep], across[keep] / area[keep, None]
    if len(triangles) < 4:
        raise RuleSafeError(f"{path} encloses no volume")
    offsets = np.einsum("ij,ij->i", normals, vertices[triangles[:, 0]])
    outside = (vertices @ normals.T - offsets).max()
    if outside > CONVEX_TOLERANCE * float(np.ptp(vertices, axis=0).max()):
        raise RuleSafeError(f"{path} is not convex; a collision mesh consists of convex pieces")
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6  # signed tetrahedra from the origin
    volume = float(parts.sum())
    if volume <= 0:
        raise RuleSafeError(f"{path} encloses no volume")
    centroid = (parts[:, None] * (a + b + c) / 4).sum(0) / volume
    return Hull(vertices, triangles, normals, volume, centroid)


def scaled_hull(shape: MeshShape) -> Hull:
    """Return the convex piece of a collision mesh with the scale of its shape, in the shape's
    frame."""
    hull, scale = read_hull(shape.path), np.array(shape.size)
    if (scale == 1).all():
        return hull
    normals = hull.normals / scale
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Hull(
        hull.vertices * scale,
        hull.triangles,
        normals,
        hull.volume * float(scale.prod()),
        hull.centroid * scale,
    )
