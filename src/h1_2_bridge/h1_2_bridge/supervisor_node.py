"""The supervisor on a ROS 2 graph: /arm_sdk in, and out once the bridge has fallen silent.

A process of its own, started beside the bridge. Interrupted, it stays until the weight is 0 or has
been taken back: a launch that ends interrupts the bridge and it at once.
"""

import sys
import time
from dataclasses import asdict
from functools import partial

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from unitree_hg.msg import LowCmd

from h1_2_bridge.ros import run_robot_node
from h1_2_bridge.supervisor import SECOND, Supervisor, SupervisorParameters, Turn
from rulesafe_core.ros import Diagnostics, declare, executing

NAME = "h1_2_bridge_supervisor"
"""The bridge lets no other node write /arm_sdk beside it than the one of this name."""

TOPIC = "/arm_sdk"


class SupervisorNode(Node):
    """Hears /arm_sdk and speaks there when it must."""

    def __init__(self) -> None:
        super().__init__(NAME)
        parameters = declare(self, SupervisorParameters)
        self.supervisor = Supervisor(parameters)
        self.period = round(SECOND / parameters.rate)
        self.messages = 0
        self._told, self._report_due = Turn.NOBODY, 0
        every = QoSProfile(depth=500, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._out = self.create_publisher(LowCmd, TOPIC, 10)
        self._diagnostics = Diagnostics(self)
        self.create_subscription(LowCmd, TOPIC, self._on_command, every, raw=True)

    def _on_command(self, raw: bytes) -> None:
        self.messages += 1
        self.supervisor.hear(raw, time.monotonic_ns())

    def turn(self, now: int) -> None:
        """What is due at `now`, ns of the steady clock."""
        raw = self.supervisor.tick(now)
        if raw is not None:
            self._out.publish(raw)
        turn = self.supervisor.turn
        if turn is not self._told:
            self._told = turn
            if turn is Turn.SUPERVISOR:  # a logger wants one severity for each line of source
                self.get_logger().warning(turn.value)
            else:
                self.get_logger().info(turn.value)
        if now >= self._report_due:
            self._report_due = now + SECOND
            self._report()

    def _report(self) -> None:
        supervisor = self.supervisor
        speaking = supervisor.turn is Turn.SUPERVISOR
        level = DiagnosticStatus.WARN if speaking else DiagnosticStatus.OK
        values: dict[str, object] = {"weight": f"{supervisor.weight:.3f}"}
        values |= asdict(supervisor.counts)
        self._diagnostics.publish(level, supervisor.turn.value, values)


def _run(signals: list[int]) -> None:
    """Run until a second signal, or a first one while nothing holds the robot."""
    with executing(SupervisorNode) as (node, executor):
        due = time.monotonic_ns()
        while len(signals) < 2 and not (signals and node.supervisor.turn is Turn.NOBODY):
            executor.spin_once(timeout_sec=max(0.0, (due - time.monotonic_ns()) / SECOND))
            if time.monotonic_ns() < due:
                continue
            served = -1
            while served != node.messages:  # all waiting messages are served before it decides
                served = node.messages
                executor.spin_once(timeout_sec=0)
            now = time.monotonic_ns()
            due = max(due + node.period, now)
            node.turn(now)


main = partial(run_robot_node, NAME, _run)

if __name__ == "__main__":
    sys.exit(main())
