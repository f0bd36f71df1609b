"""Read a URDF with its meshes: links with triangles and joints, checked, and not yet a safe.

The semantics of PartNet-Mobility (`semantics.txt` beside the URDF, lines of link, joint type and
name) are read too. The format is described by Xiang et al., "SAPIEN: A SimulAted Part-based
Interactive ENvironment", 2020, and its documentation.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rulesafe_core.body import Material
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_text
from rulesafe_core.transforms import Transform, about_axis, from_parts
from rulesafe_core.urdf_elements import (
    LARGEST,
    attribute,
    child_numbers,
    origin,
    read_urdf,
    visual_color,
)
from rulesafe_urdf.elements import primitive, unread
from rulesafe_urdf.mesh_files import PLAIN, MeshFolder, Piece, read_mesh

MAX_ELEMENTS = 4000
"""Maximum number of links, and of their visual and collision elements."""

TURNING = ("revolute", "continuous")
KINDS = (*TURNING, "prismatic", "fixed")


@dataclass(frozen=True, eq=False)
class SourceLink:
    """A link with its triangles, in its own frame. `meaning`: its name in semantics.txt."""

    name: str
    visual: tuple[Piece, ...]
    collision: tuple[Piece, ...]
    meaning: str = ""

    @property
    def solid(self) -> tuple[Piece, ...]:
        """The pieces for collision: the visual ones if the URDF has no others."""
        return self.collision or self.visual


@dataclass(frozen=True, eq=False)
class SourceJoint:
    """A joint as the URDF has it; limits in rad or m, infinite if it has none."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Transform
    axis: tuple[float, float, float]
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class UrdfSource:
    """A tree of links; every joint's parent comes before its child. `notes`: what was ignored."""

    name: str
    links: Mapping[str, SourceLink]
    joints: tuple[SourceJoint, ...]
    root: str
    notes: tuple[str, ...] = ()

    def joint(self, name: str) -> SourceJoint:
        for joint in self.joints:
            if joint.name == name:
                return joint
        valid = ", ".join(joint.name for joint in self.joints)
        raise RuleSafeError(f"the URDF has no joint {name!r}; valid: {valid}")

    def poses(self, positions: Mapping[str, float] = {}) -> dict[str, Transform]:
        """Return the pose of each link in the root's frame, with the named joints at their
        positions (rad or m), the others at their position nearest to 0."""
        poses = {self.root: np.eye(4)}
        for joint in self.joints:
            pose, value = poses[joint.parent] @ joint.origin, rest_position(joint)
            value = positions.get(joint.name, value)
            if joint.kind in TURNING:
                pose = pose @ about_axis(joint.axis, value)
            elif joint.kind == "prismatic":
                pose = pose @ from_parts(np.eye(3), value * np.array(joint.axis))
            poses[joint.child] = pose
        return poses

    def below(self, link: str) -> set[str]:
        """Return a link and all its descendants."""
        found = {link}
        for joint in self.joints:
            if joint.parent in found:
                found.add(joint.child)
        return found


def rest_position(joint: SourceJoint) -> float:
    """Return 0, or the limit of a joint that is nearest to it."""
    return float(min(max(0.0, joint.lower), joint.upper))


def read_source(urdf: Path, root: Path | None = None) -> UrdfSource:
    """Read a URDF, its meshes and its semantics.

    Args:
        urdf: the file.
        root: folder that contains URDF and meshes, if it is not the URDF's folder.

    Raises:
        RuleSafeError: for the first fault of the file, or for all links without a readable mesh.
    """
    robot = read_urdf(urdf)
    try:
        return _source(robot, urdf, root)
    except RuleSafeError as error:
        raise RuleSafeError(f"{urdf}: {error}") from error


def _source(robot: ET.Element, urdf: Path, root: Path | None) -> UrdfSource:
    if robot.tag != "robot":
        raise RuleSafeError(f"the root element is <{robot.tag}>; valid: <robot>")
    if len(robot.findall("link")) + len(robot.findall("link/*")) > MAX_ELEMENTS:
        raise RuleSafeError(f"it has more than {MAX_ELEMENTS} links, visuals and collisions")
    names = [link.get("name", "") for link in robot.findall("link")]
    if not names or "" in names or len(set(names)) < len(names):
        raise RuleSafeError("each link must have a unique name")
    joints = [_joint(element, names) for element in robot.findall("joint")]
    joint_names = [joint.name for joint in joints]
    if "" in joint_names or len(set(joint_names)) < len(joint_names):
        raise RuleSafeError("each joint must have a unique name")
    first, ordered = _tree(names, joints)
    folder = MeshFolder(urdf, root)
    colors = {m.get("name", ""): m for m in robot.findall("material")}
    meanings = read_semantics(urdf.parent / "semantics.txt")
    cache: dict[Path, list[Piece]] = {}
    links, notes, faults = {}, [], []
    for element in robot.findall("link"):
        name = element.get("name", "")
        try:
            _check_inertia(element)
            lost: list[str] = []
            shown = tuple(_shapes(element, "visual", folder, colors, cache, lost))
            solid = tuple(_shapes(element, "collision", folder, colors, cache, lost))
        except RuleSafeError as error:
            raise RuleSafeError(f"link {name}: {error}") from error
        if lost and not shown + solid:
            faults.append(f"link {name}: {', '.join(dict.fromkeys(lost))}")
        notes += [f"link {name}: {text}; its other shapes are used" for text in dict.fromkeys(lost)]
        links[name] = SourceLink(name, shown or solid, solid, meanings.get(name, ""))
    if faults:
        raise RuleSafeError(f"{'; '.join(faults):.1000}; valid: at least one shape")
    notes += [f"{name} is missing or not readable: its mesh is plain" for name in folder.unread]
    for part in (*robot.findall("link"), *robot.findall("joint")):
        notes += dict.fromkeys(unread(part))
    for joint in robot.findall("joint"):
        if (mimic := joint.find("mimic")) is not None:
            notes.append(f"{joint.get('name')} mimics {mimic.get('joint')}; here it moves freely")
    name = robot.get("name", "") or urdf.stem
    return UrdfSource(name, links, ordered, first, tuple(notes))


def read_semantics(path: Path) -> dict[str, str]:
    """Return the meaning of each link in a semantics.txt; empty if there is none."""
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:
        return {}
    words = [line.split() for line in lines if line.strip()]
    for row in words:
        if len(row) != 3:
            raise RuleSafeError(f"{path}: {' '.join(row)!r:.80}; valid: link, joint type, meaning")
    return {link: meaning for link, _, meaning in words}


def _joint(element: ET.Element, links: list[str]) -> SourceJoint:
    name, kind = element.get("name", ""), element.get("type", "")
    if kind not in KINDS:
        raise RuleSafeError(f"joint {name}: its type is {kind!r}; valid: {', '.join(KINDS)}")
    ends = []
    for tag in ("parent", "child"):
        end = element.find(tag)
        ends.append("" if end is None else end.get("link", ""))
        if ends[-1] not in links:
            raise RuleSafeError(f"joint {name}: its {tag} {ends[-1]!r} is no link of the file")
    try:
        axis = np.array(child_numbers(element, "axis", "xyz", "1 0 0", 3))
        limit = element.find("limit")
        lower, upper = -math.inf, math.inf
        if limit is not None and kind != "continuous":
            lower, upper = _limit(element, "lower"), _limit(element, "upper")
        elif kind in ("revolute", "prismatic"):
            raise RuleSafeError("it has no limit")
        length = float(np.linalg.norm(axis))
        if kind != "fixed" and length < 1e-6:
            raise RuleSafeError("its axis has no length")
        if not lower <= upper or math.inf in (lower, -upper):
            raise RuleSafeError(f"its limits are {lower:g} and {upper:g}; valid: lower <= upper")
        axis = axis / max(length, 1e-12)
        x, y, z = axis.tolist()
        return SourceJoint(
            *(name, kind, ends[0], ends[1], origin(element)), (x, y, z), lower, upper
        )
    except RuleSafeError as error:
        raise RuleSafeError(f"joint {name}: {error}") from error


def _limit(joint: ET.Element, key: str) -> float:
    """Return a limit of a joint; infinite if it is not finite or very large, as some files state
    that there is none."""
    text = attribute(joint, "limit", key, "0")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise RuleSafeError(f"its limit {key} is {text!r:.80}; valid: a number")
    return value if abs(value) < LARGEST else math.copysign(math.inf, value)


def _tree(names: list[str], joints: list[SourceJoint]) -> tuple[str, tuple[SourceJoint, ...]]:
    """Return the root link, and the joints with parents before children."""
    children = [joint.child for joint in joints]
    for name in names:
        if children.count(name) > 1:
            raise RuleSafeError(
                f"link {name} is the child of {children.count(name)} joints; closed kinematic "
                "loops are not supported: remove one of these joints"
            )
    roots = [name for name in names if name not in children]
    if len(roots) > 1:
        raise RuleSafeError(f"the links {', '.join(roots)} have no parent; valid: one root link")
    ordered: list[SourceJoint] = []
    placed = set(roots)
    waiting = list(joints)
    while ready := [joint for joint in waiting if joint.parent in placed]:
        ordered += ready
        placed |= {joint.child for joint in ready}
        waiting = [joint for joint in waiting if joint not in ready]
    if waiting:
        loop = ", ".join(joint.name for joint in waiting)
        raise RuleSafeError(f"the joints {loop} form a closed kinematic loop")
    return roots[0], tuple(ordered)


def _check_inertia(link: ET.Element) -> None:
    inertial = link.find("inertial")
    if inertial is None or link.find("visual") is None:
        return
    mass = child_numbers(inertial, "mass", "value", "0", 1)[0]
    keys = ("ixx", "iyy", "izz")
    moments = [child_numbers(inertial, "inertia", key, "0", 1)[0] for key in keys]
    if mass <= 0 or min(moments) <= 0:
        raise RuleSafeError(
            f"its mass is {mass:g} kg and its moments of inertia {moments}; valid: above 0, or no "
            "element <inertial>"
        )


def _shapes(
    link: ET.Element,
    role: str,
    folder: MeshFolder,
    colors: Mapping[str, ET.Element],
    cache: dict[Path, list[Piece]],
    lost: list[str],
) -> Iterator[Piece]:
    """Yield the shapes of a link, and append to `lost` the meshes without triangles or file."""
    for element in link.findall(role):
        geometry = element.find("geometry/*")
        if geometry is None:
            raise RuleSafeError(f"a {role} has no geometry")
        pose, scale = origin(element), np.ones(3)
        if geometry.tag == "mesh":
            try:
                path = folder.find(filename := geometry.get("filename", ""))
            except FileNotFoundError:
                lost.append(f"the {role} mesh {filename} is missing")
                continue
            if path not in cache:
                cache[path] = read_mesh(path, folder)
            if not (pieces := cache[path]):
                lost.append(f"the {role} mesh {path} contains no triangles")
            scale = np.array(child_numbers(element, "geometry/mesh", "scale", "1 1 1", 3))
            if not scale.all():
                raise RuleSafeError(f"the scale of {path.name} is {scale.tolist()}; valid: not 0")
        else:
            pieces = [primitive(geometry)]
        color = visual_color(element, colors)
        for piece in pieces:
            plain = piece.texture is None and piece.material == PLAIN
            colored = replace(piece, material=Material(color)) if color and plain else piece
            yield colored.moved(pose, scale)
