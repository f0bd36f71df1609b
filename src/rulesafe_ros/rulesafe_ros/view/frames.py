"""Compute the link transforms of robot and safe from their URDF, for Foxglove."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rulesafe_core.body import Body
from rulesafe_core.transforms import Transform, from_xyz_quat
from rulesafe_core.urdf_reader import read_kinematics

Frame = tuple[str, str, Transform]
"""Parent link, child link, pose of the child in the parent frame."""

PELVIS = "pelvis"


class LinkTransforms:
    """Link transforms for the newest joint positions and descriptions. Iterate to get them."""

    def __init__(self) -> None:
        self._robot: Body | None = None
        self._safe: Body | None = None
        self._positions: Mapping[str, float] = {}
        self._parts: Mapping[str, float] = {}
        self._safe_pose: Transform | None = None

    def robot(self, urdf: str) -> None:
        """Set the robot's URDF; errors: see `read_kinematics`."""
        self._robot = read_kinematics(urdf)

    def safe(self, urdf: str) -> None:
        """Set the safe's URDF; errors: see `read_kinematics`."""
        self._safe = read_kinematics(urdf)

    def joints(self, positions: Mapping[str, float]) -> None:
        """Set the robot's joint positions, rad."""
        self._positions = positions

    def status(self, status: Mapping[str, Any]) -> None:
        """Set the safe's pose and joint positions from the section `status`."""
        x, y, z, w = status["safe_quat_xyzw"]
        self._parts = {f"{part['name']}_joint": part["position"] for part in status["parts"]}
        if np.isclose(np.hypot(np.hypot(x, y), np.hypot(z, w)), 1, atol=1e-3):
            self._safe_pose = from_xyz_quat(status["safe_position"], (w, x, y, z))

    def __iter__(self) -> Iterator[Frame]:
        if self._robot and self._positions:
            yield from self._frames(self._robot, self._positions)
        if self._safe and self._safe_pose is not None:
            yield PELVIS, self._safe.links[0].name, self._safe_pose
            yield from self._frames(self._safe, self._parts)

    def _frames(self, body: Body, positions: Mapping[str, float]) -> Iterator[Frame]:
        for joint, pose in body.joint_frames(positions):
            yield joint.parent, joint.child, pose
