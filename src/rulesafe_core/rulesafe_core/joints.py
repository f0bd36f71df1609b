"""Joint names of the Unitree H1-2 with Inspire DFX hands, in the orders used on topics."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError

ARM_JOINTS = tuple(
    f"right_{name}_joint"
    for name in (
        "shoulder_pitch",
        "shoulder_roll",
        "shoulder_yaw",
        "elbow",
        "wrist_roll",
        "wrist_pitch",
        "wrist_yaw",
    )
)
"""The seven joints of the right arm, from the shoulder to the hand."""

_HAND = (
    "pinky_proximal",
    "ring_proximal",
    "middle_proximal",
    "index_proximal",
    "thumb_proximal_pitch",
    "thumb_proximal_yaw",
)
HAND_JOINTS = tuple(f"R_{name}_joint" for name in _HAND)
"""The six motors of the right hand: pinky, ring, middle, index, thumb bend, thumb rotation."""

LEFT_HAND_JOINTS = tuple(f"L_{name}_joint" for name in _HAND)

ACTION_JOINTS = ARM_JOINTS + HAND_JOINTS
"""The 13 joints of an action (absolute positions in rad)."""

_LEG = ("hip_yaw", "hip_pitch", "hip_roll", "knee", "ankle_pitch", "ankle_roll")
BODY_JOINTS = (
    tuple(f"left_{name}_joint" for name in _LEG)
    + tuple(f"right_{name}_joint" for name in _LEG)
    + ("torso_joint",)
    + tuple(name.replace("right_", "left_") for name in ARM_JOINTS)
    + ARM_JOINTS
)
"""The 27 motors of the body in the order of the manufacturer's motor index."""

ALL_JOINTS = BODY_JOINTS + HAND_JOINTS + LEFT_HAND_JOINTS
"""The 39 actuated joints in /joint_states: body, right hand, left hand."""

ACTION_INDICES = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
"""Indices of ACTION_JOINTS in ALL_JOINTS."""


def action_values(names: Sequence[str], values: Any) -> NDArray[np.float64]:
    """Return the values (13,) of ACTION_JOINTS in a joint state.

    Args:
        names: the joints' names, in any order and with others among them.
        values: positions or velocities (len(names),).

    Raises:
        RuleSafeError: one of the 13 joints is missing or named twice, or the numbers of names and
            values differ.
    """
    if len(values) != len(names):
        raise RuleSafeError(f"joint states have {len(names)} names but {len(values)} values")
    return np.asarray(values, np.float64)[_action_columns(tuple(names))]


@lru_cache(maxsize=16)
def _action_columns(names: tuple[str, ...]) -> list[int]:
    counts = {joint: names.count(joint) for joint in ACTION_JOINTS}
    if missing := [joint for joint, count in counts.items() if not count]:
        raise RuleSafeError(
            f"joint states lack {', '.join(missing)}; they contain: {', '.join(names)}"
        )
    if twice := [joint for joint, count in counts.items() if count > 1]:
        raise RuleSafeError(f"joint states contain {', '.join(twice)} more than once")
    return [names.index(joint) for joint in ACTION_JOINTS]


def wrong_names(names: Sequence[str], required: Collection[str] = ACTION_JOINTS) -> str:
    """Return why a list does not name each of the required ACTION_JOINTS once and no other joint;
    empty if it does."""
    missing = [name for name in required if name not in names]
    unknown = [name for name in names if name not in ACTION_JOINTS]
    wrong = [f"missing {', '.join(missing)}"] if missing else []
    wrong += [f"unknown {', '.join(unknown)}"] if unknown else []
    if not wrong and len(set(names)) < len(names):
        wrong = ["duplicate names"]
    return "; ".join(wrong)
