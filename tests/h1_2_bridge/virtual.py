"""Run the bridge's core and a motor model of the robot in exact virtual time, without pacing.

The motor model is that of the SDK peer (sdk_motors.py). Every command is recorded and checked by
`assert_safe` in every test.
"""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sdk_motors import MOTORS, UPPER_BODY, Robot

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.core import BridgeCore, Sent
from h1_2_bridge.hands import HandState
from h1_2_bridge.limits import ARM, action_limits
from h1_2_bridge.messages import SLOTS, LowCmd, LowState
from h1_2_bridge.motors import RIGHT_ARM, WEIGHT_SLOT, motors
from h1_2_bridge.outputs import DAMPING, load_output
from h1_2_bridge.remote import BUTTONS, SIZE
from h1_2_bridge.states import ControlState
from h1_2_bridge.wire import decode_low_cmd, encode_low_cmd, encode_low_state
from rulesafe_core.chunks import PERIOD, SECOND, Chunk, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, HAND_JOINTS, LEFT_HAND_JOINTS

MS = SECOND // 1000
MODE_MACHINE = 6
EPOCH = 1_700_000_000 * SECOND
"""ROS time when the steady clock is 0, ns."""

HANDS = HAND_JOINTS + LEFT_HAND_JOINTS


def encode_remote(buttons: Iterable[str]) -> bytes:
    """Return the bytes of the wireless remote with these buttons pressed and centred sticks."""
    bits = sum(1 << BUTTONS.index(name) for name in set(buttons))
    return struct.pack("<xxH", bits).ljust(SIZE, b"\0")


@dataclass(frozen=True)
class Command:
    """A command decoded from its message.

    Attributes:
        time: when the robot received it, ns.
        late: whether the bridge was paused while it sent the command.
    """

    time: int
    cmd: LowCmd
    late: bool = False


class World:
    """A robot and a bridge with ticks of 4 ms: the robot moves and sends its state, then the bridge
    sends a command.

    `alter` (LowState -> LowState, bytes, or None for a lost state) injects communication faults.
    `receives_own`: whether the bridge receives its own commands.
    """

    def __init__(
        self, output: str = "arm_sdk", hand: bool = False, receives_own: bool = True, **settings
    ) -> None:
        self.config = BridgeConfig(**{"ramp": 0.5, "supervisor_timeout": 0.0, **settings})
        self.output = load_output(output)
        self.receives_own, self._joints = receives_own, HANDS if hand else ()
        self.start_bridge()
        self.robot = Robot()
        self.now, self.shift = 10 * SECOND, EPOCH
        self.tick = 5000
        self.alter: Callable[[LowState], LowState | bytes | None] = lambda state: state
        self.commands: list[Command] = []
        self.fingers = np.full(len(HANDS), 0.3)
        self.hand_answers = True
        self.hand_targets: list[np.ndarray] = []
        self.states: list[tuple[int, ControlState, str]] = []
        self.modes: set[int] = set()  # the robot's mode_machine
        self.send_delay = 0  # ms between computing and sending a command
        self.oldest = 0  # ms, longest time between computing and sending of a sent command
        self._acting: LowCmd | None = None

    def start_bridge(self) -> None:
        """Start the bridge's process, also in place of one that has ended."""
        self.core = BridgeCore(self.config, self.output, self._joints, self.receives_own)

    @property
    def clock(self) -> int:
        """ROS time, ns."""
        return self.now + self.shift

    @property
    def state(self) -> ControlState:
        return self.core.state

    def low_state(self) -> LowState:
        def slots(values):
            padded = np.zeros(SLOTS, np.float32)
            padded[:MOTORS] = values
            return padded

        robot = self.robot
        return LowState(
            mode_machine=MODE_MACHINE,
            tick=self.tick % 2**32,
            q=slots(robot.q),
            dq=slots(robot.dq),
            tau=slots(robot.tau),
            temperature=np.full((SLOTS, 2), 40, np.int16),
        )

    def deliver_state(self) -> None:
        """Pass one state of the robot to the bridge."""
        state = self.alter(self.low_state())
        if state is None:
            return
        raw = state if isinstance(state, bytes) else encode_low_state(state)
        if not isinstance(state, bytes):
            self.modes.add(state.mode_machine)
        self.core.receive(raw, self.now)

    def step(self, milliseconds: int = 4) -> Sent:
        self.now += milliseconds * MS
        self.tick += milliseconds
        self._move_robot(milliseconds / 1000)
        if self.core.hand is not None and self.hand_answers:
            self.core.hand.receive(HandState(positions=self.fingers.copy(), stamp=self.now))
        self.deliver_state()
        self._note()
        sent = self.core.tick(self.now, self.clock)
        self._take(sent)
        self._note()
        return sent

    def _note(self) -> None:
        if not self.states or self.states[-1][1] is not self.state:
            self.states.append((self.now, self.state, self.core.reason))

    def _take(self, sent: Sent) -> None:
        self.now += self.send_delay * MS
        self.tick += self.send_delay
        if sent.body is not None:
            early = -(-self.core.early(self.now) // MS)  # ms, rounded up
            self.now += early * MS
            self.tick += early
        if sent.body is not None and self.core.in_time(self.now):
            raw = encode_low_cmd(sent.body)
            self.oldest = max(self.oldest, self.send_delay)
            self.put(raw)
            self.core.published(raw, self.now)
            if self.receives_own:
                self.core.overhear(raw, self.now)
        if sent.hand is not None:
            self.hand_targets.append(sent.hand)
            told = np.isfinite(sent.hand)
            self.fingers[told] += np.clip(sent.hand - self.fingers, -0.002, 0.002)[told]

    def put(self, raw: bytes) -> None:
        """Let the robot receive a command, from whatever program."""
        self._acting = decode_low_cmd(raw)
        self.commands.append(Command(self.now, self._acting))

    def _move_robot(self, seconds: float) -> None:
        cmd, share = self._acting, np.zeros(MOTORS)
        fields = ("q", "dq", "tau", "kp", "kd")
        command = {n: np.zeros(MOTORS) for n in fields}
        if cmd is not None:
            command = {n: np.asarray(getattr(cmd, n), float)[:MOTORS] for n in fields}
            if self.output.ends:
                share[UPPER_BODY] = cmd.q[WEIGHT_SLOT]
            else:
                share[:] = 1.0
        self.robot.step(seconds, command, share)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * 250)):
            self.step()

    def until(self, state: ControlState, seconds: float = 20.0) -> float:
        """Run until the bridge is in `state` and return the elapsed s."""
        start = self.now
        while self.state is not state:
            assert self.now - start < seconds * SECOND, (self.state, self.core.reason)
            self.step()
        return (self.now - start) / SECOND

    def engaged(self) -> "World":
        """Connect, engage and run until ACTIVE."""
        self.run(0.1)
        self.engage()
        return self

    def engage(self) -> float:
        """Engage, run until ACTIVE and return the elapsed s."""
        self.core.engage(self.now)
        return self.until(ControlState.ACTIVE)

    def moving(self, seconds: float) -> "World":
        """Connect, engage, and move the arm for `seconds`."""
        self.engaged().keep_moving()
        self.run(seconds)
        return self

    def disengage(self) -> float:
        """Disengage, run until IDLE and return the elapsed s."""
        self.core.disengage(self.now)
        return self.until(ControlState.IDLE)

    def reset(self) -> None:
        """Reset and run until IDLE."""
        self.core.reset()
        self.until(ControlState.IDLE)

    def assert_not_engaged(self, match: str) -> None:
        """Assert that engaging is refused with a message like `match`."""
        with pytest.raises(RuleSafeError, match=match):
            self.core.engage(self.now)

    @property
    def weights(self) -> np.ndarray:
        """The weights of all commands (n,), 0..1."""
        return np.array([command.cmd.q[WEIGHT_SLOT] for command in self.commands], float)

    def chunk(self, rows, joints=ACTION_JOINTS, age: float = 0.0) -> Chunk:
        return make_chunk(joints, rows, self.clock - round(age * SECOND))

    def moved(self, change: dict[int, float], rows: int = 10) -> np.ndarray:
        """Return chunk steps (rows, 13) from the command to it plus `change` (joint: rad)."""
        start = self.core.drive.command
        goal = start.copy()
        for joint, angle in change.items():
            goal[joint] += angle
        return start + (goal - start) * np.linspace(0, 1, rows + 1)[1:, None]

    def send(self, rows, **kwargs) -> None:
        self.core.accept(self.chunk(rows, **kwargs), self.clock)

    def keep_moving(self) -> None:
        """Send a chunk of 5 s that moves the elbow slowly."""
        t = np.arange(1, 51) * PERIOD / SECOND
        rows = np.tile(self.core.drive.command, (50, 1))
        rows[:, 3] += 0.3 * np.sin(0.6 * t)
        self.send(rows)


def usual(values: Iterable, *rare) -> list:
    """Return the parameters of a test; `rare` ones repeat what the others show (mark thorough)."""
    return [*values, *(pytest.param(value, marks=pytest.mark.thorough) for value in rare)]


def velocity_limits(config: BridgeConfig) -> np.ndarray:
    """Return the velocity limits of the motors (27,), rad/s."""
    return np.minimum(motors().velocity, 9.0) * config.speed


def has_effect(world: World, cmd: LowCmd) -> bool:
    """Return whether the positions of a command have an effect."""
    return bool(cmd.kp.any() and (cmd.q[WEIGHT_SLOT] or not world.output.ends))


def assert_valid(world: World) -> None:
    """Check format, positions, gains and torques of all commands, from any program, and the hand
    targets."""
    figures, used = motors(), list(world.output.motors)
    for command in world.commands:
        cmd, q = command.cmd, np.asarray(command.cmd.q, float)[:MOTORS]
        assert cmd.valid and cmd.mode_machine in world.modes and cmd.mode_pr == 0
        assert not cmd.reserve.any() and not cmd.dq.any()
        assert set(np.flatnonzero(cmd.mode)) == set(used)
        assert (cmd.kp <= world.output.kp + 1e-4).all() and (cmd.kp >= 0).all()
        assert (cmd.kd <= np.maximum(world.output.kd, DAMPING) + 1e-4).all()
        assert (np.abs(cmd.tau[:MOTORS]) <= figures.effort / 2).all()
        assert not np.delete(cmd.q, [*used, WEIGHT_SLOT]).any()
        assert 0 <= float(cmd.q[WEIGHT_SLOT]) <= 1
        assert (q[used] >= figures.lower[used] - 1e-6).all()
        assert (q[used] <= figures.upper[used] + 1e-6).all()
    limits, fingers = action_limits(world.config), len(HAND_JOINTS)
    for target in world.hand_targets:
        right = target[:fingers][np.isfinite(target[:fingers])]
        if len(right):
            assert (right >= limits.lower[ARM:] - 1e-6).all()
            assert (right <= limits.upper[ARM:] + 1e-6).all()
        assert np.isnan(target[fingers:]).all(), "the left hand is not commanded"


def assert_safe(world: World) -> None:
    """Check all sent commands, using only their messages and the times at which they were sent."""
    assert_valid(world)
    figures, config, arm = motors(), world.config, list(RIGHT_ARM)
    velocity, acceleration = np.zeros(MOTORS), np.zeros(MOTORS)
    velocity[arm] = velocity_limits(config)[arm]
    acceleration[arm] = figures.acceleration[arm] * config.speed
    last: Command | None = None
    moved = np.zeros(MOTORS)
    for command in world.commands:
        cmd, q = command.cmd, np.asarray(command.cmd.q, float)[:MOTORS]
        weight = float(cmd.q[WEIGHT_SLOT])
        dt = (command.time - last.time) / SECOND if last else 0.0
        if last is not None and dt <= config.stall_timeout:
            before = np.asarray(last.cmd.q, float)
            assert abs(weight - before[WEIGHT_SLOT]) <= dt / config.ramp + 1e-6
            now_moved = (q - before[:MOTORS]) / dt
            if has_effect(world, last.cmd):
                assert (np.abs(now_moved) <= velocity + 1e-3).all()
            else:
                now_moved = moved = np.zeros(MOTORS)
            if cmd.kp.any():
                change = np.abs(now_moved - moved)
                assert (change <= acceleration * dt + 2e-3).all(), change.max()
            moved = now_moved
        elif last is not None and dt <= config.gap_timeout and has_effect(world, last.cmd):
            # After a stall the arm starts from rest, as if one period had passed.
            moved = (q - np.asarray(last.cmd.q, float)[:MOTORS]) * config.rate
            assert (np.abs(moved) <= acceleration / config.rate + 2e-3).all(), moved
        else:
            moved = np.zeros(MOTORS)
        last = command


def assert_rests(world: World, seconds: float = 1.0) -> None:
    """Assert that the command brakes to rest within `seconds` and stays constant."""
    world.run(seconds)
    before = world.core.drive.posture.copy()
    world.run(0.5)
    assert (world.core.drive.posture == before).all()


def with_fields(**changes) -> Callable[[LowState], LowState]:
    """Return an `alter` function that sets fields of every state."""
    return lambda state: replace(state, **changes)


def corrupted(state: LowState) -> bytes:
    """Return a message whose CRC is wrong; for `alter`."""
    raw = bytearray(encode_low_state(state))
    raw[200] ^= 1
    return bytes(raw)
