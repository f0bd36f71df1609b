"""Convex decomposition of meshes by CoACD (Wei et al. 2022), stored in a cache."""

import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import trimesh
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, missing_package
from rulesafe_urdf.mesh_files import Piece

THRESHOLD = 0.06
"""Concavity of a convex piece that is accepted, relative to the size of the mesh."""

CONVEX = 0.97
"""A mesh that fills this fraction of its convex hull is used as one piece."""

SHEET = 0.004
"""Smallest thickness of a convex piece, as a fraction of its largest side."""

MAX_BODIES = 40
"""A mesh of more connected surfaces is decomposed as one."""

MAX_VERTICES = 64
MAX_PIECES = 60
FORMAT = 1
"""Part of the cache's key; raise it if the result for the same mesh changes."""

Convex = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Vertices (V, 3) and triangles (T, 3) of a convex piece."""


def cache_folder() -> Path:
    """Return the folder of decompositions, ~/.cache/rulesafe/convex by default."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rulesafe/convex"


def convex_pieces(pieces: Iterable[Piece]) -> list[Convex]:
    """Return convex polyhedra that approximate meshes.

    Raises:
        RuleSafeError: coacd is not installed.
    """
    found: list[Convex] = []
    for piece in pieces:
        for vertices, faces in _bodies(piece):
            found += _decomposed(vertices, faces)
    return found


def _bodies(piece: Piece) -> list[Convex]:
    """Return the connected surfaces of a mesh."""
    mesh = trimesh.Trimesh(piece.vertices, piece.faces, process=True)
    parts = mesh.split(only_watertight=False)
    if len(parts) > MAX_BODIES:
        parts = [mesh]
    return [(np.asarray(p.vertices, float), np.asarray(p.faces, np.int64)) for p in parts]


def _decomposed(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> list[Convex]:
    hull = _hull(vertices)
    if hull is None:
        return []
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    whole = trimesh.Trimesh(*hull, process=False)
    if mesh.is_watertight and abs(mesh.volume) > CONVEX * whole.volume:
        return [hull]
    if not mesh.is_watertight and _is_flat(vertices) and mesh.area > CONVEX * whole.area / 2:
        return [hull]
    path = cache_folder() / f"{_key(vertices, faces)}.npz"
    corners = _read(path)
    if corners is None:
        corners = _run(vertices, faces)
        _write(path, corners)
    return [found for points in corners if (found := _hull(points)) is not None]


def _key(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> str:
    content = hashlib.sha256(f"{FORMAT} {THRESHOLD} {MAX_VERTICES} {MAX_PIECES}".encode())
    content.update(np.round(vertices, 9).tobytes())
    content.update(faces.tobytes())
    return content.hexdigest()


def _run(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    try:
        import coacd
    except ImportError as error:
        raise missing_package(error) from error
    coacd.set_log_level("error")
    parts = coacd.run_coacd(
        coacd.Mesh(vertices, faces),
        threshold=THRESHOLD,
        max_convex_hull=MAX_PIECES,
        max_ch_vertex=MAX_VERTICES,
        decimate=True,
        seed=0,
    )
    if not parts:
        raise RuleSafeError("the convex decomposition of a mesh is empty")
    return [np.asarray(points, float) for points, _ in parts]


def _is_flat(points: NDArray[np.float64]) -> bool:
    sides = np.ptp((points - points.mean(axis=0)) @ _principal(points).T, axis=0)
    return bool(sides[2] < SHEET * sides[0])


def _principal(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the principal axes of points as rows (3, 3), the longest first."""
    centred = points - points.mean(axis=0)
    axes: NDArray[np.float64] = np.linalg.eigh(centred.T @ centred)[1].T[::-1]
    return axes


def _hull(points: NDArray[np.float64]) -> Convex | None:
    """Return the convex hull of points; None if they are on one line. A sheet gets a thickness,
    since walls and doors of exporters often have none."""
    axes = _principal(points)
    sides = np.ptp((points - points.mean(axis=0)) @ axes.T, axis=0)
    if sides[1] <= 1e-6 * max(float(sides[0]), 1e-9):
        return None
    if sides[2] < SHEET * sides[0]:
        offset = 0.5 * SHEET * sides[0] * axes[2]
        points = np.concatenate([points - offset, points + offset])
    try:
        hull = trimesh.convex.convex_hull(points)
    except Exception:  # of qhull, which has no type of its own
        return None
    if hull.volume < 1e-18:
        return None
    return np.asarray(hull.vertices, float), np.asarray(hull.faces, np.int64)


def _read(path: Path) -> list[NDArray[np.float64]] | None:
    try:
        with np.load(path, allow_pickle=False) as content:
            return [content[f"arr_{i}"] for i in range(len(content.files))]
    except (BadZipFile, EOFError, KeyError, OSError, ValueError, zlib.error):  # damaged
        return None


def _write(path: Path, corners: list[NDArray[np.float64]]) -> None:
    """Store a decomposition; without permission to write, it is computed again next time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            np.savez(file, *corners)
        Path(file.name).replace(path)
    except OSError:
        return
