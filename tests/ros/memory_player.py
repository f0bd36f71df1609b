"""A publisher of joint states that receives the tokens of the memory node."""

import time

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.client import Client as ServiceClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from policy_node.convert import TOKENS_QOS
from rulesafe_core import convert, messages
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_interfaces.msg import MemoryTokens
from rulesafe_sim.simulation import HOME_ACTION
from vq_memory_node.memory import Reading
from vq_memory_node.rolling import readings_of

INPUTS = {
    "/joint_states": (JointState, "sensor_msgs/msg/JointState", convert.STATE_QOS),
    "/clock": (Clock, "rosgraph_msgs/msg/Clock", convert.STATE_QOS),
    "/episode/started": (Time, "builtin_interfaces/msg/Time", convert.LATCHED_QOS),
}
"""Inputs of the memory node: message type, topic and QoS."""


class Player:
    """Publishes joint states by their stamps, and receives the memory's tokens."""

    def __init__(self, client):
        self.client = client
        self.heard: dict[int, MemoryTokens] = {}  # by stamp, ns
        self.diagnostics: list[DiagnosticStatus] = []
        self._callers: dict[str, ServiceClient] = {}
        self.speak()
        client.create_subscription(MemoryTokens, "/memory/tokens", self._on_tokens, TOKENS_QOS)
        client.create_subscription(
            DiagnosticArray, "/diagnostics", lambda m: self.diagnostics.extend(m.status), 10
        )

    def speak(self):
        self.publishers = {
            topic: self.client.create_publisher(kind, topic, qos)
            for topic, (kind, _, qos) in INPUTS.items()
        }
        self._joints, self._clock, self._started = self.publishers.values()

    def be_silent(self):
        """Destroy the publishers, so that other nodes may publish these topics."""
        for publisher in self.publishers.values():
            self.client.destroy_publisher(publisher)

    def _on_tokens(self, message):
        self.heard[messages.to_ns(message.header.stamp)] = message

    def wait(self):
        """Wait until the node responds to this client: messages are lost while a subscriber has not
        yet discovered the publisher."""
        self.heard.clear()

        def answered():
            self.send(HOME_ACTION, 0)
            return self.heard

        self.client.until(answered, "the memory of a joint state")
        self.heard.clear()

    def play(self, positions, begin, hz=10, speed=0.0):
        """Publish an episode (N, 13) given at 10 Hz as samples at `hz` from the stamp `begin` (ns).

        `speed` is the factor of real time; 0: without pacing. Each message has all joints of the
        robot in another order."""
        rng = np.random.default_rng(0)
        started = time.monotonic()
        for sample in range((len(positions) - 1) * hz // 10 + 1):
            frame, rest = divmod(sample * 10, hz)
            after = positions[min(frame + 1, len(positions) - 1)]
            row = positions[frame] if not rest else (positions[frame] + after) / 2
            stamp = begin + sample * SECOND // hz
            if sample % 100 == 0:
                order = rng.permutation(len(ALL_JOINTS))
            self.send(row, stamp, [ALL_JOINTS[i] for i in order])
            self._clock.publish(Clock(clock=convert.to_time(stamp)))
            while speed and time.monotonic() - started < sample / hz / speed:
                self.client.spin_for(0.001)

    def send(self, row, stamp, names=ACTION_JOINTS):
        values = dict.fromkeys(names, 0.0) | dict(zip(ACTION_JOINTS, map(float, row), strict=True))
        message = JointState(name=list(names), position=[values[name] for name in names])
        message.header.stamp = convert.to_time(stamp)
        self._joints.publish(message)

    def begin(self, stamp):
        self._started.publish(convert.to_time(stamp))

    def until(self, stamp):
        self.client.until(lambda: stamp in self.heard, f"the memory at {stamp / SECOND:g} s")

    def call(self, kind, service, request=None):
        if service not in self._callers:
            self._callers[service] = self.client.create_client(kind, service)
        caller = self._callers[service]
        self.client.meet(caller)
        future = caller.call_async(request or kind.Request())
        self.client.until(future.done, f"the reply of {service}")
        return future.result()

    def check(self, positions, begin, memory, at_least=1, grid=None):
        """Check that all tokens received since the stamp `begin` (ns) are those of this episode."""
        batch = readings_of(positions, memory, grid)
        heard = {stamp: m for stamp, m in self.heard.items() if stamp >= begin}
        assert len(heard) >= at_least
        for stamp, message in heard.items():
            reading = Reading(*messages.decode_tokens(message))
            frame, rest = divmod(stamp - begin, PERIOD)
            assert rest == 0
            assert np.array_equal(reading.values, batch[frame].values), f"frame {frame}"
            assert np.array_equal(reading.mask, batch[frame].mask)
