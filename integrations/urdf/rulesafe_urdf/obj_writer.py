"""Write the meshes of a safe: OBJ with normals and texture coordinates, PNG, and binary STL."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.safe_meshes import VisualMesh
from rulesafe_urdf.decompose import Convex
from rulesafe_urdf.mesh_files import Piece

SMOOTH = np.cos(np.radians(35.0))
"""Faces with a smaller angle to their neighbours are shaded smoothly."""

MOST_AROUND = 256
"""Largest number of faces at a vertex that its normals follow from; it bounds the time."""

MARKER = "mapping.yaml"
WRITTEN = re.compile(
    r"(body|door|knob|handle)_(\d+\.obj|hull_\d+\.stl)|texture_\d+\.png|mapping\.yaml|points\.png"
)
"""Names of the files in the folder of an imported safe."""

DECIMALS = 6  # of coordinates, m

STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


class ObjFolder:
    """The new folder of an imported safe's meshes.

    Args:
        folder: the folder; returned names are relative to the folder that contains it.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True)
        self._folder = folder
        self._textures: dict[int, tuple[Image.Image, str]] = {}

    def write_visual(self, part: str, pieces: Iterable[Piece]) -> tuple[VisualMesh, ...]:
        """Write one OBJ file for each material and texture, the largest first."""
        groups: dict[tuple, list[Piece]] = {}
        for piece in pieces:
            groups.setdefault((piece.material, id(piece.texture)), []).append(piece)
        ordered = sorted(groups.values(), key=lambda group: -sum(_area(p) for p in group))
        found = []
        for number, group in enumerate(ordered):
            path = self._folder / f"{part}_{number}.obj"
            path.write_text(obj_text(group), encoding="ascii")
            image = group[0].texture
            texture = None if image is None else self._texture(image)
            found.append(VisualMesh(self._name(path), group[0].material, texture))
        return tuple(found)

    def write_hulls(self, part: str, hulls: Sequence[Convex]) -> tuple[str, ...]:
        """Write one STL file for each convex piece."""
        names = []
        for number, (vertices, faces) in enumerate(hulls):
            path = self._folder / f"{part}_hull_{number:02d}.stl"
            write_hull(path, vertices, faces)
            names.append(self._name(path))
        return tuple(names)

    def _texture(self, image: Image.Image) -> str:
        if id(image) not in self._textures:
            path = self._folder / f"texture_{len(self._textures)}.png"
            image.save(path)
            self._textures[id(image)] = image, self._name(path)
        return self._textures[id(image)][1]

    def _name(self, path: Path) -> str:
        return f"{self._folder.name}/{path.name}"


def write_hull(path: Path, vertices: NDArray[np.float64], triangles: NDArray[np.int64]) -> None:
    """Write a closed surface as binary STL. `vertices` (V, 3) m, `triangles` (T, 3)."""
    records = np.zeros(len(triangles), STL_TRIANGLE)
    records["corners"] = vertices[triangles]
    a, b, c = (records["corners"][:, i] for i in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    records["normal"] = across / np.maximum(length, 1e-20)
    header = b"rulesafe convex piece".ljust(80, b"\0")
    path.write_bytes(header + len(records).to_bytes(4, "little") + records.tobytes())


def check_folder(folder: Path) -> None:
    """Raise RuleSafeError if the folder has files that the import of a safe does not write."""
    if folder.exists() and not (
        folder.is_dir() and all(WRITTEN.fullmatch(path.name) for path in folder.iterdir())
    ):
        raise RuleSafeError(f"{folder} exists and is not of an imported safe only")


def _area(piece: Piece) -> float:
    a, b, c = (piece.vertices[piece.faces[:, i]] for i in range(3))
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def obj_text(pieces: Sequence[Piece]) -> str:
    """Return an OBJ file of pieces, with a normal for each corner of a face."""
    lines: list[str] = []
    v, t, n = 1, 1, 1
    for piece in pieces:
        normals = corner_normals(piece.vertices, piece.faces).reshape(-1, 3)
        unique, index = np.unique(np.round(normals, 3), axis=0, return_inverse=True)
        index = index.reshape(-1, 3)
        lines += [f"v {x} {y} {z}" for x, y, z in _rounded(piece.vertices)]
        lines += [f"vn {x} {y} {z}" for x, y, z in unique.tolist()]
        if piece.uv is not None:
            lines += [f"vt {a} {b}" for a, b in _rounded(piece.uv)]
        for corners, of_normals in zip(piece.faces.tolist(), index.tolist(), strict=True):
            words = (
                f"{c + v}/{c + t if piece.uv is not None else ''}/{m + n}"
                for c, m in zip(corners, of_normals, strict=True)
            )
            lines.append("f " + " ".join(words))
        v, n = v + len(piece.vertices), n + len(unique)
        t += 0 if piece.uv is None else len(piece.uv)
    return "\n".join(lines) + "\n"


def _rounded(values: NDArray[np.float64]) -> list[list[float]]:
    rows: list[list[float]] = (np.round(values, DECIMALS) + 0.0).tolist()
    return rows


def corner_normals(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a unit normal for each corner of each face, (F, 3, 3): the mean of the faces at its
    vertex to which the angle is small, so that edges are sharp."""
    corners = vertices[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-20)
    size = max(float(np.ptp(vertices, axis=0).max()), 1e-9)
    _, joined = np.unique(np.round(vertices / size, 6), axis=0, return_inverse=True)
    index = joined.reshape(-1)[faces].reshape(-1)  # vertex of each corner
    order = np.argsort(index, kind="stable")
    count = np.bincount(index)
    first, around = (np.cumsum(count) - count)[index], count[index]
    found = np.zeros((len(index), 3))
    of_face = np.repeat(np.arange(len(faces)), 3)
    for step in range(min(int(count.max()), MOST_AROUND)):  # the next face at each corner's vertex
        mine = np.nonzero(step < around)[0]
        other = of_face[order[first[mine] + step]]
        near = np.einsum("nd,nd->n", flat[other], flat[of_face[mine]]) > SMOOTH
        found[mine[near]] += across[other[near]]
    length = np.linalg.norm(found, axis=1, keepdims=True)
    smooth = np.where(length > 1e-20, found / np.maximum(length, 1e-20), flat[of_face])
    return smooth.reshape(-1, 3, 3)
