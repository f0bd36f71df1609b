"""Triangle meshes of a body's shapes.

Round shapes have few segments (144 triangles for a finger capsule): cost grows with triangles.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape
from rulesafe_core.text_files import read_bytes
from rulesafe_core.transforms import apply

MAX_MESH_BYTES = 64_000_000
"""Maximum size of a mesh file."""

MAX_TRIANGLES = 2_000_000
"""Maximum number of triangles of a mesh."""


class TriangleMesh(NamedTuple):
    """Triangle mesh, counter-clockwise seen from outside; lengths in m."""

    vertices: NDArray[np.float32]  # (V, 3)
    normals: NDArray[np.float32]  # (V, 3), unit
    triangles: NDArray[np.int32]  # (T, 3)
    uv: NDArray[np.float32]  # (V, 2): texture position, from the image's first pixel
    closed: bool = True  # whether it encloses a volume, so that no back face is visible


def shape_mesh(shape: Shape) -> TriangleMesh:
    """Triangulate the surface of a shape, in the link frame.

    Raises:
        RuleSafeError: the file of a mesh shape cannot be read.
    """
    if isinstance(shape, MeshShape):
        mesh = read_mesh(shape.path, shape.size)
    else:
        mesh = _primitive(shape.kind, shape.size, shape.facets)
    return mesh._replace(
        vertices=apply(shape.pose, mesh.vertices).astype(np.float32),
        normals=(mesh.normals @ shape.pose[:3, :3].T).astype(np.float32),
    )


def box_mesh(center: Sequence[float], half_size: Sequence[float]) -> TriangleMesh:
    """Triangulate a box (m)."""
    mesh = _box(*(2 * half for half in half_size))
    return mesh._replace(vertices=(mesh.vertices + np.array(center)).astype(np.float32))


def join(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """Join meshes into one, without triangles if there are none."""
    if not meshes:
        empty = np.zeros((0, 3), np.float32)
        return TriangleMesh(empty, empty, np.zeros((0, 3), np.int32), empty[:, :2])
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]]).astype(np.int32)
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([m.triangles + s for m, s in zip(meshes, starts, strict=True)]),
        np.concatenate([mesh.uv for mesh in meshes]),
        all(mesh.closed for mesh in meshes),
    )


def read_mesh(path: Path, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> TriangleMesh:
    """Read a mesh file (OBJ, STL, GLB, DAE), with its pieces joined and the normals of the file;
    where it has none, they follow from the triangles.

    Raises:
        RuleSafeError: the file cannot be read or has no triangles.
    """
    try:
        mesh = _read_mesh(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise RuleSafeError(f"cannot read the mesh {path}: {error.strerror}") from error
    factors = np.array(scale)
    if (factors == 1).all():
        return mesh
    return mesh._replace(
        vertices=(mesh.vertices * factors).astype(np.float32),
        normals=_unit(mesh.normals / factors),
    )


@lru_cache(maxsize=256)
def _read_mesh(path: Path, changed: int) -> TriangleMesh:
    import trimesh  # its import takes 0.2 s

    content = read_bytes(path, MAX_MESH_BYTES)
    try:
        # `trimesh.load_mesh` joins the pieces but drops the normals of the file.
        scene = trimesh.load_scene(
            trimesh.util.wrap_as_stream(content),
            file_type=path.suffix.lower().removeprefix("."),
            process=False,
        )
        placed = [scene.graph[node] for node in scene.graph.nodes_geometry]
        mesh = join(
            [
                _piece(scene.geometry[name], pose)
                for pose, name in placed
                if isinstance(scene.geometry[name], trimesh.Trimesh)
            ]
        )
    except Exception as error:  # the readers raise whatever the content leads to
        raise RuleSafeError(f"cannot read the mesh {path}: {error}") from error
    count = len(mesh.triangles)
    if not 1 <= count <= MAX_TRIANGLES:
        raise RuleSafeError(
            f"cannot use the mesh {path}: it has {count} triangles; valid: 1..{MAX_TRIANGLES}"
        )
    if not np.isfinite(mesh.vertices).all() or np.abs(mesh.vertices).max() > 1e3:
        raise RuleSafeError(
            f"cannot use the mesh {path}: a coordinate is not finite or over 1000 m"
        )
    if len(mesh.uv) != len(mesh.vertices) or not np.isfinite(mesh.uv).all():
        raise RuleSafeError(f"cannot use the mesh {path}: its texture positions are not valid")
    return mesh


def _piece(loaded: Any, pose: NDArray[np.float64]) -> TriangleMesh:
    """Return a trimesh.Trimesh at its pose in the file, which may scale and mirror."""
    uv = getattr(loaded.visual, "uv", None)
    count, mirrored = len(loaded.vertices), np.linalg.det(pose[:3, :3]) < 0
    flipped = np.zeros((count, 2)) if uv is None else np.asarray(uv) * (1, -1) + (0, 1)
    faces, vertices = np.asarray(loaded.faces, np.int32), np.asarray(loaded.vertices, np.float64)
    return TriangleMesh(
        apply(pose, vertices).astype(np.float32),
        _unit(np.asarray(loaded.vertex_normals, np.float64) @ np.linalg.inv(pose[:3, :3])),
        faces[:, ::-1] if mirrored else faces,
        flipped.astype(np.float32),
        _closed(vertices, faces),
    )


def _closed(vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> bool:
    """Return whether triangles enclose a volume and face outwards: at each edge as many triangles
    are on one side as on the other. Files repeat vertices that have several normals."""
    from trimesh.grouping import unique_rows

    size = max(float(np.ptp(vertices, axis=0).max(initial=0.0)), 1e-9)
    _, same = unique_rows(np.round(vertices / size, 6), digits=6)
    corners = same[faces].astype(np.int64)
    edges = np.stack([corners, np.roll(corners, -1, axis=1)], axis=-1).reshape(-1, 2)
    edges = edges[edges[:, 0] != edges[:, 1]]
    count = len(vertices)
    one, other = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    volume = np.einsum("ij,ij->", a, np.cross(b, c))
    return bool(volume > 0) and np.array_equal(np.sort(one), np.sort(other))


def _unit(normals: NDArray) -> NDArray[np.float32]:
    normals = np.nan_to_num(normals)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(length > 1e-9, normals / np.maximum(length, 1e-9), (0, 0, 1)).astype(np.float32)


def _box(*size: float) -> TriangleMesh:
    normals = np.repeat(np.concatenate([np.eye(3), -np.eye(3)]), 4, axis=0)  # (24, 3)
    across = np.roll(normals, 1, axis=1)
    along = np.cross(normals, across)
    corner = np.tile([(-1, -1), (1, -1), (1, 1), (-1, 1)], (6, 1))
    vertices = normals + corner[:, :1] * across + corner[:, 1:] * along
    first = np.arange(6)[:, None] * 4
    triangles = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
    return _mesh(vertices * np.array(size) / 2, normals, triangles)


@lru_cache(maxsize=512)
def _primitive(kind: str, size: tuple[float, ...], facets: int) -> TriangleMesh:
    """Triangulate a shape at the origin; many links have shapes of the same size."""
    if kind == "box":
        return _box(*size)
    radius, length = size if len(size) == 2 else (*size, 0.0)
    if kind == "cylinder":
        return _cylinder(radius, length, facets or 2 * _segments(radius))
    return _capsule(radius, length, facets or _segments(radius))


def _capsule(radius: float, length: float, segments: int) -> TriangleMesh:
    """Build a capsule, or a sphere if `length` is 0."""
    angles = np.linspace(0, np.pi / 2, segments // 4 + 1)
    angles = np.concatenate([-angles[::-1], angles])  # two equators, joined by the straight part
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    offsets = np.where(np.arange(len(angles)) < len(angles) // 2, -length / 2, length / 2)
    profile = radius * normals + np.stack([np.zeros_like(offsets), offsets], axis=1)
    return _revolve(profile, normals, np.arange(len(angles) - 1), segments)


def _cylinder(radius: float, length: float, segments: int) -> TriangleMesh:
    half = length / 2
    bottom, top = (radius, -half), (radius, half)
    profile = np.array([(0, -half), bottom, bottom, top, top, (0, half)])
    normals = np.array([(0, -1), (0, -1), (1, 0), (1, 0), (0, 1), (0, 1)])
    return _revolve(profile, normals, np.array([0, 2, 4]), segments)


def _segments(radius: float) -> int:
    """Return the number of corners of a round cross-section, larger for larger shapes."""
    return 8 if radius < 0.008 else 12 if radius < 0.02 else 24


def _revolve(profile: NDArray, normals: NDArray, bands: NDArray, segments: int) -> TriangleMesh:
    """Revolve a profile of (distance from z, z) and its normals about z; `bands` are the indices i
    of the surface strips between profile points i and i + 1."""
    angles = np.arange(segments) * (2 * np.pi / segments)
    turn = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # (S, 2)

    def around(points: NDArray) -> NDArray:
        flat = points[:, None, :1] * turn  # (P, S, 2)
        up = np.broadcast_to(points[:, None, 1:], (*flat.shape[:2], 1))
        return np.concatenate([flat, up], axis=-1).reshape(-1, 3)

    here = bands[:, None] * segments + np.arange(segments)  # (B, S)
    right = bands[:, None] * segments + (np.arange(segments) + 1) % segments
    quads = np.stack([here, right, right + segments, here + segments], axis=-1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    vertices = around(profile)
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    degenerate = np.linalg.norm(np.cross(b - a, c - a), axis=1) < 1e-12  # at the poles
    return _mesh(vertices, around(normals), triangles[~degenerate])


def _mesh(vertices: NDArray, normals: NDArray, triangles: NDArray) -> TriangleMesh:
    uv = np.zeros((len(vertices), 2), np.float32)
    return TriangleMesh(
        vertices.astype(np.float32), normals.astype(np.float32), triangles.astype(np.int32), uv
    )
