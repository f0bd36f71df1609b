"""ROS 2 node of the expert: subscribes to the privileged status and publishes action chunks.

The node publishes the next chunk when a status reports that the simulation waits for one. If
simulated time does not wait for chunks, it publishes the next one when the last has been executed.
Failures are published on /diagnostics with level ERROR and the key "episode"; the evaluator then
ends that episode.
"""

import sys
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from planner_node import convert
from planner_node.expert import Expert, with_speed
from planner_node.habits import STYLES, style_config
from planner_node.motion import PLANNERS
from rulesafe_core.chunks import PERIOD
from rulesafe_core.chunks_ros import CHUNKS, ChunkPublisher
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.exclusive_ros import subscribe_to_first
from rulesafe_core.messages import to_ns
from rulesafe_core.ros import Diagnostics, declare, reserve_topic, run_node
from rulesafe_core.settings import Settings, setting
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_sim.safes import load_safe


@dataclass(frozen=True)
class PlannerParameters(Settings):
    """Parameters of the planner node."""

    expert_seed: int = setting(0, "Seed of the expert's motion planning.", 0, 2**31 - 1)
    speed: float = setting(1.0, "Scale of the expert's speeds.", 0.2, 2)
    style: str = setting("varied", f"How the expert grasps parts: {', '.join(STYLES)}.")
    planner: str = setting("RRTConnect", f"OMPL planner: {', '.join(PLANNERS)}.")


class PlannerNode(Node):
    """Runs one expert per episode; its callbacks run one at a time."""

    def __init__(self) -> None:
        super().__init__("planner_node")
        self._reservation = reserve_topic(self, CHUNKS)
        values = declare(self, PlannerParameters)
        if values.planner not in PLANNERS:
            raise unknown_name("motion planner", values.planner, PLANNERS)
        config = style_config(values.style)
        moves = replace(config.moves, planner=values.planner)
        self._config = with_speed(replace(config, moves=moves), values.speed)
        self._seed = values.expert_seed
        self._status: EpisodeStatus | None = None
        self._joints: JointState | None = None
        self._episode: tuple = ()
        self._last_stamp = 0  # ns, the newest status
        self._chunks = ChunkPublisher(self)
        self._clear()
        self._diagnostics = Diagnostics(self)
        # Queue length 1: messages that arrived while the expert was planning are outdated.
        self.create_subscription(EpisodeStatus, "episode/status", self._on_status, 1)
        subscribe_to_first(self, JointState, "joint_states", self._on_joints, 1)
        self.create_timer(1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _clear(self) -> None:
        self._expert: Expert | None = None
        self._started = False
        self._finished = False
        self._reported = 0
        self._level, self._message = DiagnosticStatus.OK, "waiting for an episode"
        self._chunks.forget()
        self._chunk_end = 0  # ns, of the chunk sent last
        self._unsent: NDArray[np.float64] | None = None

    # Subscriptions ------------------------------------------------------------------------

    def _on_status(self, status: EpisodeStatus) -> None:
        episode = (status.episode, status.rule, status.safe, status.seed)
        stamp = to_ns(status.header.stamp)
        if episode != self._episode or stamp < self._last_stamp:  # earlier: a new simulation
            self._episode = episode
            self._clear()
            self._start(status)
        self._status, self._last_stamp = status, stamp
        self._act()

    def _on_joints(self, joints: JointState) -> None:
        self._joints = joints
        if self._unsent is not None:
            actions, self._unsent = self._unsent, None
            self._send(actions, to_ns(joints.header.stamp))
            return
        self._act()

    def _start(self, status: EpisodeStatus) -> None:
        self.get_logger().info(
            f"{status.rule} on {status.safe}, seed {status.seed}: {' '.join(status.plan)}"
        )
        try:
            config = with_speed(self._config, status.expert_speed or 1.0)
            self._expert = Expert(load_safe(status.safe), config=config, seed=self._seed)
            self._message = "planning"
        except RuleSafeError as error:
            self._fail(str(error))

    # Publications -------------------------------------------------------------------------

    def _act(self) -> None:
        """Plan and publish a chunk if one is due."""
        status, joints = self._status, self._joints
        if status is None or joints is None or self._finished or self._unsent is not None:
            return
        now, joints_at = to_ns(status.header.stamp), to_ns(joints.header.stamp)
        if status.waiting:
            if not self._chunks.resend(now) and joints_at == now:
                self._plan(joints, status)
        elif min(now, joints_at) >= self._chunk_end:  # time runs, and the chunk has run out
            self._plan(joints, status)

    def _plan(self, joints: JointState, status: EpisodeStatus) -> None:
        assert self._expert is not None
        advance = self._expert.next_chunk if self._started else self._expert.begin
        self._started = True
        try:
            actions = advance(convert.to_observation(joints, status))
        except RuleSafeError as error:
            self._log_steps()
            self._fail(str(error))
            return
        self._log_steps()
        if actions is None:
            self._finish(status)
        elif status.waiting:
            self._send(actions, to_ns(status.header.stamp))
        else:
            # Time passed during planning: the chunk starts at the stamp of the next joint state.
            self._unsent = actions

    def _send(self, actions: NDArray[np.float64], stamp: int) -> None:
        self._chunk_end = stamp + len(actions) * PERIOD
        self._chunks.send(actions, stamp)

    # Reports ------------------------------------------------------------------------------

    def _finish(self, status: EpisodeStatus) -> None:
        self._finished = True
        if status.success:
            self._message = "the door is open"
            self._report()
        else:
            self._fail("no events remain, but the door is not open")

    def _fail(self, reason: str) -> None:
        self._finished = True
        self._level, self._message = DiagnosticStatus.ERROR, reason
        self.get_logger().error(reason)
        self._report()

    def _log_steps(self) -> None:
        assert self._expert is not None
        for line in self._expert.log.steps[self._reported :]:
            self.get_logger().info(line)
        self._reported = len(self._expert.log.steps)

    def _report(self) -> None:
        episode = self._episode[0] if self._episode else 0
        values = {"episode": episode, "retries": self._expert.log.retries if self._expert else 0}
        self._diagnostics.publish(self._level, self._message, values)


main = partial(run_node, "planner_node", PlannerNode)

if __name__ == "__main__":
    sys.exit(main())
