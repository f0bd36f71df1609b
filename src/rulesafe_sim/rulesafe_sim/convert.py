"""Convert the state of the simulation to ROS messages."""

from array import array

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from rulesafe_core.convert import to_header, to_pose
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_locks.rules import PARTS
from rulesafe_sim.simulation import Simulation, SimulationState


def to_joint_state(state: SimulationState, time: int) -> JointState:
    """Convert the states of all 39 joints, rad and rad/s."""
    return JointState(
        header=to_header(time, "pelvis"),
        name=ALL_JOINTS,
        position=array("d", state.joint_positions.tobytes()),
        velocity=array("d", state.joint_velocities.tobytes()),
    )


def to_status(
    simulation: Simulation,
    state: SimulationState,
    time: int,
    *,
    safe: str,
    episode: int,
    waiting: bool,
    clipped: int,
    action: NDArray[np.float64] | None = None,
) -> EpisodeStatus:
    """Convert the status of the episode. `safe`: the name by which the safe was loaded; `clipped`:
    number of steps of chunks clipped to the joint limits; `action` (13,): targets of the last
    frame, rad, None if they are unknown."""
    progress = simulation.progress
    return EpisodeStatus(
        header=to_header(time, "pelvis"),
        rule=simulation.rule.id,
        safe=safe,
        seed=simulation.seed,
        episode=episode,
        frame=state.frame,
        episode_time=state.time,
        plan=progress.plan,
        remaining=progress.remaining,
        steps_done=progress.steps_done,
        process_score=progress.process_score,
        order_free_score=progress.order_free_score,
        success=simulation.success,
        parts=PARTS,
        part_positions=[state.part_positions[part] for part in PARTS],
        part_open=[state.part_open[part] for part in PARTS],
        part_locked=[state.part_locked[part] for part in PARTS],
        contact_names=list(state.contact_forces),
        contact_forces=list(state.contact_forces.values()),
        safe_pose=to_pose(state.pose_safe_in_pelvis),
        safe_yaw=np.pi + simulation.placement.yaw,
        expert_speed=simulation.variation.speed,
        waiting=waiting,
        action=[] if action is None else array("f", action.tolist()),
        clipped_actions=clipped,
        state_digest=simulation.digest,
    )
