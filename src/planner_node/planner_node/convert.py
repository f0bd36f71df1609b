"""The planner's messages to plain data and back."""

import numpy as np
from builtin_interfaces.msg import Duration
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from planner_node.moves import Observation
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_sim.chunks import PERIOD, SECOND
from rulesafe_sim.convert import from_pose, to_header
from rulesafe_sim.joints import ACTION_JOINTS, ARM_JOINTS, HAND_JOINTS


def to_observation(joints: JointState, status: EpisodeStatus) -> Observation:
    """What the expert looks at, from a joint state and a status of the same instant."""
    position = dict(zip(joints.name, joints.position, strict=True))
    return Observation(
        arm=np.array([position[name] for name in ARM_JOINTS]),
        hand=np.array([position[name] for name in HAND_JOINTS]),
        part_positions=dict(zip(status.parts, status.part_positions, strict=True)),
        part_open=dict(zip(status.parts, status.part_open, strict=True)),
        pose_safe_in_pelvis=from_pose(status.safe_pose),
        remaining=tuple(status.remaining),
        contact_forces=dict(zip(status.contact_names, status.contact_forces, strict=True)),
    )


def to_trajectory(rows: NDArray[np.float64], time: int) -> JointTrajectory:
    """A chunk (n, 13), rad at 10 Hz, that rests on an observation at `time` (ns)."""
    return JointTrajectory(
        header=to_header(time, "pelvis"),
        joint_names=ACTION_JOINTS,
        points=[
            JointTrajectoryPoint(
                positions=row.tolist(),
                time_from_start=Duration(sec=i * PERIOD // SECOND, nanosec=i * PERIOD % SECOND),
            )
            for i, row in enumerate(np.asarray(rows, np.float64), 1)
        ],
    )
