"""The robot's end of the bridge's benchmark on a ROS 2 graph: see bench_bridge."""

import time
from collections.abc import Callable

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from unitree_hg.msg import LowCmd as LowCmdMessage
from unitree_hg.msg import LowState as LowStateMessage

from h1_2_bridge.messages import LowCmd, LowState
from h1_2_bridge.motors import MOTOR_JOINTS, RIGHT_ARM, WEIGHT_SLOT
from h1_2_bridge.wire import decode_low_cmd, encode_low_state
from rulesafe_cli.bench.bridge_figures import ELBOW, PATIENCE, RATE
from rulesafe_core.convert import to_header
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, HAND_JOINTS
from rulesafe_core.robot import HOME
from rulesafe_interfaces.msg import BridgeState


class Graph:
    """The robot on the graph: sends states as it turns, hears commands and the bridge's state."""

    def __init__(self) -> None:
        rclpy.init()
        self.node = rclpy.create_node("bench_robot")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        every = QoSProfile(depth=500, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._states = self.node.create_publisher(LowStateMessage, "/lowstate", every)
        self._chunks = self.node.create_publisher(JointTrajectory, "/policy/action_chunk", 10)
        listen = self.node.create_subscription
        listen(LowCmdMessage, "/arm_sdk", self._on_command, every, raw=True)
        listen(BridgeState, "/bridge/state", self._on_state, 100)
        names = ("engage", "disengage", "stop", "reset")
        self._callers = {n: self.node.create_client(Trigger, f"/bridge/{n}") for n in names}
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
        """One step: a state where it is due, and what has come."""
        now = time.perf_counter()
        if now >= self._due:
            self._due = max(self._due + 1 / RATE, now - 0.1)
            if not self.silent:
                # ms; two states of one burst are two states all the same
                self._tick = max(self._tick + 1, time.time_ns() // 10**6)
                state = LowState(mode_machine=6, tick=self._tick % 2**32, q=self.q)
                self._states.publish(encode_low_state(state))
                self.sent += 1
                self.last_sent = now
        self._executor.spin_once(timeout_sec=max(0.0, self._due - time.perf_counter()))

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Takes turns until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise RuleSafeError(
                    f"{what}: not within {PATIENCE:.0f} s; {self.state}: {self.reason}"
                )
            self.turn()

    def spin(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.turn()

    def ask(self, name: str) -> None:
        self.until(self._callers[name].service_is_ready, f"/bridge/{name}")
        future = self._callers[name].call_async(Trigger.Request())
        self.until(future.done, f"the answer of /bridge/{name}")

    def engage(self) -> None:
        self.until(lambda: self.state == "IDLE", "IDLE")
        self.ask("engage")
        self.until(lambda: self.state == "ACTIVE", "ACTIVE")

    def send_chunk(self, change: float, rows: int) -> float:
        """Moves the elbow by `change` rad within `rows` rows; when it was sent."""
        start = np.r_[self.q[list(RIGHT_ARM)], [HOME[name] for name in HAND_JOINTS]]
        message = JointTrajectory(joint_names=list(ACTION_JOINTS))
        message.header = to_header(time.time_ns(), "pelvis")
        for i in range(1, rows + 1):
            row = start.copy()
            row[3] += change * i / rows
            point = JointTrajectoryPoint(positions=row.tolist())
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(i * 10**8, 10**9)
            message.points.append(point)
        now = time.perf_counter()
        self._chunks.publish(message)
        return now

    def close(self) -> None:
        self.node.destroy_node()
        rclpy.try_shutdown()
