"""Supervisor node: subscribes to /arm_sdk and publishes there after the bridge has died.

It is a separate process. After any number of SIGINT, SIGTERM, SIGHUP and SIGQUIT it runs on until
the weight is 0 and the bridge, if the supervisor took over from it, has continued or ended, because
the end of a launch or of a terminal interrupts the bridge and the supervisor at the same time; only
SIGKILL ends it earlier. Without a takeover it then publishes no heartbeat, so that the bridge
releases the robot.
"""

import sys
from collections import deque
from dataclasses import asdict
from functools import partial

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from unitree_hg.msg import LowCmd

from h1_2_bridge.realtime import steady_ns, use_realtime
from h1_2_bridge.ros import (
    NO_SUBSCRIPTION_EVENTS,
    SUPERVISOR,
    SubscriptionExecutor,
    receivers_of,
    run_robot_node,
    stop_subscriptions,
    take,
)
from h1_2_bridge.supervisor import Supervisor, SupervisorParameters, Turn
from rulesafe_core.callbacks_ros import log_failure
from rulesafe_core.chunks import SECOND
from rulesafe_core.qos_ros import QosWatch
from rulesafe_core.ros import Diagnostics, declare, executing, publishers_of, read_parameters
from rulesafe_core.services_ros import ServicePoller
from rulesafe_interfaces.msg import BridgeState, SupervisorState

BRIDGE = "h1_2_bridge"
"""Node name of the bridge."""

TOPIC = "/arm_sdk"

COMMANDS = 500
"""Most commands that are received and processed between two ticks."""

HEARTBEAT_PERIOD = SECOND // 20
"""Period of /bridge/supervisor, ns."""

SETTLING = 10
"""Number of successive heartbeats in which a robot's subscription must be listed before it is
reported. DDS discovers a subscription before the name of its node; until then the bridge's own
subscription would count as that of a robot."""


class SupervisorNode(Node):
    """Monitors /arm_sdk and takes over when the bridge stops publishing."""

    def __init__(self) -> None:
        super().__init__(SUPERVISOR)
        self._qos = QosWatch(self)
        parameters = declare(self, SupervisorParameters)
        self.supervisor = Supervisor(parameters)
        self.period = round(SECOND / parameters.rate)
        self._patience, self._ramp = parameters.patience, parameters.ramp
        self._receivers = deque([0] * SETTLING, maxlen=SETTLING)
        self._heartbeat_due = self._signals = 0
        self._logged, self._report_due = Turn.NONE, 0
        every = QoSProfile(depth=COMMANDS, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._commands = self.create_publisher(LowCmd, TOPIC, 10)
        self._heartbeat = self.create_publisher(SupervisorState, "bridge/supervisor", 1)
        self._diagnostics = Diagnostics(self)
        listen = partial(self.create_subscription, event_callbacks=NO_SUBSCRIPTION_EVENTS)
        self.polled = listen(LowCmd, TOPIC, self._on_command, every, raw=True)
        listen(BridgeState, "bridge/state", self._on_report, 1)
        for topic, qos in stop_subscriptions(self):
            listen(String, topic, self._on_stop, qos)

    def _on_command(self, raw: bytes) -> None:
        self.supervisor.receive(raw, steady_ns())

    def _on_report(self, state: BridgeState) -> None:
        self.supervisor.bridge_reported(state.weight, steady_ns())

    def _on_stop(self, message: String) -> None:
        self.supervisor.stop(steady_ns())

    def update(self, now: int, signals: int = 0) -> None:
        """Run a tick of the supervisor and publish its result.

        Args:
            now: ns, steady clock.
            signals: number of signals received so far.
        """
        raw = self.supervisor.tick(now)
        if raw is not None:
            self._commands.publish(raw)
        turn = self.supervisor.turn
        if turn is not self._logged:
            self._logged = turn
            if turn is Turn.SUPERVISOR:  # rclpy allows one severity per source line
                self.get_logger().warning(turn.value)
            else:
                self.get_logger().info(turn.value)
        if signals > self._signals and turn is not Turn.NONE:
            self._signals = signals
            self.get_logger().warning(
                f"interrupted (signal {signals}) at the weight {self.supervisor.weight:.2f}: "
                f"{turn.value}; only SIGKILL ends this process earlier"
            )
        interrupted = signals and turn in (Turn.NONE, Turn.BRIDGE)
        if not interrupted and now >= self._heartbeat_due:
            self._heartbeat_due = now + HEARTBEAT_PERIOD
            self._receivers.append(receivers_of(self, TOPIC))
            heartbeat = SupervisorState(
                patience=self._patience,
                ramp=self._ramp,
                weight=self.supervisor.reported_weight,
                receivers=min(self._receivers),
                stop_pending=self.supervisor.stop_pending,
            )
            self._heartbeat.publish(heartbeat)
        if now >= self._report_due:
            self._report_due = now + SECOND
            self._report()

    @property
    def idle(self) -> bool:
        """Whether the process may end; see `Supervisor.idle`."""
        return self.supervisor.idle(BRIDGE in publishers_of(self, TOPIC).values())

    def _report(self) -> None:
        for message in self._qos.check():
            self.get_logger().warning(message)
        supervisor = self.supervisor
        takeover = supervisor.turn is Turn.SUPERVISOR
        level = DiagnosticStatus.WARN if takeover else DiagnosticStatus.OK
        values: dict[str, object] = {"weight": f"{supervisor.weight:.3f}"}
        values |= asdict(supervisor.counts)
        self._diagnostics.publish(level, supervisor.turn.value, values)


def _run(signals: list[int]) -> None:
    """Run until a signal was received and the weight is 0."""
    with executing(SupervisorNode) as (node, executor):
        use_realtime(read_parameters(node, SupervisorParameters))
        inputs = SubscriptionExecutor(node)
        services = ServicePoller(node, executor.services)
        due = steady_ns()
        while not (signals and node.idle):
            inputs.spin_once(max(0, due - steady_ns()))
            if steady_ns() < due:
                continue
            inputs.spin_once(0)
            take(node.polled, COMMANDS)  # all received commands, before the tick
            now = steady_ns()
            due = max(due + node.period, now)
            try:
                node.update(now, len(signals))
                services.poll()
            except Exception as error:  # the process must continue: it releases the robot
                log_failure(node.get_logger(), "supervisor", error)


main = partial(run_robot_node, SUPERVISOR, _run)

if __name__ == "__main__":
    sys.exit(main())
