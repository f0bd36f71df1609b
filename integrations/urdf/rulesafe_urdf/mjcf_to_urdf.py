#!/usr/bin/env python3
"""Convert a MuJoCo model (MJCF) to a URDF with STL meshes, for `rulesafe safes import`.

Usage: mjcf_to_urdf.py MODEL.xml OUT/NAME.urdf [--body NAME]

Requires `pip install mujoco`; a separate environment is possible, since this script imports nothing
of the project. MuJoCo compiles the model, so that includes, defaults and scales are resolved. The
meshes are written to OUT/NAME_meshes.

Each body becomes a link. The frame of a link with a hinge or slide joint is at the joint's anchor,
in the orientation of the body; joint positions are those of MuJoCo. A texture is replaced by its
mean colour. Only visual geometry is written: geoms of the groups 0 to 2, which MuJoCo's viewer
shows.
"""

import argparse
import math
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

try:
    import mujoco
    import numpy as np
except ImportError as error:
    sys.exit(f"cannot import mujoco: {error}; run `pip install mujoco`")

KINDS = {
    int(mujoco.mjtJoint.mjJNT_HINGE): "revolute",
    int(mujoco.mjtJoint.mjJNT_SLIDE): "prismatic",
}
Geom = mujoco.mjtGeom
SHOWN_GROUPS = (0, 1, 2)
"""Groups of geoms that MuJoCo's viewer shows."""

TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
"""Default colour of a geom, with which MuJoCo uses the colour of the material instead."""


def text(values) -> str:
    """Return numbers as the text of a URDF attribute."""
    return " ".join(repr(float(value) + 0.0) for value in np.atleast_1d(values))


def matrix(quat) -> np.ndarray:
    """Return the rotation matrix (3, 3) of a quaternion wxyz."""
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, np.array(quat, float))
    return flat.reshape(3, 3)


def add_origin(parent: ET.Element, position, rotation) -> None:
    """Add the origin of a position (3,), m, and a rotation matrix (3, 3) to an element."""
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    roll, yaw = math.atan2(rotation[2, 1], rotation[2, 2]), math.atan2(*rotation[1::-1, 0])
    if abs(pitch) > math.pi / 2 - 1e-7:  # yaw and roll turn about the same axis
        roll, yaw = math.atan2(-rotation[1, 2], rotation[1, 1]), 0.0
    ET.SubElement(parent, "origin", xyz=text(position), rpy=text((roll, pitch, yaw)))


class Converter:
    """Converter of the tree of a compiled model below one body."""

    def __init__(self, model: mujoco.MjModel, urdf: Path):
        self.model, self.urdf = model, urdf
        self.folder = urdf.with_name(f"{urdf.stem}_meshes")
        self.robot = ET.Element("robot", name=urdf.stem)
        self.written: set[Path] = set()  # mesh files

    def name(self, body: int) -> str:
        """Return the name of a body's link."""
        return self.model.body(body).name or f"body_{body}"

    def write(self, root: int) -> None:
        """Write the URDF and the meshes of a body and all bodies below it."""
        model, inside = self.model, {root}
        self.add_link(root, np.zeros(3))
        for body in range(root + 1, model.nbody):  # parents come before children
            parent = int(model.body_parentid[body])
            if parent in inside:
                inside.add(body)
                self.add_link(body, self.anchor(body))
                self.add_joint(body, self.anchor(parent) if parent != root else np.zeros(3))
        ET.indent(self.robot)
        self.urdf.parent.mkdir(parents=True, exist_ok=True)
        ET.ElementTree(self.robot).write(self.urdf, encoding="utf-8", xml_declaration=True)

    def joint(self, body: int) -> int | None:
        """Return the joint of a body; None if it has none."""
        count, first = int(self.model.body_jntnum[body]), int(self.model.body_jntadr[body])
        if count > 1:
            names = ", ".join(self.model.joint(first + i).name or "unnamed" for i in range(count))
            sys.exit(f"body {self.name(body)} has {count} joints ({names}); valid: one or none")
        if count and int(self.model.jnt_type[first]) not in KINDS:
            sys.exit(f"body {self.name(body)} has a free or ball joint; valid: hinge or slide")
        return first if count else None

    def anchor(self, body: int) -> np.ndarray:
        """Return the anchor (3,), m, of a body's joint in the frame of the body."""
        joint = self.joint(body)
        return np.zeros(3) if joint is None else self.model.jnt_pos[joint]

    def add_joint(self, body: int, parent_anchor: np.ndarray) -> None:
        """Add the joint between a body and its parent, whose anchor is in the parent's frame, m."""
        model, joint = self.model, self.joint(body)
        rotation = matrix(model.body_quat[body])
        position = model.body_pos[body] + rotation @ self.anchor(body) - parent_anchor
        kind, name = "fixed", f"{self.name(body)}_fixed"
        if joint is not None:
            kind, axis = KINDS[int(model.jnt_type[joint])], model.jnt_axis[joint]
            name = model.joint(joint).name or f"{self.name(body)}_joint"
            reference = float(model.qpos0[model.jnt_qposadr[joint]])
            limited = bool(model.jnt_limited[joint])
            if kind == "prismatic":
                position = position - reference * (rotation @ axis)
                if not limited:
                    sys.exit(f"the slide joint {name} has no range, which a URDF requires")
            else:
                kind, quat = kind if limited else "continuous", np.zeros(4)
                mujoco.mju_axisAngle2Quat(quat, axis, -reference)
                rotation = rotation @ matrix(quat)
        element = ET.SubElement(self.robot, "joint", name=name, type=kind)
        add_origin(element, position, rotation)
        ET.SubElement(element, "parent", link=self.name(int(model.body_parentid[body])))
        ET.SubElement(element, "child", link=self.name(body))
        if joint is not None:
            ET.SubElement(element, "axis", xyz=text(axis))
            lower, upper = model.jnt_range[joint] if limited else (-math.pi, math.pi)
            limit = {"lower": text(lower), "upper": text(upper), "effort": "100", "velocity": "10"}
            ET.SubElement(element, "limit", limit)

    def add_link(self, body: int, anchor: np.ndarray) -> None:
        """Add the link of a body, with its frame at `anchor` (3,), m, in the frame of the body."""
        model = self.model
        link = ET.SubElement(self.robot, "link", name=self.name(body))
        if model.body_mass[body] > 0 and model.body_inertia[body].min() > 0:
            inertial = ET.SubElement(link, "inertial")
            add_origin(inertial, model.body_ipos[body] - anchor, matrix(model.body_iquat[body]))
            ET.SubElement(inertial, "mass", value=text(model.body_mass[body]))
            moments = dict(zip(("ixx", "iyy", "izz"), model.body_inertia[body], strict=True))
            moments |= dict.fromkeys(("ixy", "ixz", "iyz"), 0.0)
            ET.SubElement(inertial, "inertia", {key: text(m) for key, m in moments.items()})
        for geom in range(model.ngeom):
            if model.geom_bodyid[geom] == body and model.geom_group[geom] in SHOWN_GROUPS:
                rotation = matrix(model.geom_quat[geom])
                for tag, sizes, shift in self.geometry(geom):
                    visual = ET.SubElement(link, "visual")
                    position = model.geom_pos[geom] + shift * rotation[:, 2] - anchor
                    add_origin(visual, position, rotation)
                    ET.SubElement(ET.SubElement(visual, "geometry"), tag, sizes)
                    material = ET.SubElement(visual, "material", name=f"color_{geom}")
                    ET.SubElement(material, "color", rgba=text(self.color(geom)))

    def geometry(self, geom: int) -> list[tuple[str, dict[str, str], float]]:
        """Return tag, sizes and position (m, along the geom's z axis) of each URDF geometry."""
        kind, (x, y, _) = self.model.geom_type[geom], self.model.geom_size[geom]
        if kind == Geom.mjGEOM_MESH:
            return [("mesh", {"filename": self.mesh(int(self.model.geom_dataid[geom]))}, 0.0)]
        if kind == Geom.mjGEOM_BOX:
            return [("box", {"size": text(2 * self.model.geom_size[geom])}, 0.0)]
        sphere = ("sphere", {"radius": text(x)})
        if kind == Geom.mjGEOM_SPHERE:
            return [(*sphere, 0.0)]
        cylinder = ("cylinder", {"radius": text(x), "length": text(2 * y)}, 0.0)
        if kind == Geom.mjGEOM_CYLINDER:
            return [cylinder]
        if kind == Geom.mjGEOM_CAPSULE:  # a URDF has none
            return [cylinder, (*sphere, -y), (*sphere, y)]
        name = self.model.geom(geom).name or geom
        print(f"note: geom {name} is a {Geom(kind).name[7:].lower()} and is left out")
        return []

    def color(self, geom: int) -> np.ndarray:
        """Return the RGBA colour (4,) of a geom, 0 to 1."""
        model, rgba = self.model, self.model.geom_rgba[geom]
        material = model.geom_matid[geom]
        if material < 0 or tuple(rgba) != DEFAULT_RGBA:
            return rgba
        rgba = model.mat_rgba[material].copy()
        texture = model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB]
        if texture >= 0:
            image = model.tex(texture)
            channels = int(image.nchannel[0])
            rgba[:3] *= image.data.reshape(-1, channels)[:, :3].mean(axis=0) / 255
        return rgba

    def mesh(self, mesh: int) -> str:
        """Write a mesh as binary STL; return its path relative to the URDF."""
        part = self.model.mesh(mesh)
        path = self.folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', part.name)}_{mesh}.stl"
        if path not in self.written:
            self.written.add(path)
            self.folder.mkdir(parents=True, exist_ok=True)
            start, count = int(part.vertadr[0]), int(part.vertnum[0])
            vertices = self.model.mesh_vert[start : start + count]
            first, number = int(part.faceadr[0]), int(part.facenum[0])
            triangles = np.zeros(number, TRIANGLE)
            triangles["corners"] = vertices[self.model.mesh_face[first : first + number]]
            header = b"mjcf_to_urdf.py".ljust(80) + number.to_bytes(4, "little")
            path.write_bytes(header + triangles.tobytes())
        return f"{self.folder.name}/{path.name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="an MJCF file")
    parser.add_argument("urdf", type=Path, help="the URDF to write")
    parser.add_argument("--body", default="world", help="the root link; its joints are left out")
    given = parser.parse_args()
    if given.urdf.suffix != ".urdf":
        sys.exit(f"cannot write {given.urdf}; valid: a file NAME.urdf")
    try:
        model = mujoco.MjModel.from_xml_path(str(given.model))
    except ValueError as error:
        sys.exit(f"{given.model}: {error}")
    root = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, given.body)
    if root < 0:
        names = ", ".join(filter(None, (model.body(i).name for i in range(model.nbody))))
        sys.exit(f"{given.model} has no body {given.body!r}; valid: {names}")
    Converter(model, given.urdf).write(root)
    print(given.urdf)


if __name__ == "__main__":
    main()
