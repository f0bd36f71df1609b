"""Conversion of ROS messages to the expert's observation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from planner_node.moves import ExpertObservation
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.messages import decode_joints
from rulesafe_core.transforms import from_xyz_rpy
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_locks.locks import EVENTS, PARTS

ARM = len(ARM_JOINTS)


def to_observation(joints: JointState, status: EpisodeStatus) -> ExpertObservation:
    """Return the expert's observation from a joint state and a status with the same stamp.

    Raises:
        RuleSafeError: a joint or part is missing, lists of a message have different lengths, a
            value is not finite, or an event is unknown.
    """
    try:
        return _observation(joints, status)
    except (KeyError, ValueError, RuleSafeError) as error:
        raise RuleSafeError(f"/joint_states or /episode/status is invalid: {error}") from error


def _observation(joints: JointState, status: EpisodeStatus) -> ExpertObservation:
    position = decode_joints(joints).positions
    parts = _by_name(status.parts, status.part_positions)
    forces = _by_name(status.contact_names, status.contact_forces)
    place = status.safe_pose.position
    # As in process: the matrix of the quaternion would differ in the last bits.
    pose = from_xyz_rpy((place.x, place.y, place.z), (0, 0, status.safe_yaw))
    if not np.isfinite([*parts.values(), *forces.values(), *pose.flat]).all():
        raise ValueError("a position or force is not finite")
    if unknown := set(status.remaining) - set(EVENTS):
        raise unknown_name("event", min(unknown), EVENTS)
    is_open = _by_name(status.parts, status.part_open)
    return ExpertObservation(
        arm=position[:ARM],
        hand=position[ARM:],
        part_positions={part: parts[part] for part in PARTS},
        part_open={part: is_open[part] for part in PARTS},
        pose_safe_in_pelvis=pose,
        remaining=tuple(status.remaining),
        contact_forces=forces,
    )


def _by_name(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    if len(names) != len(values):
        raise ValueError(f"{len(names)} names, {len(values)} values")
    return dict(zip(names, values, strict=True))
