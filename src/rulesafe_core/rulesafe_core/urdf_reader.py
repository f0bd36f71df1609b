"""Read URDF files: kinematics only, comparison of a user's robot with `h1_2()`, and its shapes.

`robot_from_urdf` keeps the masses of `h1_2()`, since the manufacturer's hand masses are too small
(see robot.py), and its limits, on which the planner relies. SAPIEN's URDF loader is not used: it
needs its renderer for coloured shapes.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from rulesafe_core.body import Body, Joint, Link, Material, Mimic, Shape
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.meshes import MeshShape
from rulesafe_core.robot import SHELL, h1_2
from rulesafe_core.transforms import Transform, to_rpy
from rulesafe_core.urdf import as_text
from rulesafe_core.urdf_elements import (
    attribute,
    child_numbers,
    mesh_names,
    numbers,
    origin,
    parse_urdf,
    read_urdf,
    visual_color,
)

TOLERANCE = 1e-4
"""Largest difference of origins and axes (m, and entries of the rotation matrix) for which the
planner's kinematics remain valid."""

_SIZES = {
    "box": (3, ("size",)),
    "sphere": (1, ("radius",)),
    "cylinder": (2, ("radius", "length")),
    "capsule": (2, ("radius", "length")),
}
"""URDF primitives (capsule is an extension): number of sizes and names of their attributes."""


def read_kinematics(urdf: str) -> Body:
    """Read the links and joints of a URDF string, without shapes; prismatic joints become fixed.

    Raises:
        RuleSafeError: the string is not a valid URDF.
    """
    try:
        root = parse_urdf(urdf)
        links = tuple(Link(link.get("name", "")) for link in root.findall("link"))
        joints = tuple(_joint(joint) for joint in root.findall("joint"))
    except (ET.ParseError, ValueError, RuleSafeError) as error:
        raise RuleSafeError(f"the robot description is not a valid URDF: {error}") from None
    return Body(root.get("name", ""), links, joints)


def _joint(element: ET.Element) -> Joint:
    mimicked = attribute(element, "mimic", "joint")
    mimic = Mimic(
        mimicked,
        float(attribute(element, "mimic", "multiplier", "1")),
        float(attribute(element, "mimic", "offset", "0")),
    )
    x, y, z = child_numbers(element, "axis", "xyz", "1 0 0", 3)
    return Joint(
        element.get("name", ""),
        attribute(element, "parent", "link"),
        attribute(element, "child", "link"),
        origin(element),
        kind="revolute" if element.get("type") in ("revolute", "continuous") else "fixed",
        axis=(x, y, z),
        mimic=mimic if mimicked else None,
    )


def check_robot_urdf(path: str | Path) -> None:
    """Check that a URDF has the links and joints of `h1_2()` with the same origins and axes.

    Meshes, masses, limits, mimic joints and additional links may differ.

    Args:
        path: the URDF file.

    Raises:
        RuleSafeError: the file cannot be read, or differs; the message lists all differences.
    """
    robot = read_urdf(Path(path))
    body = h1_2()
    links = {link.get("name") for link in robot.findall("link")}
    joints = {joint.get("name"): joint for joint in robot.findall("joint")}
    faults = [f"no link {link.name}" for link in body.links if link.name not in links]
    for joint in body.joints:
        found = joints.get(joint.name)
        if found is None:
            faults.append(f"no joint {joint.name}")
        else:
            faults += [f"{joint.name}: {fault}" for fault in _faults(joint, found)]
    if faults:
        raise RuleSafeError(
            f"{path} differs from the H1-2 with Inspire DFX hands that the planner needs:\n  "
            + "\n  ".join(faults)
        )


def _faults(joint: Joint, element: ET.Element) -> list[str]:
    faults = []
    if element.get("type") != joint.kind:
        faults.append(f"type {element.get('type')}, expected {joint.kind}")
    for tag, expected in (("parent", joint.parent), ("child", joint.child)):
        name = attribute(element, tag, "link")
        if name != expected:
            faults.append(f"{tag} {name!r}, expected {expected!r}")
    try:
        pose = origin(element)
        axis = child_numbers(element, "axis", "xyz", "1 0 0", 3)
    except RuleSafeError as error:
        return [*faults, str(error)]
    if np.abs(pose - joint.origin).max() > TOLERANCE:
        faults.append(f"origin {_origin_text(pose)}, expected {_origin_text(joint.origin)}")
    if joint.kind != "fixed" and np.abs(np.subtract(axis, joint.axis)).max() > TOLERANCE:
        faults.append(f"axis {as_text(axis)}, expected {as_text(joint.axis)}")
    return faults


def _origin_text(pose: Transform) -> str:
    return f"{as_text(pose[:3, 3])} rpy {as_text(to_rpy(pose))}"


def robot_from_urdf(path: str | Path) -> Body:
    """Return `h1_2()` with the shapes of a user's URDF.

    Additional links are attached by fixed joints at their pose for 0 rad, without mass.
    Mesh files are searched in the URDF's folder, `package://` names also in its parent folders.

    Raises:
        RuleSafeError: the robot differs (see `check_robot_urdf`), a mesh file is missing or a shape
            is invalid; the message names the link.
    """
    check_robot_urdf(path)
    root, body = read_urdf(Path(path)), h1_2()
    materials = {material.get("name", ""): material for material in root.findall("material")}
    shapes = {
        link.get("name", ""): tuple(_shapes(link, Path(path), materials))
        for link in root.findall("link")
    }
    links = tuple(replace(link, shapes=shapes[link.name]) for link in body.links)
    mounts = tuple(_mounts(root, {link.name for link in links}))
    added = tuple(Link(joint.child, shapes.get(joint.child, ())) for joint in mounts)
    return replace(body, links=links + added, joints=body.joints + mounts)


def _mounts(root: ET.Element, placed: set[str]) -> Iterator[Joint]:
    """Yield fixed joints, parents first, for the descendants of the placed links."""
    joints = [
        Joint(joint.get("name", ""), ends[0], ends[1], origin(joint), kind="fixed")
        for joint in root.findall("joint")
        if all(ends := [attribute(joint, tag, "link") for tag in ("parent", "child")])
    ]
    while found := [j for j in joints if j.parent in placed and j.child not in placed]:
        yield found[0]
        placed = {*placed, found[0].child}


def _shapes(link: ET.Element, urdf: Path, materials: Mapping[str, ET.Element]) -> Iterator[Shape]:
    """Yield the visual shapes of a link, then its collision shapes."""
    try:
        for element in link.findall("visual"):
            shape = replace(_shape(element, urdf), collides=False)
            yield replace(shape, material=_material(element, materials))
        for element in link.findall("collision"):
            yield replace(_shape(element, urdf), visible=False)
    except RuleSafeError as error:
        raise RuleSafeError(f"{urdf}, link {link.get('name')}: {error}") from error


def _shape(element: ET.Element, urdf: Path) -> Shape:
    geometry = element.find("geometry/*")
    if geometry is None:
        raise RuleSafeError(f"a {element.tag} has no geometry")
    pose = origin(element)
    if geometry.tag == "mesh":
        scale = numbers(geometry.get("scale", "1 1 1"), 3)
        return MeshShape("mesh", scale, pose, path=_mesh_file(geometry.get("filename", ""), urdf))
    if geometry.tag not in _SIZES:
        raise unknown_name("geometry", geometry.tag, (*_SIZES, "mesh"))
    count, names = _SIZES[geometry.tag]
    size = " ".join(geometry.get(name, "") for name in names)
    return Shape(geometry.tag, numbers(size, count), pose)


def _mesh_file(name: str, urdf: Path) -> Path:
    folder = urdf.resolve().parent
    for path in mesh_names(name):
        candidates = [folder / path]
        if path.startswith("package://"):
            in_package = path.removeprefix("package://")
            # The folder may not have the package's name, for example after a download.
            names = (in_package, in_package.partition("/")[2])
            candidates = [parent / n for parent in (folder, *folder.parents) for n in names if n]
        for file in candidates:
            if file.is_file():
                return file
    raise RuleSafeError(f"there is no mesh file {name!r} in {folder}")


def _material(visual: ET.Element, materials: Mapping[str, ET.Element]) -> Material:
    """Return the material of a visual: its colour, or that of the named robot material."""
    color = visual_color(visual, materials)
    return SHELL if color is None else replace(SHELL, color=color)
