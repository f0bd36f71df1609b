"""The watchdogs alone, without a bridge: at their limits, to the nanosecond, and several times."""

import re
from dataclasses import replace

import numpy as np
import pytest

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.messages import LowState
from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS, motors
from h1_2_bridge.outputs import load_output
from h1_2_bridge.states import HoldReason
from h1_2_bridge.watchdogs import (
    DRIFT,
    RATE_WINDOW,
    REORDERED,
    RESTART_AFTER,
    ChunkWatch,
    ClockWatch,
    OverloadWatch,
    StateCounts,
    StateWatch,
    SupervisorWatch,
    measured_posture,
)
from h1_2_bridge.wire import encode_low_state

MS = 10**6
SECOND = 10**9
TIMEOUT = 50 * MS
START = 100 * SECOND


# States of the robot --------------------------------------------------------------------------


class Robot:
    """A robot whose states arrive at a StateWatch; `now` in ms from START."""

    def __init__(self, **settings) -> None:
        self.watch = StateWatch(BridgeConfig(**settings))

    def send(self, tick: int, now: float, **fields) -> bool:
        raw = encode_low_state(LowState(tick=tick % 2**32, **fields))
        return self.watch.receive(raw, START + round(now * MS)) is not None

    @property
    def counts(self) -> StateCounts:
        return self.watch.counts


def test_constants_of_the_state_watch():
    assert (REORDERED, RESTART_AFTER, DRIFT, RATE_WINDOW) == (1000, SECOND, 1e-3, SECOND // 2)


def test_states_are_counted_by_their_result():
    robot = Robot()
    assert robot.counts == StateCounts(0, 0, 0, 0, 0, 0, 0)
    assert robot.send(5000, 0) and robot.send(5004, 4)
    assert not robot.send(5004, 5) and robot.watch.last_error == "repeated tick 5004"
    assert not robot.send(5002, 6)
    assert robot.watch.last_error == "tick 5002 received after tick 5004"
    assert not robot.send(5006, 60)
    assert robot.watch.last_error == "received 0.054 s late"
    broken = bytearray(encode_low_state(LowState(tick=5070)))
    broken[200] ^= 1
    assert robot.watch.receive(bytes(broken), START + 70 * MS) is None
    assert robot.watch.last_error.startswith("wrong CRC 0x")
    assert robot.watch.receive(b"short", START + 71 * MS) is None
    for name in ("q", "dq"):
        values = np.zeros(35, np.float32)
        values[3] = np.nan
        assert not robot.send(5072, 72, **{name: values})
        assert robot.watch.last_error == "a position or velocity is not finite"
    assert robot.counts == StateCounts(2, 3, 1, 1, 1, 1, 0)
    assert robot.watch.last.tick == 5004 and robot.watch.stamp == START + 4 * MS


def test_the_latency_of_a_state_at_its_limit():
    # The limit is 50 ms, and 0.1 % of the 60 ms since the first state for the drift of the clocks.
    for latency, valid in ((50.06, True), (50.0601, False)):
        robot = Robot()
        robot.send(5000, 0)
        assert robot.send(5010, 10 + latency) == valid
        assert robot.counts.late == (not valid)
    robot = Robot(tick=0)  # no check
    assert robot.send(5000, 0) and robot.send(5010, 900) and robot.counts.late == 0


def test_the_least_latency_follows_the_drift_of_the_clocks_and_no_faster():
    """The robot's clock is 0.1 % slow: its ticks arrive later and later, but are not late."""
    robot = Robot()
    for second in range(200):
        assert robot.send(1000 * second, 1001 * second), second
    late = Robot()
    assert all(late.send(100 * i, 101 * i) for i in range(56))  # 1 % is not drift
    assert not late.send(5600, 101 * 56) and late.counts.late == 1


@pytest.mark.parametrize("start", [5000, 2**32 - 2])
def test_ticks_may_wrap_and_order_is_kept(start):
    robot = Robot()
    assert robot.send(start, 0) and robot.send(start + 4, 4)
    assert not robot.send(start + 1, 5) and robot.counts.reordered == 1
    assert robot.send(start + 8, 8)
    assert robot.counts.restarts == 0


def test_a_restarted_robot_is_told_from_a_reordered_state():
    robot = Robot()
    robot.send(5000, 0)
    assert not robot.send(5000 - 999, 1) and robot.counts.reordered == 1
    assert robot.send(5000 - 1000, 2) and robot.counts.restarts == 1
    assert robot.send(4004, 6) and robot.counts.restarts == 1


def test_a_state_after_a_long_silence_is_a_restart_with_any_tick():
    for silence, restarts in ((1000, 0), (1000 + 1e-6, 1)):
        robot = Robot()
        robot.send(5000, 0)
        assert robot.send(6000, silence)
        assert robot.counts.restarts == restarts
    robot = Robot(state_timeout=9.0)  # allows longer gaps
    assert robot.send(5000, 0) and robot.send(14_000, 9000) and robot.counts.restarts == 0
    assert robot.send(23_001, 18_001) and robot.counts.restarts == 1
    for uptime in (50_000, 3_000_000_000):  # a restart within such a gap
        robot = Robot(state_timeout=9.0)
        assert robot.send(uptime, 0) and robot.send(2000, 5000) and robot.counts.restarts == 1
    robot = Robot()  # a frozen robot repeats its tick, before and after a second
    robot.send(5000, 0)
    assert not any(robot.send(5000, 100 * i) for i in range(1, 30))
    assert robot.counts.repeated == 29 and robot.counts.restarts == 0
    robot = Robot()  # frozen with a tick that was never valid
    robot.send(5000, 0)
    assert not any(robot.send(5001, 100 * i) for i in range(1, 30))
    assert robot.counts.restarts == 0
    robot = Robot()
    robot.send(5000, 0)
    assert robot.send(10, 2000) and not robot.send(10, 2004) and robot.send(14, 2008)
    assert robot.counts.restarts == 1 and robot.counts.repeated == 1


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_tick_far_ahead_of_the_time_is_that_of_a_restarted_robot(beyond):
    """The tick may have advanced by the time since the last state and 1 s."""
    robot = Robot()
    robot.send(5000, 0)
    assert robot.send(5000 + 1000 + 4 + beyond, 4)
    assert robot.counts.restarts == beyond


def test_a_restart_forgets_the_least_latency():
    robot = Robot()
    robot.send(50_000, 0)
    assert robot.send(0, 10) and robot.send(4, 10 + 4)
    assert robot.counts == StateCounts(good=3, restarts=1)


def test_states_of_a_simulator_need_neither_tick_nor_crc():
    raw = bytearray(encode_low_state(LowState()))
    raw[-1] ^= 1
    for simulator in (True, False):
        watch = StateWatch(BridgeConfig(simulator=simulator))
        results = [watch.receive(bytes(raw), START + i * MS) is not None for i in range(3)]
        assert results == [simulator] * 3
    values = np.full(35, np.inf, np.float32)
    assert not Robot(simulator=True).send(0, 0, q=values)


def test_loss_age_and_reason_of_the_states():
    robot = Robot()
    assert robot.watch.lost(START) and robot.watch.age(START) == np.inf
    assert robot.watch.loss_reason(START) == "no valid state received from the robot yet"
    robot.watch.receive(b"", START)
    assert "yet (last invalid state: LowState has 0 bytes" in robot.watch.loss_reason(START)
    robot = Robot()
    robot.send(5000, 0)
    assert not robot.watch.lost(START + TIMEOUT) and robot.watch.lost(START + TIMEOUT + 1)
    assert robot.watch.age(START + TIMEOUT) == 0.05
    assert robot.watch.loss_reason(START + TIMEOUT) == (
        "no valid state received from the robot for 0.050 s"
    )


def test_the_rate_is_that_of_the_last_window_and_expires():
    robot = Robot()
    for i in range(252):
        robot.send(5000 + 4 * i, 4 * i)
        if i < 250:
            assert robot.watch.rate_at(START + 4 * i * MS) in (0, 250), i
    assert robot.watch.rate_at(START + 1004 * MS) == 250
    window = START + 1000 * MS  # when the last window began
    assert robot.watch.rate_at(window + SECOND - 1) == 250
    assert robot.watch.rate_at(window + SECOND) == 0


# Loads of the motors --------------------------------------------------------------------------

ELBOW = 23
POSTURE = np.zeros(MOTOR_COUNT)


def overload(**settings) -> OverloadWatch:
    return OverloadWatch(BridgeConfig(**settings), load_output("arm_sdk").motors)


def loaded(motor: int = ELBOW, **fields) -> LowState:
    """Return a state in which one motor has these values."""
    state = LowState()
    arrays = {name: getattr(state, name).copy() for name in fields}
    for name, value in fields.items():
        arrays[name][motor] = value
    return replace(state, **arrays)


EFFORT = float(motors().effort[ELBOW])
AT_LIMIT = [
    ("tau", 0.9 * EFFORT - 1e-4, 0.9 * EFFORT + 1e-4, r"right_elbow_joint is at 16\.2 N m"),
    ("tau", -0.9 * EFFORT + 1e-4, -0.9 * EFFORT - 1e-4, r"the limit is 16\.2 N m"),
    ("q", 0.3 - 1e-6, 0.3 + 1e-6, r"right_elbow_joint is 0\.30 rad from its command"),
    ("q", -0.3 + 1e-6, -0.3 - 1e-6, r"the limit is 0\.3 rad"),
    ("temperature", (20, 80), (20, 81), r"right_elbow_joint is at 81 deg C, the limit is 80"),
    ("temperature", (80, 20), (81, 20), "81 deg C"),
    ("motor_fault", 0, 0x10, "right_elbow_joint reports fault 0x10"),
]


@pytest.mark.parametrize(("name", "below", "above", "words"), AT_LIMIT)
def test_each_load_at_its_limit(name, below, above, words):
    watch = overload()
    assert watch.excess(loaded(**{name: below}), POSTURE) == ""
    reason = watch.excess(loaded(**{name: above}), POSTURE)
    assert re.search(words, reason), reason
    assert watch.excess(loaded(motor=3, **{name: above}), POSTURE) == "", "a leg"
    immediate = name in ("temperature", "motor_fault")
    assert (watch.check(loaded(**{name: above}), POSTURE, START) is not None) == immediate
    held = watch.check(loaded(**{name: above}), POSTURE, START + SECOND)
    assert held == HoldReason(reason, resumes=False, yields=not immediate)


def test_a_load_that_is_exactly_allowed_and_one_that_is_not_a_number():
    allowed = overload(torque=0.5)
    assert allowed.excess(loaded(tau=0.5 * EFFORT), POSTURE) == ""
    assert overload(tracking=0.5).excess(loaded(q=-0.5), POSTURE) == ""
    assert "at nan N m" in allowed.excess(loaded(tau=np.nan), POSTURE)


def test_torque_and_tracking_have_times_of_their_own_which_begin_anew():
    watch, torque, tracking = overload(overload_time=0.2), loaded(tau=17.0), loaded(q=0.5)
    assert watch.check(torque, POSTURE, START) is None
    assert watch.check(torque, POSTURE, START + 200 * MS - 1) is None
    assert watch.check(tracking, POSTURE, START + 200 * MS) is None
    assert watch.check(torque, POSTURE, START + 300 * MS) is None, "it began again"
    assert watch.check(tracking, POSTURE, START + 301 * MS) is None
    assert watch.check(tracking, POSTURE, START + 501 * MS).yields
    watch.reset()
    assert watch.check(tracking, POSTURE, START + 502 * MS) is None
    both = loaded(tau=17.0, q=0.5)
    assert watch.check(both, POSTURE, START + 600 * MS) is None
    assert "N m" not in watch.check(both, POSTURE, START + 702 * MS).reason
    assert "N m" in watch.check(both, POSTURE, START + 800 * MS).reason


@pytest.mark.parametrize("motor", [12, 13, 26])
def test_the_motor_with_the_largest_excess_is_named(motor):
    watch = overload()
    assert MOTOR_JOINTS[motor] in watch.excess(loaded(motor, tau=200.0), POSTURE)
    assert MOTOR_JOINTS[motor] in watch.excess(loaded(motor, q=1.0), POSTURE)
    assert MOTOR_JOINTS[motor] in watch.excess(loaded(motor, temperature=99), POSTURE)
    commanded = POSTURE.copy()
    commanded[motor] = 1.0
    assert watch.excess(loaded(motor, q=1.0), commanded) == ""
    assert "1.00 rad" in watch.excess(LowState(), commanded)


def test_the_measured_posture_is_a_copy_of_the_first_27_positions():
    state = LowState(q=np.arange(35, dtype=np.float32))
    posture = measured_posture(state)
    assert posture.tolist() == list(range(27)) and posture.dtype == np.float64
    posture[:] = 0
    assert state.q[26] == 26


# Supervisor, chunks and clocks ----------------------------------------------------------------


def test_the_heartbeat_of_the_supervisor_at_its_limits():
    watch = SupervisorWatch(BridgeConfig(gap_timeout=0.15))
    assert "no heartbeat" in watch.trouble(START)
    watch.receive(0.2, 0.0, 1, 0, 3.0, START)
    assert watch.trouble(START + SECOND // 2) == ""
    assert "no heartbeat" in watch.trouble(START + SECOND // 2 + 1)
    for patience, trouble in ((0.15, True), (0.1501, False), (np.nan, True)):
        watch.receive(patience, 0.0, 1, 0, 3.0, START)
        assert bool(watch.trouble(START)) == trouble
    watch.receive(0.1, 0.0, 1, 0, 3.0, START)
    assert watch.trouble(START) == (
        "the supervisor's patience is 0.1 s; it must be above gap_timeout, 0.15 s"
    )
    for ramp, trouble in ((3.0, False), (2.99, True), (np.nan, True)):
        watch.receive(0.2, 0.0, 1, 0, ramp, START)
        assert bool(watch.trouble(START)) == trouble
    assert watch.trouble(START).startswith("the supervisor's ramp is nan s; it must not be below")


@pytest.mark.parametrize("reported", [0.5, 0.1])
def test_the_weights_of_bridge_and_supervisor_may_differ_for_the_timeout(reported):
    """Both are above the other by more than 0.2 in turn."""
    own = 0.6 - reported
    watch = SupervisorWatch(BridgeConfig())
    for now, since in ((START, START), (START + SECOND, START + SECOND)):
        watch.receive(0.2, own, 1, 0, 3.0, now)
        assert watch.lost(own, now) == ""
        watch.receive(0.2, reported, 1, 0, 3.0, now)
        assert watch.lost(own, since + SECOND // 2) == ""
        watch.receive(0.2, reported, 1, 0, 3.0, since + SECOND // 2)
        reason = watch.lost(own, since + SECOND // 2 + 1)
        assert f"reports the weight {reported:.2f}, the bridge sends {own:.2f}" in reason


def test_a_difference_of_weights_at_its_limit():
    assert SupervisorWatch.DIFFERENCE == 0.2
    for reported, agrees in ((0.25, True), (0.2, True), (0.3001, False), (-1.0, True)):
        watch, own = SupervisorWatch(BridgeConfig()), 0.1 if reported > 0 else 0.2
        watch.receive(0.2, reported, 1, 0, 3.0, START)
        assert (watch.lost(own, START) == "") == agrees, "a negative weight counts as 0"
    watch = SupervisorWatch(BridgeConfig())
    assert "no heartbeat" in watch.lost(0.0, START)


def test_the_heartbeat_tells_of_earlier_commands_and_of_a_pending_stop():
    watch = SupervisorWatch(BridgeConfig())
    assert not watch.stop_pending
    for weight, commanded in ((-1.0, False), (0.0, False), (0.004, True), (1.0, True)):
        for stop in (0.0, 1.0):
            watch.receive(0.2, weight, 1, stop, 3.0, START)
            assert bool(watch.still_commanded()) == commanded
            assert watch.stop_pending == bool(stop)


def test_the_report_of_a_heartbeat_after_a_pause():
    watch, since = SupervisorWatch(BridgeConfig()), START
    assert watch.report(since, START) is None and not watch.silent(since, START)
    assert not watch.silent(since, since + SECOND // 2)
    assert watch.silent(since, since + SECOND // 2 + 1)
    quarter = SECOND // 4
    for weight in (-1.0, 0.0, 0.7):
        for stamp, now, known in (
            (quarter + 1, quarter + 1, True),
            (quarter, quarter + 1, False),
            (quarter + 1, quarter + 1 + SECOND // 2, True),
            (quarter + 1, quarter + 2 + SECOND // 2, False),
        ):
            watch.receive(0.2, weight, 1, 0, 3.0, since + stamp)
            assert watch.report(since, since + now) == (weight if known else None)
    watch.receive(0.2, 0.0, 1, 0, 3.0, since - 10 * SECOND)
    assert watch.report(since, since) is None and not watch.silent(since, since)


def test_the_next_chunk_may_be_late_by_its_timeout_each_time():
    watch = ChunkWatch(BridgeConfig())
    for begin in (0, START, START + SECOND):  # also a clock that begins at 0
        assert not watch.timed_out(False, begin)
        assert not watch.timed_out(True, begin + 1)
        assert not watch.timed_out(True, begin + 1 + SECOND // 2)
        assert watch.timed_out(True, begin + 2 + SECOND // 2)
    watch.reset()
    assert not watch.timed_out(True, START + 9 * SECOND)


@pytest.mark.parametrize("sign", [1, -1])
def test_jumps_of_the_clock_at_their_limit_and_repeatedly(sign):
    watch, shift = ClockWatch(BridgeConfig()), 1_700_000_000 * SECOND
    assert watch.jump(START, START + shift) == 0
    for _ in range(3):
        shift += sign * 100 * MS
        assert watch.jump(START, START + shift) == 0
        shift += sign
        assert watch.jump(START, START + shift) == pytest.approx(sign * 0.1)
        assert watch.jump(START + SECOND, START + SECOND + shift) == 0


@pytest.mark.parametrize(
    ("rate", "jumps"), [(0.0, 10), (0.5, 10), (0.91, 0), (1.0, 0), (1.09, 0), (1.5, 10)]
)
def test_a_clock_that_stands_or_is_too_fast_or_slow_jumps_again_and_again(rate, jumps):
    """A corrected clock differs by at most a twelfth (chrony)."""
    watch = ClockWatch(BridgeConfig())
    found = [watch.jump(START + t, START + round(rate * t)) for t in range(0, 10 * SECOND, 4 * MS)]
    assert sum(map(bool, found)) >= jumps and bool(jumps) == any(found)
