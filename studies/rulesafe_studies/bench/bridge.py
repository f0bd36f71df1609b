"""The bridge part of `make bench`: cost and reaction times of the bridge to the robot.

It uses two processes: the bridge, and a robot reduced to its messages, whose arm is immediately at
the commanded position. The robot process also publishes chunks and calls services, so that all
times are measured with one clock, until the robot receives a command.
"""

import os
import subprocess
from collections.abc import Sequence

import numpy as np

from h1_2_bridge.network import LOOPBACK, use_interface
from rulesafe_core.domains import reserve_domain
from rulesafe_studies.bench.commands import BenchOptions
from rulesafe_studies.measuring import Measure, ros_node, run_apart


def measured(options: BenchOptions) -> list[Measure]:
    """Return rates with CPU shares, latency of a chunk, watchdog reaction times, and recovery."""
    from rulesafe_studies.bench import bridge_node as robot

    os.environ["ROS_DOMAIN_ID"] = str(reserve_domain())
    use_interface(LOOPBACK)  # UDP without shared memory, as with a robot
    bridge = ("h1_2_bridge.node", robot.BRIDGE, subprocess.DEVNULL)
    with ros_node(*bridge) as process:
        found = run_apart(robot.measure, options.seconds, process.pid)
    with ros_node(*bridge):
        trials = max(3, round(options.seconds / 2))
        recovery = [run_apart(robot.measure_recovery) for _ in range(trials)][1:]
    where = f"commands at {robot.RATE:.0f} Hz, while it follows chunks"
    return [
        Measure.of("states that the robot sent", "Hz", [found.sent]),
        Measure.of("states that the bridge used", "Hz", [found.used], where),
        Measure.of("commands that the robot received", "Hz", [found.commands]),
        Measure.of("bridge", "cores", [found.bridge_cpu], where),
        Measure.of("robot's side of this benchmark", "cores", [found.robot_cpu]),
        *_times("chunk to the first command that follows it", found.chunks),
        *_times("watchdog: silent robot, beyond its timeout", found.silence),
        *_times("watchdog: no chunk, beyond its timeout", found.no_chunk),
        *_times("stop service to the first damped command", found.stop),
        Measure.of(
            "lost robot: from its first state to IDLE", "s", recovery, "rediscovered by DDS"
        ),
    ]


def _times(name: str, seconds: Sequence[float]) -> list[Measure]:
    milliseconds = 1000 * np.array(seconds)
    return [
        Measure.of(name, "ms", milliseconds),
        Measure.of(
            f"{name}, p99", "ms", [np.percentile(milliseconds, 99)], f"of {len(milliseconds)}"
        ),
    ]
