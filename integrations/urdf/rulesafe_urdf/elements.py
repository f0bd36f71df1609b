"""Read the primitive shapes of a URDF, and what of a link or joint is not read."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.urdf_elements import numbers
from rulesafe_urdf.mesh_files import Piece, box_piece, capsule_piece, cylinder_piece, sphere_piece

_SHAPE = {"origin", "geometry", "material"}
_READ = {
    "link": {"inertial", "visual", "collision"},
    "visual": _SHAPE,
    "collision": _SHAPE,
    "joint": {"origin", "parent", "child", "axis", "limit", "mimic"}
    | {"calibration", "dynamics", "safety_controller"},
}
"""Child elements that are read, or that do not change the geometry."""


def primitive(geometry: ET.Element) -> Piece:
    """Return the triangles of a box, sphere, cylinder or capsule."""
    if geometry.tag == "box":
        return box_piece(numbers(geometry.get("size", ""), 3))
    if geometry.tag not in ("sphere", "cylinder", "capsule"):
        raise RuleSafeError(
            f"its geometry is <{geometry.tag}>; valid: mesh, box, sphere, cylinder, capsule"
        )
    radius = numbers(geometry.get("radius", ""), 1)[0]
    if geometry.tag == "sphere":
        return sphere_piece(radius)
    length = numbers(geometry.get("length", ""), 1)[0]
    return (cylinder_piece if geometry.tag == "cylinder" else capsule_piece)(radius, length)


def unread(part: ET.Element) -> Iterator[str]:
    """Yield a note for each child element of a link or joint that is not read."""
    for element in part.iter():
        for child in element if element.tag in _READ else ():
            if child.tag not in _READ[element.tag]:
                yield f"{part.tag} {part.get('name')}: the element <{child.tag}> is not read"
