"""Action server FollowJointTrajectory, as of a joint_trajectory_controller, over action chunks.

A goal is sampled at 10 Hz and published on /policy/action_chunk in successive chunks, so that the
simulation and the bridge execute it within their limits like the chunks of a policy. The stamps of
/joint_states are the clock. Without a goal nothing is published.
"""

import sys
import time
from dataclasses import dataclass
from functools import partial

import numpy as np
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.chunks_ros import CHUNKS, ChunkPublisher
from rulesafe_core.convert import LATCHED_QOS, NEWEST_QOS, to_header
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.exclusive_ros import subscribe_to_first
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.messages import decode_joints, to_ns
from rulesafe_core.ros import declare, reserve_topic, run_node
from rulesafe_moveit.trajectories import (
    ErrorCode,
    GoalError,
    JointPath,
    Tolerances,
    TrajectoryParameters,
    decode_tolerances,
    decode_trajectory,
    exceeded,
)

STEPS = 20
"""Steps of a chunk. The next one is published after half of them; if the node is killed, the arm is
at rest after all."""


@dataclass
class Motion:
    """The goal that is executed. Times are stamps of /joint_states, ns."""

    handle: ServerGoalHandle
    path: JointPath
    tolerances: Tolerances
    end: Future  # result: (ErrorCode, text)
    sent: int = -STEPS * PERIOD  # of the last chunk
    reported: int = 0  # of the last feedback


class TrajectoryNode(Node):
    """Executes one goal at a time; a valid new goal replaces the current one."""

    def __init__(self) -> None:
        super().__init__("trajectory_node")
        self._reservation = reserve_topic(self, CHUNKS)
        self._values = declare(self, TrajectoryParameters)
        self._motion: Motion | None = None
        self._stamp = 0  # ns, of the newest joint state
        self._measured = np.zeros((2, len(ACTION_JOINTS)))  # its positions and velocities
        self._received = -np.inf  # s, wall time of its arrival
        self._episode_known = False  # whether the start of the running episode was received
        self._chunks = ChunkPublisher(self)
        subscribe_to_first(self, JointState, "joint_states", self._on_joints, NEWEST_QOS)
        self.create_subscription(Time, "episode/started", self._on_started, LATCHED_QOS)
        self.create_timer(0.1, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._server = ActionServer(
            self,
            FollowJointTrajectory,
            "~/follow_joint_trajectory",
            execute_callback=self._on_goal,
            cancel_callback=lambda request: CancelResponse.ACCEPT,
        )

    # Goals --------------------------------------------------------------------------------

    async def _on_goal(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        """Execute a goal. An invalid one is aborted with its error code and does not affect the
        current one; rejecting it would not tell the client the reason."""
        try:
            motion = self._start(handle)
        except GoalError as error:
            handle.abort()
            self.get_logger().error(f"goal refused: {error}")
            return FollowJointTrajectory.Result(error_code=error.code, error_string=str(error))
        self._finish(ErrorCode.INVALID_GOAL, "replaced by a new goal")
        self._motion = motion
        code, text = await motion.end
        if code != ErrorCode.SUCCESSFUL:
            handle.abort()
            self.get_logger().error(f"goal aborted: {text}")
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.succeed()
        return FollowJointTrajectory.Result(error_code=code, error_string=text)

    def _start(self, handle: ServerGoalHandle) -> Motion:
        goal = handle.request
        if reason := self._obstacle():
            raise GoalError(ErrorCode.INVALID_GOAL, reason)
        multi = goal.multi_dof_trajectory.joint_names or goal.multi_dof_trajectory.points
        if multi or goal.component_path_tolerance or goal.component_goal_tolerance:
            raise GoalError(
                ErrorCode.INVALID_JOINTS, "the robot has no joint of several degrees of freedom"
            )
        path = decode_trajectory(
            goal.trajectory,
            self._stamp,
            self._measured[0],
            self._values.allow_partial_joints_goal,
        )
        tolerances = decode_tolerances(goal, self._values)
        return Motion(handle, path, tolerances, Future())

    def _obstacle(self) -> str:
        """Return why no chunk may be published; empty if one may."""
        return self._silence() or self._chunks.others()

    def _silence(self) -> str:
        """Return since when no joint state has been processed; empty within the timeout."""
        silence = time.monotonic() - self._received
        if silence <= self._values.state_timeout:
            return ""
        since = f"for {silence:.1f} s" if np.isfinite(silence) else "yet"
        return f"no valid message on /joint_states {since}"

    def _finish(self, code: ErrorCode, text: str = "") -> None:
        """End the current goal, if there is one."""
        motion, self._motion = self._motion, None
        if motion:
            motion.end.set_result((code, text))

    # Inputs -------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        try:
            state = decode_joints(message)
        except RuleSafeError as error:
            self.get_logger().warning(f"/joint_states: {error}", throttle_duration_sec=5.0)
            return
        if reason := self._silence():  # e.g. this node was paused; it may now receive old messages
            self._finish(ErrorCode.INVALID_GOAL, reason)
        stamp, before = state.stamp, self._stamp
        self._stamp, self._received = stamp, time.monotonic()
        self._measured = np.stack([state.positions, state.velocities])
        if stamp < before:  # a new simulation
            self._episode_known = False
        if not 0 <= stamp - before <= STEPS * PERIOD:
            jump = f"the stamps of /joint_states jumped by {(stamp - before) / SECOND:.1f} s"
            self._finish(ErrorCode.INVALID_GOAL, jump)
        if self._motion:
            self._advance(self._motion)

    def _on_started(self, message: Time) -> None:
        # A new node, or a node with a new simulation, may receive the start of the running episode
        # after its first goal. Any other message counts: the first episode of a restarted
        # simulation may have the same stamp.
        known, self._episode_known = self._episode_known, True
        if self._motion and (known or to_ns(message) > self._motion.path.begin):
            self._finish(ErrorCode.INVALID_GOAL, "a new episode has started")

    def _on_timer(self) -> None:
        if self._motion and (reason := self._obstacle()):
            self._finish(ErrorCode.INVALID_GOAL, reason)

    # Execution ----------------------------------------------------------------------------

    def _advance(self, motion: Motion) -> None:
        """Check the newest joint state, and publish the next chunk if it is due."""
        path, tolerances = motion.path, motion.tolerances
        desired = path.sample(self._stamp)
        error = desired - self._measured
        self._report(motion, desired, error)
        late = (self._stamp - path.end) / SECOND
        if motion.handle.is_cancel_requested:
            self._hold(ErrorCode.SUCCESSFUL, "cancelled")
        elif late < 0 and (reason := exceeded(error, tolerances.path)):
            self._hold(ErrorCode.PATH_TOLERANCE_VIOLATED, reason)
        elif late > tolerances.goal_time and (reason := exceeded(error, tolerances.goal)):
            self._hold(ErrorCode.GOAL_TOLERANCE_VIOLATED, f"{reason}, {late:.2f} s after its end")
        elif self._publish_due(motion) and late >= 0 and not exceeded(error, tolerances.goal):
            self._finish(ErrorCode.SUCCESSFUL)

    def _publish_due(self, motion: Motion) -> bool:
        """Publish the next chunk if it is due; return False if the goal was aborted instead."""
        if self._stamp < motion.sent + STEPS // 2 * PERIOD:
            self._chunks.resend(self._stamp)
            return True
        motion.sent = self._stamp
        times = (self._stamp + PERIOD * i for i in range(1, STEPS + 1))
        return self._publish(np.array([motion.path.sample(t)[0] for t in times]))

    def _publish(self, steps: NDArray[np.float64]) -> bool:
        if reason := self._obstacle():
            self._finish(ErrorCode.INVALID_GOAL, reason)
            return False
        self._chunks.send(steps, self._stamp)
        return True

    def _hold(self, code: ErrorCode, text: str) -> None:
        """Stop the arm at the measured posture, and end the current goal."""
        if self._publish(np.tile(self._measured[0], (STEPS, 1))):
            self._finish(code, text)

    def _report(
        self, motion: Motion, desired: NDArray[np.float64], error: NDArray[np.float64]
    ) -> None:
        if self._stamp - motion.reported < PERIOD:
            return
        motion.reported = self._stamp
        desired_point, actual_point, error_point = (
            JointTrajectoryPoint(positions=positions.tolist(), velocities=velocities.tolist())
            for positions, velocities in (desired, self._measured, error)
        )
        motion.handle.publish_feedback(
            FollowJointTrajectory.Feedback(
                header=to_header(self._stamp, "pelvis"),
                joint_names=ACTION_JOINTS,
                desired=desired_point,
                actual=actual_point,
                error=error_point,
            )
        )


main = partial(run_node, "trajectory_node", TrajectoryNode)

if __name__ == "__main__":
    sys.exit(main())
