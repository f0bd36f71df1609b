"""Export a safe as URDF with meshes, for other simulators: OBJ for images, STL for collision."""

from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from rulesafe_core.body import Link, Material, Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_folder
from rulesafe_core.meshes import MeshShape, scaled_hull
from rulesafe_core.transforms import apply
from rulesafe_core.urdf import to_urdf
from rulesafe_render.meshes import shape_mesh
from rulesafe_sim.safe import Safe
from rulesafe_sim.safe_body import safe_body
from rulesafe_urdf.mesh_files import Piece
from rulesafe_urdf.obj_writer import obj_text, write_hull


def export_safe(safe: Safe, out: Path) -> Path:
    """Write a safe's URDF and meshes into a folder; return the URDF.

    Raises:
        RuleSafeError: the folder is not empty, or cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RuleSafeError(f"{out} exists and is no empty folder")
    name = f"{safe.id}.urdf"
    try:
        with draft_folder(out) as draft:
            (draft / "meshes").mkdir()
            body = safe_body(safe)
            links = tuple(_meshed(link, draft / "meshes") for link in body.links)
            # Relative names, so that the folder can be moved.
            folder = escape(f"file://{draft.absolute()}/")
            urdf = to_urdf(replace(body, links=links)).replace(folder, "")
            (draft / name).write_text(urdf, encoding="utf-8")
    except OSError as error:
        raise RuleSafeError(f"cannot write {error.filename}: {error.strerror}") from error
    return out / name


def _meshed(link: Link, folder: Path) -> Link:
    """Return a link with its shapes written as meshes: one OBJ per material, one STL per piece."""
    groups: dict[Material, list[Piece]] = {}
    shapes: list[Shape] = []
    for shape in link.shapes:
        if isinstance(shape, MeshShape):
            if shape.visible:
                path = folder / f"{link.name}_{len(shapes)}.obj"
                path.write_bytes(_material_lines(shape, path) + shape.path.read_bytes())
                shapes.append(replace(shape, path=path, texture=None))
        elif shape.visible:
            groups.setdefault(shape.material, []).append(_piece(shape))
    for material, pieces in groups.items():
        path = folder / f"{link.name}_{len(shapes)}.obj"
        path.write_text(obj_text(pieces), encoding="ascii")
        shapes.append(_mesh(path, material, collides=False))
    for number, shape in enumerate(s for s in link.shapes if s.collides):
        path = folder / f"{link.name}_collision_{number}.stl"
        if isinstance(shape, MeshShape):
            hull = scaled_hull(shape)
            write_hull(path, apply(shape.pose, hull.vertices), hull.triangles)
        else:
            piece = _piece(shape)
            write_hull(path, piece.vertices, piece.faces)
        shapes.append(_mesh(path, shape.material, visible=False))
    return replace(link, shapes=tuple(shapes))


def _material_lines(shape: MeshShape, path: Path) -> bytes:
    """Write the texture of a mesh, if it has one, with a material file beside the OBJ file `path`;
    return the lines of the OBJ file that name them."""
    if shape.texture is None:
        return b""
    image, material = path.with_suffix(".png"), path.with_suffix(".mtl")
    image.write_bytes(shape.texture.read_bytes())
    material.write_text(f"newmtl textured\nKd 1 1 1\nmap_Kd {image.name}\n", encoding="ascii")
    return f"mtllib {material.name}\nusemtl textured\n".encode()


def _piece(shape: Shape) -> Piece:
    mesh = shape_mesh(shape)
    return Piece(mesh.vertices.astype(np.float64), mesh.triangles.astype(np.int64), shape.material)


def _mesh(path: Path, material: Material, collides: bool = True, visible: bool = True) -> MeshShape:
    pose = np.eye(4)
    return MeshShape("mesh", (1.0, 1.0, 1.0), pose, material, collides, visible, path=path)
