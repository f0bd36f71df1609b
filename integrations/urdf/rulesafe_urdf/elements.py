"""Read single elements of a URDF: numbers, poses, colours and primitive shapes."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from rulesafe_core.body import Material, srgb_to_linear
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform, from_xyz_rpy
from rulesafe_urdf.mesh_files import Piece, box_piece, cylinder_piece, sphere_piece


def primitive(geometry: ET.Element) -> Piece:
    """Return the triangles of a box, sphere or cylinder."""
    if geometry.tag == "box":
        return box_piece(_values(geometry.get("size", ""), 3))
    if geometry.tag == "sphere":
        return sphere_piece(_values(geometry.get("radius", ""), 1)[0])
    if geometry.tag == "cylinder":
        radius = _values(geometry.get("radius", ""), 1)[0]
        return cylinder_piece(radius, _values(geometry.get("length", ""), 1)[0])
    raise RuleSafeError(f"its geometry is <{geometry.tag}>; valid: mesh, box, sphere, cylinder")


def material(element: ET.Element, colors: Mapping[str, ET.Element]) -> Material | None:
    """Return the colour of a visual: its own, or that of the named robot material; else None."""
    own = element.find("material")
    for each in () if own is None else (own, colors.get(own.get("name", ""), own)):
        if values := rgba(each):
            red, green, blue = (srgb_to_linear(min(1.0, max(0.0, v))) for v in values[:3])
            return Material((red, green, blue))
    return None


def rgba(element: ET.Element) -> tuple[float, ...] | None:
    """Return the colour of a material in sRGB and its opacity; None if it has none."""
    color = element.find("color")
    return None if color is None else _values(color.get("rgba", ""), 4)


def origin(element: ET.Element) -> Transform:
    """Return the pose of a visual, collision or joint."""
    xyz, rpy = (numbers(element, "origin", key, "0 0 0", 3) for key in ("xyz", "rpy"))
    return from_xyz_rpy(xyz, rpy)


def numbers(element: ET.Element, tag: str, key: str, default: str, count: int) -> tuple[float, ...]:
    """Return the numbers in an attribute of a child element, or those of a default text."""
    child = element.find(tag)
    return _values(default if child is None else child.get(key, default), count)


def _values(text: str, count: int) -> tuple[float, ...]:
    try:
        found = tuple(float(word) for word in text.split())
    except ValueError:
        found = ()
    if len(found) != count or not all(math.isfinite(n) and abs(n) < 1e6 for n in found):
        raise RuleSafeError(f"expected {count} finite number(s), got {text!r:.80}")
    return found
