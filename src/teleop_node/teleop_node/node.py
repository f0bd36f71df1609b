"""ROS 2 node of teleoperation: target poses of the hand become action chunks.

The node subscribes to poses (/teleop/target_pose) or velocities (/teleop/twist) of the hand, a grip
(/teleop/grip) and requests of assisted motions (/teleop/assist), and publishes chunks of half a
second, a new one every 0.1 s. Simulation and bridge execute them within their limits. The stamps of
/joint_states are the clock. Without input for `input_timeout` the node publishes one chunk that
holds the arm, and then none.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, Twist
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

from planner_node.convert import to_observation
from planner_node.moves import ExpertObservation
from rulesafe_core.chunks import PERIOD
from rulesafe_core.chunks_ros import CHUNKS, ChunkPublisher
from rulesafe_core.convert import LATCHED_QOS, NEWEST_QOS, STATE_QOS, to_header, to_pose
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.exclusive_ros import subscribe_to_first
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.messages import decode_joints, decode_pose
from rulesafe_core.ros import Diagnostics, declare, reserve_topic, run_node
from rulesafe_core.transforms import Transform
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_sim.safes import load_safe
from teleop_node.assistance import CLOSED_ABOVE, Assistant, grip_of
from teleop_node.inputs import (
    decode_grip,
    decode_target,
    decode_twist,
    parse_request,
)
from teleop_node.settings import TeleopParameters
from teleop_node.tracking import CommandPath, PoseTracker, Target, ahead, check_target

STEPS = 5
"""Steps of a chunk. If the node ends, the arm is at rest after all."""

PAUSE = 0.5
"""Wall time after the start of an episode in which inputs are ignored, s: they are of the last
one."""

REPORT_PERIOD = 1.0
"""Wall time between two equal statuses on /diagnostics, s."""


class TeleopNode(Node):
    """Follows the newest target pose, or executes an assisted motion."""

    def __init__(self) -> None:
        super().__init__("teleop_node")
        self._reservation = reserve_topic(self, CHUNKS)
        self._values = declare(self, TeleopParameters)
        self._tracker = PoseTracker(self._values)
        self._stamp = 0  # ns, of the newest joint state
        self._received = self._input = -np.inf  # s, wall time of the newest joint state, input
        self._started = -np.inf  # s, wall time of the start of the episode
        self._joints: JointState | None = None
        self._measured = np.zeros(len(ACTION_JOINTS))
        self._status: EpisodeStatus | None = None
        self._restart()
        self._reported: tuple = ()
        self._reported_at = -np.inf
        self._chunks = ChunkPublisher(self)
        self._pose = self.create_publisher(PoseStamped, "teleop/hand_pose", STATE_QOS)
        self._diagnostics = Diagnostics(self)
        for kind, topic, callback, qos in (
            (Time, "episode/started", self._on_started, LATCHED_QOS),
            (EpisodeStatus, "episode/status", self._on_status, 1),
            (PoseStamped, "teleop/target_pose", partial(self._refusing, self._on_pose), 10),
            (Twist, "teleop/twist", partial(self._refusing, self._on_twist), 10),
            (Float64, "teleop/grip", partial(self._refusing, self._on_grip), 10),
            (String, "teleop/assist", partial(self._refusing, self._on_assist), 10),
        ):
            self.create_subscription(kind, topic, callback, qos)
        subscribe_to_first(self, JointState, "joint_states", self._on_joints, NEWEST_QOS)
        self.create_timer(0.1, self._on_timer, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _restart(self) -> None:
        """Reset targets and commands: an episode begins, or the clock has stepped back."""
        self._path: CommandPath | None = None  # commanded positions; None: none yet
        self._planned: NDArray[np.float64] | None = None  # actions of a motion that begins next
        self._assisting = ""  # the assisted motion that is executed
        self._target = Target()
        self._problem = ""
        self._sent = -PERIOD  # stamp of the last chunk, ns
        self._holding = True
        self._assistant: Assistant | None = None
        self._episode = 0

    # Inputs -------------------------------------------------------------------------------

    def _refusing(self, handle: Callable[[Any], None], message: Any) -> None:
        """Handle an input; if it is invalid, report the reason and change nothing."""
        if time.monotonic() < self._started + PAUSE:
            return
        try:
            handle(message)
        except RuleSafeError as error:
            self._problem = str(error)
            self.get_logger().warning(str(error), throttle_duration_sec=2.0)

    def _on_pose(self, message: PoseStamped) -> None:
        pose = decode_target(message)
        self._begin_input()
        hand = self._hand_pose()
        if hand is not None and not self._assisting:
            check_target(pose, hand, self._values)
            self._target, self._problem = replace(self._target, pose=pose), ""

    def _on_twist(self, message: Twist) -> None:
        velocities = decode_twist(message)
        self._begin_input()
        hand = self._hand_pose()
        if hand is not None and not self._assisting:
            pose = ahead(hand, *velocities, self._values)
            self._target, self._problem = replace(self._target, pose=pose), ""

    def _on_grip(self, message: Float64) -> None:
        grip = decode_grip(message)
        self._begin_input()
        self._target = replace(self._target, grip=grip)
        if grip < CLOSED_ABOVE and self._assistant:
            self._assistant.release()

    def _begin_input(self) -> None:
        """Store the time of an input. If the arm has left its last command during a pause, it
        continues from the measured posture."""
        now = time.monotonic()
        paused, self._input = now - self._input > self._values.input_timeout, now
        command = self._command()
        if paused and command is not None:
            lag = np.abs(command - self._measured)[:7].max()
            if lag > self._values.max_lag:
                self._path = CommandPath(np.array([self._stamp]), self._measured[None])

    def _on_assist(self, message: String) -> None:
        """Plan an assisted motion, which begins with the next joint state."""
        request = parse_request(message.data)
        self._begin_input()
        self._stop("")
        if request.action == "stop":
            return
        assistant, obs = self._assistant_of_episode(), self._observation()
        self.get_logger().info(f"planning: {request}")
        if request.action == "approach":
            actions = assistant.approach(obs, request.part)
        elif request.action == "grasp":
            actions = assistant.grasp(obs)
        else:
            actions = assistant.turn(obs, request.angle, request.action == "pull")
        self._planned, self._assisting = actions, str(request)
        # Neither inputs nor joint states were processed during planning.
        self._begin_input()
        self._received = time.monotonic()
        self._report_state()

    def _assistant_of_episode(self) -> Assistant:
        status = self._status
        if status is None:
            raise RuleSafeError(
                "assisted motions need /episode/status, which only a simulation publishes"
            )
        if self._assistant is None or status.episode != self._episode:
            pose, values = decode_pose(status.safe_pose), self._values
            safe = load_safe(status.safe)
            self._assistant = Assistant(safe, pose, values.assist_speed, values.seed)
            self._episode = status.episode
        return self._assistant

    def _observation(self) -> ExpertObservation:
        command = self._command()
        if command is None or self._joints is None or self._status is None:
            raise RuleSafeError("no message on /joint_states yet")
        obs = to_observation(self._joints, self._status)
        return replace(obs, arm=command[:7], hand=command[7:])

    def _on_status(self, message: EpisodeStatus) -> None:
        self._status = message
        if not self._assisting:
            return
        if len(message.contact_names) != len(message.contact_forces):
            self._stop("stopped: contacts of /episode/status have lists of different lengths")
            return
        for name, force in zip(message.contact_names, message.contact_forces, strict=True):
            if name != "self" and not force <= self._values.force_limit:  # also if not a number
                self._stop(f"stopped: {force:.0f} N on the {name}")
                return

    def _on_started(self, message: Time) -> None:
        self._started = time.monotonic()
        self._restart()

    def _on_joints(self, message: JointState) -> None:
        try:
            state = decode_joints(message)
        except RuleSafeError as error:
            self.get_logger().warning(f"/joint_states: {error}", throttle_duration_sec=5.0)
            return
        if state.stamp < self._stamp:  # another simulation, or a bag that is played again
            self._restart()
        self._joints, self._measured, self._stamp = message, state.positions, state.stamp
        self._received = time.monotonic()
        if self._path is None:
            self._path = CommandPath(np.array([state.stamp]), state.positions[None])
        self._advance()

    # Commands -----------------------------------------------------------------------------

    def _command(self) -> NDArray[np.float64] | None:
        """Return the commanded positions (13,) at the newest stamp; None before joint states."""
        return None if self._path is None else self._path.sample(self._stamp)

    def _hand_pose(self) -> Transform | None:
        command = self._command()
        return None if command is None else self._tracker.hand_pose(command)

    def _stop(self, reason: str) -> None:
        """Hold the present command: end the assisted motion, and drop the target pose."""
        if self._assisting and self._assistant:
            self._assistant.release()  # the held part is not where the motion would have moved it
        self._planned, self._assisting, self._problem = None, "", reason
        self._target = replace(self._target, pose=None)
        if (command := self._command()) is not None:
            self._path = CommandPath(np.array([self._stamp]), command[None])

    def _advance(self) -> None:
        """Publish the next chunk if it is due."""
        command = self._command()
        silent = time.monotonic() - self._input > self._values.input_timeout
        if command is None or (silent and self._holding):
            return
        if silent:
            self._stop("")
            self._holding = True
            self._publish(np.tile(command, (STEPS, 1)))
            return
        if self._stamp < self._sent + PERIOD:
            if self._stamp == self._sent and not self._chunks.others():
                self._chunks.resend(self._stamp)
            return
        if self._planned is not None:
            actions, self._planned = self._planned, None
            self._set_path(command, actions)
            grip = 1.0 if grip_of(actions[-1, 7:]) > CLOSED_ABOVE else 0.0
            self._target = Target(grip=grip)
        if self._assisting and self._path and self._stamp >= self._path.end:
            self._assisting = ""
            self._report_state()
        if self._assisting and self._path:
            times = self._stamp + PERIOD * np.arange(1, STEPS + 1)
            actions = np.array([self._path.sample(int(t)) for t in times])
        else:
            actions, reason = self._tracker.path(command, self._target, self._measured, STEPS)
            self._problem = reason or ("" if self._target.pose is not None else self._problem)
            self._set_path(command, actions)
        idle = not self._assisting and np.abs(actions - command).max() < 1e-6
        if self._values.idle_chunks or not idle:
            self._holding = False
            self._publish(actions)

    def _set_path(self, command: NDArray[np.float64], actions: NDArray[np.float64]) -> None:
        times = self._stamp + PERIOD * np.arange(len(actions) + 1)
        self._path = CommandPath(times, np.concatenate([command[None], actions]))

    def _publish(self, actions: NDArray[np.float64]) -> None:
        if reason := self._chunks.others():
            self._stop(reason)
            return
        self._sent = self._stamp
        self._chunks.send(actions, self._stamp)

    # Reports ------------------------------------------------------------------------------

    def _on_timer(self) -> None:
        if (pose := self._hand_pose()) is not None:
            header = to_header(self._stamp, "pelvis")
            self._pose.publish(PoseStamped(header=header, pose=to_pose(pose)))
        self._report_state()

    def _report_state(self) -> None:
        """Report the state if it has changed: each 0.1 s, and when an assisted motion begins or is
        complete, since a fast simulation executes a short one in less than 0.1 s of wall time."""
        command, now = self._command(), time.monotonic()
        if command is None:
            self._report(DiagnosticStatus.WARN, "waiting", "no message on /joint_states yet", 0.0)
            return
        grip = round(grip_of(command[7:]), 2)
        if now - self._received > self._values.state_timeout:
            message = f"no message on /joint_states for {now - self._received:.0f} s"
            self._report(DiagnosticStatus.WARN, "waiting", message, grip)
        elif now - self._input > self._values.input_timeout:
            self._report(DiagnosticStatus.OK, "holding", self._problem or "no input", grip)
        else:
            level = DiagnosticStatus.WARN if self._problem else DiagnosticStatus.OK
            mode = "assisted" if self._assisting else "following"
            self._report(level, mode, self._problem or self._assisting or "following", grip)

    def _report(self, level: bytes, mode: str, message: str, grip: float) -> None:
        """Publish the status if it has changed, or every second."""
        now, status = time.monotonic(), (level, mode, message, grip)
        if status != self._reported or now - self._reported_at > REPORT_PERIOD:
            self._reported, self._reported_at = status, now
            self._diagnostics.publish(level, message, {"mode": mode, "grip": grip})


main = partial(run_node, "teleop_node", TeleopNode)

if __name__ == "__main__":
    sys.exit(main())
