"""The ROS part of `make bench`: a simulation node, and in another process a node that
subscribes to all topics, as a policy does, and keeps the arm moving."""

import os
from typing import TYPE_CHECKING

import numpy as np

from rulesafe_core.domains import reserve_domain
from rulesafe_studies.bench.commands import BenchOptions
from rulesafe_studies.measuring import Measure, peak_memory, ros_node, run_apart

if TYPE_CHECKING:
    from rulesafe_studies.bench.listener_node import Received


def through_ros(options: BenchOptions) -> list[Measure]:
    """Return latency and jitter in real time with cameras on, and the speed without pacing."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ["ROS_DOMAIN_ID"] = str(reserve_domain())
    return [
        *_paced(options),
        *_unpaced(options, cameras=True),
        *_unpaced(options, cameras=False),
    ]


def _paced(options: BenchOptions) -> list[Measure]:
    received, memory = _received(options, real_time_factor=1.0, cameras=True)
    milliseconds = 1000 * np.array(received.latencies)
    jitter = np.abs(1000 * np.diff(received.arrivals) - 10.0)
    seconds = received.arrivals[-1] - received.arrivals[0]
    where = "ROS, real time, cameras on"
    images = f"{received.images / seconds / 2:.1f} Hz images"
    return [
        Measure.of("/joint_states latency, publish to callback", "ms", milliseconds, where),
        Measure.of("/joint_states latency, p99", "ms", [np.percentile(milliseconds, 99)]),
        Measure.of("/joint_states jitter, off the 10 ms between callbacks", "ms", jitter),
        Measure.of("/joint_states jitter, p99", "ms", [np.percentile(jitter, 99)]),
        Measure.of("/joint_states rate", "Hz", [len(jitter) / seconds], images),
        Measure.of("sim_node at real time", "cores", [received.simulation_cpu_share], where),
        Measure.of("listener at real time", "cores", [received.cpu_share], where),
        memory,
    ]


def _unpaced(options: BenchOptions, *, cameras: bool) -> list[Measure]:
    received, _ = _received(options, real_time_factor=0.0, cameras=cameras)
    stamps, arrivals = np.array(received.stamps), np.array(received.arrivals)
    # One sample for each second of wall time.
    edges = np.searchsorted(arrivals, np.arange(arrivals[0], arrivals[-1], 1.0))
    factors = np.diff(stamps[edges]) / np.diff(arrivals[edges])
    what = "cameras on" if cameras else "no cameras"
    cores = f"{received.simulation_cpu_share:.2f}, listener {received.cpu_share:.2f} cores"
    return [
        Measure.of(f"simulated s per wall s through ROS, {what}", "", factors, f"sim_node {cores}")
    ]


def _received(
    options: BenchOptions, real_time_factor: float, cameras: bool
) -> tuple["Received", Measure]:
    """Return what a subscriber received, and the simulation node's peak memory."""
    from rulesafe_studies.bench.listener_node import listen

    parameters = {
        "rule": options.rule,
        "safe": options.safe,
        "real_time_factor": real_time_factor,
        "cameras": str(cameras).lower(),
    }
    with ros_node("rulesafe_sim.node", parameters) as process:
        received = run_apart(listen, options.seconds, process.pid)
        return received, peak_memory("sim_node", process.pid)
