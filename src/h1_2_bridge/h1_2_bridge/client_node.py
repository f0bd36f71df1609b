"""ROS client of the bridge for the command line: subscribes to its state, calls its services."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from std_msgs.msg import String
from std_srvs.srv import Trigger
from unitree_go.msg import MotorStates
from unitree_hg.msg import LowState

from h1_2_bridge.checks import CAMERA_TOPICS
from h1_2_bridge.ros import STOP_TOPIC
from h1_2_bridge.snapshot import Arrivals, BridgeFacts, RobotSnapshot
from h1_2_bridge.wire import decode_low_state, decode_motor_states
from rulesafe_core.client_node import ClientNode
from rulesafe_core.convert import LATCHED_QOS, STATE_QOS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import to_ns
from rulesafe_core.namespaces import relative
from rulesafe_core.repeated_ros import RepeatedRequest
from rulesafe_core.ros import NAMES, publishers_of
from rulesafe_interfaces.msg import BridgeState

SENSOR_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""QoS of the recorded topics; best effort receives from publishers of either reliability."""

REPEAT = 5.0
"""Time after which a service request without a response is repeated, s."""

DISCOVERY = 10.0
"""Time in which a service is discovered, s."""

STOP_PERIOD = 0.2
"""Period of the repetition of a stop request that is not confirmed, s."""


class BridgeClient(ClientNode):
    """Subscribes to /bridge/state and reports each change.

    Args:
        report: called with one line per change.

    Attributes:
        state: the last message; None before the first.
    """

    def __init__(self, report: Callable[[str], None] = print) -> None:
        super().__init__("rulesafe_bridge")
        self.state: BridgeState | None = None
        self._report = report
        self.create_subscription(BridgeState, "bridge/state", self._on_state, STATE_QOS)

    def _on_state(self, message: BridgeState) -> None:
        last, self.state = self.state, message
        if last is None or (last.state, last.reason) != (message.state, message.reason):
            self._report(f"{message.state}: {message.reason}")

    def wait_for(
        self,
        states: Sequence[str],
        timeout: float,
        final: Sequence[str] = (),
        hands: bool = False,
    ) -> str:
        """Wait until the bridge is in one of `states` and return that state.

        Args:
            states: states to wait for.
            timeout: s.
            final: states from which `states` cannot be reached; stop waiting in them.
            hands: whether to wait until the hands respond, too.

        Raises:
            RuleSafeError: the bridge is in another state after `timeout`, or in a final one.
        """

        def decided() -> bool:
            now = self.state
            if now is None:
                return False
            return now.state in final or (now.state in states and not (hands and now.hand_trouble))

        in_time = self.spin_until(decided, timeout)
        now = self.state
        if in_time and now is not None and now.state in states:
            return str(now.state)
        if now is None:
            raise self._absence(f"no message on /bridge/state within {timeout:g} s")
        summary = f"the bridge was not {' or '.join(states)} within {timeout:g} s"
        if now.state in final:
            raise RuleSafeError(
                f"the bridge is {now.state}: {now.reason}; fix the cause, then run rulesafe bridge "
                "reset"
            )
        trouble = f"; {now.hand_trouble}" if now.hand_trouble else ""
        raise RuleSafeError(f"{summary}: it is {now.state}: {now.reason}{trouble}")

    def _absence(self, sign: str) -> RuleSafeError:
        return RuleSafeError(
            f"no bridge found in ROS domain {self.context.get_domain_id()}: {sign}; start "
            "launch/robot.launch.xml with the same ROS_DOMAIN_ID and RULESAFE_NAMESPACE"
        )

    def call(self, name: str, timeout: float = 30.0) -> str:
        """Call a Trigger service and return the message of its response.

        Raises:
            RuleSafeError: there is no bridge, or the service refuses or does not respond.
        """
        client = self.create_client(Trigger, name)
        if not self.spin_until(client.service_is_ready, DISCOVERY):
            raise self._absence(f"no service {name} within {DISCOVERY:g} s")
        send = partial(client.call_async, Trigger.Request())
        response = self.response(name, send, timeout, REPEAT, client.service_is_ready)
        if not response.success:
            raise RuleSafeError(f"{client.service_name} refused: {response.message}")
        return str(response.message)

    def stop(self, name: str, timeout: float = 10.0) -> str:
        """Request a stop on the stop topic and from the service, until the bridge reports DAMPING.

        The topic needs no reply, and the supervisor obeys it, too.

        Args:
            name: the requester.
            timeout: s.

        Raises:
            RuleSafeError: the bridge does not confirm the stop; the request was published.
        """
        publisher = self.create_publisher(String, STOP_TOPIC, LATCHED_QOS)
        client = self.create_client(Trigger, "bridge/stop")
        send = partial(client.call_async, Trigger.Request())
        request = RepeatedRequest(send, REPEAT, client.service_is_ready)
        self.state = None  # only a state from now on confirms the stop
        due = 0.0

        def confirmed() -> bool:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + STOP_PERIOD
                publisher.publish(String(data=name))
            request.poll()
            return self.state is not None and self.state.state == "DAMPING"

        if not self.spin_until(confirmed, timeout):
            raise RuleSafeError(
                f"the stop was published on {publisher.topic_name}, but the bridge did not confirm "
                f"it within {timeout:g} s: use the remote (L2+B) or the emergency stop"
            )
        assert self.state is not None
        return f"{self.state.state}: {self.state.reason}"

    def listen(self, seconds: float) -> RobotSnapshot:
        """Record the input of the checks for `seconds` and return it."""
        snapshot = RobotSnapshot()
        subscribe = self.create_subscription

        def low_state(raw: bytes) -> None:
            snapshot.lowstate.times.append(time.monotonic_ns())
            try:
                snapshot.states.append(decode_low_state(raw))
            except RuleSafeError:
                snapshot.malformed += 1

        def hands(raw: bytes) -> None:
            with suppress(RuleSafeError):  # a malformed state is none
                snapshot.hand = decode_motor_states(raw).q
                _arrived(snapshot, "/inspire/state")

        def joints(message: JointState) -> None:
            _arrived(snapshot, "/joint_states", message)
            snapshot.joints = dict(zip(message.name, message.position, strict=False))

        def camera(topic: str) -> Callable[[Any], None]:
            return lambda message: _arrived(snapshot, topic, message)

        def instruction(message: String) -> None:
            snapshot.instruction = message.data

        subscribe(LowState, "/lowstate", low_state, SENSOR_QOS, raw=True)
        subscribe(MotorStates, "/inspire/state", hands, SENSOR_QOS, raw=True)
        subscribe(JointState, "joint_states", joints, SENSOR_QOS)
        subscribe(String, "instruction", instruction, LATCHED_QOS)
        kinds = {"image_raw": Image, "camera_info": CameraInfo, "points": PointCloud2}
        for topic in CAMERA_TOPICS:
            kind = kinds[topic.rsplit("/", 1)[1]]
            subscribe(kind, relative(topic), camera(topic), SENSOR_QOS)
        self.spin_for(seconds)
        if self.state is not None:
            names = BridgeFacts.__dataclass_fields__
            snapshot.bridge = BridgeFacts(**{name: getattr(self.state, name) for name in names})
        for topic in ("/arm_sdk", "/lowcmd", "/lowstate"):
            found = publishers_of(self, topic).values()
            snapshot.publishers[topic] = sorted(NAMES.get(name, name) for name in found)
        own = self.get_namespace()
        snapshot.nodes = {n for n, space in self.get_node_names_and_namespaces() if space == own}
        return snapshot


def _arrived(snapshot: RobotSnapshot, topic: str, message: Any = None) -> None:
    arrivals = snapshot.topics.setdefault(topic, Arrivals())
    arrivals.times.append(time.monotonic_ns())
    if message is not None:
        arrivals.ages.append(time.time_ns() - to_ns(message.header.stamp))
