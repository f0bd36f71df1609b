"""Links of a safe that are given by mesh files, as the import of a URDF writes them.

File names in a safe's file are relative to it and inside its folder; `located` replaces them by
paths when the safe is loaded. A part that the hand grips has, besides its visual meshes, a fitted
primitive of safe_families.py for collision (`grip`): the facets of a convex mesh rotate under a
pinch, those of a capsule or box do not.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rulesafe_core.body import Color, Material, Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape, read_hull
from rulesafe_core.nested import replace_nested
from rulesafe_core.settings import required
from rulesafe_core.text_files import read_bytes
from rulesafe_sim.safe_families import HandleShape, KnobShape

MAX_VISUAL_BYTES = 64_000_000
"""Maximum size of a visual mesh or texture."""

UNIT = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class VisualMesh:
    """An OBJ file in the link's frame (m), with one material and optionally a PNG texture, whose
    mean colour is that of the material."""

    file: str
    material: Material
    texture: str | None = None
    texture_color: Color | None = None  # set when the safe is loaded


@dataclass(frozen=True, kw_only=True)
class LinkMeshes:
    """Meshes of a link: visual ones, and convex pieces (binary STL) for collision."""

    visual: tuple[VisualMesh, ...] = ()
    hulls: tuple[str, ...] = ()

    def mesh_shapes(self) -> tuple[Shape, ...]:
        """Return the shapes in the link's frame; only for a safe that was loaded."""
        visual = (
            MeshShape(
                *("mesh", UNIT, np.eye(4), each.material, False),
                path=Path(each.file),
                texture=None if each.texture is None else Path(each.texture),
                texture_color=each.texture_color or UNIT,
            )
            for each in self.visual
        )
        solid = (
            MeshShape("mesh", UNIT, np.eye(4), visible=False, path=Path(name))
            for name in self.hulls
        )
        return (*visual, *solid)


@dataclass(frozen=True, kw_only=True)
class Mesh(LinkMeshes):
    """Knob or handle: meshes, and a fitted primitive that the hand grips.

    `symmetry`: number of equivalent grasps around the axis. `phase_visible`: whether images of the
    closed and the fully open part differ, as measured from renderings.
    """

    symmetry: int = required(1, 12)
    phase_visible: bool = required()
    grip: KnobShape | HandleShape | None = None

    def shapes(self, main: Material, trim: Material) -> tuple[Shape, ...]:
        solid = [s for s in self.grip.shapes(main, trim) if s.collides] if self.grip else []
        return (*self.mesh_shapes(), *(replace(shape, visible=False) for shape in solid))


@dataclass(frozen=True)
class Shell:
    """Case of an imported safe, given by meshes in the frame of the safe."""

    width: float = required(0.2, 0.6, "m")
    height: float = required(0.2, 0.8, "m")
    depth: float = required(0.03, 0.6, "m")
    door_width: float = required(0.15, 0.6, "m")
    door_height: float = required(0.15, 0.8, "m")
    hinge: tuple[float, float] = required(-0.4, 0.4, "m")
    """Hinge axis: x and y in the frame of the safe."""
    meshes: LinkMeshes = required()


def located(about: Any, folder: Path) -> Any:
    """Return the content of a safe's file with each file name replaced by its path.

    Raises:
        RuleSafeError: a file is outside the folder or missing, or no convex mesh.
    """
    root = folder.resolve()

    def locate(meshes: LinkMeshes) -> LinkMeshes:
        visual = []
        for each in meshes.visual:
            texture = each.texture and str(_inside(each.texture, root, (".png",)))
            file = str(_inside(each.file, root, (".obj",)))
            color = each.material.color if texture else None
            visual.append(replace(each, file=file, texture=texture, texture_color=color))
        hulls = [_inside(name, root, (".stl",)) for name in meshes.hulls]
        for hull in hulls:
            read_hull(hull)
        return replace(meshes, visual=tuple(visual), hulls=tuple(map(str, hulls)))

    return replace_nested(about, LinkMeshes, locate)


def _inside(name: str, root: Path, suffixes: tuple[str, ...]) -> Path:
    path = (root / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(root):
        raise RuleSafeError(f"the mesh file {name} is outside the folder of the safe's file")
    if path.suffix.lower() not in suffixes:
        raise RuleSafeError(f"the mesh file {name} must end in {' or '.join(suffixes)}")
    if not path.is_file():
        raise RuleSafeError(f"there is no mesh file {name} beside the safe's file")
    if path.stat().st_size > MAX_VISUAL_BYTES:
        raise RuleSafeError(f"{path} is larger than the limit of {MAX_VISUAL_BYTES} bytes")
    return path


def mesh_files(about: Any) -> tuple[str, ...]:
    """Return the names of all files of meshes in the content of a safe's file, in order."""
    found: list[str] = []

    def collect(meshes: LinkMeshes) -> LinkMeshes:
        for each in meshes.visual:
            found.extend(name for name in (each.file, each.texture) if name)
        found.extend(meshes.hulls)
        return meshes

    replace_nested(about, LinkMeshes, collect)
    return tuple(dict.fromkeys(found))


def digest(names: Iterable[str], folder: Path) -> str:
    """Return the SHA-256 of the named files and their names, so that the hash of a safe's file
    covers its meshes."""
    total = hashlib.sha256()
    for name in names:
        content = read_bytes(folder / name, MAX_VISUAL_BYTES)
        total.update(f"{hashlib.sha256(content).hexdigest()}  {name}\n".encode())
    return total.hexdigest()
