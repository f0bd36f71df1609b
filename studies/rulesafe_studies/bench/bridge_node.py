"""The robot process of the bridge part of `make bench`; see bridge.py."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_srvs.srv import Trigger
from unitree_hg.msg import LowCmd as LowCmdMessage
from unitree_hg.msg import LowState as LowStateMessage

from h1_2_bridge.messages import LowCmd, LowState
from h1_2_bridge.motors import MOTOR_JOINTS, RIGHT_ARM, WEIGHT_SLOT
from h1_2_bridge.wire import decode_low_cmd, encode_low_state
from rulesafe_core.chunks_ros import ChunkPublisher
from rulesafe_core.client_node import ClientNode, connected
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.repeated_ros import RepeatedRequest
from rulesafe_core.robot import HOME
from rulesafe_interfaces.msg import BridgeState
from rulesafe_studies.measuring import cpu_seconds

RATE = 500.0
"""Rate of states and of commands, Hz."""

STATE_TIMEOUT, CHUNK_TIMEOUT, RAMP = 2.0, 0.5, 0.5
"""Parameters of the measured bridge, s. The default of the first is 0.05. It is longer here since
only the time beyond the timeout is measured, and since other programs may keep the robot process
from publishing for 50 ms, which would end the measurement."""

STALL = 2.0
"""Parameters `stall_timeout`, `gap_timeout` and `clock_jump` of the measured bridge, s. They are
longer than the defaults because other load on the machine can delay the bridge."""

BRIDGE = {
    "rate": RATE,
    "ramp": RAMP,
    "state_timeout": STATE_TIMEOUT,
    "chunk_timeout": CHUNK_TIMEOUT,
    "stall_timeout": STALL,
    "gap_timeout": STALL,
    "supervisor_timeout": 0.0,
    "clock_jump": STALL,
    "damping_timeout": 3600.0,
    "hand": "none",
}
"""Parameters of the bridge."""

PATIENCE = 60.0
"""Time limit (s) for each expected event."""

ELBOW = RIGHT_ARM[3]


@dataclass
class Found:
    """Results of the measurement; times in s."""

    sent: float = 0.0  # rate of published states, Hz
    used: float = 0.0  # rate of states that the bridge used, Hz
    commands: float = 0.0  # rate of commands, Hz
    bridge_cpu: float = 0.0  # CPU usage, cores
    robot_cpu: float = 0.0
    chunks: list[float] = field(default_factory=list)
    silence: list[float] = field(default_factory=list)
    no_chunk: list[float] = field(default_factory=list)
    stop: list[float] = field(default_factory=list)


class BenchRobot(ClientNode):
    """Node of the robot: publishes states, receives commands and the bridge's state."""

    def __init__(self) -> None:
        super().__init__("bench_robot")
        every = QoSProfile(depth=500, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._states = self.create_publisher(LowStateMessage, "/lowstate", every)
        self._chunks = ChunkPublisher(self)
        listen = self.create_subscription
        listen(LowCmdMessage, "/arm_sdk", self._on_command, every, raw=True)
        listen(BridgeState, "/bridge/state", self._on_state, 100)
        names = ("engage", "disengage", "stop", "reset")
        self._callers = {n: self.create_client(Trigger, f"/bridge/{n}") for n in names}
        self.q = np.zeros(35, np.float32)
        self.q[: len(MOTOR_JOINTS)] = [HOME[name] for name in MOTOR_JOINTS]
        self._due = time.perf_counter()
        self.silent, self._tick = False, 0
        self.sent = self.commands = 0
        self.last_sent = 0.0
        self.state = self.reason = ""
        self.states_good = 0
        self.states_at: dict[str, float] = {}  # when each state was last entered
        self.on_command: Callable[[LowCmd, float], None] = lambda command, now: None

    def _on_command(self, raw: bytes) -> None:
        now = time.perf_counter()
        command = decode_low_cmd(raw)
        self.commands += 1
        if command.q[WEIGHT_SLOT] == 1 and command.kp[ELBOW] > 0:
            self.q = np.where(np.arange(35) < len(MOTOR_JOINTS), command.q, 0)
        self.on_command(command, now)

    def _on_state(self, message) -> None:
        if message.state != self.state:
            self.states_at[message.state] = time.perf_counter()
        self.state, self.reason = message.state, message.reason
        self.states_good = message.states_good

    def turn(self) -> None:
        """Publish a state if it is due, and process received messages until the next one."""
        now = time.perf_counter()
        if now >= self._due:
            self._due = max(self._due + 1 / RATE, now - 0.1)
            if not self.silent:
                # Two states within 1 ms need different ticks.
                self._tick = max(self._tick + 1, time.time_ns() // 10**6)
                state = LowState(mode_machine=6, tick=self._tick % 2**32, q=self.q)
                self._states.publish(encode_low_state(state))
                self.sent += 1
                self.last_sent = now
        self._executor.spin_once(timeout_sec=max(0.0, self._due - time.perf_counter()))

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Call `turn` until the condition is true."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise RuleSafeError(
                    f"no {what} within {PATIENCE:.0f} s; the bridge is {self.state}: {self.reason}"
                )
            self.turn()

    def spin(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.turn()

    def call(self, name: str) -> None:
        client = self._callers[name]
        send = partial(client.call_async, Trigger.Request())
        request = RepeatedRequest(send, PATIENCE / 3, client.service_is_ready)
        self.until(request.poll, f"response of /bridge/{name}")

    def engage(self) -> None:
        self.until(lambda: self.state == "IDLE", "state IDLE")
        self.call("engage")
        self.until(lambda: self.state == "ACTIVE", "state ACTIVE")

    def send_chunk(self, change: float, steps: int) -> float:
        """Move the elbow by `change` rad in a chunk of `steps`; return the time of publication."""
        start = np.r_[self.q[list(RIGHT_ARM)], [HOME[name] for name in HAND_JOINTS]]
        chunk = np.tile(start, (steps, 1))
        chunk[:, 3] += change * np.arange(1, steps + 1) / steps
        now = time.perf_counter()
        self._chunks.send(chunk, time.time_ns())
        return now


def measure(seconds: float, bridge: int) -> Found:
    """Measure everything but the recovery; `bridge` is the process id of the bridge.

    Raises:
        RuleSafeError: if the bridge does not react within PATIENCE.
    """
    found = Found()
    with connected(BenchRobot) as robot:
        robot.engage()
        _rates(robot, found, seconds, bridge)
        for i in range(max(10, round(3 * seconds))):
            found.chunks.append(_chunk(robot, 0.05 * (-1) ** i))
            found.no_chunk.append(_no_chunk(robot))
        for _ in range(max(10, round(2 * seconds))):
            found.stop.append(_stop(robot))
            found.silence.append(_silence(robot))
        robot.call("disengage")
    return found


def measure_recovery() -> float:
    """Return the time (s) from the first state of a robot, just switched on, until the bridge is
    IDLE.

    Raises:
        RuleSafeError: if the bridge does not find the robot within PATIENCE.
    """
    with connected(BenchRobot) as robot:
        robot.turn()
        began = robot.last_sent
        robot.until(lambda: robot.state == "IDLE", "state IDLE")
        return robot.states_at["IDLE"] - began


def _rates(robot: BenchRobot, found: Found, seconds: float, bridge: int) -> None:
    """Measure rates and CPU shares while the elbow moves back and forth."""
    begin = time.perf_counter()
    before, own = cpu_seconds(bridge), time.process_time()
    sent, commands, good = robot.sent, robot.commands, robot.states_good
    direction = 1
    while time.perf_counter() - begin < seconds:
        robot.send_chunk(0.1 * direction, 10)
        direction = -direction
        robot.spin(1.0)
    after, elapsed = cpu_seconds(bridge), time.perf_counter() - begin
    robot.until(lambda: robot.states_good > good, "bridge state")
    found.sent = (robot.sent - sent) / elapsed
    found.used = (robot.states_good - good) / elapsed
    found.commands = (robot.commands - commands) / elapsed
    found.bridge_cpu = (after[0] - before[0]) / (after[1] - before[1])
    found.robot_cpu = (time.process_time() - own) / elapsed


def _first(robot: BenchRobot, condition: Callable[[LowCmd], bool]) -> list[float]:
    """Record the time of the first command that satisfies a condition, in the returned list, which
    is empty until then."""
    seen: list[float] = []

    def look(command: LowCmd, now: float) -> None:
        if not seen and condition(command):
            seen.append(now)

    robot.on_command = look
    return seen


def _chunk(robot: BenchRobot, change: float) -> float:
    """Return the time from a chunk to the first command that moves."""
    robot.spin(0.05)
    rest = float(robot.q[ELBOW])
    sent = robot.send_chunk(change, 2)
    moved = _first(robot, lambda command: abs(command.q[ELBOW] - rest) > 1e-6)
    robot.until(lambda: moved, "moving command")
    return moved[0] - sent


def _no_chunk(robot: BenchRobot) -> float:
    """Return the time until HOLDING after the end of a chunk of one action and its timeout."""
    robot.spin(0.3)
    robot.states_at.pop("HOLDING", None)
    sent = robot.send_chunk(0.0, 1)
    robot.until(lambda: robot.state == "ACTIVE", "state ACTIVE")
    robot.until(lambda: robot.states_at.get("HOLDING", 0) > sent, "state HOLDING")
    return robot.states_at["HOLDING"] - sent - 0.1 - CHUNK_TIMEOUT


def _stop(robot: BenchRobot) -> float:
    """Return the time from a stop request to the first command without stiffness."""
    robot.until(lambda: robot.state in ("ACTIVE", "HOLDING"), "state ACTIVE")
    requested, damped = time.perf_counter(), _first(robot, lambda command: command.kp[ELBOW] == 0)
    robot.call("stop")
    robot.until(lambda: damped, "damped command")
    robot.call("reset")
    robot.engage()
    return damped[0] - requested


def _silence(robot: BenchRobot) -> float:
    """Return the time until the first released command after the last state and its timeout."""
    robot.silent = True
    last = robot.last_sent
    robot.spin(STATE_TIMEOUT / 2)  # commands sent before may still arrive
    released = _first(robot, lambda command: command.q[WEIGHT_SLOT] < 1)
    robot.until(lambda: released, "command with a lower weight")
    robot.silent = False
    robot.until(lambda: robot.state == "FAULT", "state FAULT")
    robot.spin(RAMP + 0.5)
    robot.call("reset")
    robot.engage()
    return released[0] - last - STATE_TIMEOUT
