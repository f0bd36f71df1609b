"""Safes that this project did not design, in the layouts of three exporters, with meshes of their
own.

- `dial_safe`: layout of PartNet-Mobility (Xiang et al. 2020): mobility.urdf and semantics.txt,
  OBJ files with materials and a texture in the object's frame, y up, in a box of size 2; a round
  dial that turns without end, and a lever.
- `lever_safe`: a ROS package in metres: urdf/ and meshes/ with GLB files, package:// names, a right
  hinge, and the front towards +y; a wing knob and a curved lever.
- `wheel_safe`: STL files in millimetres with colours of the URDF, y up; an eight-sided knob and a
  handwheel with three arms, both named after their links only.

    python integrations/urdf/tests/foreign_safes.py FOLDER
"""

import sys
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import trimesh
from PIL import Image
from trimesh.transformations import rotation_matrix, translation_matrix

Mesh = trimesh.Trimesh


def box(low, high) -> Mesh:
    low, high = np.array(low, float), np.array(high, float)
    return trimesh.creation.box(high - low, translation_matrix((low + high) / 2))


def rod(start, end, radius: float, sections: int = 32) -> Mesh:
    return trimesh.creation.cylinder(radius, segment=[start, end], sections=sections)


def lathe(profile, sections: int = 64) -> Mesh:
    """Revolve (radius, height) about z, from bottom to top."""
    return trimesh.creation.revolve(np.array(profile), sections=sections)


def case_walls(width, height, depth, wall, inset) -> list[Mesh]:
    """A box that is open to +x, its front at x = 0; the door lies `inset` deep in it."""
    w, h = width / 2, height / 2
    return [
        box((-depth, -w, h - wall), (0, w, h)),
        box((-depth, -w, -h), (0, w, wall - h)),
        box((-depth, -w, wall - h), (0, wall - w, h - wall)),
        box((-depth, w - wall, wall - h), (0, w, h - wall)),
        box((-depth, wall - w, wall - h), (wall - depth, w - wall, h - wall)),
        box((wall - depth, wall - w, -0.01 * h), (-inset - 0.1 * depth, w - wall, 0.01 * h)),
    ]


def moved(meshes, transform) -> list[Mesh]:
    return [mesh.copy().apply_transform(transform) for mesh in meshes]


def joined(meshes) -> Mesh:
    return trimesh.util.concatenate(list(meshes))


# ------------------------------------------------------------------ PartNet-Mobility, a round dial

TO_PARTNET = np.array([[0, 1.0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
"""From x out of the door and z up to z out of it and y up."""


def dial_safe(folder: Path) -> Path:
    """Write the first safe; return its mobility.urdf."""
    objs = folder / "textured_objs"
    objs.mkdir(parents=True)
    size = 1.5  # of the front, in units of the file
    wall, thick = 0.1, 0.12
    door_half = size / 2 - wall - 0.01
    dial_at, lever_at = (0.0, 0.35, 0.28), (0.0, 0.36, -0.3)
    tapered = [(0.0, 0.0), (0.15, 0.0), (0.15, 0.05), (0.085, 0.06), (0.075, 0.2), (0.0, 0.2)]
    dial = lathe(tapered).apply_transform(rotation_matrix(pi / 2, (0, 1, 0)))
    dial.apply_translation(dial_at)
    x, y, z = lever_at
    lever = [
        rod((x, y, z), (x + 0.2, y, z), 0.055),
        rod((x + 0.2, y + 0.04, z), (x + 0.2, y - 0.42, z), 0.045),
        trimesh.creation.icosphere(3, 0.055).apply_translation((x + 0.2, y - 0.42, z)),
    ]
    parts = {
        "original-1": case_walls(size, size, 1.1, wall, thick),
        "original-2": [box((-thick, -door_half, -door_half), (0, door_half, door_half))],
        "original-3": [dial],
        "original-4": lever,
        "original-5": [rod((0.0, -0.5, 0.5), (0.06, -0.5, 0.5), 0.05)],
    }
    colors = {"original-1": (0.25, 0.27, 0.3), "original-3": (0.05, 0.05, 0.05)}
    paint(objs / "paint.png")
    for name, meshes in parts.items():
        mesh = joined(moved(meshes, TO_PARTNET))
        write_obj(objs / f"{name}.obj", mesh, colors.get(name, (0.7, 0.7, 0.72)), name[-1] == "2")
    hinge = TO_PARTNET[:3, :3] @ (0.0, -door_half, 0.0)
    links = {
        "link_0": (["original-2"], hinge),
        "link_1": (["original-3"], TO_PARTNET[:3, :3] @ dial_at),
        "link_2": (["original-4"], TO_PARTNET[:3, :3] @ lever_at),
        "link_3": (["original-5"], TO_PARTNET[:3, :3] @ (0.0, -0.5, 0.5)),
        "link_4": (["original-1"], np.zeros(3)),
    }
    rows = ['<?xml version="1.0" ?>', '<robot name="partnet_dial">', '<link name="base"/>']
    for name, (files, origin) in links.items():
        shapes = "".join(
            f'<{role}><origin xyz="{text(-origin)}"/><geometry>'
            f'<mesh filename="textured_objs/{file}.obj"/></geometry></{role}>'
            for role in ("visual", "collision")
            for file in files
        )
        rows.append(f'<link name="{name}">{shapes}</link>')
    rows += [
        joint("joint_0", "revolute", "link_4", "link_0", hinge, (0, -1, 0), (0, 2.2)),
        joint("joint_1", "continuous", "link_0", "link_1", links["link_1"][1] - hinge, (0, 0, 1)),
        joint(
            *("joint_2", "revolute", "link_0", "link_2"),
            *(links["link_2"][1] - hinge, (0, 0, -1), (-1.57, 0)),
        ),
        joint(
            *("joint_3", "prismatic", "link_0", "link_3"),
            *(links["link_3"][1] - hinge, (0, 0, -1), (0, 0.02)),
        ),
        '<joint name="joint_4" type="fixed"><parent link="base"/><child link="link_4"/>'
        '<origin xyz="0 0 0" rpy="1.570796326794897 0 -1.570796326794897"/></joint>',
        "</robot>",
    ]
    (folder / "semantics.txt").write_text(
        "link_0 hinge door\nlink_1 hinge knob\nlink_2 hinge handle\nlink_3 slider button\n"
        "link_4 heavy safe_body\n"
    )
    urdf = folder / "mobility.urdf"
    urdf.write_text("\n".join(rows))
    return urdf


def paint(path: Path) -> None:
    """Write a texture with stripes."""
    rows = np.full((64, 64, 3), (150, 60, 40), np.uint8)
    rows[::8] = (90, 30, 20)
    Image.fromarray(rows).save(path)


def write_obj(path: Path, mesh: Mesh, color, textured: bool) -> None:
    """Write OBJ and MTL; a textured mesh has coordinates from x and y."""
    low, span = mesh.vertices.min(0), np.ptp(mesh.vertices, axis=0)
    uv = (mesh.vertices - low)[:, :2] / span[:2]
    lines = [f"mtllib {path.stem}.mtl", "usemtl paint"]
    lines += [f"v {text(v)}" for v in mesh.vertices] + [f"vt {text(v)}" for v in uv]
    lines += ["f " + " ".join(f"{i + 1}/{i + 1}" for i in face) for face in mesh.faces]
    path.write_text("\n".join(lines) + "\n")
    image = "map_Kd paint.png\n" if textured else ""
    path.with_suffix(".mtl").write_text(f"newmtl paint\nKd {text(color)}\n{image}")


# ---------------------------------------------------------------------- A ROS package, a wing knob


def lever_safe(folder: Path) -> Path:
    """Write the second safe, a package `strongbox`; return its URDF."""
    package = folder / "strongbox"
    (package / "meshes").mkdir(parents=True)
    (package / "urdf").mkdir()
    width, height, depth, wall = 0.36, 0.32, 0.26, 0.014
    y, z = width / 2 - wall - 0.002, height / 2 - wall - 0.002
    axis_y = -y + 0.065  # the hinge is on the right
    wing = [
        rod((0, 0, 0), (0.03, 0, 0), 0.011),
        box((0.024, -0.011, -0.026), (0.052, 0.011, 0.026)),
        rod((0, 0, 0), (0.008, 0, 0), 0.02),
    ]
    curve = [(0.046, 0.1 * t, -0.02 * sin(pi * t)) for t in np.linspace(0, 1, 9)]
    lever = [rod((0, 0, 0), (0.046, 0, 0), 0.012)]
    lever += [rod(a, b, 0.0095, 24) for a, b in pairwise(curve)]
    lever += [trimesh.creation.icosphere(2, 0.0095).apply_translation(p) for p in curve]
    parts = {
        "case": (case_walls(width, height, depth, wall, 0.025), (60, 90, 70, 255)),
        "door": ([box((-0.025, -y, -z), (0, y, z))], (200, 200, 190, 255)),
        "knob": (wing, (30, 30, 30, 255)),
        "lever": (lever, (210, 180, 90, 255)),
    }
    to_file = rotation_matrix(pi / 2, (0, 0, 1))  # the front looks to +y
    for name, (meshes, color) in parts.items():
        mesh = joined(moved(meshes, to_file))
        look = trimesh.visual.material.PBRMaterial(
            baseColorFactor=color, metallicFactor=0.4, roughnessFactor=0.5
        )
        mesh.visual = trimesh.visual.TextureVisuals(material=look)
        mesh.export(package / f"meshes/{name}.glb")

    def link(name: str, file: str) -> str:
        mesh = f'<geometry><mesh filename="package://strongbox/meshes/{file}.glb"/></geometry>'
        inertia = (
            '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" '
            'ixz="0" iyz="0"/></inertial>'
        )
        parts = f"<visual>{mesh}</visual><collision>{mesh}</collision>"
        return f'<link name="{name}">{inertia}{parts}</link>'

    turn = to_file[:3, :3]
    hinge = turn @ (0.0, y, 0.0)
    door = '<link name="panel"><inertial><mass value="4"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
    door += 'ixy="0" ixz="0" iyz="0"/></inertial>'
    for role in ("visual", "collision"):
        door += (
            f'<{role}><origin xyz="{text(-hinge)}"/><geometry>'
            f'<mesh filename="package://strongbox/meshes/door.glb"/></geometry></{role}>'
        )
    front = turn @ (1.0, 0, 0)
    rows = [
        '<robot name="strongbox">',
        link("case", "case"),
        door + "</link>",
        link("selector", "knob"),
        link("lever", "lever"),
        # Closed at -0.2 rad, and open towards negative angles.
        joint("hinge", "revolute", "case", "panel", hinge, (0, 0, -1), (-1.9, 0.0)),
        joint(
            *("selector", "revolute", "panel", "selector"),
            *(turn @ (0.0, axis_y, 0.06) - hinge, front, (-0.1, 3.0)),
        ),
        joint(
            *("latch", "revolute", "panel", "lever"),
            *(turn @ (0.0, axis_y, -0.07) - hinge, -front, (0.0, 1.1)),
        ),
        "</robot>",
    ]
    urdf = package / "urdf/strongbox.urdf"
    urdf.write_text("\n".join(rows))
    return urdf


# ------------------------------------------------------------------- STL in millimetres, handwheel


def wheel_safe(folder: Path) -> Path:
    """Write the third safe; return its URDF."""
    folder.mkdir(parents=True, exist_ok=True)
    width, height, depth, wall = 420.0, 520.0, 380.0, 20.0
    y, z = width / 2 - wall - 3, height / 2 - wall - 3
    knob_at, wheel_at = (0.0, 90.0, 110.0), (0.0, 80.0, -80.0)
    prism = trimesh.creation.cylinder(21.0, 32.0, sections=8)
    prism.apply_transform(rotation_matrix(pi / 8, (0, 0, 1)))
    prism.apply_transform(rotation_matrix(pi / 2, (0, 1, 0))).apply_translation((44.0, 0, 0))
    knob = [prism, rod((0, 0, 0), (30, 0, 0), 9)]
    tips = [(55.0, 82 * sin(a), 82 * cos(a)) for a in (0, 2 * pi / 3, 4 * pi / 3)]
    wheel = [rod((0, 0, 0), (62, 0, 0), 17)]
    wheel += [rod((55, 0, 0), tip, 9.0) for tip in tips]
    wheel += [trimesh.creation.icosphere(2, 11.0).apply_translation(tip) for tip in tips]
    parts = {
        "housing": case_walls(width, height, depth, wall, 30),
        "door": [
            box((-30, -y, -z), (0, y, z)),
            *(rod((-15, -y - 5, h), (-15, -y + 20, h), 8) for h in (-150, 150)),
        ],
        "dial": moved(knob, translation_matrix(knob_at)),
        "spokes": moved(wheel, translation_matrix(wheel_at)),
    }
    for name, meshes in parts.items():
        joined(moved(meshes, TO_PARTNET)).export(folder / f"{name}.stl")
    colors = {"housing": "0.1 0.2 0.4 1", "door": "0.15 0.3 0.6 1", "dial": "0.8 0.8 0.8 1"}
    hinge = 0.001 * (TO_PARTNET[:3, :3] @ (-15.0, -y, 0.0))
    rows = ['<robot name="vault"><material name="brass"><color rgba="0.8 0.6 0.2 1"/></material>']
    for name in parts:
        origin = np.zeros(3) if name == "housing" else -hinge
        color = colors.get(name)
        look = f'<color rgba="{color}"/>' if color else ""
        visual = (
            f'<visual><origin xyz="{text(origin)}"/><geometry>'
            f'<mesh filename="{name}.stl" scale="0.001 0.001 0.001"/></geometry>'
            f'<material name="{"" if color else "brass"}">{look}</material></visual>'
        )
        rows.append(f'<link name="{name}">{visual}</link>')
    at = {name: 0.001 * (TO_PARTNET[:3, :3] @ p) for name, p in (("k", knob_at), ("w", wheel_at))}
    # The links of knob and wheel have the door's frame; their joints turn about other points, so
    # each has a frame at its axis and a fixed link with the mesh.
    rows += [
        joint("j0", "revolute", "housing", "door", hinge, (0, 1, 0), (-1.6, 0.0)),
        '<link name="knob_axis"/><link name="wheel_axis"/>',
        joint("j1", "continuous", "door", "knob_axis", at["k"] - hinge, (0, 0, 1)),
        joint("j2", "continuous", "door", "wheel_axis", at["w"] - hinge, (0, 0, 1)),
        joint("f1", "fixed", "knob_axis", "dial", hinge - at["k"], (0, 0, 1)),
        joint("f2", "fixed", "wheel_axis", "spokes", hinge - at["w"], (0, 0, 1)),
        "</robot>",
    ]
    urdf = folder / "vault.urdf"
    urdf.write_text("\n".join(rows))
    return urdf


def joint(name, kind, parent, child, origin, axis, limit=None) -> str:
    ends = "" if limit is None else f'<limit lower="{limit[0]}" upper="{limit[1]}"/>'
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{text(origin)}"/>'
        f'<axis xyz="{text(axis)}"/><parent link="{parent}"/><child link="{child}"/>{ends}</joint>'
    )


def text(values) -> str:
    return " ".join(f"{float(value):.6g}" for value in values)


FOREIGN = {"dial": dial_safe, "lever": lever_safe, "wheel": wheel_safe}

if __name__ == "__main__":
    for name, write in FOREIGN.items():
        print(write(Path(sys.argv[1]) / name))
