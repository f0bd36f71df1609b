"""Read mesh files of a URDF (OBJ, STL, GLB) with their materials, by trimesh.

Files are read from one folder only, materials and textures of an OBJ file too, and limits on size
apply before a file is parsed.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rulesafe_core.body import Color, Material, srgb_to_linear
from rulesafe_core.errors import RuleSafeError, missing_package
from rulesafe_core.text_files import read_bytes
from rulesafe_core.transforms import Transform, apply
from rulesafe_core.urdf_elements import mesh_names

try:
    import trimesh
except ImportError as error:
    raise missing_package(error) from error

FORMATS = (".obj", ".stl", ".glb")
MAX_MESH_BYTES = 64_000_000
MAX_TRIANGLES = 1_000_000
MAX_TEXTURE_PIXELS = 4096 * 4096
MAX_COORDINATE = 1e9
"""Largest absolute value of a coordinate, in the unit of the file."""

PACKAGE_LEVELS = 3
"""Levels above the folder of a URDF at which the folder of its ROS package is searched."""

PLAIN = Material((0.5, 0.5, 0.5), roughness=0.6)
"""Material of meshes that have none."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles with one material, in the frame of their link."""

    vertices: NDArray[np.float64]  # (V, 3) m
    faces: NDArray[np.int64]  # (F, 3)
    material: Material = PLAIN
    texture: Image.Image | None = None
    uv: NDArray[np.float64] | None = None  # (V, 2)

    def moved(self, pose: Transform, scale: NDArray[np.float64] | float = 1.0) -> "Piece":
        """Return the piece scaled by (3,) and then moved by a pose."""
        faces = self.faces if np.prod(np.broadcast_to(scale, 3)) > 0 else self.faces[:, ::-1]
        vertices = apply(pose, self.vertices * scale)
        return Piece(vertices, faces, self.material, self.texture, self.uv)


class MeshFolder:
    """The folder in which all files of a URDF are.

    Args:
        urdf: the URDF file.
        root: folder that may not be left; None: the folder of the URDF, and for `package://` names
            the parent folder with the name of the package.

    Attributes:
        unread: material and texture files of meshes that were missing or not readable.
    """

    def __init__(self, urdf: Path, root: Path | None = None):
        self.folder = urdf.resolve().parent
        if root and not root.is_dir():
            raise RuleSafeError(f"{root} is not a folder; --root is the one with URDF and meshes")
        self._allowed = [root.resolve() if root else self.folder]
        self.unread: list[str] = []

    def find(self, name: str) -> Path:
        """Return the path of a mesh file as a URDF names it.

        Raises:
            RuleSafeError: it is outside the folder; FileNotFoundError: it does not exist.
        """
        for each in mesh_names(name):
            if path := self._existing(each):
                return path
        raise FileNotFoundError(name)

    def _existing(self, name: str) -> Path | None:
        folder, relative = self.folder, name
        if name.startswith("package://"):
            package, _, relative = name.removeprefix("package://").partition("/")
            # Only near folders, since all of the named folder is allowed. / has an empty name.
            near = (folder, *folder.parents[:PACKAGE_LEVELS])
            named = [each for each in near if package and each.name == package]
            folder = named[0] if named else self._allowed[0]
            self._allowed += named[:1]
        try:
            path = (folder / relative).resolve()
            found = path.is_file()
        except (OSError, RuntimeError, ValueError):  # too long, a loop of links, or a null byte
            return None
        self._check(path)
        return path if found else None

    def read(self, path: Path) -> bytes:
        """Return the content of a file in the folder."""
        self._check(path.resolve())
        return read_bytes(path, MAX_MESH_BYTES)

    def _check(self, path: Path) -> None:
        if not any(path.is_relative_to(folder) for folder in self._allowed):
            raise RuleSafeError(
                f"the file {path} is outside {self._allowed[0]}; give the folder that contains "
                "URDF and meshes by --root"
            )


class _Resolver(trimesh.resolvers.Resolver):
    """Gives trimesh the files that a mesh refers to, from the same folder only."""

    def __init__(self, folder: MeshFolder, base: Path):
        self._folder, self._base = folder, base

    def get(self, name: str) -> bytes:
        """Return the content of a material or texture file. trimesh ignores errors of this method,
        so they are stored in the folder's `unread`."""
        try:
            content = self._folder.read((self._base / name.strip()).resolve())
            if Path(name).suffix.lower() in (".png", ".jpg", ".jpeg", ".bmp", ".tga"):
                Image.open(BytesIO(content)).close()
        except (OSError, RuntimeError, RuleSafeError) as error:
            if name not in self._folder.unread:
                self._folder.unread.append(name)
            raise FileNotFoundError(name) from error
        return content

    def keys(self) -> list[str]:
        return []

    def write(self, name: str, data: bytes) -> None:
        raise RuleSafeError(f"a mesh asks to write {name}")

    def namespaced(self, namespace: str) -> "_Resolver":
        return _Resolver(self._folder, self._base / namespace)


def read_mesh(path: Path, folder: MeshFolder) -> list[Piece]:
    """Read a mesh file, one piece for each of its materials; none if it has no triangles.

    Raises:
        RuleSafeError: the format is not supported, or the file cannot be parsed or is too large.
    """
    if path.suffix.lower() not in FORMATS:
        raise RuleSafeError(f"{path}: the format is not supported; valid: {', '.join(FORMATS)}")
    content = folder.read(path)
    try:
        if path.suffix.lower() == ".glb":
            _check_accessors(content)
        scene = trimesh.load_scene(
            trimesh.util.wrap_as_stream(content),
            file_type=path.suffix.lower().removeprefix("."),
            resolver=_Resolver(folder, path.parent),
            process=False,  # which would remove coordinates that are not finite
        )
        # trimesh gives an OBJ without materials a grey one.
        colored = path.suffix.lower() != ".obj" or b"mtllib" in content
        pieces = list(_pieces(scene, colored))
    except RuleSafeError as error:
        raise RuleSafeError(f"{path}: {error}") from error
    except Exception as error:  # parsers of third parties raise anything on malformed input
        raise RuleSafeError(f"cannot read the mesh {path}: {error}") from error
    return pieces


def _check_accessors(content: bytes) -> None:
    """Refuse a GLB whose arrays are too large before they are allocated; their sizes need not be
    those of the file."""
    length = int.from_bytes(content[12:16], "little")
    accessors = json.loads(content[20 : 20 + length]).get("accessors", [])
    for count in (accessor.get("count", 0) for accessor in accessors):
        if count > 3 * MAX_TRIANGLES:
            raise RuleSafeError(f"an array has {count} values; the limit is {3 * MAX_TRIANGLES}")


def _pieces(scene: "trimesh.Scene", colored: bool) -> Iterator[Piece]:
    count = 0
    for name in scene.graph.nodes_geometry:
        pose, geometry = scene.graph[name]
        mesh = scene.geometry[geometry]
        if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
            continue
        count += len(mesh.faces)
        if count > MAX_TRIANGLES:
            raise RuleSafeError(f"it has {count} or more triangles; the limit is {MAX_TRIANGLES}")
        if not (np.abs(mesh.vertices) < MAX_COORDINATE).all():
            raise RuleSafeError("a coordinate is not finite or above 1e9")
        mesh.process()
        vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
        material, texture, uv = _look(mesh.visual) if colored else (PLAIN, None, None)
        yield Piece(apply(pose, vertices), faces, material, texture, uv)


def _look(visual: Any) -> tuple[Material, Image.Image | None, NDArray | None]:
    """Return material, texture and texture coordinates of a mesh."""
    if visual.kind != "texture":
        if visual.kind is None:
            return PLAIN, None, None
        return Material(_linear(visual.main_color), PLAIN.roughness), None, None
    look = visual.material
    if isinstance(look, trimesh.visual.material.PBRMaterial):
        image, factor = look.baseColorTexture, look.baseColorFactor
        rough, metal = look.roughnessFactor, look.metallicFactor
        factor = (255, 255, 255) if factor is None else factor
        color = tuple(float(c) / 255 for c in factor[:3])
        material = Material(
            (color[0], color[1], color[2]),
            PLAIN.roughness if rough is None else float(rough),
            0.0 if metal is None else float(metal),
        )
    else:
        image = look.image
        white = np.array((255, 255, 255))
        material = Material(_linear(white if image else look.diffuse), PLAIN.roughness)
    if image is None or visual.uv is None:
        return material, None, None
    if image.width * image.height > MAX_TEXTURE_PIXELS:
        raise RuleSafeError(f"a texture has {image.width} x {image.height} pixels; limit: 4096²")
    image = image.convert("RGB")
    mean = np.asarray(image.resize((16, 16)), float).mean((0, 1))
    color = np.multiply(_linear(mean), material.color).tolist()
    return Material((color[0], color[1], color[2]), material.roughness), image, visual.uv


def _linear(rgb: Any) -> Color:
    red, green, blue = (srgb_to_linear(float(value) / 255) for value in rgb[:3])
    return red, green, blue


def box_piece(size: tuple[float, ...]) -> Piece:
    return _primitive(trimesh.creation.box(size))


def sphere_piece(radius: float) -> Piece:
    return _primitive(trimesh.creation.icosphere(2, radius))


def cylinder_piece(radius: float, length: float) -> Piece:
    return _primitive(trimesh.creation.cylinder(radius, length, sections=24))


def capsule_piece(radius: float, length: float) -> Piece:
    """Return a capsule along z; `length` is that of its straight part."""
    return _primitive(trimesh.creation.capsule(length, radius, count=(12, 12)))


def _primitive(mesh: Any) -> Piece:
    return Piece(np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64))
