"""Simulated robot in a separate process that communicates through the manufacturer's Python SDK.

    python sdk_peer.py DOMAIN INTERFACE [RATE]

unitree_sdk2py on Cyclone DDS encodes and decodes all messages, including their CRC. The process
publishes rt/lowstate at RATE (500) Hz and rt/inspire/state, moves 27 motors as commanded by
rt/arm_sdk or rt/lowcmd, and records every command. Requests are JSON objects {"do": ...}, one per
line of standard input; each gets a response of one line. `Peer` in peer.py is the client.
"""

import json
import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from cyclonedds.core import Policy
from cyclonedds.qos import Qos
from sdk_motors import MOTORS, UPPER_BODY, Robot
from unitree_sdk2py.core.channel import ChannelFactory, ChannelPublisher, ChannelSubscriber
from unitree_sdk2py.idl.default import (
    unitree_go_msg_dds__MotorCmd_,
    unitree_go_msg_dds__MotorState_,
    unitree_hg_msg_dds__LowState_,
)
from unitree_sdk2py.idl.unitree_go.msg.dds_ import MotorCmds_, MotorStates_
from unitree_sdk2py.idl.unitree_hg.msg.dds_ import LowCmd_, LowState_
from unitree_sdk2py.utils.crc import CRC

WEIGHT_SLOT = 27
MODE_MACHINE = 6
HAND_MOTORS = 12
GIVE_UP = 0.5
"""s without a command after which the robot's own controller takes all motors back."""


@dataclass(frozen=True)
class Faults:
    """Injected faults of robot and communication, off by default.

    Attributes:
        silent: no state is sent.
        frozen: the same state, including its tick, is repeated.
        drop: share of states that are lost, 0..1.
        duplicate: each state is sent twice.
        reorder: each pair of states is sent in reverse order.
        corrupt: the CRC of each state is wrong.
        hands_silent: the hands publish no state.
        temperature, torque, offset: of one motor by its index as text: deg C, N m, rad.
        remote: the remote's two bytes of buttons as a number, low byte first.
    """

    silent: bool = False
    frozen: bool = False
    drop: float = 0.0
    duplicate: bool = False
    reorder: bool = False
    corrupt: bool = False
    hands_silent: bool = False
    temperature: dict[str, int] = field(default_factory=dict)
    torque: dict[str, float] = field(default_factory=dict)
    offset: dict[str, float] = field(default_factory=dict)
    remote: int = 0


class Commands:
    """Records all commands and the last valid one of each topic."""

    def __init__(self) -> None:
        self._crc, self._lock = CRC(), threading.Lock()
        self.rows: list[tuple] = []
        self.last: dict[str, tuple[float, np.ndarray]] = {}

    def listen(self, topic: str) -> None:
        channel = ChannelSubscriber(f"rt/{topic}", LowCmd_)
        channel.Init()
        threading.Thread(target=self._read, args=(topic, channel), daemon=True).start()

    def _read(self, topic: str, channel: ChannelSubscriber) -> None:
        while True:
            command = channel.Read()
            now = time.monotonic()
            if not isinstance(command, LowCmd_):
                continue
            valid = self._crc.Crc(command) == command.crc
            motors = np.array(
                [(m.mode, m.q, m.dq, m.tau, m.kp, m.kd, m.reserve) for m in command.motor_cmd]
            )
            sent = command.sample_info.source_timestamp / 1e9
            row = (now, sent, topic, valid, command.mode_pr, command.mode_machine)
            with self._lock:
                self.rows.append((*row, motors, sum(command.reserve)))
                if valid and command.mode_machine == MODE_MACHINE:
                    self.last[topic] = (now, motors)

    def clear(self) -> None:
        with self._lock:
            self.rows.clear()

    def save(self, path: str) -> int:
        with self._lock:
            rows = list(self.rows)
        kinds = ("time", "sent", "topic", "valid", "mode_pr", "mode_machine", "motors", "reserve")
        columns = list(zip(*rows, strict=True)) if rows else [[] for _ in kinds]
        np.savez(path, **{k: np.array(c) for k, c in zip(kinds, columns, strict=True)})
        return len(rows)

    def acting(self, now: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return the command in effect and its share of each motor, (27,)."""
        for topic in ("lowcmd", "arm_sdk"):
            when, motors = self.last.get(topic, (-1e9, None))
            if motors is not None and now - when < GIVE_UP:
                names = ("mode", "q", "dq", "tau", "kp", "kd")
                command = {n: motors[:MOTORS, i] for i, n in enumerate(names)}
                share = np.zeros(MOTORS)
                if topic == "lowcmd":
                    share[:] = command["mode"] == 1
                else:
                    share[UPPER_BODY] = np.clip(motors[WEIGHT_SLOT, 1], 0, 1)
                return command, share
        return {n: np.zeros(MOTORS) for n in ("q", "dq", "tau", "kp", "kd")}, np.zeros(MOTORS)


class Hands:
    """Twelve fingers that follow rt/inspire/cmd and publish rt/inspire/state."""

    def __init__(self) -> None:
        self.q = np.ones(HAND_MOTORS)
        self._goal = self.q.copy()
        self.commands = 0
        self._channel = ChannelSubscriber("rt/inspire/cmd", MotorCmds_)
        self._channel.Init()
        self._out = ChannelPublisher("rt/inspire/state", MotorStates_)
        self._out.Init()
        self._states = [unitree_go_msg_dds__MotorState_() for _ in range(HAND_MOTORS)]
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            command = self._channel.Read()
            if isinstance(command, MotorCmds_) and len(command.cmds) == HAND_MOTORS:
                self._goal = np.array([m.q for m in command.cmds])
                self.commands += 1

    def publish(self) -> None:
        self.q += np.clip(self._goal - self.q, -0.05, 0.05)
        for state, q in zip(self._states, self.q, strict=True):
            state.mode, state.q = 1, float(q)
        self._out.Write(MotorStates_(states=self._states))


class States:
    """Publishes rt/lowstate, with faults."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._crc = robot, CRC()
        self._out = ChannelPublisher("rt/lowstate", LowState_)
        self._out.Init()
        self._sample = unitree_hg_msg_dds__LowState_()
        self._held: LowState_ | None = None
        self._filled: Faults | None = None
        self._rng, self._start = np.random.default_rng(0), time.monotonic()

    def publish(self, faults: Faults, now: float) -> None:
        if not faults.frozen:
            self._fill(faults, now)
        if faults.silent or self._rng.random() < faults.drop:
            return
        order = [self._sample]
        if faults.reorder:
            held, self._held = self._held, LowState_.deserialize(self._sample.serialize())
            if held is None:
                return
            order, self._held = [self._held, held], None
        for each in order * (2 if faults.duplicate else 1):
            self._out.Write(each)

    def _fill(self, faults: Faults, now: float) -> None:
        state, robot = self._sample, self._robot
        state.tick = int((now - self._start) * 1000) % 2**32
        columns = (robot.q.tolist(), robot.dq.tolist(), robot.tau.tolist())
        motors = state.motor_state
        for motor, q, dq, tau in zip(motors, *columns, strict=False):
            motor.q, motor.dq, motor.tau_est = q, dq, tau
        for index, value in faults.torque.items():
            motors[int(index)].tau_est = value
        for index, value in faults.offset.items():
            motors[int(index)].q += value
        if faults is not self._filled:
            self._fill_rest(faults)
            self._filled = faults
        state.crc = self._crc.Crc(state) ^ int(faults.corrupt)

    def _fill_rest(self, faults: Faults) -> None:
        """Fill what depends only on the faults."""
        state = self._sample
        state.mode_machine = MODE_MACHINE
        state.imu_state.quaternion = [1.0, 0.0, 0.0, 0.0]
        state.imu_state.accelerometer = [0.0, 0.0, 9.81]
        for motor in state.motor_state[:MOTORS]:
            motor.mode, motor.temperature, motor.vol, motor.motorstate = 1, [35, 40], 54.0, 0
        for index, value in faults.temperature.items():
            state.motor_state[int(index)].temperature = [value, value]
        remote = [0] * 40
        remote[2:4] = [faults.remote & 0xFF, faults.remote >> 8]
        state.wireless_remote = remote


class Peer:
    """Runs the robot and processes the requests on standard input."""

    def __init__(self, domain: int, interface: str, rate: float) -> None:
        # While a busy machine pauses this process, commands are lost. The computers of a robot run
        # nothing else.
        with suppress(OSError):  # not permitted
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        # Record every command: DDS keeps only one by default.
        history = Qos(Policy.History.KeepLast(2000))
        ChannelFactory().Init(domain, interface, history)
        self._robot, self._commands, self._hands = Robot(), Commands(), Hands()
        self._states = States(self._robot)
        for topic in ("arm_sdk", "lowcmd"):
            self._commands.listen(topic)
        self._faults, self._period, self._running = Faults(), 1 / rate, True
        self._applied: Faults | None = None  # the faults of the last complete step

    def run(self) -> None:
        threading.Thread(target=self._serve, daemon=True).start()
        due = last = time.monotonic()
        count = 0
        while self._running:
            now, faults = time.monotonic(), self._faults
            command, share = self._commands.acting(now)
            if not faults.frozen:
                self._robot.step(min(now - last, 0.02), command, share)
            last = now
            self._states.publish(faults, now)
            if count % 10 == 0 and not faults.hands_silent:
                self._hands.publish()
            self._applied = faults
            count += 1
            due += self._period
            if time.monotonic() > due + 0.1:  # no burst of states after a pause
                due = time.monotonic()
            # Even if it is late: with real-time scheduling, other processes run only meanwhile.
            time.sleep(max(0.0005, due - time.monotonic()))

    def _serve(self) -> None:
        for line in sys.stdin:
            request = json.loads(line)
            action = request.pop("do")
            print(json.dumps(getattr(self, f"do_{action}")(**request)), flush=True)
        self._running = False

    def do_faults(self, **changes) -> str:
        faults = self._faults = replace(self._faults, **changes)
        while self._applied is not faults:
            time.sleep(0.001)
        return "done"

    def do_restore(self) -> str:
        """End all faults and discard the recorded commands."""
        self.do_faults(**asdict(Faults()))
        self._commands.clear()
        self._hands.commands = 0
        return "done"

    def do_report(self) -> dict:
        commands = self._commands
        return {
            "commands": len(commands.rows),
            "hand_commands": self._hands.commands,
            "newest": commands.rows[-1][1] if commands.rows else None,
            "weight": commands.rows[-1][6][WEIGHT_SLOT, 1] if commands.rows else None,
            "q": self._robot.q.tolist(),
            "dq": self._robot.dq.tolist(),
            "hands": self._hands.q.tolist(),
        }

    def do_save(self, path: str) -> int:
        return self._commands.save(path)


if __name__ == "__main__":
    unitree_go_msg_dds__MotorCmd_()  # the SDK's default entry point, which fails for a wrong build
    peer = Peer(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 500.0)
    print(json.dumps("ready"), flush=True)
    peer.run()
