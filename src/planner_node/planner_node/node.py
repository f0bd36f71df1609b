"""The expert on a ROS 2 graph: reads the privileged status, writes chunks as a policy does.

It answers each status that waits, or each chunk that has run out where simulated time goes on,
with the next chunk. What it cannot do it says on /diagnostics: level ERROR, with the key
"episode", upon which an evaluator ends that episode.
"""

import sys
import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from planner_node import convert
from planner_node.expert import Expert, paced
from planner_node.habits import STYLES, styled
from planner_node.motion import PLANNERS
from rulesafe_core.chunks import PERIOD
from rulesafe_core.convert import STATE_QOS, to_trajectory
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.messages import to_ns
from rulesafe_core.ros import Diagnostics, claim, declare, run_node
from rulesafe_core.settings import Settings, setting
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_sim.safes import load_safe

AGAIN = 1.0
"""A chunk that the simulation still waits for after this long (s of wall time) is sent again."""


@dataclass(frozen=True)
class PlannerParameters(Settings):
    """Parameters of the planner node."""

    expert_seed: int = setting(0, "Seed of the expert's random choices.", 0, 2**31 - 1)
    speed: float = setting(1.0, "Scale of the expert's speeds.", 0.2, 2)
    style: str = setting("varied", f"Mode of the expert: {', '.join(STYLES)}.")
    planner: str = setting("RRTConnect", f"Planner of OMPL: {', '.join(PLANNERS)}.")


class PlannerNode(Node):
    """One expert per episode; its callbacks do all the work, one at a time."""

    def __init__(self) -> None:
        super().__init__("planner_node")
        self._claim = claim(self, "/policy/action_chunk")
        values = declare(self, PlannerParameters)
        if values.planner not in PLANNERS:
            raise unknown_name("motion planner", values.planner, PLANNERS)
        config = styled(values.style)
        moves = replace(config.moves, planner=values.planner)
        self._config = paced(replace(config, moves=moves), values.speed)
        self._seed = values.expert_seed
        self._status: EpisodeStatus | None = None
        self._joints: JointState | None = None
        self._episode: tuple = ()
        self._newest = 0  # ns, the newest status
        self._clear()
        self._chunks = self.create_publisher(JointTrajectory, "/policy/action_chunk", STATE_QOS)
        self._diagnostics = Diagnostics(self)
        # Only the newest counts: what queued up while the expert was thinking is old.
        self.create_subscription(EpisodeStatus, "/episode/status", self._on_status, 1)
        self.create_subscription(JointState, "/joint_states", self._on_joints, 1)
        self.create_timer(1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _clear(self) -> None:
        self._expert: Expert | None = None
        self._begun = False
        self._over = False
        self._reported = 0
        self._level, self._message = DiagnosticStatus.OK, "waiting for an episode"
        self._sent: JointTrajectory | None = None
        self._sent_at = 0.0  # s of wall time
        self._end = 0  # ns, of the chunk sent last
        self._late: NDArray[np.float64] | None = None

    # What comes in ------------------------------------------------------------------------

    def _on_status(self, status: EpisodeStatus) -> None:
        episode = (status.episode, status.rule, status.safe, status.seed)
        stamp = to_ns(status.header.stamp)
        if episode != self._episode or stamp < self._newest:  # the clock of a new simulation
            self._episode = episode
            self._clear()
            self._start(status)
        self._status, self._newest = status, stamp
        self._act()

    def _on_joints(self, joints: JointState) -> None:
        self._joints = joints
        if self._late is not None:
            rows, self._late = self._late, None
            self._send(rows, to_ns(joints.header.stamp))
            return
        self._act()

    def _start(self, status: EpisodeStatus) -> None:
        self.get_logger().info(
            f"{status.rule} on {status.safe}, seed {status.seed}: {' '.join(status.plan)}"
        )
        try:
            self._expert = Expert(load_safe(status.safe), config=self._config, seed=self._seed)
            self._message = "planning"
        except RuleSafeError as error:
            self._fail(str(error))

    # What goes out ------------------------------------------------------------------------

    def _act(self) -> None:
        """Plans if it is the planner's turn."""
        status, joints = self._status, self._joints
        if status is None or joints is None or self._over or self._late is not None:
            return
        now, joints_at = to_ns(status.header.stamp), to_ns(joints.header.stamp)
        if status.waiting:
            if self._sent and to_ns(self._sent.header.stamp) == now:
                self._send_again()
            elif joints_at == now:
                self._plan(joints, status)
        elif min(now, joints_at) >= self._end:  # time goes on, and the last chunk has run out
            self._plan(joints, status)

    def _plan(self, joints: JointState, status: EpisodeStatus) -> None:
        assert self._expert is not None
        obs = convert.to_observation(joints, status)
        advance = self._expert.next_chunk if self._begun else self._expert.begin
        self._begun = True
        try:
            rows = advance(obs)
        except RuleSafeError as error:
            self._log_steps()
            self._fail(str(error))
            return
        self._log_steps()
        if rows is None:
            self._finish(status)
        elif status.waiting:
            self._send(rows, to_ns(status.header.stamp))
        else:
            # Time went on while the robot stood still: the chunk goes out with the next state.
            self._late = rows

    def _send(self, rows: NDArray[np.float64], stamp: int) -> None:
        self._sent = to_trajectory(rows, stamp)
        self._end = stamp + len(rows) * PERIOD
        self._sent_at = time.monotonic()
        self._chunks.publish(self._sent)

    def _send_again(self) -> None:
        if time.monotonic() - self._sent_at > AGAIN:
            self.get_logger().warning("the simulation still waits: the chunk is sent again")
            self._sent_at = time.monotonic()
            self._chunks.publish(self._sent)

    # What it says -------------------------------------------------------------------------

    def _finish(self, status: EpisodeStatus) -> None:
        self._over = True
        if status.success:
            self._message = "the door is open"
            self._report()
        else:
            self._fail("nothing that is left to do opens the door")

    def _fail(self, reason: str) -> None:
        self._over = True
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
