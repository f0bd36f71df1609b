"""Limits and gains of the 27 body motors by the manufacturer's motor index.

Joint limits, velocities and efforts come from the robot description (`rulesafe_core.robot`). Gains
and accelerations, which the description lacks, are in data/h1_2_motors.json with their sources.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ARM_JOINTS, BODY_JOINTS
from rulesafe_core.robot import h1_2

MOTOR_JOINTS: tuple[str, ...] = BODY_JOINTS
"""The 27 body joints by motor index (the manufacturer's names): left leg 0-5, right leg 6-11, waist
12, left arm 13-19, right arm 20-26."""

MOTOR_COUNT = len(MOTOR_JOINTS)
"""Number of motors of the H1-2; messages have `messages.SLOTS` entries."""

WEIGHT_SLOT = 27
"""Index in `motor_cmd` of the entry whose `q` is the blending weight of arm_sdk, 0..1. Only on the
H1-2; other robots use another index."""

LEGS = tuple(range(12))
"""Motor indices of both legs."""

WAIST = 12
"""Motor index of the waist."""

LEFT_ARM = tuple(range(13, 20))
"""Motor indices of the left arm, from the shoulder to the hand."""

RIGHT_ARM = tuple(MOTOR_JOINTS.index(name) for name in ARM_JOINTS)
"""Motor indices of the right arm, 20 to 26, in the order of an action."""


@dataclass(frozen=True)
class Motors:
    """Motor limits by motor index, each (27,).

    Attributes:
        lower, upper: position limits, rad.
        velocity: velocity limit, rad/s.
        effort: torque limit, N m.
        acceleration: acceleration limit, rad/s^2, see data/h1_2_motors.json.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    velocity: NDArray[np.float64]
    effort: NDArray[np.float64]
    acceleration: NDArray[np.float64]


@dataclass(frozen=True)
class Gains:
    """Stiffness `kp` (27,) in N m/rad and damping `kd` (27,) in N m s/rad by motor index."""

    kp: NDArray[np.float64]
    kd: NDArray[np.float64]


def _motor_data() -> dict[str, Any]:
    text = (resources.files("h1_2_bridge") / "data/h1_2_motors.json").read_text("utf-8")
    return json.loads(text)


@lru_cache(maxsize=1)
def motors() -> Motors:
    """Return the motor limits. The arrays are shared: do not write to them."""
    joints = [h1_2().joint(name) for name in MOTOR_JOINTS]
    kinds = _motor_data()["acceleration"]["rad_s2"]
    return Motors(
        lower=np.array([joint.lower for joint in joints]),
        upper=np.array([joint.upper for joint in joints]),
        velocity=np.array([joint.velocity for joint in joints]),
        effort=np.array([joint.effort for joint in joints]),
        acceleration=np.array([kinds[_kind(name)] for name in MOTOR_JOINTS], np.float64),
    )


def gains(name: str) -> Gains:
    """Return a set of gains in data/h1_2_motors.json. Raises RuleSafeError for unknown names."""
    sets = _motor_data()["gains"]
    if name not in sets:
        raise unknown_name("gain set", name, sets)
    table = {kind: value for kind, value in sets[name].items() if kind != "source"}
    try:
        pairs = [table[_kind(joint)] for joint in MOTOR_JOINTS]
    except KeyError as error:
        raise RuleSafeError(
            f"gain set {name!r} in data/h1_2_motors.json has no entry for joint {error}"
        ) from None
    return Gains(*np.array(pairs, np.float64).T)


def _kind(joint: str) -> str:
    """Return a joint's name in the JSON file, without side and suffix: `shoulder_pitch`."""
    return joint.removeprefix("left_").removeprefix("right_").removesuffix("_joint")
