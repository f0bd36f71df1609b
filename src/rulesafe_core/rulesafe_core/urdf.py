"""Write a `Body` as URDF.

URDF has no capsules, so a capsule is written as a cylinder and two spheres. Files of meshes are
written with their absolute paths. Numbers are written
with full precision in the order of the body, so that the output is reproducible.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from rulesafe_core.body import Body, Color, Inertial, Joint, Material, Shape, linear_to_srgb
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.meshes import MeshShape
from rulesafe_core.text_files import parse_xml
from rulesafe_core.transforms import Transform, from_xyz_rpy, to_rpy

BASE_LINK = ("pelvis", "base_link", from_xyz_rpy((0.0, 0.0, 0.0)))
"""Frame of a humanoid robot's base by REP 120, for `with_frames`: that of the pelvis."""


def to_urdf(body: Body) -> str:
    """Convert a body to URDF, with its shapes, inertias, limits, damping and mimic rules."""
    robot = ET.Element("robot", name=body.name)
    names = _material_names(body)
    for color, name in names.items():
        material = ET.SubElement(robot, "material", name=name)
        ET.SubElement(
            material,
            "color",
            rgba=f"{as_text(round(linear_to_srgb(value), 4) for value in color)} 1.0",
        )
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
    return _document(robot)


def with_frames(urdf: str, frames: Iterable[tuple[str, str, Transform]]) -> str:
    """Return a URDF with further links without shapes, such as the optical frames of cameras.

    Args:
        urdf: a valid URDF.
        frames: parent link, new link, and its pose in the parent link's frame.

    Raises:
        RuleSafeError: the robot has no such parent link.
    """
    robot = parse_xml(urdf)
    links = [link.get("name", "") for link in robot.iter("link")]
    for parent, child, pose in frames:
        if parent not in links:
            raise RuleSafeError(f"{child}: {unknown_name('link', parent, links)}")
        ET.SubElement(robot, "link", name=child)
        joint = ET.SubElement(robot, "joint", name=f"{child}_joint", type="fixed")
        _add_origin(joint, pose)
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link=child)
    return _document(robot)


def _document(robot: ET.Element) -> str:
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def _material_names(body: Body) -> dict[Color, str]:
    materials: Iterable[Material] = (s.material for link in body.links for s in link.shapes)
    colors = dict.fromkeys(material.color for material in materials)
    return {color: f"{body.name}_color_{i}" for i, color in enumerate(colors)}


def as_text(values: Iterable[float]) -> str:
    """Format numbers with full precision, separated by spaces."""
    return " ".join(repr(float(value) + 0.0) for value in values)  # + 0.0 turns -0.0 into 0.0


def _add_origin(parent: ET.Element, pose: Transform) -> None:
    ET.SubElement(parent, "origin", xyz=as_text(pose[:3, 3]), rpy=as_text(to_rpy(pose)))


def _add_inertial(link: ET.Element, inertial: Inertial) -> None:
    element = ET.SubElement(link, "inertial")
    ET.SubElement(element, "origin", xyz=as_text(inertial.com), rpy="0.0 0.0 0.0")
    ET.SubElement(element, "mass", value=as_text([inertial.mass]))
    entries = {
        f"i{a}{b}": as_text([inertial.inertia[i, j]])
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
    """Return tag, attributes and pose of each URDF geometry of a shape."""
    if isinstance(shape, MeshShape):
        file = {"filename": f"file://{shape.path.absolute()}", "scale": as_text(shape.size)}
        return [("mesh", file, shape.pose)]
    if shape.kind == "box":
        return [("box", {"size": as_text(shape.size)}, shape.pose)]
    radius = {"radius": as_text(shape.size[:1])}
    if shape.kind == "sphere":
        return [("sphere", radius, shape.pose)]
    length = shape.size[1]
    cylinder = ("cylinder", radius | {"length": as_text([length])}, shape.pose)
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
    ET.SubElement(element, "axis", xyz=as_text(joint.axis))
    limits = ("lower", "upper", "effort", "velocity")
    ET.SubElement(element, "limit", {k: as_text([getattr(joint, k)]) for k in limits})
    if joint.damping:
        ET.SubElement(element, "dynamics", damping=as_text([joint.damping]), friction="0.0")
    if joint.mimic:
        mimic = joint.mimic
        ET.SubElement(
            element,
            "mimic",
            joint=mimic.joint,
            multiplier=as_text([mimic.multiplier]),
            offset=as_text([mimic.offset]),
        )
