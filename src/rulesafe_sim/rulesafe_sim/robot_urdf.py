"""A user's own URDF of the robot: its shapes and meshes on our kinematics, masses and limits.

Our masses replace the file's, since its hands are too light (see robot.py), and our limits stand
because the planner keeps to them. SAPIEN's own loader does not serve: it needs Vulkan for coloured
shapes, even where nothing is rendered.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rulesafe_core.body import Body, Joint, Link, Material, Shape, linear
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.robot import SHELL, h1_2
from rulesafe_core.transforms import Transform, from_xyz_rpy
from rulesafe_core.urdf import check_robot_urdf

_SIZES = {
    "box": (3, ("size",)),
    "sphere": (1, ("radius",)),
    "cylinder": (2, ("radius", "length")),
    "capsule": (2, ("radius", "length")),
}
"""URDF's primitives (the capsule is an extension): how many sizes, and where they stand."""


@dataclass(frozen=True)
class MeshShape(Shape):
    """A mesh file, scaled by `size` along x, y, z; what it touches is its convex hull."""

    path: Path = Path()

    def __post_init__(self) -> None:
        if len(self.size) != 3 or min(self.size) <= 0:
            raise RuleSafeError(f"{self.path}: a mesh takes three scales > 0, not {self.size}")


def robot_from_urdf(path: str | Path) -> Body:
    """Our robot with the shapes of a user's URDF.

    Links that ours does not have are fixed to it where they stand at 0 rad, without mass.
    Mesh files are sought in the URDF's folder; `package://` names in the folders above it, too.

    Errors: RuleSafeError for another robot, see `check_robot_urdf`, for a missing mesh file and
    for a shape that is not as URDF has it; the message names the link.
    """
    check_robot_urdf(path)
    root, body = ET.parse(path).getroot(), h1_2()
    materials = {material.get("name", ""): material for material in root.findall("material")}
    shapes = {
        link.get("name", ""): tuple(_shapes(link, Path(path), materials))
        for link in root.findall("link")
    }
    ours = tuple(replace(link, shapes=shapes[link.name]) for link in body.links)
    mounts = tuple(_mounts(root, {link.name for link in ours}))
    further = tuple(Link(joint.child, shapes.get(joint.child, ())) for joint in mounts)
    return replace(body, links=ours + further, joints=body.joints + mounts)


def _mounts(root: ET.Element, placed: set[str]) -> Iterator[Joint]:
    """Fixed joints, parents first, for the links that hang on the placed ones."""
    joints = [
        Joint(joint.get("name", ""), ends[0], ends[1], _origin(joint), kind="fixed")
        for joint in root.findall("joint")
        if all(ends := [_attribute(joint, tag, "link") for tag in ("parent", "child")])
    ]
    while found := [j for j in joints if j.parent in placed and j.child not in placed]:
        yield found[0]
        placed = {*placed, found[0].child}


def _shapes(link: ET.Element, urdf: Path, materials: Mapping[str, ET.Element]) -> Iterator[Shape]:
    """What is seen of a link, then what collides."""
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
    pose = _origin(element)
    if geometry.tag == "mesh":
        scale = _numbers(geometry.get("scale", "1 1 1"), 3)
        return MeshShape("mesh", scale, pose, path=_mesh_file(geometry.get("filename", ""), urdf))
    if geometry.tag not in _SIZES:
        raise unknown_name("geometry", geometry.tag, (*_SIZES, "mesh"))
    count, names = _SIZES[geometry.tag]
    size = " ".join(geometry.get(name, "") for name in names)
    return Shape(geometry.tag, _numbers(size, count), pose)


def _mesh_file(name: str, urdf: Path) -> Path:
    folder = urdf.resolve().parent
    if name.startswith("package://"):
        in_package = name.removeprefix("package://")
        # The package's folder may have another name, as that of a download has.
        names = (in_package, in_package.partition("/")[2])
        tried = [above / n for above in (folder, *folder.parents) for n in names if n]
    else:
        tried = [folder / name.removeprefix("file://")]
    for file in tried:
        if file.is_file():
            return file
    raise RuleSafeError(f"there is no mesh file {name!r} in {folder}")


def _material(visual: ET.Element, materials: Mapping[str, ET.Element]) -> Material:
    """The visual's colour, or that of the robot's material that it names."""
    own = visual.find("material")
    for material in () if own is None else (own, materials.get(own.get("name", ""), own)):
        if rgba := _attribute(material, "color", "rgba"):
            red, green, blue = (linear(value) for value in _numbers(rgba, 4)[:3])
            return replace(SHELL, color=(red, green, blue))
    return SHELL


def _origin(element: ET.Element) -> Transform:
    xyz, rpy = (_attribute(element, "origin", key) or "0 0 0" for key in ("xyz", "rpy"))
    return from_xyz_rpy(_numbers(xyz, 3), _numbers(rpy, 3))


def _attribute(element: ET.Element, tag: str, name: str) -> str:
    child = element.find(tag)
    return "" if child is None else child.get(name, "")


def _numbers(text: str, count: int) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in text.split())
    except ValueError:
        numbers = ()
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise RuleSafeError(f"numbers ({count}) expected, not {text!r}")
    return numbers
