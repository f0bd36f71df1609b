"""The supervisor on a ROS 2 graph: /arm_sdk in, and out once the bridge has fallen silent.

A process of its own, started beside the bridge. Interrupted, it stays until the weight is 0 or has
been taken back: a launch that ends interrupts the bridge and it at once.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from unitree_hg.msg import LowCmd

from h1_2_bridge.ros import until_signal
from h1_2_bridge.supervisor import SECOND, Parameters, Supervisor, Turn
from rulesafe_core.convert import to_diagnostics
from rulesafe_core.ros import declare

NAME = "h1_2_bridge_supervisor"
"""The bridge lets no other node write /arm_sdk beside it than the one of this name."""

TOPIC = "/arm_sdk"


class SupervisorNode(Node):
    """Hears /arm_sdk and speaks there when it must."""

    def __init__(self) -> None:
        super().__init__(NAME)
        parameters = declare(self, Parameters)
        self.supervisor = Supervisor(parameters)
        self.period = round(SECOND / parameters.rate)
        self.messages = 0
        self._told, self._report_due = Turn.NOBODY, 0
        every = QoSProfile(depth=500, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._out = self.create_publisher(LowCmd, TOPIC, 10)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
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
        stamp = self.get_clock().now().nanoseconds
        self._diagnostics.publish(
            to_diagnostics(self.get_name(), level, supervisor.turn.value, values, stamp)
        )


def _run(signals: list[int]) -> None:
    """Until a second signal, or a first one while nobody holds the robot."""
    node, executor = SupervisorNode(), SingleThreadedExecutor()
    executor.add_node(node)
    due = time.monotonic_ns()
    try:
        while len(signals) < 2 and not (signals and node.supervisor.turn is Turn.NOBODY):
            executor.spin_once(timeout_sec=max(0.0, (due - time.monotonic_ns()) / SECOND))
            if time.monotonic_ns() < due:
                continue
            heard = -1
            while heard != node.messages:  # all that waits is heard before it decides
                heard = node.messages
                executor.spin_once(timeout_sec=0)
            now = time.monotonic_ns()
            due = max(due + node.period, now)
            node.turn(now)
    finally:
        node.destroy_node()


def main(args: Sequence[str] | None = None) -> int:
    """Runs the node; the exit code of `until_signal`."""
    return until_signal(NAME, _run, args)


if __name__ == "__main__":
    sys.exit(main())
