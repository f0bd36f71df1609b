"""The bridge part of `rulesafe bench`: what the bridge to the robot costs and how soon it acts.

Two processes: the bridge, and the robot as far as its messages go (its arm is at once where it is
told to be), which sends the chunks and asks for things too, so that all times are of one clock.
What the bridge does counts from when the robot hears it.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from h1_2_bridge.messages import LowCmd
from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.network import LOOPBACK, use_interface
from rulesafe_cli.bench.bridge_figures import ELBOW, RATE
from rulesafe_cli.bench.commands import Options
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.measuring import Measure, cpu_seconds, interrupted, run_apart

if TYPE_CHECKING:  # rclpy only in the robot's process
    from rulesafe_cli.bench.bridge_node import Graph

STATE_TIMEOUT, CHUNK_TIMEOUT, RAMP = 2.0, 0.5, 0.5
"""s, parameters of the bridge that is measured. Its default for the first is 0.05; what counts here
is how soon it acts beyond its timeout, and a robot that other programs keep from speaking for 50 ms
would end the measurement."""

STALL = 2.0
"""s that the bridge itself may stand still: other work of the machine is not what is measured."""


@dataclass
class Found:
    """What the robot's process measured; times in s."""

    sent: float = 0.0  # Hz
    heard: float = 0.0  # Hz, states that the bridge used
    commands: float = 0.0  # Hz
    bridge_cpu: float = 0.0  # cores
    robot_cpu: float = 0.0
    chunks: list[float] = field(default_factory=list)
    silence: list[float] = field(default_factory=list)
    no_chunk: list[float] = field(default_factory=list)
    stop: list[float] = field(default_factory=list)
    failure: str = ""


def measured(options: Options) -> list[Measure]:
    """Rates with CPU shares, latency of a chunk, reaction of the watchdogs, and recovery."""
    missing = [name for name in ("rclpy", "unitree_hg") if not find_spec(name)]
    if missing:
        raise RuleSafeError(f"no {' and no '.join(missing)} in this environment")
    os.environ["ROS_DOMAIN_ID"] = str(os.getpid() % 100 + 1)
    use_interface(LOOPBACK)  # as towards a robot: UDP, and no shared memory
    with _bridge() as process:
        found: Found = run_apart(_robot, options.seconds, process.pid)
    if found.failure:
        raise RuleSafeError(found.failure)
    with _bridge():
        recovery = [run_apart(_return) for _ in range(max(3, round(options.seconds / 2)))][1:]
    if not all(np.isfinite(recovery)):
        raise RuleSafeError("the bridge did not find the robot again")
    where = f"commands at {RATE:.0f} Hz, while it follows chunks"
    return [
        Measure.of("states that the robot sent", "Hz", [found.sent]),
        Measure.of("states that the bridge used", "Hz", [found.heard], where),
        Measure.of("commands that the robot heard", "Hz", [found.commands]),
        Measure.of("bridge", "cores", [found.bridge_cpu], where),
        Measure.of("robot's side of this benchmark", "cores", [found.robot_cpu]),
        *_times("chunk to the first command that follows it", found.chunks),
        *_times("watchdog: silent robot, beyond its timeout", found.silence),
        *_times("watchdog: no chunk, beyond its timeout", found.no_chunk),
        *_times("stop service to the first damped command", found.stop),
        Measure.of("lost robot: from its first state to IDLE", "s", recovery, "found by DDS anew"),
    ]


def _times(name: str, seconds: list[float]) -> list[Measure]:
    milliseconds = [1000 * value for value in seconds]
    p99 = float(np.percentile(milliseconds, 99))
    return [
        Measure.of(name, "ms", milliseconds),
        Measure.of(f"{name}, p99", "ms", [p99], f"of {len(seconds)}"),
    ]


@contextlib.contextmanager
def _bridge() -> Iterator[subprocess.Popen]:
    """The bridge's process, stopped at the end."""
    parameters = {
        "rate": RATE,
        "ramp": RAMP,
        "state_timeout": STATE_TIMEOUT,
        "chunk_timeout": CHUNK_TIMEOUT,
        "stall_timeout": STALL,
        "clock_jump": STALL,
        "damping_timeout": 3600.0,
        "hand": "none",
    }
    arguments = [part for k, v in parameters.items() for part in ("-p", f"{k}:={v}")]
    process = subprocess.Popen(
        [sys.executable, "-m", "h1_2_bridge.node", "--ros-args", *arguments],
        stderr=subprocess.DEVNULL,
    )
    with interrupted(process):
        yield process


def _robot(seconds: float, bridge: int) -> Found:
    """Runs in its own process: everything but the recovery."""
    from rulesafe_cli.bench.bridge_node import Graph

    found, graph = Found(), Graph()
    try:
        graph.engage()
        _rates(graph, found, seconds, bridge)
        for i in range(max(10, round(3 * seconds))):
            found.chunks.append(_chunk(graph, 0.05 * (-1) ** i))
            found.no_chunk.append(_no_chunk(graph))
        for _ in range(max(10, round(2 * seconds))):
            found.stop.append(_stop(graph))
            found.silence.append(_silence(graph))
        graph.ask("disengage")
    except RuleSafeError as error:
        found.failure = str(error)
    finally:
        graph.close()
    return found


def _rates(graph: "Graph", found: Found, seconds: float, bridge: int) -> None:
    """Rates and CPU shares while the elbow goes to and fro."""
    begin = time.perf_counter()
    before, own = cpu_seconds(bridge), time.process_time()
    sent, commands, good = graph.sent, graph.commands, graph.states_good
    direction = 1
    while time.perf_counter() - begin < seconds:
        graph.send_chunk(0.1 * direction, 10)
        direction = -direction
        graph.spin(1.0)
    after, elapsed = cpu_seconds(bridge), time.perf_counter() - begin
    graph.until(lambda: graph.states_good > good, "the bridge's state")
    found.sent = (graph.sent - sent) / elapsed
    found.heard = (graph.states_good - good) / elapsed
    found.commands = (graph.commands - commands) / elapsed
    found.bridge_cpu = (after[0] - before[0]) / (after[1] - before[1])
    found.robot_cpu = (time.process_time() - own) / elapsed


def _first(graph: "Graph", condition: Callable[[LowCmd], bool], what: str) -> float:
    """When the first command arrives that fulfils the condition."""
    seen: list[float] = []

    def look(command: LowCmd, now: float) -> None:
        if not seen and condition(command):
            seen.append(now)

    graph.on_command = look
    graph.until(lambda: seen, what)
    return seen[0]


def _chunk(graph: "Graph", change: float) -> float:
    """From a chunk to the first command that moves."""
    graph.spin(0.05)
    rest = float(graph.q[ELBOW])
    sent = graph.send_chunk(change, 2)
    return _first(graph, lambda c: abs(c.q[ELBOW] - rest) > 1e-6, "a command follows") - sent


def _no_chunk(graph: "Graph") -> float:
    """From the end of a chunk of one row, and its timeout, to HOLDING."""
    graph.spin(0.3)
    graph.states_at.pop("HOLDING", None)
    sent = graph.send_chunk(0.0, 1)
    graph.until(lambda: graph.state == "ACTIVE", "ACTIVE")
    graph.until(lambda: graph.states_at.get("HOLDING", 0) > sent, "HOLDING")
    return graph.states_at["HOLDING"] - sent - 0.1 - CHUNK_TIMEOUT


def _stop(graph: "Graph") -> float:
    """From asking for a stop to the first command without stiffness."""
    graph.until(lambda: graph.state in ("ACTIVE", "HOLDING"), "ACTIVE")
    asked = time.perf_counter()
    seen: list[float] = []

    def look(command: LowCmd, now: float) -> None:
        if not seen and command.kp[ELBOW] == 0:
            seen.append(now)

    graph.on_command = look
    graph.ask("stop")
    graph.until(lambda: seen, "a damped command")
    graph.ask("reset")
    graph.engage()
    return seen[0] - asked


def _silence(graph: "Graph") -> float:
    """From the robot's last state, and its timeout, to the first command that lets go."""
    graph.silent = True
    last = graph.last_sent
    graph.spin(STATE_TIMEOUT / 2)  # commands of the engagement may still be on their way
    seen = _first(graph, lambda c: c.q[WEIGHT_SLOT] < 1, "the weight falls")
    graph.silent = False
    graph.until(lambda: graph.state == "FAULT", "FAULT")
    graph.spin(RAMP + 0.5)
    graph.ask("reset")
    graph.engage()
    return seen - last - STATE_TIMEOUT


def _return() -> float:
    """Runs in its own process: a robot that has just been switched on; s until the bridge says
    that it hears it, NaN where it does not."""
    from rulesafe_cli.bench.bridge_node import Graph

    graph = Graph()
    try:
        graph.turn()
        began = graph.last_sent
        graph.until(lambda: graph.state == "IDLE", "IDLE")
        return graph.states_at["IDLE"] - began
    except RuleSafeError:
        return float("nan")
    finally:
        graph.close()
