"""The subscriber process of the ROS part of `make bench`; see node.py."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from sensor_msgs.msg import Image, JointState, PointCloud2

from rulesafe_core import convert, messages
from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS_TOPIC
from rulesafe_core.chunks import MAX_STEPS, PERIOD
from rulesafe_core.chunks_ros import ChunkPublisher
from rulesafe_core.client_node import ClientNode, connected
from rulesafe_core.errors import RuleSafeError
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_studies.measuring import Wave, cpu_seconds

START_LIMIT = 60.0  # s, time limit for the first joint states
WARM_UP = 1.0  # s of wall time that are not measured


@dataclass
class Received:
    """Measurements of the subscriber; wall times in s, simulated times in simulated s."""

    latencies: list[float] = field(default_factory=list)  # of /joint_states, publish to callback
    arrivals: list[float] = field(default_factory=list)  # wall times of /joint_states
    stamps: list[float] = field(default_factory=list)  # simulated times of these messages
    images: int = 0
    cpu_share: float = 0.0  # CPU usage of the subscriber, cores
    simulation_cpu_share: float = 0.0  # CPU usage of the simulation, cores


class Listener(ClientNode):
    """Subscribes to all observation topics; publishes 5 s of a wave every second."""

    def __init__(self) -> None:
        super().__init__("bench_listener")
        self.received = Received()
        self.moving = False
        self._wave = Wave()
        self._sent = -PERIOD * MAX_STEPS
        self._chunks = ChunkPublisher(self)
        listen = self.create_subscription
        listen(JointState, "/joint_states", self._on_joints, convert.STATE_QOS)  # type: ignore
        listen(EpisodeStatus, "/episode/status", self._on_status, convert.STATE_QOS)
        for camera in DEFAULT_CAMERAS:
            listen(Image, camera.topic(), self._on_image, convert.IMAGE_QOS)
        listen(PointCloud2, POINTS_TOPIC, lambda _: None, convert.IMAGE_QOS)

    def _on_joints(self, message, info) -> None:
        now, stamp = time.time_ns(), messages.to_ns(message.header.stamp)
        if self.received.stamps and stamp / 1e9 <= self.received.stamps[-1]:
            return  # the last state, published again while the simulation waits
        self.received.latencies.append((now - info["source_timestamp"]) / 1e9)
        self.received.arrivals.append(now / 1e9)
        self.received.stamps.append(stamp / 1e9)

    def _on_status(self, message) -> None:
        now = messages.to_ns(message.header.stamp)
        self.moving |= message.frame > 2
        if message.waiting or now - self._sent >= 10 * PERIOD:
            self._sent = now
            steps = [self._wave(now / 1e9 + 0.1 * i) for i in range(1, MAX_STEPS + 1)]
            self._chunks.send(steps, now)

    def _on_image(self, message) -> None:
        self.received.images += 1


def listen(seconds: float, simulation: int) -> Received:
    """Subscribe for some seconds of wall time after a warm-up.

    Args:
        seconds: duration, s.
        simulation: process id of the simulation node.

    Raises:
        RuleSafeError: if the simulation does not start, or stops publishing.
    """
    with connected(Listener) as node:
        end = time.monotonic() + START_LIMIT

        def failed() -> bool:
            return time.monotonic() > end or not Path(f"/proc/{simulation}").exists()

        node.spin_until(lambda: node.moving or failed())
        if not node.moving:
            raise RuleSafeError(f"sim_node did not move the robot within {START_LIMIT:.0f} s")
        node.spin_for(WARM_UP)
        node.received = received = Received()
        (cpu, wall), own = cpu_seconds(simulation), time.process_time()
        node.spin_for(seconds)
        cpu_after, wall_after = cpu_seconds(simulation)
        received.cpu_share = (time.process_time() - own) / (wall_after - wall)
        received.simulation_cpu_share = (cpu_after - cpu) / (wall_after - wall)
        if len(received.arrivals) < 10:
            raise RuleSafeError("sim_node stopped publishing /joint_states")
        return received
