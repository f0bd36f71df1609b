"""What takes the arms back when the bridge is gone: a process that hears what the robot hears.

With arm_sdk the robot keeps following the last command; a bridge that was killed leaves the weight
where it was. The supervisor listens to the bridge's own commands. Once they have stopped while the
weight was above 0, it repeats the last one with a weight that falls to exactly 0, and is silent
again. It never speaks while the bridge does: any command that is not its own ends its turn. It
decides nothing else; no ROS here.
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from h1_2_bridge.messages import LowCmd
from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.wire import decode_low_cmd, encode_low_cmd
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting

SECOND = 10**9

LAST_ZEROS = 0.2
"""s for which weight 0 is repeated at the end: a single message may be lost."""


class Turn(Enum):
    """Who speaks to the robot."""

    NOBODY = "no command with a weight has been heard"
    BRIDGE = "the bridge speaks"
    SUPERVISOR = "the bridge has fallen silent: the weight falls"


@dataclass
class SupervisorCounts:
    """What happened since the start.

    Attributes:
        heard: commands of the bridge.
        invalid: messages that are none, or with a wrong checksum: the robot ignores them too.
        takeovers: times that the bridge fell silent with a weight above 0.
    """

    heard: int = 0
    invalid: int = 0
    takeovers: int = 0


@dataclass(frozen=True)
class SupervisorParameters(Settings):
    """Parameters of the supervisor's node."""

    ramp: float = setting(3.0, "Time in which the weight falls from 1 to 0.", 0.1, 60, "s")
    patience: float = setting(0.2, "Silence of the bridge before a takeover.", 0.02, 60, "s")
    rate: float = setting(
        100.0, "Rate of checks, and of commands after a takeover.", 10, 1000, "Hz"
    )
    network_interface: str = setting("", "Network interface of the robot; empty: unchanged.")


class Supervisor:
    """See the module."""

    def __init__(self, parameters: SupervisorParameters = SupervisorParameters()) -> None:
        self._ramp, self._patience = parameters.ramp, parameters.patience
        self.counts = SupervisorCounts()
        self._last: LowCmd | None = None
        self._weight = 0.0
        self._silent_since = self._ticked = 0
        self._began: int | None = None
        self._first = 0.0
        self._own: set[bytes] = set()  # checksums of what it sent in this turn
        self.turn = Turn.NOBODY

    @property
    def weight(self) -> float:
        """Of the last command, its own or the bridge's."""
        return self._weight

    def hear(self, raw: bytes, now: int) -> None:
        """A message on /arm_sdk, its own among them. `now`: ns, steady."""
        if raw[-4:] in self._own:
            return
        try:
            command = decode_low_cmd(raw)
        except RuleSafeError:
            command = None
        if command is None or not command.valid or not np.isfinite(command.q[WEIGHT_SLOT]):
            self.counts.invalid += 1
            return
        self.counts.heard += 1
        self._last, self._silent_since, self._began = command, now, None
        self._own.clear()
        self._weight = float(np.clip(command.q[WEIGHT_SLOT], 0, 1))
        self.turn = Turn.BRIDGE if self._weight > 0 else Turn.NOBODY

    def tick(self, now: int) -> bytes | None:
        """What is to be published now; None: nothing. To be called at a steady rate, after all that
        was received has been passed to `hear`."""
        if now - self._ticked > self._patience * SECOND / 2:
            self._silent_since = now  # it slept itself: what it has not heard proves nothing
        self._ticked = now
        if self._last is None or self.turn is Turn.NOBODY:
            return None
        if self._began is None:
            if now - self._silent_since < self._patience * SECOND:
                return None
            self._began, self._first = now, self._weight
            self.turn = Turn.SUPERVISOR
            self.counts.takeovers += 1
        return self._fall(self._last, now)

    def _fall(self, last: LowCmd, now: int) -> bytes:
        assert self._began is not None
        elapsed = (now - self._began) / SECOND
        self._weight = max(0.0, self._first - elapsed / self._ramp)
        if self._weight == 0 and elapsed > self._first * self._ramp + LAST_ZEROS:
            self.turn, self._began = Turn.NOBODY, None
        q = last.q.copy()
        q[WEIGHT_SLOT] = self._weight
        raw = encode_low_cmd(replace(last, q=q, dq=np.zeros_like(last.dq)))
        self._own.add(raw[-4:])
        return raw
