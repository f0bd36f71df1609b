"""Test client of the bridge: subscribes to its topics, calls its services, sends chunks."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Time
from peer import Peer
from rclpy.task import Future
from ros_client import PatientNode
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
from waiting import wait_for

from h1_2_bridge.states import TEMPORARY_REFUSALS
from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import LATCHED_QOS, STATE_QOS, to_trajectory
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.messages import to_ns
from rulesafe_interfaces.msg import BridgeState

PATIENCE = 90.0
"""Timeout of every condition, s of wall time."""

TEMPORARY = (
    *("not a ROS 2 node", "no state received from the hands"),
    *("another program publishes commands", "a killed one is listed", *TEMPORARY_REFUSALS),
    "no valid state received from the robot",
)
"""Temporary refusals: a publisher that was just discovered, such as the supervisor, has no node
name yet; a robot was just switched on, or not scheduled on a busy machine; the supervisor starts,
has just released the robot, or was killed and started again."""

RAMP = 1.0
"""Ramp time of the weight in these tests, s."""

PATIENT = {
    "network_interface": "lo",
    "state_timeout": 6.0,
    "stall_timeout": 6.0,
    "gap_timeout": 6.0,
    "supervisor_timeout": 0.0,
    "hand_timeout": 6.0,
    "chunk_timeout": 60.0,
    "chunk_age": 10.0,
    "damping_timeout": 600.0,
    "clock_jump": 6.0,
    "ramp": RAMP,
}
"""Long timeouts for busy machines; exact times are tested in virtual time."""


def bridge_command(**parameters: object) -> list[str]:
    """Return the command line of the bridge with PATIENT parameters, changed by `parameters`."""
    given = {**PATIENT, **parameters}
    arguments = [part for k, v in given.items() for part in ("-p", f"{k}:={v}")]
    return [sys.executable, "-m", "h1_2_bridge.node", "--ros-args", *arguments]


@cache
def realtime_priority() -> int:
    """Return a real-time priority that this process may set; 0: none is permitted."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return 0
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return 1


def supervisor_parameters(ramp: float, patience: float) -> dict[str, float]:
    """Return parameters of the supervisor; times in s. With real-time scheduling: if a busy machine
    pauses it for longer than its patience, it discards the last command and cannot take over."""
    return {"ramp": ramp, "patience": patience, "realtime_priority": realtime_priority()}


def supervisor_command(ramp: float, patience: float) -> list[str]:
    """Return the command line of the supervisor on loopback; times in s."""
    given = {"network_interface": "lo", **supervisor_parameters(ramp, patience)}
    arguments = [part for k, v in given.items() for part in ("-p", f"{k}:={v}")]
    return [sys.executable, "-m", "h1_2_bridge.supervisor_node", "--ros-args", *arguments]


def present(message: BridgeState | JointState) -> bool:
    """Return whether a message is new: on a busy machine, older ones may still be queued."""
    return time.time_ns() - to_ns(message.header.stamp) < 0.3 * SECOND


class Bridge:
    """The bridge in a separate process."""

    def __init__(self, **parameters: object) -> None:
        # Linux shares a busy machine equally between sessions.
        self.process = subprocess.Popen(bridge_command(**parameters), start_new_session=True)

    def stop(self, how: int = signal.SIGINT) -> int:
        """Interrupt the process and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(PATIENCE)


class User(PatientNode):
    """Node that uses the bridge; see the module."""

    def __init__(self) -> None:
        super().__init__("bridge_user")
        self.states: list[BridgeState] = []
        self.joint_states: list[JointState] = []
        self.create_subscription(BridgeState, "/bridge/state", self.states.append, 100)
        self.create_subscription(JointState, "/joint_states", self.joint_states.append, STATE_QOS)
        self._started: list[Time] = []
        self.create_subscription(Time, "/episode/started", self._started.append, LATCHED_QOS)
        self._chunks = self.create_publisher(JointTrajectory, "/policy/action_chunk", STATE_QOS)
        names = ("engage", "disengage", "stop", "reset")
        self._callers = {n: self.create_client(Trigger, f"/bridge/{n}") for n in names}

    @property
    def state(self) -> BridgeState:
        """The newest state; waits for the first one."""
        self.until(lambda: self.states, "/bridge/state")
        return self.states[-1]

    @property
    def joints(self) -> JointState:
        """The newest joint state; waits for the first one."""
        self.until(lambda: self.joint_states, "/joint_states")
        return self.joint_states[-1]

    def clear(self) -> None:
        """Discard the messages received so far."""
        self.spin(0.2)  # those that are still queued
        self.states.clear()
        self.joint_states.clear()

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Spin until the condition holds."""
        if not self.spin_until(condition, PATIENCE):
            last = self.states[-1] if self.states else "no state"
            raise AssertionError(f"{what}: not within {PATIENCE:g} s; {last}")

    def until_state(self, *names: str) -> None:
        self.until(lambda: self.state.state in names, " or ".join(names))

    def spin(self, seconds: float) -> None:
        self.spin_for(seconds)

    def call(self, name: str) -> Future:
        """Call /bridge/<name> once, without waiting for its response."""
        client = self._callers[name]
        self.until(client.service_is_ready, f"/bridge/{name}")
        return client.call_async(Trigger.Request())

    def ask(self, name: str) -> Trigger.Response:
        """Call /bridge/<name> and return its response."""
        return self.ask_again(lambda: self.call(name), f"the answer of /bridge/{name}")

    def engage(self) -> None:
        """Engage and wait until the bridge is ACTIVE and has published /episode/started."""
        self.until_state("IDLE")
        self.until(lambda: not self.state.hand_trouble, "the hands")
        episodes = len(self._started)
        answer = self.ask("engage")
        again = time.monotonic() + PATIENCE / 3
        while any(each in answer.message for each in TEMPORARY) and time.monotonic() < again:
            self.spin(0.2)
            self.until_state("IDLE")
            answer = self.ask("engage")
        assert answer.success, answer.message
        self.until_state("ACTIVE")
        self.until(lambda: len(self._started) > episodes, "/episode/started")

    def position(self, name: str) -> float:
        """Return the last published position of a joint, rad."""
        message = self.joints
        return message.position[message.name.index(name)]

    def move(self, rows: np.ndarray, names=ACTION_JOINTS) -> None:
        """Send a chunk (n, 13) whose observation is the present joint state."""
        self.until(self._chunks.get_subscription_count, "the bridge listens to chunks")
        begin = to_ns(self._started[-1]) if self._started else 0
        # A chunk for a joint state before this episode is refused.
        self.until(
            lambda: to_ns(self.joints.header.stamp) >= begin and present(self.joints),
            "/joint_states",
        )
        message = to_trajectory(rows, to_ns(self.joints.header.stamp))
        message.joint_names = list(names)
        self._chunks.publish(message)

    def way(self, changes: dict[int, float], rows: int = 10) -> np.ndarray:
        """Return chunk steps (rows, 13) from the current command to one changed by joint, rad."""
        self.until(lambda: present(self.state), "the current command")
        start = np.array(self.state.command)
        goal = start.copy()
        for index, change in changes.items():
            goal[index] += change
        return start + np.linspace(1 / rows, 1, rows)[:, None] * (goal - start)


class Processes:
    """The robot, the bridge and the client of a module, which its tests share.

    Attributes:
        user: the client.
    """

    RATE = 200
    """Rate of states, Hz; the SDK needs half a core for 500 Hz."""

    def __init__(self, folder: Path, user: User) -> None:
        self._folder, self.user = folder, user
        self._robot: Peer | None = None
        self._bridge: Bridge | None = None
        self._parameters: dict[str, object] = {}

    def runs(self) -> bool:
        """Return whether a bridge runs."""
        return self._bridge is not None and self._bridge.process.poll() is None

    def robot(self) -> Peer:
        """Return the robot, without faults and recorded commands. A bridge that runs is IDLE."""
        if self._robot is None or self._robot.process.poll() is not None:
            self._robot = Peer(self._folder, self.RATE)
        robot = self._robot
        robot.restore()
        if self.runs():
            wait_for(lambda: self.user.state.state == "IDLE", "IDLE", self._release)
            wait_for(lambda: np.abs(robot.report()["dq"]).max() < 0.01, "the arm is at rest")
            robot.restore()
        return robot

    def _release(self) -> None:
        fault = self.user.state.state in ("FAULT", "DAMPING")
        self.user.ask("reset" if fault else "disengage")
        self.user.states.clear()

    def bridge(self, **parameters: object) -> Bridge:
        """Return the bridge that runs, or start one if none runs with these parameters."""
        if not self.runs() or self._parameters != parameters:
            if self._bridge is not None:
                self._bridge.stop()
            self.user.clear()
            self._bridge, self._parameters = Bridge(**parameters), parameters
        return self._bridge

    def end(self) -> None:
        for process in (self._bridge and self._bridge.process, self._robot and self._robot.process):
            if process:
                process.kill()
                process.wait()
