"""Where each link of robot and safe is, from their descriptions: what Foxglove draws them by.

No ROS here.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rulesafe_core.body import Body, Joint, Link, Mimic, joint_position
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform, about_axis, from_xyz_quat, from_xyz_rpy

Frame = tuple[str, str, Transform]
"""Parent link, child link, the child's pose in the parent."""

PELVIS = "pelvis"


def skeleton(urdf: str) -> Body:
    """The links and joints of a URDF without its shapes; a joint that slides stays where it is.

    Errors: RuleSafeError for a text that is no URDF.
    """
    try:
        root = ET.fromstring(urdf)
        links = tuple(Link(link.get("name", "")) for link in root.findall("link"))
        joints = tuple(_joint(joint) for joint in root.findall("joint"))
    except (ET.ParseError, ValueError) as error:
        raise RuleSafeError(f"a description is no URDF: {error}") from None
    return Body(root.get("name", ""), links, joints)


def _joint(element: ET.Element) -> Joint:
    def attribute(tag: str, name: str, default: str = "") -> str:
        found = element.find(tag)
        return default if found is None else found.get(name, default)

    def numbers(tag: str, name: str, default: str) -> tuple[float, float, float]:
        x, y, z = (float(word) for word in attribute(tag, name, default).split())
        return x, y, z

    turns = element.get("type") in ("revolute", "continuous")
    other = attribute("mimic", "joint")
    mimic = Mimic(
        other,
        float(attribute("mimic", "multiplier", "1")),
        float(attribute("mimic", "offset", "0")),
    )
    return Joint(
        element.get("name", ""),
        attribute("parent", "link"),
        attribute("child", "link"),
        from_xyz_rpy(numbers("origin", "xyz", "0 0 0"), numbers("origin", "rpy", "0 0 0")),
        kind="revolute" if turns else "fixed",
        axis=numbers("axis", "xyz", "1 0 0"),
        mimic=mimic if other else None,
    )


class Frames:
    """The newest of everything that moves."""

    def __init__(self) -> None:
        self._robot: Body | None = None
        self._safe: Body | None = None
        self._positions: Mapping[str, float] = {}
        self._parts: Mapping[str, float] = {}
        self._place: Transform | None = None

    def robot(self, urdf: str) -> None:
        """Takes the robot's description. Errors: RuleSafeError, see `skeleton`."""
        self._robot = skeleton(urdf)

    def safe(self, urdf: str) -> None:
        """Takes the safe's. Errors: RuleSafeError, see `skeleton`."""
        self._safe = skeleton(urdf)

    def joints(self, positions: Mapping[str, float]) -> None:
        """Takes the robot's joints, rad."""
        self._positions = positions

    def status(self, status: Mapping[str, Any]) -> None:
        """Takes the safe's place and joints from the section `status`."""
        x, y, z, w = status["safe_quat_xyzw"]
        self._parts = {f"{part['name']}_joint": part["position"] for part in status["parts"]}
        if np.isclose(np.hypot(np.hypot(x, y), np.hypot(z, w)), 1, atol=1e-3):
            self._place = from_xyz_quat(status["safe_position"], (w, x, y, z))

    def __iter__(self) -> Iterator[Frame]:
        if self._robot and self._positions:
            yield from _of(self._robot, self._positions)
        if self._safe and self._place is not None:
            yield PELVIS, self._safe.links[0].name, self._place
            yield from _of(self._safe, self._parts)


def _of(body: Body, positions: Mapping[str, float]) -> Iterator[Frame]:
    for joint in body.joints:
        pose = joint.origin
        if joint.kind != "fixed":
            pose = pose @ about_axis(joint.axis, joint_position(joint, positions))
        yield joint.parent, joint.child, pose
