"""Watchdogs of the robot's states, motor loads, chunks and clocks; they do not import ROS.

All times are integer ns. `now` is the time of a steady clock, which is never corrected.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.messages import LowState
from h1_2_bridge.motors import LEFT_ARM, MOTOR_COUNT, MOTOR_JOINTS, RIGHT_ARM, motors
from h1_2_bridge.states import NO_HEARTBEAT, NOT_REACHED, STILL_COMMANDED, HoldReason
from h1_2_bridge.wire import decode_low_state
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

WRAP = 2**32
"""Modulus of the robot's tick, which is a uint32."""

REORDERED = 1000
"""A tick that is fewer ticks than this behind the newest one was reordered; otherwise the robot has
restarted and its tick with it."""

RESTART_AFTER = SECOND
"""Time without a valid state (ns) after which the next one counts as a restart: the robot was
switched off and on, or its counter stopped, so that earlier ticks are meaningless. If
`state_timeout`, which allows gaps, is longer, it is used instead."""

DRIFT = 1e-3
"""Largest relative drift between the clocks of this machine and the robot; 0.1 % is many times more
than quartz clocks have."""

MOVING = 0.2
"""Joint speed from which an arm counts as moving, rad/s."""

RATE_WINDOW = SECOND // 2
"""Time over which the rate is measured, ns."""


@dataclass
class StateCounts:
    """Number of received robot states by result since the start."""

    good: int = 0
    malformed: int = 0
    """States with a wrong size, or with a position or velocity that is not finite."""
    wrong_crc: int = 0
    repeated: int = 0
    """States with the same tick as the one before: sent twice, or the robot is frozen."""
    reordered: int = 0
    """States that were received after a newer state."""
    late: int = 0
    """States with a latency above `state_timeout`."""
    restarts: int = 0


class StateWatch:
    """Validates raw states of the robot and detects their loss.

    A state is valid if its size and CRC are right, its positions and velocities are finite, its
    tick is newer than the last one, and its latency is at most the timeout. States with a repeated
    tick are not valid, so that a frozen robot counts as lost.
    """

    def __init__(self, config: BridgeConfig) -> None:
        self._timeout = round(config.state_timeout * SECOND)
        self._restart_after = max(RESTART_AFTER, self._timeout)
        self._tick = round(config.tick * SECOND)
        self._simulator = config.simulator
        self.counts = StateCounts()
        self.last: LowState | None = None
        self.stamp = 0  # ns, when `last` was received
        self.last_error = ""  # error of the last state that was not valid
        self._received_tick = -1  # tick of the last state with a valid CRC
        self._ticks = 0  # tick of `last`, unwrapped
        self._fastest: int | None = None  # ns, smallest arrival time minus tick: least latency
        self._fastest_time = 0  # ns, when `_fastest` was updated
        self._window: tuple[int, int] = (0, 0)  # start time and number of valid states
        self._rate = 0.0  # Hz

    def receive(self, raw: bytes, now: int) -> LowState | None:
        """Return the decoded state if it is valid, else None."""
        try:
            state = decode_low_state(raw)
        except RuleSafeError as error:
            self.counts.malformed += 1
            self.last_error = str(error)
            return None
        if reason := self._refusal(state, now):
            self.last_error = reason
            return None
        self.counts.good += 1
        self.last, self.stamp = state, now
        since, count = self._window
        self._window = since, count + 1
        if now - since >= RATE_WINDOW:
            self._rate = (count + 1) * SECOND / (now - since) if since else 0.0
            self._window = now, 0
        return state

    def _refusal(self, state: LowState, now: int) -> str:
        """Return why a state is not valid; empty if it is."""
        counts, ticks = self.counts, state.tick
        if not (state.valid or self._simulator):
            counts.wrong_crc += 1
            return f"wrong CRC {state.crc:#010x}"
        if not (np.isfinite(state.q).all() and np.isfinite(state.dq).all()):
            counts.malformed += 1
            return "a position or velocity is not finite"
        if self._simulator:
            return ""
        received_tick, self._received_tick = self._received_tick, state.tick
        if self.last is not None:
            ahead = (state.tick - self.last.tick + WRAP // 2) % WRAP - WRAP // 2
            ticks = self._ticks + ahead
            elapsed = now - self.stamp
            restarted = (
                ahead <= -REORDERED
                or ahead * self._tick > elapsed + self._restart_after
                or elapsed > self._restart_after
            )
            if ahead == 0 or (restarted and state.tick == received_tick):
                counts.repeated += 1
                return f"repeated tick {state.tick}"
            if restarted:
                counts.restarts += 1
                ticks, self._fastest = state.tick, None
            elif ahead < 0:
                counts.reordered += 1
                return f"tick {state.tick} received after tick {self.last.tick}"
        if late := self._lateness(ticks, now):
            return late
        self._ticks = ticks
        return ""

    def _lateness(self, ticks: int, now: int) -> str:
        latency = now - ticks * self._tick  # plus an unknown constant
        if not self._tick or self._fastest is None:
            self._fastest, self._fastest_time = latency, now
            return ""
        self._fastest = min(latency, self._fastest + round(DRIFT * (now - self._fastest_time)))
        self._fastest_time = now
        if latency - self._fastest <= self._timeout:
            return ""
        self.counts.late += 1
        return f"received {(latency - self._fastest) / SECOND:.3f} s late"

    def rate_at(self, now: int) -> float:
        """Return the rate of valid states, Hz, over about the last half second."""
        return self._rate if now - self._window[0] < 2 * RATE_WINDOW else 0.0

    def age(self, now: int) -> float:
        """Return s since the last valid state; infinite if there was none."""
        return (now - self.stamp) / SECOND if self.last is not None else float("inf")

    def lost(self, now: int) -> bool:
        """Return whether no valid state was received within the timeout."""
        return self.last is None or now - self.stamp > self._timeout

    def loss_reason(self, now: int) -> str:
        """Return a message for a robot that is lost."""
        error = f" (last invalid state: {self.last_error})" if self.last_error else ""
        if self.last is None:
            return f"no valid state received from the robot yet{error}"
        return f"no valid state received from the robot for {self.age(now):.3f} s{error}"


class OverloadWatch:
    """Monitors torque, tracking error, temperature, supply voltage and reported faults of the
    commanded motors.

    Temperature and faults count immediately, the others after `overload_time`.
    """

    def __init__(self, config: BridgeConfig, commanded: Sequence[int]) -> None:
        self._config = config
        self._motors = list(commanded)
        self._effort = motors().effort[self._motors] * config.torque
        self._duration = round(config.overload_time * SECOND)
        self.reset()

    def reset(self) -> None:
        """Discard the durations of earlier overloads."""
        self._since: dict[str, int] = {}

    def excess(self, state: LowState, posture: NDArray[np.float64]) -> str:
        """Return which limit is exceeded now; empty if none. `posture` (27,), rad: commanded."""
        reasons = (self._supply(state), self._heat(state), self._fault(state), self._torque(state))
        return next(filter(None, (*reasons, self._tracking(state, posture))), "")

    def check(self, state: LowState, posture: NDArray[np.float64], now: int) -> HoldReason | None:
        """Return why the arm must hold; None if it need not. `posture` as in `excess`."""
        if reason := self._heat(state) or self._fault(state):
            return HoldReason(reason)
        if reason := self._if_lasting("torque", self._torque(state), now):
            return HoldReason(reason, yields=True)
        if reason := self._if_lasting("tracking", self._tracking(state, posture), now):
            return HoldReason(reason, yields=True)
        return None

    def undervoltage(self, state: LowState, now: int) -> str:
        """Return why the robot must be released because of its supply; empty if it need not."""
        return self._if_lasting("supply", self._supply(state), now)

    def _if_lasting(self, kind: str, reason: str, now: int) -> str:
        """Return `reason` once it has lasted for `overload_time`, else an empty string."""
        if not reason:
            self._since.pop(kind, None)
        elif now - self._since.setdefault(kind, now) >= self._duration:
            return reason
        return ""

    def _supply(self, state: LowState) -> str:
        if not (allowed := self._config.voltage):
            return ""
        supply = np.asarray(state.voltage)[self._motors]
        i = int(supply.argmin())
        if supply[i] >= allowed:
            return ""
        return (
            f"{self._name(i)} is supplied with {supply[i]:.1f} V, the limit is {allowed:g} V: "
            "charge or replace the battery"
        )

    def _heat(self, state: LowState) -> str:
        hot = np.asarray(state.temperature)[self._motors].max(axis=1)
        i, allowed = int(hot.argmax()), self._config.temperature
        if hot[i] <= allowed:
            return ""
        return f"{self._name(i)} is at {hot[i]:g} deg C, the limit is {allowed:g} deg C"

    def _fault(self, state: LowState) -> str:
        faults = np.asarray(state.motor_fault)[self._motors]
        i = int(np.argmax(faults != 0))
        return f"{self._name(i)} reports fault {int(faults[i]):#x}" if faults[i] else ""

    def _torque(self, state: LowState) -> str:
        torque = np.abs(np.asarray(state.tau, np.float64)[self._motors])
        over = torque - self._effort
        i = int(over.argmax())
        # This form of the comparison treats NaN as an excess.
        if (over <= 0).all():
            return ""
        return f"{self._name(i)} is at {torque[i]:.1f} N m, the limit is {self._effort[i]:.1f} N m"

    def _tracking(self, state: LowState, posture: NDArray[np.float64]) -> str:
        error = np.abs(np.asarray(state.q, np.float64)[:MOTOR_COUNT] - posture)[self._motors]
        i, allowed = int(error.argmax()), self._config.tracking
        if error[i] <= allowed:
            return ""
        return (
            f"{self._name(i)} is {error[i]:.2f} rad from its command, the limit is {allowed:g} rad"
        )

    def _name(self, i: int) -> str:
        return MOTOR_JOINTS[self._motors[i]]


class SupervisorWatch:
    """Checks the heartbeat of the supervisor, which must be able to take over at any time.

    The heartbeat is a rulesafe_interfaces/SupervisorState. A supervisor that does not receive the
    commands, or does not reach the robot, is of no use.

    Attributes:
        stop_pending: whether the supervisor received a stop request that is not obeyed yet.
    """

    DIFFERENCE = 0.2
    """Largest difference of its weight from that of the bridge for longer than the timeout."""

    def __init__(self, config: BridgeConfig) -> None:
        self._timeout = round(config.supervisor_timeout * SECOND)
        self._gap, self._own_ramp = config.gap_timeout, config.ramp
        self._stamp: int | None = None  # ns, of the last heartbeat
        self._agreed = 0  # ns, when the weights last agreed
        self._patience = self._weight = self._ramp = 0.0
        self._receivers = 0
        self.stop_pending = False

    def receive(
        self, patience: float, weight: float, receivers: int, stop: bool, ramp: float, now: int
    ) -> None:
        """Process a heartbeat with these values of SupervisorState, received at `now` (ns)."""
        self._patience, self._weight, self._receivers = patience, weight, receivers
        self._ramp = ramp
        self.stop_pending, self._stamp = stop, now

    def trouble(self, now: int) -> str:
        """Return why the supervisor cannot take over at `now` (ns); empty if it can."""
        if self._stamp is None or now - self._stamp > self._timeout:
            return (
                f"{NO_HEARTBEAT} on /bridge/supervisor: start it, as launch/robot.launch.xml does"
            )
        if not self._patience > self._gap:
            return (
                f"the supervisor's patience is {self._patience:g} s; it must be above gap_timeout, "
                f"{self._gap:g} s"
            )
        if not self._ramp >= self._own_ramp:
            return (
                f"the supervisor's ramp is {self._ramp:g} s; it must not be below the bridge's, "
                f"{self._own_ramp:g} s"
            )
        if not self._receivers >= 1:
            return f"the supervisor {NOT_REACHED}; wait, or check its network_interface"
        return ""

    def still_commanded(self) -> str:
        """Return why the bridge must not engage yet, although the supervisor is in order; empty if
        it may: the robot executes commands of a bridge before this one, or of the supervisor."""
        if self._weight > 0:
            return (
                f"{STILL_COMMANDED}: the supervisor reports the weight {self._weight:.2f}; wait "
                "until it has ramped it down to 0"
            )
        return ""

    def lost(self, weight: float, now: int) -> str:
        """Return why the bridge must release the robot; empty if it need not. `weight`: of the
        last command of the bridge."""
        if abs(weight - max(0.0, self._weight)) <= self.DIFFERENCE:
            self._agreed = now
        if now - self._agreed > self._timeout:
            return (
                f"the supervisor does not receive the commands: it reports the weight "
                f"{self._weight:.2f}, the bridge sends {weight:.2f}"
            )
        return self.trouble(now)

    def report(self, since: int, now: int) -> float | None:
        """Return the weight in the last heartbeat, if it was received some heartbeats after `since`
        (ns), the end of a pause of this process: earlier ones may be older than the pause."""
        if self.silent(since, now) or self._stamp is None:
            return None
        return self._weight if self._stamp - since > self._timeout // 2 else None

    def silent(self, since: int, now: int) -> bool:
        """Return whether no heartbeat has been received for the timeout, not counting the time
        before `since` (ns)."""
        return now - max(since, self._stamp or 0) > self._timeout


class ChunkWatch:
    """Measures for how long the next chunk has been due."""

    def __init__(self, config: BridgeConfig) -> None:
        self._timeout = round(config.chunk_timeout * SECOND)
        self.reset()

    def reset(self) -> None:
        """Restart the timeout, which begins when the next chunk is due."""
        self._due: int | None = None

    def timed_out(self, done: bool, now: int) -> bool:
        """Return whether the timeout has passed. `done`: whether the next chunk is due."""
        if not done:
            self._due = None
            return False
        if self._due is None:
            self._due = now
        return now - self._due > self._timeout


class ClockWatch:
    """Compares the ROS clock, which stamps chunks, with the steady clock."""

    def __init__(self, config: BridgeConfig) -> None:
        self._allowed = round(config.clock_jump * SECOND)
        self._offset: int | None = None
        self._since = 0  # ns

    def jump(self, now: int, clock: int) -> float:
        """Return s by which `clock` (ns) has changed relative to `now` (ns) within a second, if it
        has jumped or stopped.

        The value is 0 for changes up to `clock_jump`, as when the clock is slewed.
        """
        offset = clock - now
        change = 0 if self._offset is None else offset - self._offset
        jumped = abs(change) > self._allowed
        if self._offset is None or jumped or now - self._since > SECOND:
            self._offset, self._since = offset, now
        return change / SECOND if jumped else 0.0


def measured_posture(state: LowState) -> NDArray[np.float64]:
    """Return the measured positions of the 27 motors, rad, by motor index."""
    return np.asarray(state.q, np.float64)[:MOTOR_COUNT].copy()


def arm_speed(state: LowState) -> float:
    """Return the measured speed of the fastest joint of both arms, rad/s."""
    return float(np.abs(np.asarray(state.dq, np.float64)[[*LEFT_ARM, *RIGHT_ARM]]).max())
