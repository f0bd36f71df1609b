"""The ROS part of `rulesafe bench`: a simulation node, and beside it in a process of its own a
node that listens to everything, as a policy does, and keeps the arm moving."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rulesafe_cli.bench.commands import Options
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.measuring import Measure, Wave, cpu_seconds, interrupted, run_apart

START_LIMIT = 60.0  # s until the first joint states must have come
WARM_UP = 1.0  # s of wall time that are not counted


@dataclass
class Heard:
    """What the listener noted; times of the wall clock in s, simulated ones in simulated s."""

    latencies: list[float] = field(default_factory=list)  # publish to callback of /joint_states
    arrivals: list[float] = field(default_factory=list)  # of /joint_states
    stamps: list[float] = field(default_factory=list)  # simulated, of the same messages
    pictures: int = 0
    clouds: int = 0
    cpu_share: float = 0.0  # of a core, the listener's own
    failure: str = ""


def through_ros(options: Options) -> list[Measure]:
    """Latency and jitter in real time with cameras on, and the speed with no pace set."""
    missing = [name for name in ("rclpy", "rulesafe_interfaces") if not find_spec(name)]
    if missing:
        raise RuleSafeError(f"no {' and no '.join(missing)} in this environment")
    return [
        *_paced(options),
        *_unpaced(options, cameras=True),
        *_unpaced(options, cameras=False),
    ]


def _paced(options: Options) -> list[Measure]:
    with _simulation(options, real_time_factor=1.0, cameras=True) as process:
        heard, cpu = _listen(options, process)
        memory = _peak_memory(process.pid)
    milliseconds = 1000 * np.array(heard.latencies)
    intervals = 1000 * np.diff(heard.arrivals)
    jitter = np.abs(intervals - 10.0)
    rate = len(intervals) / (heard.arrivals[-1] - heard.arrivals[0])
    where = "ROS, real time, cameras on"
    seconds = heard.arrivals[-1] - heard.arrivals[0]
    return [
        Measure.of(
            "/joint_states latency, publish to callback", "ms", milliseconds.tolist(), where
        ),
        _single("/joint_states latency, p99", "ms", float(np.percentile(milliseconds, 99))),
        Measure.of("/joint_states jitter, off the 10 ms between callbacks", "ms", jitter.tolist()),
        _single("/joint_states jitter, p99", "ms", float(np.percentile(jitter, 99))),
        _single(
            "/joint_states rate", "Hz", rate, f"{heard.pictures / seconds / 2:.1f} Hz pictures"
        ),
        _single("sim_node at real time", "cores", cpu, where),
        _single("listener at real time", "cores", heard.cpu_share, where),
        _single("peak memory, sim_node", "MB", memory),
    ]


def _unpaced(options: Options, *, cameras: bool) -> list[Measure]:
    with _simulation(options, real_time_factor=0.0, cameras=cameras) as process:
        heard, cpu = _listen(options, process)
    stamps, arrivals = np.array(heard.stamps), np.array(heard.arrivals)
    # One sample for each second of wall time.
    edges = np.searchsorted(arrivals, np.arange(arrivals[0], arrivals[-1], 1.0))
    factors = np.diff(stamps[edges]) / np.diff(arrivals[edges])
    what = "cameras on" if cameras else "no cameras"
    return [
        Measure.of(
            f"simulated s per wall s through ROS, {what}",
            "",
            factors.tolist(),
            f"sim_node {cpu:.2f}, listener {heard.cpu_share:.2f} cores",
        )
    ]


def _single(name: str, unit: str, value: float, note: str = "") -> Measure:
    return Measure.of(name, unit, [value], note)


@contextlib.contextmanager
def _simulation(
    options: Options, *, real_time_factor: float, cameras: bool
) -> Iterator[subprocess.Popen]:
    """A simulation node on loopback in a domain of its own, stopped at the end."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ["ROS_DOMAIN_ID"] = str(os.getpid() % 100 + 1)
    parameters = {
        "rule": options.rule,
        "safe": options.safe,
        "real_time_factor": real_time_factor,
        "cameras": cameras,
    }
    arguments = [part for k, v in parameters.items() for part in ("-p", f"{k}:={v}".lower())]
    process = subprocess.Popen(
        [sys.executable, "-m", "rulesafe_sim.node", "--ros-args", *arguments],
        stdout=subprocess.DEVNULL,
    )
    with interrupted(process):
        yield process


def _listen(options: Options, process: subprocess.Popen) -> tuple[Heard, float]:
    """What a listener heard, and the cores that the simulation's process used meanwhile."""
    heard, before, after = run_apart(_listener, options.seconds, process.pid)
    if heard.failure:
        raise RuleSafeError(heard.failure)
    (cpu0, wall0), (cpu1, wall1) = before, after
    return heard, (cpu1 - cpu0) / (wall1 - wall0)


def _peak_memory(pid: int) -> float:
    """The most memory (MB) that a process has held."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def _listener(seconds: float, simulation_pid: int):
    """Runs in its own process: listens for some seconds of wall time after a warm-up."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    rclpy.init()
    node = _make_listener()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    deadline = time.monotonic() + START_LIMIT
    while not node.moving:
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() > deadline or not Path(f"/proc/{simulation_pid}").exists():
            node.heard.failure = f"the simulation node did not move within {START_LIMIT:.0f} s"
            return node.heard, (0.0, 0.0), (0.0, 1.0)
    _spin(executor, WARM_UP)
    node.heard = Heard()
    before, own = cpu_seconds(simulation_pid), time.process_time()
    _spin(executor, seconds)
    after = cpu_seconds(simulation_pid)
    node.heard.cpu_share = (time.process_time() - own) / (after[1] - before[1])
    if len(node.heard.arrivals) < 10:
        node.heard.failure = "the simulation node fell silent"
    node.destroy_node()
    rclpy.try_shutdown()
    return node.heard, before, after


def _spin(executor, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        executor.spin_once(timeout_sec=left)


def _make_listener():
    from rclpy.node import Node
    from sensor_msgs.msg import Image, JointState, PointCloud2
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from rulesafe_core import convert, messages
    from rulesafe_core.chunks import MAX_ROWS, PERIOD
    from rulesafe_core.joints import ACTION_JOINTS
    from rulesafe_interfaces.msg import EpisodeStatus

    class Listener(Node):
        """Hears all topics of an observation; sends the next five seconds of a wave each second."""

        def __init__(self) -> None:
            super().__init__("bench_listener")
            self.heard = Heard()
            self.moving = False
            self._wave = Wave()
            self._sent = -PERIOD * MAX_ROWS
            self._chunks = self.create_publisher(
                JointTrajectory, "/policy/action_chunk", convert.STATE_QOS
            )
            listen = self.create_subscription
            listen(JointState, "/joint_states", self._on_joints, convert.STATE_QOS)  # type: ignore
            listen(EpisodeStatus, "/episode/status", self._on_status, convert.STATE_QOS)
            for name in ("head", "front"):
                listen(Image, f"/camera/{name}/image_raw", self._on_image, convert.IMAGE_QOS)
            listen(PointCloud2, "/camera/points", self._on_cloud, convert.IMAGE_QOS)

        def _on_joints(self, message, info) -> None:
            now, stamp = time.time_ns(), messages.to_ns(message.header.stamp)
            if self.heard.stamps and stamp / 1e9 <= self.heard.stamps[-1]:
                return  # the last state, sent again while the simulation waits
            self.heard.latencies.append((now - info["source_timestamp"]) / 1e9)
            self.heard.arrivals.append(now / 1e9)
            self.heard.stamps.append(stamp / 1e9)

        def _on_status(self, message) -> None:
            now = messages.to_ns(message.header.stamp)
            self.moving |= message.frame > 2
            if message.waiting or now - self._sent >= 10 * PERIOD:
                self._sent = now
                self._chunks.publish(self._chunk(now))

        def _chunk(self, now: int) -> JointTrajectory:
            rows = [self._wave(now / 1e9 + 0.1 * i) for i in range(1, MAX_ROWS + 1)]
            points = [
                JointTrajectoryPoint(
                    positions=row.tolist(),
                    time_from_start=_duration(PERIOD * (i + 1)),
                )
                for i, row in enumerate(rows)
            ]
            return JointTrajectory(
                header=convert.to_header(now, "pelvis"), joint_names=ACTION_JOINTS, points=points
            )

        def _on_image(self, message) -> None:
            self.heard.pictures += 1

        def _on_cloud(self, message) -> None:
            self.heard.clouds += 1

    return Listener()


def _duration(time: int):
    from builtin_interfaces.msg import Duration

    return Duration(sec=time // 1_000_000_000, nanosec=time % 1_000_000_000)
