"""The bridge's core at its times, to the nanosecond, and its counts and messages."""

import numpy as np
import pytest
from virtual import MS, World, assert_safe, with_fields

from h1_2_bridge.command_timing import DELAYED
from h1_2_bridge.core import LOAD_PERIOD
from h1_2_bridge.drive import OUTSIDE, ZEROS
from h1_2_bridge.motors import motors
from h1_2_bridge.states import ControlState
from h1_2_bridge.wire import encode_low_cmd
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

ELBOW = 23
HOT = with_fields(temperature=np.full((35, 2), 90, np.int16))


def world(output: str = "arm_sdk", **settings) -> World:
    """Return an engaged world in which only the tested limit is short."""
    long = {"stall_timeout": 2.0, "gap_timeout": 2.0, "chunk_timeout": 2.0, "ramp": 0.2}
    return World(output, **{**long, **settings}).engaged()


def test_constants_of_the_core():
    assert (DELAYED, LOAD_PERIOD) == (50 * MS, 10 * MS)
    assert (OUTSIDE, ZEROS) == (0.03, 0.2)


@pytest.mark.parametrize("output", ["arm_sdk", "lowcmd"])
def test_a_gap_between_two_commands_at_its_limit(output):
    for late, state in ((0, "ACTIVE"), (1, "FAULT" if output == "arm_sdk" else "DAMPING")):
        one = world(output, gap_timeout=0.15)
        one.now += late
        one.step(150)
        assert one.state is ControlState[state], one.core.reason
        if late:
            assert "no command was published for 0.15 s" in one.core.reason
            assert one.core.drive.muted == (output == "arm_sdk")
            assert ("left to the supervisor" in one.core.reason) == (output == "arm_sdk")


def test_a_command_may_be_sent_up_to_the_gap_after_the_one_before():
    one = world(gap_timeout=0.15)
    last = one.now
    one.now += 4 * MS
    one.tick += 4
    one.deliver_state()
    assert one.core.tick(one.now, one.clock).body is not None
    assert one.core.in_time(last + 150 * MS)
    assert not one.core.in_time(last + 150 * MS + 1)
    assert not one.core.in_time(last + 150 * MS), "a command that was late stays late"
    one.step()
    assert one.state is ControlState.FAULT and "no command was published" in one.core.reason
    first = World()
    first.run(0.1)
    first.core.engage(first.now)
    assert first.core.tick(first.now, first.clock).body is not None
    assert first.core.in_time(first.now + 150 * MS)
    assert not first.core.in_time(first.now + 150 * MS + 1)


def test_a_stall_between_two_ticks_at_its_limit():
    for late, state in ((0, "ACTIVE"), (1, "HOLDING")):
        one = world(stall_timeout=0.1, state_timeout=1.0)
        one.now += late
        one.step(100)
        assert one.state is ControlState[state]
        assert ("stalled for 0.10 s" in one.core.reason) == bool(late)
        one.send(one.moved({3: 0.1}))
        assert one.state is ControlState.ACTIVE, "the next chunk ends the hold"


def test_the_arm_counts_as_at_rest_after_a_long_delay_of_sending():
    """50 ms may pass between a tick and its command; after a longer time it starts from rest."""
    for delay, rests in ((50, False), (51, True)):
        one = world(speed=1.0)
        one.send(one.moved({3: 0.4}, 10))
        one.run(0.2)
        one.send_delay = delay
        one.step()
        one.send_delay = 0
        before = one.core.drive.command[3]
        one.step()
        moved = one.core.drive.command[3] - before
        assert moved > 0
        assert (moved < 0.001) == rests, moved


def test_loads_are_checked_every_hundredth_of_a_second():
    one = world()
    one.alter = HOT
    one.step()
    due = one.core._load_due
    assert one.state is ControlState.HOLDING or due > one.now
    assert one.until(ControlState.HOLDING) <= 0.012
    assert "90 deg C" in one.core.reason
    with pytest.raises(RuleSafeError, match="HOLDING"):
        one.send(one.moved({3: 0.1}))


def test_chunks_episodes_and_refusals_are_counted():
    one = world()
    assert (one.core.accepted, one.core.refused, one.core.refusal, one.core.episode) == (
        *(0, 0, "", 1),
    )
    one.send(one.moved({3: 0.1}))
    with pytest.raises(RuleSafeError):
        one.send(one.moved({3: 0.9}, 1))
    one.core.refuse("not decoded")
    assert (one.core.accepted, one.core.refused) == (1, 2)
    assert one.core.refusal == "not decoded"
    one.until(ControlState.HOLDING)
    one.engage()
    assert one.core.episode == 1, "the hold was within the episode"
    one.disengage()
    one.engage()
    assert one.core.episode == 2
    assert_safe(one)


def test_services_say_what_they_did():
    one = World(ramp=0.4)
    assert one.state is ControlState.DISCONNECTED
    assert one.core.disengage(0) == "not engaged"
    with pytest.raises(RuleSafeError, match="no valid state received from the robot yet"):
        one.core.engage(0)
    one.run(0.1)
    assert one.core.reason == "receiving states from the robot"
    with pytest.raises(RuleSafeError, match="only DAMPING and FAULT need a reset"):
        one.core.reset()
    assert one.core.engage(one.now) == "the weight ramps up to 1 within 0.4 s"
    assert one.core.engage(one.now) == "already ENGAGING"
    one.until(ControlState.ACTIVE)
    assert one.core.engage(one.now) == "already ACTIVE" and one.core.reason == "ready for chunks"
    one.send(one.moved({3: 0.1}, 1))
    assert one.state is ControlState.ACTIVE and one.core.reason == "executing chunks"
    one.until(ControlState.HOLDING)
    assert one.core.engage(one.now) == "the weight is 1: the arm resumes"
    one.until(ControlState.ACTIVE)
    assert "ramps down to 0 within 0.4 s" in one.core.disengage(one.now)
    one.assert_not_engaged("the weight is ramping down")
    one.until(ControlState.IDLE)
    assert one.core.reason == "the weight is 0"
    one.core.engage(one.now)
    one.step()
    assert one.core.stop("a test") == "DAMPING: a test" == one.core.stop("another")
    for service in (one.core.engage, one.core.disengage):
        with pytest.raises(RuleSafeError, match=r"DAMPING: a test; call /bridge/reset"):
            service(one.now)
    assert one.core.reset() == "the weight ramps down to 0 within 0.4 s"
    one.until(ControlState.IDLE)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_posture_outside_its_limits_at_the_tolerance(sign):
    stop = motors().upper[ELBOW] if sign > 0 else motors().lower[ELBOW]
    for beyond, accepted in ((0.0299, True), (0.0301, False)):
        one = World()
        one.robot.q[ELBOW] = stop + sign * beyond
        q = np.r_[one.robot.q, np.zeros(8)].astype(np.float32)
        one.alter = with_fields(q=q, **dict.fromkeys(("dq", "tau"), np.zeros(35, np.float32)))
        one.run(0.02)
        if accepted:
            one.core.engage(one.now)
            assert one.core.drive.posture[ELBOW] == pytest.approx(stop)
        else:
            one.assert_not_engaged("right_elbow_joint is measured at")
            assert one.state is ControlState.IDLE


def test_another_program_silences_the_bridge_only_while_it_publishes():
    one = World(ramp=0.2)
    one.run(0.1)
    raw = encode_low_cmd(one.output.command(np.zeros(27), 0.3, np.zeros(27), 6))
    one.core.overhear(raw, one.now)
    assert one.state is ControlState.IDLE and not one.core.drive.muted
    one.assert_not_engaged("another program publishes")
    two = world()
    two.core.overhear(raw, two.now)
    assert two.state is ControlState.FAULT and two.core.weight == pytest.approx(0.3)
    assert two.step().body is None
    assert two.core.stop("a test").startswith("DAMPING") and two.step().body is None
    two.core.reset()
    two.step()
    assert two.state is ControlState.IDLE and two.core.weight == pytest.approx(0.3)


def test_only_an_engaged_bridge_is_released():
    one = World(ramp=0.2)
    one.core.release("a test")
    assert one.state is ControlState.DISCONNECTED
    one.run(0.1)
    one.core.release("a test")
    assert one.state is ControlState.IDLE
    one.core.engage(one.now)
    one.core.release("a test")
    assert one.state is ControlState.FAULT and one.core.reason == "a test"
    one.core.release("another")
    assert one.core.reason == "a test"


def test_a_command_may_be_reported_as_sent_after_the_bridge_was_engaged():
    """The next tick begins the ramp, however late the command was sent."""
    one = World(ramp=0.2)
    one.run(0.1)
    raw = encode_low_cmd(one.output.command(np.zeros(27), 0.0, np.zeros(27), 6))
    one.core.engage(one.now)
    one.core.published(raw, one.now + 2 * SECOND)
    assert not one.core.topic.receive(raw, one.now), "it is the bridge's own"
    one.step()
    assert one.core.drive.weight == pytest.approx(0.004 / 0.2)


@pytest.mark.parametrize("ramped", [True, False])
def test_a_reset_after_a_gap_sends_only_what_the_robot_still_needs(ramped):
    one = world(gap_timeout=0.15)
    one.core.disengage(one.now)
    one.run(0.22 if ramped else 0.1)
    assert (one.core.weight == 0) == ramped
    one.step(151)
    assert one.state is ControlState.FAULT and one.core.drive.muted
    count = len(one.commands)
    one.core.reset()
    one.step()
    assert (one.state is ControlState.IDLE) == ramped
    one.until(ControlState.IDLE)
    assert (len(one.commands) == count) == ramped, "commands only if the weight was above 0"


def test_weight_zero_is_sent_for_a_fifth_of_a_second():
    drive = world().core.drive
    drive.weight = 0.0
    drive.lower_weight(0.1)
    assert not drive.released()
    drive.lower_weight(0.1)
    assert drive.released()


def test_an_overload_from_before_engaging_does_not_count():
    """An excess at the end of HOLDING, none when it engages again, and one right afterwards."""
    one = world(overload_time=0.2)
    high = with_fields(tau=np.full(35, 200.0, np.float32))
    one.alter = high
    assert one.until(ControlState.HOLDING) > 0.2
    one.alter = lambda state: state
    one.step()
    one.core.engage(one.now)
    one.alter = high
    one.run(0.1)
    assert one.state is ControlState.ACTIVE
    assert one.until(ControlState.HOLDING) > 0.09


def test_engaging_is_refused_if_the_last_state_is_too_old():
    """Also before the next tick, which disconnects."""
    one = World()
    one.run(0.1)
    one.now += 51 * MS
    one.assert_not_engaged("no valid state")
    assert one.state is ControlState.IDLE
