"""Show imported safes in the page: a browser cannot read the mesh files that a URDF names."""

import xml.etree.ElementTree as ET
from copy import deepcopy
from pathlib import Path

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import read_hull
from rulesafe_core.text_files import parse_xml
from rulesafe_core.urdf import as_text

SCHEME = "file://"


def without_meshes(urdf: str) -> str:
    """Return a URDF in which links with meshes show their collision shapes instead, and boxes
    around their convex pieces.

    Pieces that cannot be read on this machine are omitted. Raises RuleSafeError or ParseError if
    the URDF is not valid.
    """
    if "<mesh" not in urdf:
        return urdf
    robot = parse_xml(urdf)
    for link in robot.findall("link"):
        shown = link.findall("visual")
        if all(visual.find("geometry/mesh") is None for visual in shown):
            continue
        material = next((m for v in shown if (m := v.find("material")) is not None), None)
        for visual in shown:
            link.remove(visual)
        for collision in link.findall("collision"):
            link.remove(collision)
            if (solid := _visual(collision)) is not None:
                if material is not None:
                    solid.append(deepcopy(material))
                link.append(solid)
    return ET.tostring(robot, encoding="unicode")


def _visual(collision: ET.Element) -> ET.Element | None:
    visual = deepcopy(collision)
    visual.tag = "visual"
    mesh, geometry = visual.find("geometry/mesh"), visual.find("geometry")
    if mesh is None or geometry is None:
        return visual
    path = Path(mesh.get("filename", "").removeprefix(SCHEME))
    try:
        if path.suffix != ".stl":
            return None
        vertices = read_hull(path).vertices
    except RuleSafeError:
        return None
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    geometry.clear()
    ET.SubElement(geometry, "box", size=as_text(high - low))
    origin = visual.find("origin")
    if origin is None:
        origin = ET.SubElement(visual, "origin")
    # Convex pieces of a safe are in the frame of their link, with an origin of zeros.
    origin.set("xyz", as_text((low + high) / 2))
    return visual
