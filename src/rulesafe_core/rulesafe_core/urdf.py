"""URDF text of a `Body`, and the check of a user's own robot URDF against ours.

URDF has no capsule, so one is written as a cylinder and two spheres. Numbers are written in
full, in the body's order: the same body always gives the same text.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from rulesafe_core.body import Body, Color, Inertial, Joint, Material, Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.robot import h1_2
from rulesafe_core.transforms import Transform, Vector, from_xyz_rpy, to_rpy


def to_urdf(body: Body) -> str:
    """The body as URDF, with its shapes, inertias, limits, damping and mimic rules."""
    robot = ET.Element("robot", name=body.name)
    names = _material_names(body)
    for color, name in names.items():
        material = ET.SubElement(robot, "material", name=name)
        ET.SubElement(material, "color", rgba=f"{_numbers(map(_srgb, color))} 1.0")
    for link in body.links:
        element = ET.SubElement(robot, "link", name=link.name)
        if link.inertial:
            _add_inertial(element, link.inertial)
        for shape in link.shapes:
            if shape.visible:
                _add_shape(element, "visual", shape, names[shape.material.color])
        for shape in link.shapes:
            if shape.collides:
                _add_shape(element, "collision", shape)
    for joint in body.joints:
        _add_joint(robot, joint)
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def _material_names(body: Body) -> dict[Color, str]:
    materials: Iterable[Material] = (s.material for link in body.links for s in link.shapes)
    colors = dict.fromkeys(material.color for material in materials)
    return {color: f"{body.name}_color_{i}" for i, color in enumerate(colors)}


def _srgb(linear: float) -> float:
    """Viewers take URDF colours as they are shown on a screen, not as linear light."""
    encoded = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return round(encoded, 4)


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value) + 0.0) for value in values)  # + 0.0 turns -0.0 into 0.0


def _add_origin(parent: ET.Element, pose: Transform) -> None:
    ET.SubElement(parent, "origin", xyz=_numbers(pose[:3, 3]), rpy=_numbers(to_rpy(pose)))


def _add_inertial(link: ET.Element, inertial: Inertial) -> None:
    element = ET.SubElement(link, "inertial")
    ET.SubElement(element, "origin", xyz=_numbers(inertial.com), rpy="0.0 0.0 0.0")
    ET.SubElement(element, "mass", value=_numbers([inertial.mass]))
    entries = {
        f"i{a}{b}": _numbers([inertial.inertia[i, j]])
        for i, a in enumerate("xyz")
        for j, b in enumerate("xyz")
        if i <= j
    }
    ET.SubElement(element, "inertia", entries)


def _add_shape(link: ET.Element, role: str, shape: Shape, material: str | None = None) -> None:
    for tag, attributes, pose in _geometry(shape):
        element = ET.SubElement(link, role)
        _add_origin(element, pose)
        ET.SubElement(ET.SubElement(element, "geometry"), tag, attributes)
        if material:
            ET.SubElement(element, "material", name=material)


def _geometry(shape: Shape) -> list[tuple[str, dict[str, str], Transform]]:
    """Tag, attributes and pose of the URDF geometries that make up a shape."""
    if shape.kind == "box":
        return [("box", {"size": _numbers(shape.size)}, shape.pose)]
    radius = {"radius": _numbers(shape.size[:1])}
    if shape.kind == "sphere":
        return [("sphere", radius, shape.pose)]
    length = shape.size[1]
    cylinder = ("cylinder", radius | {"length": _numbers([length])}, shape.pose)
    if shape.kind == "cylinder":
        return [cylinder]
    if length == 0:
        return [("sphere", radius, shape.pose)]
    ends = (shape.pose @ from_xyz_rpy((0, 0, z)) for z in (-length / 2, length / 2))
    return [cylinder, *(("sphere", radius, end) for end in ends)]


def _add_joint(robot: ET.Element, joint: Joint) -> None:
    element = ET.SubElement(robot, "joint", name=joint.name, type=joint.kind)
    _add_origin(element, joint.origin)
    ET.SubElement(element, "parent", link=joint.parent)
    ET.SubElement(element, "child", link=joint.child)
    if joint.kind == "fixed":
        return
    ET.SubElement(element, "axis", xyz=_numbers(joint.axis))
    limits = ("lower", "upper", "effort", "velocity")
    ET.SubElement(element, "limit", {k: _numbers([getattr(joint, k)]) for k in limits})
    if joint.damping:
        ET.SubElement(element, "dynamics", damping=_numbers([joint.damping]), friction="0.0")
    if joint.mimic:
        mimic = joint.mimic
        ET.SubElement(
            element,
            "mimic",
            joint=mimic.joint,
            multiplier=_numbers([mimic.multiplier]),
            offset=_numbers([mimic.offset]),
        )


def check_robot_urdf(path: str | Path, tolerance: float = 1e-4) -> None:
    """Raise RuleSafeError unless a URDF has the links and joints of `h1_2()`, placed alike.

    Origins and axes may differ by `tolerance` (m, and entries of the rotation), so that the
    planner's kinematics hold for it. Meshes, masses, limits and further links are the user's own.
    """
    try:
        robot = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise RuleSafeError(f"cannot read the robot URDF {path}: {error}") from error
    body = h1_2()
    links = {link.get("name") for link in robot.findall("link")}
    joints = {joint.get("name"): joint for joint in robot.findall("joint")}
    faults = [f"no link {link.name}" for link in body.links if link.name not in links]
    for joint in body.joints:
        found = joints.get(joint.name)
        if found is None:
            faults.append(f"no joint {joint.name}")
        else:
            faults += [f"{joint.name}: {fault}" for fault in _faults(joint, found, tolerance)]
    if faults:
        raise RuleSafeError(
            f"{path} is not the H1-2 with Inspire DFX hands that the planner knows:\n  "
            + "\n  ".join(faults)
        )


def _faults(joint: Joint, found: ET.Element, tolerance: float) -> list[str]:
    faults = []
    if found.get("type") != joint.kind:
        faults.append(f"type {found.get('type')}, not {joint.kind}")
    for tag, expected in (("parent", joint.parent), ("child", joint.child)):
        name = _attribute(found, tag, "link", "")
        if name != expected:
            faults.append(f"{tag} {name!r}, not {expected!r}")
    try:
        xyz = _vector(_attribute(found, "origin", "xyz", "0 0 0"))
        rpy = _vector(_attribute(found, "origin", "rpy", "0 0 0"))
        axis = _vector(_attribute(found, "axis", "xyz", "1 0 0"))
    except ValueError as error:
        return [*faults, str(error)]
    if np.abs(from_xyz_rpy(xyz, rpy.tolist()) - joint.origin).max() > tolerance:
        ours = f"{_numbers(joint.origin[:3, 3])} rpy {_numbers(to_rpy(joint.origin))}"
        faults.append(f"origin {_numbers(xyz)} rpy {_numbers(rpy)}, not {ours}")
    if joint.kind != "fixed" and np.abs(axis - joint.axis).max() > tolerance:
        faults.append(f"axis {_numbers(axis)}, not {_numbers(joint.axis)}")
    return faults


def _attribute(joint: ET.Element, tag: str, name: str, default: str) -> str:
    element = joint.find(tag)
    return default if element is None else element.get(name, default)


def _vector(text: str) -> Vector:
    values = np.array([float(word) for word in text.split()])
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ValueError(f"three numbers expected, not {text!r}")
    return values
