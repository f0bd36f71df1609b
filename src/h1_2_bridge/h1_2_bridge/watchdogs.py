"""What is watched: the robot's states, its motors, the clocks. Each with `now` passed in. No ROS.

All times are integer ns. `now` is a steady clock's, which no correction of the time of day moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.messages import LowState
from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS, motors
from h1_2_bridge.states import HoldReason
from h1_2_bridge.wire import decode_low_state
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

WRAP = 2**32
"""The robot's tick is a uint32."""

REORDERED = 1000
"""A tick that is less than this many behind the newest came late; more, and the robot began to
count anew."""

FORGOTTEN = SECOND
"""ns without a good state after which the next one begins anew: the robot was switched off and on,
or its counter stood still, and what its ticks were before says nothing."""

DRIFT = 1e-3
"""How much faster than the robot's clock this machine's may run: 0.1 % is many times more than
quartz clocks differ."""

JUDGED = SECOND // 2
"""Time over which the rate is judged, ns."""


@dataclass
class StateCounts:
    """What became of the robot's states since the start."""

    good: int = 0
    malformed: int = 0
    """Of a wrong size, or with NaN."""
    wrong_crc: int = 0
    repeated: int = 0
    """With the tick of the one before: sent twice, or the robot is frozen."""
    reordered: int = 0
    """Overtaken by a newer one."""
    late: int = 0
    """On their way for longer than the time-out."""
    restarts: int = 0


class StateWatch:
    """Takes the robot's raw states, and tells how long ago the last good, fresh one was taken.

    Only such a state counts: right size and CRC, finite, newer than the last by the robot's own
    tick, and not on its way for longer than the time-out. A state that repeats a tick is no sign of
    life, so that a frozen robot is a lost one.
    """

    def __init__(self, config: BridgeConfig) -> None:
        self._timeout = round(config.state_timeout * SECOND)
        self._tick = round(config.tick * SECOND)
        self.counts = StateCounts()
        self.last: LowState | None = None
        self.stamp = 0  # ns, when `last` was taken
        self.complaint = ""  # about the last state that was not good
        self._heard = -1  # tick of the last state with a right CRC
        self._ticks = 0  # of `last`, without the wrap
        self._fastest: int | None = None  # ns, least of arrival minus tick: the quickest way
        self._judged = 0  # ns, when that was found
        self._window: tuple[int, int] = (0, 0)  # since when, and how many
        self._rate = 0.0  # Hz

    def receive(self, raw: bytes, now: int) -> LowState | None:
        """The state, if it is a good and fresh one."""
        try:
            state = decode_low_state(raw)
        except RuleSafeError as error:
            self.counts.malformed += 1
            self.complaint = str(error)
            return None
        if reason := self._refusal(state, now):
            self.complaint = reason
            return None
        self.counts.good += 1
        self.last, self.stamp = state, now
        since, count = self._window
        self._window = since, count + 1
        if now - since >= JUDGED:
            self._rate = (count + 1) * SECOND / (now - since) if since else 0.0
            self._window = now, 0
        return state

    def _refusal(self, state: LowState, now: int) -> str:
        """Why a state is not taken; empty if it is."""
        counts, ticks = self.counts, state.tick
        if not state.valid:
            counts.wrong_crc += 1
            return f"wrong CRC {state.crc:#010x}"
        if not (np.isfinite(state.q).all() and np.isfinite(state.dq).all()):
            counts.malformed += 1
            return "a position or velocity that is not finite"
        heard, self._heard = self._heard, state.tick
        if self.last is not None:
            ahead = (state.tick - self.last.tick + WRAP // 2) % WRAP - WRAP // 2
            ticks = self._ticks + ahead
            anew = ahead <= -REORDERED or now - self.stamp > FORGOTTEN
            if ahead == 0 or (anew and state.tick == heard):
                counts.repeated += 1
                return f"tick {state.tick} again"
            if anew:
                counts.restarts += 1
                ticks, self._fastest = state.tick, None
            elif ahead < 0:
                counts.reordered += 1
                return f"tick {state.tick} after {self.last.tick}"
        if late := self._lateness(ticks, now):
            return late
        self._ticks = ticks
        return ""

    def _lateness(self, ticks: int, now: int) -> str:
        way = now - ticks * self._tick
        if not self._tick or self._fastest is None:
            self._fastest, self._judged = way, now
            return ""
        self._fastest = min(way, self._fastest + round(DRIFT * (now - self._judged)))
        self._judged = now
        if way - self._fastest <= self._timeout:
            return ""
        self.counts.late += 1
        return f"{(way - self._fastest) / SECOND:.3f} s late"

    def rate_at(self, now: int) -> float:
        """Good states a second, Hz, over the last half second or so."""
        return self._rate if now - self._window[0] < 2 * JUDGED else 0.0

    def age(self, now: int) -> float:
        """s since the last good state; infinite if there was none."""
        return (now - self.stamp) / SECOND if self.last is not None else float("inf")

    def lost(self, now: int) -> bool:
        """Whether the robot is no longer seen."""
        return self.last is None or now - self.stamp > self._timeout

    def why_lost(self, now: int) -> str:
        """In words, where it is."""
        bad = f" (the last one: {self.complaint})" if self.complaint else ""
        if self.last is None:
            return f"no state has come from the robot{bad}"
        return f"no good state from the robot for {self.age(now):.3f} s{bad}"


class OverloadWatch:
    """Torque, tracking error, temperature and the motors' own faults, of the commanded motors.

    A temperature or a fault counts at once; torque and tracking error when they have lasted.
    """

    def __init__(self, config: BridgeConfig, commanded: Sequence[int]) -> None:
        self._config = config
        self._motors = list(commanded)
        self._effort = motors().effort[self._motors] * config.torque
        self._lasting = round(config.overload_time * SECOND)
        self.reset()

    def reset(self) -> None:
        """Begins to watch: what was over a limit before does not count."""
        self._since: dict[str, int] = {}

    def excess(self, state: LowState, posture: NDArray[np.float64]) -> str:
        """What is over its limit at this instant, "" if nothing is. `posture` (27,), rad: what is
        commanded."""
        reasons = (self._heat(state), self._fault(state), self._torque(state))
        return next(filter(None, (*reasons, self._tracking(state, posture))), "")

    def look(self, state: LowState, posture: NDArray[np.float64], now: int) -> HoldReason | None:
        """Why the arm should hold: too warm or too loaded. `posture` as in `excess`."""
        if why := self._heat(state) or self._fault(state):
            return HoldReason(why)
        if why := self._lasts("torque", self._torque(state), now):
            return HoldReason(why, yields=True)
        if why := self._lasts("tracking", self._tracking(state, posture), now):
            return HoldReason(why, yields=True)
        return None

    def _lasts(self, kind: str, why: str, now: int) -> str:
        """`why`, once it has been said for long enough."""
        if not why:
            self._since.pop(kind, None)
        elif now - self._since.setdefault(kind, now) >= self._lasting:
            return why
        return ""

    def _heat(self, state: LowState) -> str:
        hot = np.asarray(state.temperature)[self._motors].max(axis=1)
        i, allowed = int(hot.argmax()), self._config.temperature
        if hot[i] <= allowed:
            return ""
        return f"{self._name(i)} has {hot[i]:g} deg C, and {allowed:g} are allowed"

    def _fault(self, state: LowState) -> str:
        faults = np.asarray(state.motor_fault)[self._motors]
        i = int(np.argmax(faults != 0))
        return f"{self._name(i)} reports the fault {int(faults[i]):#x}" if faults[i] else ""

    def _torque(self, state: LowState) -> str:
        torque = np.abs(np.asarray(state.tau, np.float64)[self._motors])
        over = torque - self._effort
        i = int(over.argmax())
        # Written so that NaN counts as too much.
        if (over <= 0).all():
            return ""
        return f"{self._name(i)} has {torque[i]:.1f} N m, and {self._effort[i]:.1f} are allowed"

    def _tracking(self, state: LowState, posture: NDArray[np.float64]) -> str:
        error = np.abs(np.asarray(state.q, np.float64)[:MOTOR_COUNT] - posture)[self._motors]
        i, allowed = int(error.argmax()), self._config.tracking
        if error[i] <= allowed:
            return ""
        return (
            f"{self._name(i)} is {error[i]:.2f} rad from its command, and {allowed:g} are allowed"
        )

    def _name(self, i: int) -> str:
        return MOTOR_JOINTS[self._motors[i]]


class ChunkWatch:
    """How long the next chunk has been due."""

    def __init__(self, config: BridgeConfig) -> None:
        self._timeout = round(config.chunk_timeout * SECOND)
        self.reset()

    def reset(self) -> None:
        """The time begins when one is due from now on."""
        self._due: int | None = None

    def starved(self, done: bool, now: int) -> bool:
        """Whether the time-out has passed; `done`: whether the next chunk is due."""
        if not done:
            self._due = None
            return False
        if self._due is None:
            self._due = now
        return now - self._due > self._timeout


class ClockWatch:
    """Compares the graph's clock, which chunks are stamped with, to the steady one."""

    def __init__(self, config: BridgeConfig) -> None:
        self._allowed = round(config.clock_jump * SECOND)
        self._offset: int | None = None

    def jumped(self, now: int, clock: int) -> float:
        """s by which `clock` (ns) has jumped against `now` (ns) since the last call; 0: it has
        not, as where it is slewed."""
        offset, last = clock - now, self._offset
        self._offset = offset
        if last is None or abs(offset - last) <= self._allowed:
            return 0.0
        return (offset - last) / SECOND


def measured_posture(state: LowState) -> NDArray[np.float64]:
    """The 27 motors' positions, rad, by motor index."""
    return np.asarray(state.q, np.float64)[:MOTOR_COUNT].copy()
