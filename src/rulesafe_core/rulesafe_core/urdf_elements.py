"""Read a URDF's XML and its single elements: numbers, poses, colours and file names of meshes.

Attributes of URDF 1.2 are read. Unknown attributes of poses and shapes, and repeated elements, are
refused, since ignoring them would change the geometry.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from rulesafe_core.body import Color, srgb_to_linear
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import parse_xml, read_text, xml_encoding
from rulesafe_core.transforms import Transform, from_xyz_quat, from_xyz_rpy

LARGEST = 1e6
"""Limit of the absolute value of a number (m or rad)."""

_ATTRIBUTES = {
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "axis": ("xyz",),
    "mesh": ("filename", "scale", "name"),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}
_SINGLE = ("origin", "axis", "geometry", "parent", "child", "limit")


def read_urdf(path: Path) -> ET.Element:
    """Return the root element of a URDF file; see `parse_urdf`.

    Raises:
        RuleSafeError: the file cannot be read or is not valid; the message names it.
    """
    try:
        return parse_urdf(read_text(path, encoding_of=xml_encoding))
    except (OSError, ET.ParseError, RuleSafeError) as error:
        raise RuleSafeError(f"cannot read the URDF {path}: {error}") from error


def parse_urdf(text: str) -> ET.Element:
    """Return the root element of a URDF, with tags without the namespace of the root.

    Raises:
        ParseError: the text is not valid XML.
        RuleSafeError: its size or nesting exceeds a limit, it has xacro elements, or the geometry
            of a link or joint has an unknown attribute or a repeated element.
    """
    root = parse_xml(text)
    namespace = root.tag[: root.tag.find("}") + 1]
    for element in root.iter():
        element.tag = element.tag.removeprefix(namespace)
        if element.tag.startswith("{") and "xacro" in element.tag.partition("}")[0]:
            raise RuleSafeError("it contains xacro elements; expand them: xacro FILE > FILE.urdf")
    for part in (*root.findall("link"), *root.findall("joint")):
        for element in part.iter():
            _check_element(element, f"{part.tag} {part.get('name')}")
    return root


def _check_element(element: ET.Element, where: str) -> None:
    valid = _ATTRIBUTES.get(element.tag, tuple(element.attrib))
    if unknown := [key for key in element.attrib if key not in valid]:
        raise RuleSafeError(
            f"{where}: <{element.tag}> has the unknown attribute {unknown[0]!r}; valid: "
            + ", ".join(valid)
        )
    if {"rpy", "quat_xyzw"} <= element.attrib.keys():
        raise RuleSafeError(f"{where}: <{element.tag}> has rpy and quat_xyzw; valid: one of them")
    if element.tag == "geometry" and len(element) > 1:
        raise RuleSafeError(f"{where}: <geometry> has {len(element)} shapes; valid: 1")
    for tag in _SINGLE:
        if len(element.findall(tag)) > 1:
            raise RuleSafeError(f"{where}: <{element.tag}> has several elements <{tag}>")


def origin(element: ET.Element) -> Transform:
    """Return the pose of a visual, collision, joint or inertial."""
    xyz = child_numbers(element, "origin", "xyz", "0 0 0", 3)
    if attribute(element, "origin", "quat_xyzw"):
        x, y, z, w = child_numbers(element, "origin", "quat_xyzw", "", 4)
        if not 0.9 < math.hypot(x, y, z, w) < 1.1:
            raise RuleSafeError(f"quat_xyzw is {x:g} {y:g} {z:g} {w:g}; valid: a unit quaternion")
        return from_xyz_quat(xyz, (w, x, y, z))
    return from_xyz_rpy(xyz, child_numbers(element, "origin", "rpy", "0 0 0", 3))


def attribute(element: ET.Element, tag: str, name: str, default: str = "") -> str:
    """Return an attribute of a child element, or the default."""
    child = element.find(tag)
    return default if child is None else child.get(name, default)


def child_numbers(
    element: ET.Element, tag: str, name: str, default: str, count: int
) -> tuple[float, ...]:
    """Return the numbers in an attribute of a child element, or those of a default text."""
    return numbers(attribute(element, tag, name, default), count)


def numbers(text: str, count: int) -> tuple[float, ...]:
    """Return the numbers in a text; raise RuleSafeError unless there are `count` finite ones."""
    try:
        found = tuple(float(word) for word in text.split())
    except ValueError:
        found = ()
    if len(found) != count or not all(abs(number) < LARGEST for number in found):
        raise RuleSafeError(f"expected {count} finite number(s), got {text!r:.80}")
    return found


def visual_color(visual: ET.Element, materials: Mapping[str, ET.Element]) -> Color | None:
    """Return the linear colour of a visual: its own, or that of the robot's material with the
    same name; None if there is none."""
    own = visual.find("material")
    for material in () if own is None else (own, materials.get(own.get("name", ""), own)):
        if rgba := attribute(material, "color", "rgba"):
            clipped = (min(1.0, max(0.0, value)) for value in numbers(rgba, 4)[:3])
            red, green, blue = map(srgb_to_linear, clipped)
            return red, green, blue
    return None


def mesh_names(filename: str) -> tuple[str, ...]:
    """Return the paths that a file name of a mesh can mean: as it is, percent-decoded, and with
    the separators of Windows replaced."""
    name = filename.removeprefix("file://")
    decoded = unquote(name)
    return tuple(dict.fromkeys((name, decoded, decoded.replace("\\", "/"))))
