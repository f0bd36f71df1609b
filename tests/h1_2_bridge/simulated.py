"""Run the bridge's core, its hand driver and the simulated robot in virtual time.

They exchange the robot's own messages as bytes. Every command is recorded as it was sent, to be
checked by recorder.py. One step is 2 ms, the period of the robot's states.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from listener import as_record
from recorder import Record

from h1_2_bridge.config import BridgeConfig, BridgeParameters
from h1_2_bridge.core import BridgeCore
from h1_2_bridge.drivers import load_driver
from h1_2_bridge.hand_port import HandPort
from h1_2_bridge.motors import MOTOR_JOINTS
from h1_2_bridge.outputs import load_output
from h1_2_bridge.states import ControlState
from h1_2_bridge.watchdogs import MOVING, arm_speed
from h1_2_bridge.wire import encode_low_cmd, encode_low_state
from h1_2_sim.controllers import load_controller
from h1_2_sim.hands import hand_states
from h1_2_sim.robot import RATE, RobotSide
from planner_node.expert import Expert, ExpertConfig, with_speed
from planner_node.moves import ExpertObservation
from rulesafe_core.chunks import PERIOD, SECOND, make_chunk
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_sim.episode import AgentError

TICK = SECOND // RATE
EPOCH = 1_700_000_000 * SECOND
"""ROS time when the steady clock is 0, ns."""


@dataclass
class Loop:
    """A simulated robot in front of a safe, connected to a bridge.

    Args:
        settings: fields of BridgeConfig that differ from its defaults.
    """

    rule: str = "rule_001"
    safe: str = "safe_03"
    seed: int = 0
    output: str = "arm_sdk"
    split: str = "nominal"
    settings: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.robot = RobotSide(load_controller(self.output)(), self.split)
        self.robot.reset(self.rule, self.safe, self.seed)
        self.driver = load_driver(BridgeParameters(hand="dfx"), self.robot.hands.receive)
        self.hands = HandPort(self.driver)
        self.config = BridgeConfig(**{"supervisor_timeout": 0.0, **self.settings})
        self.core = BridgeCore(self.config, load_output(self.output), self.hands.joints)
        self.now = 10 * SECOND
        self.sent: list[tuple[int, bytes]] = []
        self.seen: set[tuple[ControlState, str]] = set()
        self._steps = 0

    @property
    def clock(self) -> int:
        """ROS time, ns."""
        return self.now + EPOCH

    def step(self) -> None:
        """Simulate robot, bridge and hands for 2 ms."""
        self.now += TICK
        self._steps += 1
        self.robot.step()
        self.core.receive(encode_low_state(self.robot.low_state(self.now)), self.now)
        if self._steps % 5 == 0:
            self.driver.receive(hand_states(*self.robot.hand_state()), self.now)
        if self._steps % 2 == 0:
            sent = self.core.tick(self.now, self.clock)
            if sent.body is not None:
                raw = encode_low_cmd(sent.body)
                self.sent.append((self.now, raw))
                self.robot.controller.receive(raw)
            self.hands.store(sent)
            self.hands.update(self.core, self.now)
        self.seen.add((self.core.state, self.core.reason))

    def run_until(self, condition, patience: float) -> bool:
        """Return whether the condition held within `patience` s of virtual time."""
        end = self.now + round(patience * SECOND)
        while not condition():
            if self.now >= end:
                return False
            self.step()
        return True

    def engage(self) -> None:
        assert self.run_until(lambda: self.core.state is ControlState.IDLE, 1.0)
        assert self.run_until(lambda: not self.core.hand.trouble(self.now), 1.0)
        at_rest = partial(self.run_until, lambda: arm_speed(self.core.watch.last) < MOVING)
        assert at_rest(5.0)
        self.core.engage(self.now)
        assert self.run_until(lambda: self.core.state is ControlState.ACTIVE, 2 * self.config.ramp)

    def joints(self) -> dict[str, float]:
        """Return joint positions as published by the bridge, rad by name."""
        body = self.core.watch.last.q[: len(MOTOR_JOINTS)].tolist()
        hands = self.core.hand.last.positions.tolist()
        return dict(zip(MOTOR_JOINTS, body, strict=True)) | dict(
            zip(self.hands.joints, hands, strict=True)
        )

    def action_positions(self) -> np.ndarray:
        """Return the positions of the action joints (13,), rad."""
        joints = self.joints()
        return np.array([joints[name] for name in ACTION_JOINTS])

    def send(self, rows) -> None:
        """Send a chunk whose observation is stamped now."""
        self.core.accept(make_chunk(ACTION_JOINTS, rows, self.clock), self.clock)

    def observation(self) -> ExpertObservation:
        """Return the expert's observation: joints of the bridge, privileged simulation state."""
        state, positions = self.robot.simulation.state(), self.action_positions()
        return ExpertObservation(
            arm=positions[:7],
            hand=positions[7:],
            part_positions=state.part_positions,
            part_open=state.part_open,
            pose_safe_in_pelvis=state.pose_safe_in_pelvis,
            remaining=tuple(self.robot.simulation.progress.remaining),
            contact_forces=state.contact_forces,
        )

    def run_expert(self, speed: float, patience: float = 240.0) -> str:
        """Let the expert open the safe; return why it failed, or ""."""
        simulation = self.robot.simulation
        expert = Expert(simulation.safe, config=with_speed(ExpertConfig(), speed))
        end = self.now + round(patience * SECOND)
        try:
            rows = expert.begin(self.observation())
            while rows is not None and not simulation.success:
                self.send(rows)
                over = self.now + len(rows) * PERIOD
                self.run_until(lambda over=over: simulation.success or self.now >= over, patience)
                if self.now >= end:
                    return f"not within {patience:g} s"
                rows = expert.next_chunk(self.observation())
        except AgentError as error:
            return str(error)
        return "" if simulation.success else "the expert has ended"

    def record(self) -> Record:
        """Return the record of all commands so far."""
        times = [time / SECOND for time, _ in self.sent]
        return as_record(self.output, times, [raw for _, raw in self.sent])
