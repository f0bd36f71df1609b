"""Conversion of ROS messages to the expert's observation."""

import numpy as np
from sensor_msgs.msg import JointState

from planner_node.moves import ExpertObservation
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS, HAND_JOINTS
from rulesafe_core.messages import decode_pose
from rulesafe_interfaces.msg import EpisodeStatus


def to_observation(joints: JointState, status: EpisodeStatus) -> ExpertObservation:
    """Return the expert's observation from a joint state and a status with the same stamp.

    Raises:
        RuleSafeError: a joint is missing, or lists of a message have different lengths.
    """
    try:
        return _observation(joints, status)
    except (KeyError, ValueError) as error:
        raise RuleSafeError(
            f"/joint_states or /episode/status has a missing joint or lists of different lengths: "
            f"{error}"
        ) from error


def _observation(joints: JointState, status: EpisodeStatus) -> ExpertObservation:
    position = dict(zip(joints.name, joints.position, strict=True))
    return ExpertObservation(
        arm=np.array([position[name] for name in ARM_JOINTS]),
        hand=np.array([position[name] for name in HAND_JOINTS]),
        part_positions=dict(zip(status.parts, status.part_positions, strict=True)),
        part_open=dict(zip(status.parts, status.part_open, strict=True)),
        pose_safe_in_pelvis=decode_pose(status.safe_pose),
        remaining=tuple(status.remaining),
        contact_forces=dict(zip(status.contact_names, status.contact_forces, strict=True)),
    )
