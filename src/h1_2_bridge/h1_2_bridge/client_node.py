"""A node that listens to a bridge and calls its services, for the command line."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from std_msgs.msg import String
from std_srvs.srv import Trigger
from unitree_go.msg import MotorStates
from unitree_hg.msg import LowState

from h1_2_bridge.checks import PICTURES
from h1_2_bridge.network import use_interface
from h1_2_bridge.snapshot import Arrivals, BridgeFacts, Snapshot
from h1_2_bridge.wire import decode_low_state, decode_motor_states
from rulesafe_core.convert import LATCHED_QOS, STATE_QOS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import to_ns
from rulesafe_interfaces.msg import BridgeState

SENSOR_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""What any driver offers."""

AGAIN = 5.0
"""s after which a call without an answer is made again: DDS may lose the answer to a client that it
has only just discovered."""


class BridgeClient(Node):
    """Hears /bridge/state; `said` is what to print whenever that changes.

    Attributes:
        state: the last message, None before the first.
    """

    def __init__(self, said: Callable[[str], None] = print) -> None:
        super().__init__("rulesafe_bridge")
        self.state: BridgeState | None = None
        self._said = said
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)
        self.create_subscription(BridgeState, "/bridge/state", self._on_state, STATE_QOS)

    def _on_state(self, message: BridgeState) -> None:
        last, self.state = self.state, message
        if last is None or (last.state, last.reason) != (message.state, message.reason):
            self._said(f"{message.state}: {message.reason}")

    def spin_until(self, condition: Callable[[], object], patience: float) -> bool:
        """Serves until the condition holds; whether it did within `patience` s."""
        end = time.monotonic() + patience
        while not condition():
            left = end - time.monotonic()
            if left <= 0 or not rclpy.ok():
                return False
            self._executor.spin_once(timeout_sec=min(left, 0.1))
        return True

    def wait_for(
        self,
        states: Sequence[str],
        patience: float,
        over: Sequence[str] = (),
        hands: bool = False,
    ) -> str:
        """Waits until the bridge is in one of these states, and its hands answer if `hands`; which.
        In one of `over` there is nothing to wait for. Errors: RuleSafeError with what it is
        instead."""

        def decided() -> bool:
            now = self.state
            if now is None:
                return False
            return now.state in over or (now.state in states and not (hands and now.hand_trouble))

        in_time = self.spin_until(decided, patience)
        now = self.state
        if in_time and now is not None and now.state in states:
            return str(now.state)
        wanted = f"the bridge was not {' or '.join(states)} within {patience:g} s"
        if now is None:
            raise RuleSafeError(f"{wanted}: none is heard")
        if now.state in over:
            raise RuleSafeError(
                f"the bridge is {now.state}, {now.reason}: rulesafe bridge reset, once it is mended"
            )
        trouble = f"; {now.hand_trouble}" if now.hand_trouble else ""
        raise RuleSafeError(f"{wanted}: it is {now.state}, {now.reason}{trouble}")

    def call(self, name: str, patience: float = 30.0) -> str:
        """Calls a Trigger service; what it answers. Errors: RuleSafeError if it refuses, or does
        not answer."""
        client = self.create_client(Trigger, name)
        answers: list[Future] = []
        asked = -AGAIN

        def answered() -> bool:
            nonlocal asked
            if client.service_is_ready() and time.monotonic() - asked > AGAIN:
                asked = time.monotonic()
                answers.append(client.call_async(Trigger.Request()))
            return any(answer.done() for answer in answers)

        if not self.spin_until(answered, patience):
            raise RuleSafeError(f"{name} did not answer within {patience:g} s: does a bridge run?")
        response = next(answer.result() for answer in answers if answer.done())
        if not response.success:
            raise RuleSafeError(f"{name} refused: {response.message}")
        return str(response.message)

    def listen(self, seconds: float) -> Snapshot:
        """Everything that a check looks at, for so long."""
        snapshot = Snapshot()
        subscribe = self.create_subscription

        def low_state(raw: bytes) -> None:
            snapshot.lowstate.times.append(time.monotonic_ns())
            try:
                snapshot.states.append(decode_low_state(raw))
            except RuleSafeError:
                snapshot.malformed += 1

        def hands(raw: bytes) -> None:
            _arrived(snapshot, "/inspire/state")
            snapshot.hand = decode_motor_states(raw).q

        def joints(message: JointState) -> None:
            _arrived(snapshot, "/joint_states", message)
            snapshot.joints = dict(zip(message.name, message.position, strict=False))

        def picture(topic: str) -> Callable[[Any], None]:
            return lambda message: _arrived(snapshot, topic, message)

        def instruction(message: String) -> None:
            snapshot.instruction = message.data

        subscribe(LowState, "/lowstate", low_state, SENSOR_QOS, raw=True)
        subscribe(MotorStates, "/inspire/state", hands, SENSOR_QOS, raw=True)
        subscribe(JointState, "/joint_states", joints, SENSOR_QOS)
        subscribe(String, "/instruction", instruction, LATCHED_QOS)
        kinds = {"image_raw": Image, "camera_info": CameraInfo, "points": PointCloud2}
        for topic in PICTURES:
            subscribe(kinds[topic.rsplit("/", 1)[1]], topic, picture(topic), SENSOR_QOS)
        self.spin_until(lambda: False, seconds)
        if self.state is not None:
            names = BridgeFacts.__dataclass_fields__
            snapshot.bridge = BridgeFacts(**{name: getattr(self.state, name) for name in names})
        for topic in ("/arm_sdk", "/lowcmd"):
            infos = self.get_publishers_info_by_topic(topic)
            snapshot.writers[topic] = sorted({info.node_name for info in infos})
        snapshot.nodes = set(self.get_node_names())
        return snapshot


def _arrived(snapshot: Snapshot, topic: str, message: Any = None) -> None:
    arrivals = snapshot.topics.setdefault(topic, Arrivals())
    arrivals.times.append(time.monotonic_ns())
    if message is not None:
        arrivals.ages.append(time.time_ns() - to_ns(message.header.stamp))


@contextmanager
def connected(network_interface: str) -> Iterator[BridgeClient]:
    """A client that prints what the bridge says, on the robot's interface too if one is named.
    Errors: RuleSafeError for an unknown interface."""
    use_interface(network_interface)
    rclpy.init()
    client = BridgeClient(lambda text: print(text, flush=True))
    try:
        yield client
    finally:
        client.destroy_node()
        rclpy.try_shutdown()
