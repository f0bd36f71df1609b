"""Build a safe from a URDF and its mapping: meshes in the frames of the safe's links, and its file.

Written are NAME.yaml, and beside it a folder NAME with OBJ files, textures, convex pieces and
mapping.yaml.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import degrees, radians
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from rulesafe_core.body import Material
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.transforms import from_parts
from rulesafe_sim.safe import Door, GraspConfig, Handle, Knob, Looks
from rulesafe_sim.safe_families import Bar, Lever
from rulesafe_sim.safe_meshes import LinkMeshes, Mesh, Shell, VisualMesh, digest, mesh_files
from rulesafe_sim.safes import SafeFile, SafeParts
from rulesafe_urdf.decompose import Convex, convex_pieces
from rulesafe_urdf.fit import sample
from rulesafe_urdf.layout import Layout, bounds_of
from rulesafe_urdf.mapping import JointMapping, SafeMapping, TurnerMapping
from rulesafe_urdf.mesh_files import Piece
from rulesafe_urdf.obj_writer import ObjFolder
from rulesafe_urdf.source import UrdfSource
from rulesafe_urdf.yaml_writer import dump, to_data

ADDED = Material((0.55, 0.55, 0.55), roughness=0.35, metallic=0.6)
"""Material of a built-in knob or handle on a safe that has none."""

CLEARANCE = 0.07  # m, height of an added part above or below the middle of the door
STANDS_OUT = 0.004  # m, from the door's front
ENOUGH = 0.07  # m, space around an added part
ADDED_RADIUS = 0.03  # m, around the axis of an added knob


def layout_of(source: UrdfSource, mapping: SafeMapping) -> Layout:
    """Return the layout of a URDF for a mapping."""
    parts: dict[str, JointMapping | None] = {
        "door": mapping.door,
        "knob": mapping.knob,
        "handle": mapping.handle,
    }
    used = {name: part for name, part in parts.items() if part is not None}
    joints = {name: part.joint for name, part in used.items()}
    if len(set(joints.values())) < len(joints):
        raise RuleSafeError(f"two parts have the same joint: {joints}")
    closed = {name: part.closed for name, part in used.items()}
    return Layout(source, mapping.up, mapping.front, mapping.scale, joints, closed)


def build_safe(source: UrdfSource, mapping: SafeMapping, out: Path) -> SafeFile:
    """Write the meshes of a safe into the new folder `out` without its suffix; return its content.

    Phases are marked visible until they are measured (phases.py).
    """
    about = _write_parts(ObjFolder(out.with_suffix("")), layout_of(source, mapping), mapping)
    return replace(about, meshes_sha256=digest(mesh_files(about), out.parent))


def _write_parts(folder: ObjFolder, layout: Layout, mapping: SafeMapping) -> SafeFile:
    """Write the meshes of all links; return the content of the safe's file without their hash."""
    hinge, direction = layout.axis("door")
    side = -1 if hinge[1] < 0 else 1
    if abs(direction[2]) < 0.95:
        raise RuleSafeError(f"the axis of the door's joint {mapping.door.joint} is not vertical")
    x, y = (round(float(v), 5) for v in hinge[:2])
    low, high = bounds_of([*layout.pieces("body"), *layout.pieces("door")])
    case = Shell(
        width=round(float(high[1] - low[1]), 4),
        height=round(float(high[2] - low[2]), 4),
        depth=round(float(high[0] - low[0]), 4),
        door_width=round(layout.door_width, 4),
        door_height=round(layout.door_height, 4),
        hinge=(x, y),
        meshes=_link(folder, "body", layout, (0.0, 0.0, 0.0)),
    )
    door_meshes = _link(folder, "door", layout, (x, y, 0.0))
    turners = {"knob": mapping.knob, "handle": mapping.handle}
    for name, turner in turners.items():
        if turner is not None and abs(layout.axis(name)[1][0]) < 0.95:
            raise RuleSafeError(f"the axis of {turner.joint} is not along the front's direction")
    knob = _turner(folder, layout, "knob", mapping.knob, side, mapping.handle)
    handle = _turner(folder, layout, "handle", mapping.handle, side, mapping.knob or knob)
    assert isinstance(knob, Knob) and isinstance(handle, Handle)
    door = Door(
        **_common(mapping.door),
        motion_axis=(0.0, 0.0, float(side)),
        grasp=GraspConfig("handle", mapping.door.pull_points, (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),
        meshes=door_meshes,
    )
    if mapping.handle is not None:
        closing, approach = mapping.handle.closing, mapping.handle.approach
        door = replace(door, grasp=replace(door.grasp, closing=closing, approach=approach))
    looks = Looks(
        case=_mean(case.meshes),
        door=_mean(door_meshes),
        interior=_mean(case.meshes),
        knob=_mean(knob.shape) if isinstance(knob.shape, Mesh) else ADDED,
        handle=_mean(handle.shape) if isinstance(handle.shape, Mesh) else ADDED,
        trim=_mean(door_meshes),
    )
    return SafeFile(
        mapping.title, "left" if side < 0 else "right", looks, SafeParts(knob, handle, door), case
    )


def write_safe(about: SafeFile, mapping: SafeMapping, out: Path, source: str) -> None:
    """Write the safe's file and its mapping."""
    header = (
        f"# A safe imported from {source} by `rulesafe safes import`; docs/safes.md explains every "
        "key.\n# Meshes and the mapping, from which it was made, are in the folder of the same "
        "name.\n"
    )
    write_atomically(out, (header + dump(to_data(about))).encode())
    note = (
        f"# The mapping of {source} to {out.name}. Edit it, then import again with --mapping;\n"
        "# docs/import_safe.md explains every key.\n"
    )
    path = out.with_suffix("") / "mapping.yaml"
    write_atomically(path, (note + dump(to_data(mapping))).encode())


def _common(of: JointMapping) -> dict[str, Any]:
    names = ("range", "open_above", "closed_below", "damping", "detent", "spring", "mass")
    return {name: getattr(of, name) for name in names}


def _link(folder: ObjFolder, part: str, layout: Layout, origin: Iterable[float]) -> LinkMeshes:
    """Write visual meshes and convex pieces of case or door, relative to an origin (3,)."""
    shift = from_parts(np.eye(3), -np.array(tuple(origin)))
    visual = [piece.moved(shift) for piece in layout.pieces(part, visual=True)]
    hulls = [(points + shift[:3, 3], faces) for points, faces in _convex(layout, part)]
    return LinkMeshes(
        visual=folder.write_visual(part, visual), hulls=folder.write_hulls(part, hulls)
    )


def _convex(layout: Layout, part: str) -> list[Convex]:
    """Return the convex pieces of a part in the safe's frame. Links are decomposed in their own
    frame, so that the cache serves all scales."""
    poses, found = layout.poses(), []
    for name in sorted(layout.links[part]):
        pose = poses[name]
        for points, faces in convex_pieces(layout.source.links[name].solid):
            placed = layout.scale * (points @ pose[:3, :3].T + pose[:3, 3]) + layout.to_safe[:3, 3]
            found.append((placed, faces))
    return found


def _turner(
    folder: ObjFolder,
    layout: Layout,
    part: str,
    of: TurnerMapping | None,
    side: int,
    other: TurnerMapping | Knob | Handle | None,
) -> Knob | Handle:
    if of is None:
        return _added(layout, part, side, other)
    move = layout.turned(part, of.along, of.across, of.closed_angle)
    visual = [move(piece) for piece in layout.pieces(part, visual=True)]
    hulls = []
    if of.grip is None:
        moved = (move(Piece(points, faces)) for points, faces in _convex(layout, part))
        hulls = [(piece.vertices, piece.faces) for piece in moved]
    shape = Mesh(
        visual=folder.write_visual(part, visual),
        hulls=folder.write_hulls(part, hulls),
        symmetry=of.symmetry,
        phase_visible=True,
        grip=of.grip,
    )
    y, z = layout.axis_on_door(part)
    cls = Knob if part == "knob" else Handle
    return cls(
        **_common(of),
        motion_axis=(-1.0 if of.opens == "clockwise" else 1.0, 0.0, 0.0),
        grasp=GraspConfig(part, of.points, of.closing, of.approach),  # type: ignore[arg-type]
        from_free_edge=round(float(layout.door_width / 2 + side * y), 5),
        above_centre=round(float(z), 5),
        closed_angle=of.closed_angle,
        rotor_inertia=of.rotor_inertia,
        shape=shape,
    )


def _added(
    layout: Layout, part: str, side: int, other: TurnerMapping | Knob | Handle | None
) -> Knob | Handle:
    """Return a built-in knob or lever, where the door has most space."""
    y, z = _free_place(layout, part, side, other)
    common: dict[str, Any] = {
        "range": radians(60.0),
        "open_above": 0.7,
        "closed_below": 0.3,
        "damping": 0.05,
        "detent": 0.04,
        "from_free_edge": round(layout.door_width / 2 + side * y, 4),
        "above_centre": round(z, 4),
        "rotor_inertia": 0.0002,
    }
    if part == "knob":
        return Knob(
            **common,
            spring=0.0,
            mass=0.18,
            motion_axis=(-1.0, 0.0, 0.0),
            grasp=GraspConfig("knob", ((0.036, 0.0, 0.0),), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),
            closed_angle=0.0,
            shape=Bar(0.048, 0.026, 0.028, 0.051),
        )
    return Handle(
        **common,
        spring=0.01,
        mass=0.25,
        motion_axis=(-float(side), 0.0, 0.0),  # towards the hinge, and down
        grasp=GraspConfig("handle", ((0.045, 0.0, 0.07),), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),
        closed_angle=radians(90.0 * side),
        shape=Lever(0.1, 0.01, 0.045),
    )


def _free_place(
    layout: Layout, part: str, side: int, other: TurnerMapping | Knob | Handle | None
) -> tuple[float, float]:
    """Return y and z (m) of the axis of an added part: where it has most space during its motion,
    near its usual place, beside the free edge."""
    edge = min(0.06, layout.door_width / 3)
    usual = -side * (layout.door_width / 2 - edge), CLEARANCE if part == "knob" else -CLEARANCE
    present = [*layout.pieces("door")]
    if isinstance(other, TurnerMapping):
        present += layout.pieces("handle" if part == "knob" else "knob")
    points = sample(tuple(present))
    points = points[points[:, 0] > STANDS_OUT, 1:]
    if isinstance(other, Knob | Handle):  # added, too
        turns = np.linspace(0, 2 * np.pi, 24)
        axis = (-side * (layout.door_width / 2 - other.from_free_edge), other.above_centre)
        ring = ADDED_RADIUS * np.stack([np.sin(turns), np.cos(turns)], axis=1) + axis
        points = np.concatenate([points, ring])
    swept = np.zeros((1, 2))
    if part == "handle":  # from the hinge's side downwards
        angles, radii = np.meshgrid(np.radians(np.linspace(0, 60, 5)), np.linspace(0, 0.1, 6))
        arms = np.stack([side * radii * np.cos(angles), -radii * np.sin(angles)], axis=-1)
        swept = arms.reshape(-1, 2)

    tree = KDTree(points) if len(points) else None

    def score(place: tuple[float, float]) -> float:
        gap = ENOUGH if tree is None else min(ENOUGH, *tree.query(np.add(swept, place))[0])
        return gap - 0.1 * float(np.linalg.norm(np.subtract(place, usual)))

    room = layout.door_height / 2 - 0.06
    length = 0.0 if part == "knob" else 0.1
    inwards = np.linspace(0, max(0.0, layout.door_width / 2 - edge - length / 2), 9)
    places = [
        (usual[0] + side * float(shift), float(z))
        for shift in inwards
        for z in np.linspace(-room, room, 41)
    ]
    return max(places, key=score)


def _mean(meshes: LinkMeshes) -> Material:
    """Return the material of the first visual mesh, which is the largest."""
    visual: tuple[VisualMesh, ...] = meshes.visual
    return visual[0].material if visual else ADDED


def describe(about: SafeFile) -> Mapping[str, str]:
    """Return one line about each part of a safe."""
    parts = about.parts
    lines = {}
    for name, part in (("knob", parts.knob), ("handle", parts.handle)):
        shape = part.shape
        kind = type(shape).__name__.lower()
        if isinstance(shape, Mesh):
            kind = (
                f"mesh, gripped as a {type(shape.grip).__name__.lower()}" if shape.grip else "mesh"
            )
        turn = "clockwise" if part.opening_sign > 0 else "counterclockwise"
        lines[name] = f"{kind}, opens {turn} by {degrees(part.range):.0f} deg"
    lines["door"] = f"hinge on the {about.hinge}, opens by {degrees(parts.door.range):.0f} deg"
    return lines
