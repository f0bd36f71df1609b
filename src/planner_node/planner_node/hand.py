"""The right hand: the operations defined in data/hand.yaml, and the pinch's geometry.

    operation("pinch").joints               # (6,) rad, order of HAND_JOINTS
    operation("pinch").points["thumb_tip"]  # (3,) m, frame R_hand_base_link
    operation("pinch").axes["approach"]     # (3,) unit, the same frame

The file defines the points and axes and says where they come from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.settings import required
from rulesafe_core.strict_yaml import as_mapping, build, check_keys, read_yaml
from rulesafe_core.transforms import Vec3

HAND_FRAME = "R_hand_base_link"

NAMES = ("open", "pre_pinch", "pinch", "release", "pre_grasp", "grasp", "hook")
"""The hand's operations."""


@dataclass(frozen=True, eq=False)
class HandOperation:
    """Finger positions, and their key points and axes in the frame R_hand_base_link."""

    name: str
    joints: NDArray[np.float64]  # (6,) commanded, rad, order of HAND_JOINTS
    points: Mapping[str, NDArray[np.float64]]  # (3,) m
    axes: Mapping[str, NDArray[np.float64]]  # (3,) unit; the third is the first cross the second
    about: str = ""  # description, one sentence


_FIELDS = {name: name.removeprefix("R_").removesuffix("_joint") for name in HAND_JOINTS}


def _within_limits(joint: str) -> Any:
    limits = h1_2().joint(joint)
    return required(limits.lower, limits.upper, "rad")


_Joints = make_dataclass(
    "_Joints", [(field, float, _within_limits(joint)) for joint, field in _FIELDS.items()]
)


@dataclass(frozen=True)
class _Entry:
    """A hand posture in the format of the YAML file, which calls it an operation."""

    about: str
    joints: _Joints  # type: ignore[valid-type]
    points: Mapping[str, Vec3] = required(unit="m")
    axes: Mapping[str, Vec3] = required()

    def __post_init__(self) -> None:
        names, rows = tuple(self.axes), np.array(list(self.axes.values()))
        if rows.shape != (3, 3) or not np.allclose(rows @ rows.T, np.eye(3), atol=1e-6):
            raise RuleSafeError(
                f"axes must be three unit vectors perpendicular to each other, got {self.axes}"
            )
        if not np.allclose(np.cross(rows[0], rows[1]), rows[2], atol=1e-6):
            raise RuleSafeError(
                f"axes: {names[2]} must be the cross product {names[0]} x {names[1]}"
            )


def read_operations(path: Path) -> dict[str, HandOperation]:
    """Return the operations of a file such as data/hand.yaml, by name. Raises RuleSafeError, with
    file and key, if the file is invalid."""
    data, where = read_yaml(path), path.name
    check_keys(data, ("operations",), where)
    entries = as_mapping(data["operations"], f"{where}: operations")
    check_keys(entries, NAMES, f"{where}: operations")
    return {name: _operation(name, entries[name], f"{where}: operations.{name}") for name in NAMES}


def _operation(name: str, data: Any, where: str) -> HandOperation:
    entry = build(_Entry, data, where)
    return HandOperation(
        name,
        _fixed([getattr(entry.joints, field) for field in _FIELDS.values()]),
        {point: _fixed(xyz) for point, xyz in entry.points.items()},
        {axis: _fixed(xyz) for axis, xyz in entry.axes.items()},
        entry.about,
    )


def _fixed(values: Any) -> NDArray[np.float64]:
    array = np.array(values, np.float64)
    array.flags.writeable = False  # shared by all callers
    return array


with resources.as_file(resources.files("planner_node") / "data/hand.yaml") as _path:
    OPERATIONS: Mapping[str, HandOperation] = read_operations(_path)


def operation(name: str) -> HandOperation:
    """Return the operation with a name. Raises RuleSafeError for an unknown name."""
    if name not in OPERATIONS:
        raise unknown_name("hand operation", name, OPERATIONS)
    return OPERATIONS[name]


PRE_PINCH = operation("pre_pinch").joints
PINCH = operation("pinch").joints
RELEASE = operation("release").joints

PINCH_POINT = operation("pinch").points["pinch_point"]
"""Midpoint between the tips of thumb and index finger when they are 20 to 27 mm apart, in the
hand's base frame (m)."""

HAND_AXES = np.column_stack([operation("pinch").axes[n] for n in ("approach", "closing", "normal")])
"""Columns: approach, closing (from index finger to thumb) and their cross product, in the hand's
base frame. Thumb and index finger close in its x-y plane."""
