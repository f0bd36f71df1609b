"""Ramp the arm_sdk weight down after the bridge has died.

With arm_sdk the robot keeps executing the last command, so that a killed bridge leaves the weight
unchanged. The supervisor, a separate process, subscribes to the bridge's commands. If they stop
while the weight is above 0, it repeats the last one with a weight that ramps down to exactly 0. It
then repeats weight 0 until the bridge reports this weight, too: a process that was paused while it
sent a command sends it when it continues, perhaps to the robot alone, and DDS does the same with a
lost command. Such an old command is in effect for one period of the supervisor. The first command
of another publisher is therefore ignored in a takeover; the second one ends it.

After a pause of its own of more than STALE and its patience the supervisor discards the stored
command: the bridge, which noticed the missing heartbeat, may have released the robot meanwhile. Its
heartbeat then contains UNKNOWN.

It also obeys the stop topic: if the commands still have stiffness after its patience, it takes over
with commands that only damp, and does not give way to any other. The bridge ends its publication
when it receives them. A request that arrives while the weight is 0, or just before or in a pause of
the supervisor, also applies to the next command within STOP_AGE. Until then the heartbeat reports
it, since the bridge may not have received it. This module does not import ROS.
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from h1_2_bridge.messages import LowCmd
from h1_2_bridge.motors import MOTOR_COUNT, WEIGHT_SLOT, motors
from h1_2_bridge.outputs import load_output
from h1_2_bridge.realtime import ProcessParameters
from h1_2_bridge.safety import may_be_repeated
from h1_2_bridge.wire import decode_low_cmd, encode_low_cmd
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import setting

LAST_ZEROS = 0.2
"""Time (s) for which weight 0 is repeated at the end, because a single message may be lost."""

STALE = 0.5
"""Shortest time (s) without a tick after which the last command is discarded: the supervisor was
paused. A longer patience takes its place, since the bridge's timeouts are then long, too."""

BLIND = 0.2
"""Time (s) after such a pause in which received commands are ignored: they may be older than it."""

STOP_AGE = 1.0
"""Time (s) without a weight above 0 after which a stop request is discarded."""

LONGEST_STEP = 0.1
"""Longest time (s) for which the weight is ramped in one command, after a stall."""

UNKNOWN = -1.0
"""Weight in the heartbeat of a supervisor without a stored command, which cannot take over."""


class Turn(Enum):
    """Publisher that currently commands the arms."""

    NONE = "no command with a weight above 0"
    BRIDGE = "the bridge publishes commands"
    SUPERVISOR = "the bridge stopped publishing commands: ramping the weight down to 0"
    RELEASED = "the weight is 0: repeating it until the bridge reports it, too"


@dataclass
class SupervisorCounts:
    """Counts since the start.

    Attributes:
        received: valid commands received from the bridge.
        invalid: messages that cannot be decoded or have a wrong CRC; the robot ignores them too.
        takeovers: times that the bridge stopped publishing with a weight above 0.
        stops: messages received on the stop topic.
    """

    received: int = 0
    invalid: int = 0
    takeovers: int = 0
    stops: int = 0


@dataclass(frozen=True)
class SupervisorParameters(ProcessParameters):
    """Parameters of the supervisor's node."""

    ramp: float = setting(3.0, "Time for the weight to ramp from 1 to 0.", 0.1, 60, "s")
    patience: float = setting(0.2, "Time without commands before a takeover.", 0.02, 60, "s")
    rate: float = setting(
        100.0, "Rate of checks, and of commands after a takeover.", 10, 1000, "Hz"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rate * self.patience < 4:
            raise RuleSafeError(
                f"rate is {self.rate:g} Hz; valid with a patience of {self.patience:g} s: "
                f"{4 / self.patience:g} Hz or more"
            )


class Supervisor:
    """Ramps the weight down if the bridge stops sending commands; see the module's docstring."""

    def __init__(self, parameters: SupervisorParameters = SupervisorParameters()) -> None:
        self._ramp, self._patience = parameters.ramp, parameters.patience
        self._stale = max(STALE, parameters.patience)
        self._period = 1 / parameters.rate  # s
        self._output = load_output("arm_sdk")
        self.counts = SupervisorCounts()
        self._last: LowCmd | None = None
        self._weight = 0.0
        self._last_received = self._ticked = 0  # ns
        self._blind_until = 0  # ns; commands received before may be older than a pause
        self._takeover_time: int | None = None  # ns
        self._takeover_weight = 0.0
        self._ignored_one = False  # this takeover, by one command
        self._zero_time = 0  # ns, when the weight reached 0 in this takeover
        self._report_time: int | None = None  # ns, of the bridge's first report after that
        self._own_crcs: set[bytes] = set()  # CRCs of the commands sent in this takeover
        self._stop_time: int | None = None  # ns, of a stop request that is not yet obeyed
        self._stop_renewed = 0  # ns, of the newest one
        self._stalled = False  # since the last command
        self.turn = Turn.NONE

    @property
    def weight(self) -> float:
        """Weight of the last command of the bridge or the supervisor."""
        return self._weight

    @property
    def reported_weight(self) -> float:
        """Weight for the heartbeat; UNKNOWN if the supervisor could not take over."""
        return UNKNOWN if self._last is None else self._weight

    @property
    def stop_pending(self) -> bool:
        """Whether a stop was requested that the commands do not obey yet."""
        return self._stop_time is not None

    def idle(self, bridge: bool) -> bool:
        """Return whether the last command has weight 0, so that the process may end: not before
        `patience` has passed since commands were ignored after a pause of its own. `bridge`:
        whether the bridge's process exists, which may be paused and send an old command."""
        if self.turn is Turn.RELEASED:
            return not bridge and self._ticked > self._zero_time + LAST_ZEROS * SECOND
        return (
            self.turn is Turn.NONE and self._ticked >= self._blind_until + self._patience * SECOND
        )

    def receive(self, raw: bytes, now: int) -> None:
        """Process a message on /arm_sdk, which may be its own. `now`: ns, steady clock."""
        if raw[-4:] in self._own_crcs or now < self._blind_until:
            return
        try:
            command = decode_low_cmd(raw)
        except RuleSafeError:
            command = None
        if command is None or not command.valid or not np.isfinite(command.q[WEIGHT_SLOT]):
            self.counts.invalid += 1
            return
        self.counts.received += 1
        if not command.kp.any():
            self._stop_time = None  # the request is fulfilled
        elif self._takeover_time is not None and self._stop_time is not None:
            return  # the other publisher ignores the stop request
        if self._takeover_time is not None and not self._ignored_one:
            self._ignored_one = True
            return
        self._last, self._last_received, self._takeover_time = command, now, None
        self._stalled = False
        self._own_crcs.clear()
        self._weight = float(np.clip(command.q[WEIGHT_SLOT], 0, 1))
        self.turn = Turn.BRIDGE if self._weight > 0 else Turn.NONE

    def stop(self, now: int) -> None:
        """Process a message on the stop topic."""
        self.counts.stops += 1
        self._stop_renewed = now
        if self._stop_time is None:  # further requests must not delay the takeover
            self._stop_time = now

    def bridge_reported(self, weight: float, now: int) -> None:
        """Process a report of the bridge: it sends no old command after it. With a weight above 0
        the bridge has not received yet that the robot is released."""
        if self.turn is Turn.RELEASED and self._report_time is None and weight == 0:
            self._report_time = now

    def tick(self, now: int) -> bytes | None:
        """Return the message to publish now; None: nothing. Call it at a constant rate, after all
        received messages have been passed to `receive`."""
        pause = now - (self._ticked or now)
        if self._takeover_time is not None:  # the ramp continues from its weight
            self._takeover_time += max(0, pause - round(LONGEST_STEP * SECOND))
        elif pause > self._stale * SECOND:
            self._blind_until = now + round(BLIND * SECOND)
            self._last, self._weight, self.turn = None, 0.0, Turn.NONE
            self._stop_renewed = now
        elif pause > self._patience * SECOND / 2 and not self._stalled:
            # Commands may be unread; but further stalls must not delay the takeover.
            self._last_received, self._stalled = now, True
        self._ticked = now
        uncommanded = self._weight == 0 and self._takeover_time is None
        if uncommanded and now - self._stop_renewed > STOP_AGE * SECOND:
            self._stop_time = None
        if self._last is None or self.turn is Turn.NONE:
            return None
        if self._takeover_time is None:
            begin = self._last_received
            if self._stop_time is not None:
                begin = min(begin, self._stop_time)
            if now - begin < self._patience * SECOND:
                return None
            self._takeover_time, self._takeover_weight = now, self._weight
            self._ignored_one, self._report_time = False, None
            self.turn = Turn.SUPERVISOR
            self.counts.takeovers += 1
        return self._ramp_down(self._last, now)

    def _ramp_down(self, last: LowCmd, now: int) -> bytes:
        assert self._takeover_time is not None
        # The first command has a lower weight already: the bridge can tell it from its own.
        damps, elapsed = self._stop_time is not None, (now - self._takeover_time) / SECOND
        elapsed += self._period
        self._weight = max(0.0, self._takeover_weight - elapsed / self._ramp)
        if self._weight == 0 and self.turn is Turn.SUPERVISOR:
            self.turn, self._zero_time = Turn.RELEASED, now
        if self._report_time is not None and now - self._report_time > LAST_ZEROS * SECOND:
            self.turn, self._takeover_time, self._stop_time = Turn.NONE, None, None
        q = last.q.copy()
        q[WEIGHT_SLOT] = self._weight
        command = replace(last, q=q, dq=np.zeros_like(last.dq))
        # A command beyond the limits is that of another program.
        if damps or not may_be_repeated(command, self._output):
            limits, posture = motors(), np.nan_to_num(last.q[:MOTOR_COUNT])
            posture = np.clip(posture, limits.lower, limits.upper)
            command = self._output.damping(posture, self._weight, last.mode_machine)
        raw = encode_low_cmd(command)
        self._own_crcs.add(raw[-4:])
        return raw
