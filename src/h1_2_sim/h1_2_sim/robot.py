"""Simulated robot with Unitree's commands as input and its states as output; does not import ROS.

The physics runs at 500 Hz, the rate of the states. The motors of the right arm execute the commands
under gravity. The fingers of the right hand have their own controllers, as on the real hand.
Pelvis, legs, waist, left arm and left hand are fixed.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.messages import SLOTS
from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS, RIGHT_ARM
from h1_2_bridge.wire import LowState
from h1_2_sim.controllers import MODE_MACHINE, Controller, Drives, holding
from h1_2_sim.hands import FINGERS, Hands
from rulesafe_core.joints import ALL_JOINTS, ARM_JOINTS, HAND_JOINTS, LEFT_HAND_JOINTS
from rulesafe_core.robot import HOME, h1_2
from rulesafe_sim.articulations import DrivenRobot, Motor
from rulesafe_sim.config import PhysicsConfig, SimulationConfig
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.variation import Variation

RATE = 500
"""Rate of physics steps and states, Hz."""

FINGERS_EVERY = RATE // 100
"""Steps between two updates of the finger controllers."""

TEMPERATURE = 35
"""Constant temperature of all motors, deg C; it is not simulated."""

VOLTAGE = 60.0
"""Voltage of all motors, V."""

Array = NDArray[np.float64]

_EFFORT = np.array([h1_2().joint(name).effort for name in MOTOR_JOINTS])  # (27,) N m
_ARM = list(RIGHT_ARM)
_MOVING = ARM_JOINTS + HAND_JOINTS
_BODY = [ALL_JOINTS.index(name) for name in MOTOR_JOINTS]
_HANDS = [ALL_JOINTS.index(name) for name in HAND_JOINTS + LEFT_HAND_JOINTS]


def physics() -> PhysicsConfig:
    """Return the physics configuration: steps of 2 ms, and gravity, which the motors counteract."""
    return PhysicsConfig(timestep=1 / RATE, control_hz=RATE, weightless=False)


class RobotSide:
    """A simulated robot and safe with steps of 2 ms. Call `reset` first, which begins an episode.

    Args:
        controller: executes the commands.
        split: split from which the initial state is sampled.
        mode_machine: value in the states.
    """

    def __init__(
        self, controller: Controller, split: str = "nominal", mode_machine: int = MODE_MACHINE
    ) -> None:
        self.controller = controller
        self.simulation = Simulation(SimulationConfig(physics=physics(), split=split))
        self.hands = Hands(np.array([HOME[name] for name in HAND_JOINTS + LEFT_HAND_JOINTS]))
        self._mode_machine = mode_machine

    def reset(
        self,
        rule: str,
        safe: str,
        seed: int,
        variation: Variation | None = None,
        prepare: Callable[[Simulation], None] = lambda simulation: None,
    ) -> None:
        """Start an episode in a new simulation; if this fails, the current one continues.

        Args:
            rule, safe, seed, variation: as for `Simulation.reset`.
            prepare: called with the new simulation before it replaces the current one.

        Raises:
            RuleSafeError: see `Simulation.reset`.
        """
        simulation = Simulation(self.simulation.config)
        simulation.reset(rule, safe, seed, variation)
        prepare(simulation)
        self.simulation = simulation
        state = simulation.state()
        self._posture = state.joint_positions[_BODY]
        self._positions = state.joint_positions[_HANDS]
        self._velocities = np.zeros(len(_HANDS))
        self.hands.reset(self._positions)
        self._steps = 0
        self._gravity = np.zeros(MOTOR_COUNT)
        self._drives = holding(self._posture, self._gravity)
        self._q, self._dq, self._ddq = self._posture, np.zeros(MOTOR_COUNT), np.zeros(MOTOR_COUNT)

    def step(self) -> None:
        """Simulate 2 ms."""
        self.simulation.advance(self._drive)
        self._steps += 1

    def _drive(self, robot: DrivenRobot) -> None:
        """Read the joint states and set the motor commands for the next 2 ms."""
        columns = [robot.index[name] for name in _MOVING]
        positions, velocities = robot.positions[columns], robot.velocities[columns]
        self._update_state(positions, velocities)
        if self._steps % FINGERS_EVERY == 0:
            fingers = self.hands.targets(FINGERS_EVERY / RATE)[:FINGERS]
            robot.command(dict(zip(HAND_JOINTS, fingers.tolist(), strict=True)))
        passive = robot.passive_torques()
        self._gravity[_ARM] = passive[columns[: len(_ARM)]]
        self._drives = self.controller.drives(holding(self._posture, self._gravity))
        robot.obey(_arm(self._drives), passive)

    def _update_state(self, positions: Array, velocities: Array) -> None:
        """Store positions and velocities of the moving joints (13,): rad, rad/s."""
        # Velocities are position differences, because those of the physics are not 0 for a loaded
        # drive at rest.
        q = self._q.copy()
        q[_ARM] = positions[: len(_ARM)]
        dq = (q - self._q) * RATE
        self._q, self._dq, self._ddq = q, dq, (dq - self._dq) * RATE
        self._positions[:FINGERS] = positions[len(_ARM) :]
        self._velocities[:FINGERS] = velocities[len(_ARM) :]

    def hand_state(self) -> tuple[Array, Array]:
        """Return positions and velocities (12,) of the hand motors, right first: rad, rad/s."""
        return self._positions.copy(), self._velocities.copy()

    def low_state(self, stamp: int) -> LowState:
        """Return the state at the last motor update. `stamp`: ns of the robot's own clock."""
        drives, q, dq = self._drives, self._q, self._dq
        tau = drives.tau + drives.kp * (drives.q - q) + drives.kd * (drives.dq - dq)
        return LowState(
            mode_machine=self._mode_machine,
            tick=stamp // 1_000_000 % 2**32,
            quat_wxyz=np.array([1, 0, 0, 0], np.float32),
            accelerometer=np.array([0, 0, 9.81], np.float32),
            q=_slots(q),
            dq=_slots(dq),
            ddq=_slots(self._ddq),
            tau=_slots(np.clip(tau, -_EFFORT, _EFFORT)),
            temperature=_TEMPERATURES,
            motor_mode=_slots(self.controller.enabled).astype(np.uint8),
            voltage=_VOLTAGES,
        )


def _arm(drives: Drives) -> dict[str, Motor]:
    columns = (drives.q, drives.dq, drives.tau, drives.kp, drives.kd)
    rows = np.stack(columns)[:, _ARM].T.tolist()
    return {name: Motor(*row) for name, row in zip(ARM_JOINTS, rows, strict=True)}


def _slots(values: NDArray) -> NDArray[np.float32]:
    """Expand (27,) to (35,) with zeros in the unused entries."""
    slots = np.zeros(SLOTS, np.float32)
    slots[:MOTOR_COUNT] = values
    return slots


_VOLTAGES = _slots(np.full(MOTOR_COUNT, VOLTAGE))
_TEMPERATURES = np.zeros((SLOTS, 2), np.int16)
_TEMPERATURES[:MOTOR_COUNT] = TEMPERATURE
