"""Lifecycle node that connects the robot's messages to the topics of the simulation.

`configure` creates the core and the hand driver; `activate` subscribes. The robot does not move
before /bridge/engage is called. The node sends commands when it receives a state, at most at
`rate`; without states, `update` runs the watchdogs. On SIGINT, SIGTERM, SIGHUP or SIGQUIT the node
ramps the weight down to 0 before it ends; a second one ends it immediately, SIGHUP not counted.

rclpy's default executor checks all entities of a node at each message, which is too slow at 500 Hz.
The robot's states and the chunks are therefore subscribed to by a separate small node, which
`ros.SubscriptionExecutor` executes. Every 5 ms at most one service request is executed. The robot's
messages are received and published as raw bytes. Of each input one message at a time is processed,
the newest, and chunks at most every 20 ms, so that a flood of messages or requests does not delay a
command.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from time import sleep
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.utilities import get_rmw_implementation_identifier
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from unitree_go.msg import MotorCmds, MotorStates
from unitree_hg.msg import LowCmd, LowState

from h1_2_bridge import convert
from h1_2_bridge.config import BridgeParameters
from h1_2_bridge.core import BridgeCore
from h1_2_bridge.drivers import ON_TOPICS, load_driver
from h1_2_bridge.hand_port import HandPort
from h1_2_bridge.network import receives_own
from h1_2_bridge.outputs import load_output
from h1_2_bridge.realtime import steady_ns, use_realtime
from h1_2_bridge.ros import (
    CHUNK_QOS,
    COMMAND_QOS,
    DRY_RUN,
    ECHO_DEPTH,
    ECHO_QOS,
    LISTENER,
    NO_EVENTS,
    NO_SUBSCRIPTION_EVENTS,
    STOP_TOPIC,
    SUPERVISOR,
    UPDATE_PERIOD,
    SubscriptionExecutor,
    receivers_of,
    run_robot_node,
    stop_subscriptions,
    take,
)
from h1_2_bridge.states import NOT_REACHED, ControlState
from h1_2_bridge.wire import encode_low_cmd
from rulesafe_core.callbacks_ros import describe_error, log_failure
from rulesafe_core.chunks import SECOND, Chunk
from rulesafe_core.chunks_ros import ChunkReceiver
from rulesafe_core.convert import LATCHED_QOS, NEWEST_QOS, STATE_QOS, to_time
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.exclusive_ros import RECENT, STREAM_RATE, ExclusiveTopic
from rulesafe_core.lifecycle_node import FAILURE, ManagedNode
from rulesafe_core.qos_ros import QosWatch
from rulesafe_core.robot import h1_2
from rulesafe_core.ros import NAMES, UNNAMED, executing, publishers_of
from rulesafe_core.services_ros import ServicePoller
from rulesafe_core.urdf import BASE_LINK, to_urdf, with_frames
from rulesafe_interfaces.msg import BridgeState, SupervisorState

JOINTS_PERIOD = SECOND // 100
STATE_PERIOD = SECOND // 10

CHUNK_PERIOD = SECOND // 50
"""Shortest time between two chunks, ns. Decoding one takes as long as several commands; in between
the middleware keeps the newest one only."""


class BridgeNode(ManagedNode[BridgeParameters]):
    """Feeds the core and publishes its commands."""

    def __init__(self) -> None:
        super().__init__("h1_2_bridge", BridgeParameters, "bridge/state", event_callbacks=NO_EVENTS)
        config = self.values
        # In a dry run the robot does not move, so that tracking errors are meaningless, and no
        # supervisor is needed.
        dry = replace(config, tracking=10.0, supervisor_timeout=0.0)
        self._config = dry if config.dry_run else config
        self._output = load_output(config.output)
        self.listener = Node(LISTENER, enable_rosout=False, start_parameter_services=False)
        self._qos = QosWatch(self.listener)
        self.core: BridgeCore | None = None
        self._hands: HandPort | None = None
        self._finalized = False  # by the lifecycle transition `shutdown`
        self.polled: list[Subscription] = []  # the own command topic, read in each tick
        self.periods: dict[Subscription, int] = {}  # shortest time between two messages, ns
        self._ticked = self._joints_due = self._state_due = self._report_due = 0  # ns, steady
        self._published: tuple[ControlState, str] | None = None
        self._own_stop = ""  # the last stop request of this node, which it receives, too
        self._others: Counter[tuple[str, str]] = Counter()  # other publishers at the last check
        self._robots: list[ExclusiveTopic] = []  # topics of the robot's states
        self._episode = 0
        self._make_topics()
        if config.autostart:
            self.start()

    def _make_topics(self) -> None:
        publisher = partial(self.create_publisher, event_callbacks=NO_EVENTS)
        prefix = DRY_RUN if self._config.dry_run else ""
        self._body = publisher(LowCmd, prefix + self._output.topic, COMMAND_QOS)
        self._publish_hand: Callable[[bytes], None] = lambda raw: None
        if self._config.hand in ON_TOPICS and not self._config.dry_run:
            self._publish_hand = publisher(MotorCmds, "/inspire/cmd", COMMAND_QOS).publish
        if self._config.dry_run:
            self._hand_targets = publisher(JointState, DRY_RUN + "/hand_targets", STATE_QOS)
        self._joint_states = publisher(JointState, "joint_states", STATE_QOS)
        self._imu = publisher(Imu, "imu", STATE_QOS)
        self._state = publisher(BridgeState, "bridge/state", STATE_QOS)
        self._stops = publisher(String, STOP_TOPIC, STATE_QOS)
        self._description = publisher(String, "robot_description", LATCHED_QOS)
        self._started = publisher(Time, "episode/started", LATCHED_QOS)
        for name, call in (
            ("engage", self._engage),
            ("disengage", lambda core, now: core.disengage(now)),
            ("stop", lambda core, now: core.stop("/bridge/stop was called")),
            ("reset", lambda core, now: core.reset()),
        ):
            self.create_service(Trigger, f"bridge/{name}", self._service(name, call))

    # Transitions --------------------------------------------------------------------------

    def load(self) -> None:
        show = self._show_hand if self._config.dry_run else None
        try:
            driver = load_driver(self._config, self._publish_hand)
            self._hands = HandPort(driver, show) if driver else None
            joints = self._hands.joints if self._hands else ()
            own = receives_own(get_rmw_implementation_identifier())
            self.core = BridgeCore(self._config, self._output, joints, own)
            self._episode = 0  # of the new core
        except RuleSafeError:
            self._close_hands()
            raise
        urdf = with_frames(to_urdf(h1_2()), [BASE_LINK])
        self._description.publish(String(data=urdf))
        if self._config.simulator:
            self.get_logger().warning(
                "simulator is set: CRC and tick of the states are not checked; never with a robot"
            )

    def subscribe(self) -> list[Subscription]:
        listen = partial(self.listener.create_subscription, event_callbacks=NO_SUBSCRIPTION_EVENTS)
        self._robots.clear()
        on_state = self._of_one_robot("/lowstate", self._on_low_state)
        inputs = [listen(LowState, "/lowstate", on_state, NEWEST_QOS, raw=True)]
        receiver = ChunkReceiver(
            self.listener,
            self._time,
            self._on_chunk,
            self._on_refused,
            CHUNK_QOS,
            event_callbacks=NO_SUBSCRIPTION_EVENTS,
        )
        self._chunk_topic = receiver.exclusive
        inputs.append(receiver.subscription)
        self.periods[receiver.subscription] = CHUNK_PERIOD
        stops = stop_subscriptions(self.listener)
        inputs += [listen(String, topic, self._on_stop, qos) for topic, qos in stops]
        if self._config.hand in ON_TOPICS:
            on_state = self._of_one_robot("/inspire/state", self._on_hand)
            inputs.append(listen(MotorStates, "/inspire/state", on_state, NEWEST_QOS, raw=True))
        if self.core is not None and self.core.supervisor is not None:
            beat = self._on_heartbeat
            inputs.append(listen(SupervisorState, "bridge/supervisor", beat, NEWEST_QOS))
        topic = self._body.topic_name
        self.polled[:] = [listen(LowCmd, topic, self._on_command, ECHO_QOS, raw=True)]
        return inputs + self.polled

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        assert self.core is not None
        if not self.released:
            self.get_logger().error(
                f"cannot deactivate while {self.core.state.value}: call /bridge/disengage first"
            )
            return FAILURE
        return super().on_deactivate(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the robot, since this transition cannot be refused: the weight ramps down
        afterwards, and the bridge cannot be engaged again."""
        self._finalized = True
        self.release()
        return super().on_shutdown(state)

    def unload(self) -> None:
        self.core = None
        self._close_hands()

    def _close_hands(self) -> None:
        hands, self._hands = self._hands, None
        if hands is not None:
            hands.driver.close()

    def destroy_node(self) -> None:
        self._close_hands()
        self.listener.destroy_node()
        super().destroy_node()

    # Inputs -------------------------------------------------------------------------------

    def _of_one_robot(self, topic: str, receive: Callable[[bytes], None]) -> Any:
        exclusive = ExclusiveTopic(self.listener, topic, RECENT, STREAM_RATE)
        self._robots.append(exclusive)
        return exclusive.guard(receive, self._on_second_robot)

    def _on_second_robot(self, reason: str) -> None:
        assert self.core is not None
        self.core.watch.last_error = reason
        self.core.release(reason)
        self.warn(reason)

    def _on_low_state(self, raw: bytes) -> None:
        assert self.core is not None
        now = steady_ns()
        state = self.core.receive(raw, now)
        if state is not None and now >= self._joints_due:
            self._joints_due = max(self._joints_due + JOINTS_PERIOD, now + JOINTS_PERIOD // 2)
            self._publish_joints(self._time())
        if now - self._ticked >= 0.75 * SECOND / self._config.rate:
            self._tick(now)

    def _on_stop(self, message: String) -> None:
        assert self.core is not None
        if message.data != self._own_stop:
            self.core.stop(f"stop requested by {message.data[:100]}")

    def _on_heartbeat(self, message: SupervisorState) -> None:
        assert self.core is not None and self.core.supervisor is not None
        m, now = message, steady_ns()
        self.core.supervisor.receive(m.patience, m.weight, m.receivers, m.stop_pending, m.ramp, now)

    def _on_command(self, raw: bytes) -> None:
        assert self.core is not None
        self.core.overhear(raw, steady_ns())

    def _on_hand(self, raw: bytes) -> None:
        assert self._hands is not None
        try:
            self._hands.driver.receive(raw, steady_ns())
        except RuleSafeError as error:
            self.warn(f"hand state refused: {error}")

    def _on_chunk(self, chunk: Chunk, clock: int) -> None:
        assert self.core is not None
        self.core.accept(chunk, clock)

    def _on_refused(self, reason: str, publisher: str, chunk: Chunk | None) -> None:
        assert self.core is not None
        if chunk is None:  # the core counts the others
            self.core.refuse(reason)
        self.warn(f"action chunk of {publisher} refused: {reason}")

    def _service(self, name: str, call: Callable[[BridgeCore, int], str]) -> Callable:
        def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            try:
                if self.core is None or not self.inputs:
                    raise RuleSafeError("the bridge is not active; activate the lifecycle node")
                response.message = call(self.core, steady_ns())
                response.success = True
            except RuleSafeError as error:
                response.message = str(error)
                self.warn(f"/bridge/{name} refused: {error}")
            self._publish_state()
            return response

        return answer

    def _engage(self, core: BridgeCore, now: int) -> str:
        troubles = (topic.trouble() for topic in self._robots)
        reason = next(filter(None, troubles), "") or self._intruders(self._other_publishers())
        if not (reason or self._config.dry_run or receivers_of(self, self._output.topic)):
            reason = f"the bridge {NOT_REACHED}; wait, or check network_interface"
        if self._finalized:
            reason = "the lifecycle node is shut down; start the bridge again"
        if reason:
            raise RuleSafeError(reason)
        return core.engage(now)

    def _other_publishers(self) -> Counter[tuple[str, str]]:
        """Return topic and node name of the publishers of commands, without this bridge and one
        supervisor; empty in a dry run."""
        own = {self._output.topic: [self.get_name(), SUPERVISOR]}
        if self._config.hand in ON_TOPICS:
            own["/inspire/cmd"] = [self.get_name()]
        found: Counter[tuple[str, str]] = Counter()
        for topic, names in {} if self._config.dry_run else own.items():
            others = Counter(publishers_of(self, topic).values()) - Counter(names)
            found.update({(topic, name): count for name, count in others.items()})
        return found

    def _intruders(self, others: Iterable[tuple[str, str]]) -> str:
        """Return the message for other publishers; empty if there are none."""
        words = {
            **NAMES,
            SUPERVISOR: f"a second {SUPERVISOR} (a killed one is listed for up to 20 s)",
        }
        return "; ".join(
            f"{topic} has another publisher: {words.get(name, name)}; end that program"
            for topic, name in sorted(set(others))
        )

    def _check_publishers(self) -> None:
        """Release the robot if another program may command it. A publisher without a node name, as
        one that was just discovered, counts if it is found twice."""
        if self.core is None or self.core.drive.silent():
            self._others = Counter()
            return
        before, self._others = self._others, self._other_publishers()
        certain = [other for other in self._others if other[1] != UNNAMED or other in before]
        if reason := self._intruders(certain):
            self.core.release(reason)

    # Outputs ------------------------------------------------------------------------------

    def _time(self) -> int:
        return self.get_clock().now().nanoseconds

    def fail(self, error: Exception) -> None:
        """Log an error in the bridge itself, and release the robot."""
        log_failure(self.get_logger(), "bridge", error)
        if self.core is not None:
            self.core.release(f"internal error: {describe_error(error)}")

    def update(self, now: int) -> None:
        """Run a tick if no state triggers it, and publish periodic topics. `now`: ns, steady."""
        if self.inputs and now - self._ticked >= max(
            UPDATE_PERIOD, 1.25 * SECOND / self._config.rate
        ):
            self._tick(now)
        if now >= self._state_due:
            self._publish_state()
        if now >= self._report_due:
            self._report_due = now + SECOND
            self._check_publishers()
            for message in self._qos.check():
                self.get_logger().warning(message)
            self.report()

    def _tick(self, now: int) -> None:
        assert self.core is not None
        clock, self._ticked = self._time(), now
        if self._hands is not None:
            try:
                self._hands.update(self.core, now)
            except Exception as error:  # the body still needs its commands
                self.fail(error)
        for subscription in self.polled:
            take(subscription, ECHO_DEPTH)
        sent = self.core.tick(now, clock)
        if sent.body is not None:
            raw = encode_low_cmd(sent.body)
            if (early := self.core.early(steady_ns())) > 0:
                sleep(early / SECOND)
            if self.core.in_time(steady_ns()):
                self._body.publish(raw)
                self.core.published(raw, steady_ns())
        if self._hands is not None:
            self._hands.store(sent)
        if self.core.episode != self._episode:
            self._episode = self.core.episode
            self._chunk_topic.release()
            self._started.publish(to_time(clock))
            self._publish_joints(clock)
        if (self.core.state, self.core.reason) != self._published:
            self._publish_state()

    def _show_hand(self, targets: NDArray[np.float64]) -> None:
        assert self._hands is not None
        joints = tuple(self._hands.joints)
        self._hand_targets.publish(convert.to_targets(joints, targets, self._time()))

    def _publish_joints(self, clock: int) -> None:
        assert self.core is not None and self.core.watch.last is not None
        state = self.core.watch.last
        self._joint_states.publish(convert.to_joint_state(state, self.core.hand, clock))
        self._imu.publish(convert.to_imu(state, clock))

    def _publish_state(self) -> None:
        """Publish /bridge/state and log changes of the state."""
        core, now = self.core, steady_ns()
        self._state_due = now + STATE_PERIOD
        if core is None:
            return
        if (core.state, core.reason) != self._published:
            self._published = core.state, core.reason
            self.get_logger().info(f"{core.state.value}: {core.reason}")
            if core.state is ControlState.DAMPING and core.drive.muted:
                self._own_stop = core.reason
                self._stops.publish(String(data=core.reason))  # the supervisor commands the robot
        self._state.publish(
            convert.to_bridge_state(
                core,
                now,
                self._time(),
                output=self._config.output,
                hand=self._config.hand,
                dry_run=self._config.dry_run,
            )
        )

    def report(self) -> None:
        self.diagnostics.publish(*convert.to_report(self.core, steady_ns()))

    # Shutdown -----------------------------------------------------------------------------

    def release(self) -> None:
        """Release the robot from any state; call it repeatedly until `released`."""
        if self.core is not None:
            self.core.shut_down(steady_ns())

    @property
    def released(self) -> bool:
        """Whether the process is not needed to release the robot."""
        return self.core is None or self.core.released


def _run(signals: list[int]) -> None:
    """Run until the robot is released after a signal, or until a second signal."""
    with executing(BridgeNode) as (node, executor):
        use_realtime(node.values)
        first = [each.service_name for each in node.services if each.srv_type is Trigger]
        services = ServicePoller(node, executor.services, first)
        inputs = SubscriptionExecutor(node.listener, node.polled, node.periods)
        due = 0
        while len(signals) < 2 and not (signals and node.released):
            inputs.spin_once(UPDATE_PERIOD)
            if (now := steady_ns()) >= due:
                due = now + UPDATE_PERIOD
                for clock in node.subscriptions:  # of use_sim_time
                    take(clock, 1)
                if signals:
                    node.release()
                try:
                    services.poll()
                    node.update(steady_ns())
                except Exception as error:
                    node.fail(error)
        if not node.released and node.core is not None:
            after = "its supervisor ramps it down" if node.core.supervisor else "use the remote"
            raise RuleSafeError(
                f"interrupted twice: ended with the weight at {node.core.weight:.2f}; {after}"
            )


main = partial(run_robot_node, "h1_2_bridge", _run)

if __name__ == "__main__":
    sys.exit(main())
