"""Where the links of a URDF are in the frame of the safe, for a choice of its parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform, about_axis, from_parts
from rulesafe_urdf.mesh_files import Piece
from rulesafe_urdf.source import SourceJoint, UrdfSource

DIRECTIONS = {
    sign + axis: tuple(float(sign + "1") * unit for unit in row)
    for sign in "+-"
    for axis, row in zip("xyz", np.eye(3).tolist(), strict=True)
}
"""Unit vectors by name, such as "+z"."""

FRONT = 0.95
"""A face is parallel to the front if its normal has at least this component along x."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The links of a URDF by part, in the frame of the safe (origin at the centre of the closed
    door's front, x out of the door, z up; m).

    Args:
        source: the URDF.
        up, front: directions in the root's frame.
        scale: of all lengths.
        joints: joint of the door, and of knob and handle if there are any.
        closed: closed positions of these joints (rad).
    """

    source: UrdfSource
    up: str
    front: str
    scale: float
    joints: Mapping[str, str]
    closed: Mapping[str, float]
    links: dict[str, set[str]] = field(init=False)
    to_safe: Transform = field(init=False)
    door_width: float = field(init=False)
    door_height: float = field(init=False)

    def __post_init__(self) -> None:
        links = {part: self.source.below(self.joint(part).child) for part in self.joints}
        for part in ("knob", "handle"):
            other = links.get({"knob": "handle", "handle": "knob"}[part], set())
            if part in links and other < links[part]:
                links[part] -= other
        taken = links.get("knob", set()) | links.get("handle", set())
        links["door"] -= taken
        links["body"] = set(self.source.links) - links["door"] - taken
        put = object.__setattr__
        put(self, "links", links)
        axes = np.array([DIRECTIONS[self.front], (0, 0, 0), DIRECTIONS[self.up]])
        axes[1] = np.cross(axes[2], axes[0])
        if abs(np.linalg.det(axes)) < 0.5:
            raise RuleSafeError(f"up is {self.up} and front is {self.front}; valid: perpendicular")
        put(self, "to_safe", from_parts(axes, (0, 0, 0)))
        low, high = bounds_of(self.pieces("door"))
        middle = (low + high) / 2
        middle[0] = self._front_plane()
        put(self, "to_safe", from_parts(axes, -middle))
        put(self, "door_width", float(high[1] - low[1]))
        put(self, "door_height", float(high[2] - low[2]))

    def joint(self, part: str) -> SourceJoint:
        """Return the joint of a part."""
        return self.source.joint(self.joints[part])

    def _front_plane(self) -> float:
        """Return the x of the foremost large surface of the door that is parallel to its front.
        The orientation of triangles is not used; in some files it is random."""
        xs, areas = [np.zeros(0)], [np.zeros(0)]
        for piece in self.pieces("door", visual=True):
            corners = piece.vertices[piece.faces]
            across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            area = np.linalg.norm(across, axis=1)
            faces = np.abs(across[:, 0]) > FRONT * np.maximum(area, 1e-20)
            xs.append(corners[faces].mean(axis=1)[:, 0])
            areas.append(area[faces])
        x, area = np.concatenate(xs), np.concatenate(areas)
        if not len(x):
            raise RuleSafeError(
                f"no face of the door looks to its front, {self.front}; valid: a front along an "
                "axis of the root link"
            )
        counts, edges = np.histogram(x, bins=50, weights=area)
        best = int(np.flatnonzero(counts > 0.5 * counts.max())[-1])
        inside = (x >= edges[best]) & (x <= edges[best + 1])
        return float(np.average(x[inside], weights=area[inside]))

    def poses(self, positions: Mapping[str, float] = {}) -> dict[str, Transform]:
        """Return the pose of each link of the URDF in the safe's frame, its parts closed or at
        the positions (rad, of the URDF's joints) of the named parts; lengths not yet scaled."""
        values = {self.joints[part]: value for part, value in {**self.closed, **positions}.items()}
        root = from_parts(self.to_safe[:3, :3], (0, 0, 0))
        return {name: root @ pose for name, pose in self.source.poses(values).items()}

    def pieces(
        self, part: str, visual: bool = False, positions: Mapping[str, float] = {}
    ) -> list[Piece]:
        """Return the pieces of "body", "door", "knob" or "handle" in the safe's frame (m)."""
        poses, found = self.poses(positions), []
        for name in sorted(self.links[part]):
            link, pose = self.source.links[name], poses[name]
            placed = from_parts(pose[:3, :3], self.scale * pose[:3, 3] + self.to_safe[:3, 3])
            for piece in link.visual if visual else link.solid:
                found.append(piece.moved(placed, self.scale))
        return found

    def axis(self, part: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a point (3,) on the axis of a part and its direction (3,), in the safe's frame."""
        joint = self.joint(part)
        pose = self.poses()[joint.child]
        point = self.scale * pose[:3, 3] + self.to_safe[:3, 3]
        return point, pose[:3, :3] @ np.array(joint.axis)

    def axis_on_door(self, part: str) -> NDArray[np.float64]:
        """Return y, z (2,) at which the axis of a knob or handle meets the door's front."""
        point, direction = self.axis(part)
        met: NDArray[np.float64] = point - direction * (point[0] / direction[0])
        return met[1:]

    def turned(self, part: str, along: float = 1.0, across: float = 1.0, angle: float = 0.0):
        """Return a function that moves pieces of a knob or handle from the safe's frame to the
        part's: origin on the door's front, scaled along and across the axis, rotated by `angle`
        (rad, clockwise from up)."""
        y, z = self.axis_on_door(part)
        shift = from_parts(np.eye(3), (0, -y, -z))
        turn = about_axis((1, 0, 0), angle)

        def move(piece: Piece) -> Piece:
            return piece.moved(shift).moved(turn, np.array((along, across, across)))

        return move


def bounds_of(pieces: Iterable[Piece]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lowest and highest corner (3,) of pieces."""
    points = [piece.vertices for piece in pieces]
    if not points:
        raise RuleSafeError("a part has no geometry")
    stacked = np.concatenate(points)
    return stacked.min(0), stacked.max(0)
