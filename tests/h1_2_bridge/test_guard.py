"""The command guard and the watchdogs at their thresholds: just below, just above, both signs."""

import numpy as np
import pytest
from virtual import World, assert_safe, with_fields

from h1_2_bridge.config import BridgeConfig, BridgeParameters
from h1_2_bridge.hands import DFX, FTP
from h1_2_bridge.motors import MOTOR_COUNT, WEIGHT_SLOT, motors
from h1_2_bridge.outputs import load_output
from h1_2_bridge.safety import FEED_FORWARD, CommandGuard, check_chunk
from h1_2_bridge.states import ControlState
from rulesafe_core.chunks import AHEAD, PERIOD, SECOND, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

DT = 0.004
ELBOW, WAIST = 23, 12
SIGNS = pytest.mark.parametrize("sign", [1, -1])


class Guarded:
    """A guard with `speed` 0.1 and `ramp` 3 s, and the commands of one output."""

    def __init__(self, output: str = "arm_sdk") -> None:
        self.output = load_output(output)
        self.guard = CommandGuard(BridgeConfig(), self.output)
        self.posture, self.torque = np.zeros(MOTOR_COUNT), np.zeros(MOTOR_COUNT)
        self.weight = 0.0

    def engaged(self) -> "Guarded":
        """Check the commands of a complete ramp, up to weight 1."""
        for step in range(1, 751):
            self.weight = min(1.0, step * DT / 3.0)
            self.check()
        return self

    def check(self, dt: float = DT, mode_machine: int = 6, **changes) -> None:
        cmd = self.output.command(self.posture, self.weight, self.torque, 6)
        for name, (motor, value) in changes.items():
            getattr(cmd, name)[motor] = value
        self.guard.check(cmd, dt, mode_machine)

    def damp(self, **changes) -> None:
        cmd = self.output.damping(self.posture, self.weight, 6)
        for name, value in changes.items():
            getattr(cmd, name)[ELBOW] = value
        self.guard.check_damping(cmd, DT, 6)


@SIGNS
@pytest.mark.parametrize("joint", [ELBOW, WAIST, 14])
@pytest.mark.parametrize("output", ["arm_sdk", "lowcmd"])
def test_the_first_command_must_be_within_the_joint_stops(output, joint, sign):
    stop = motors().upper[joint] if sign > 0 else motors().lower[joint]
    for beyond in (1e-4, 0.02, 1.0):
        guarded = Guarded(output)
        guarded.posture[joint] = stop + sign * beyond
        with pytest.raises(RuleSafeError, match="is commanded to leave its limits"):
            guarded.check()
    guarded = Guarded(output)
    guarded.posture[joint] = stop
    guarded.check()


@SIGNS
def test_velocity_just_below_and_just_above_its_limit(sign):
    """Reached within the acceleration limit, so that no other check refuses it."""
    guarded, velocity = Guarded(), 0.0
    guarded.check()
    limit, step = 0.9, 2.0 * DT
    while velocity < limit - step:
        velocity += step
        guarded.posture[ELBOW] += sign * velocity * DT
        if abs(guarded.posture[ELBOW]) > 0.6:
            pytest.fail("the limit is not reached within the joint's range")
        guarded.check()
    guarded.posture[ELBOW] += sign * (limit - 1e-4) * DT
    guarded.check()
    guarded.posture[ELBOW] += sign * (limit + 2e-3) * DT
    with pytest.raises(RuleSafeError, match=r"commanded to jump, at -?0\.902 rad/s"):
        guarded.check()


@SIGNS
def test_acceleration_just_below_and_just_above_its_limit(sign):
    """2 rad/s^2 at this speed; the tolerance is for the rounding of float32 angles only."""
    for excess, accepted in ((0.0, True), (0.5e-3, True), (1.5e-3, False)):
        guarded = Guarded()
        guarded.check()
        guarded.posture[ELBOW] = sign * (2.0 * DT + excess) * DT
        if accepted:
            guarded.check()
        else:
            with pytest.raises(RuleSafeError, match=r"commanded to accelerate at 2\.375 rad"):
                guarded.check()


def test_weight_changes_within_the_ramp_in_both_directions():
    step = DT / BridgeConfig().ramp
    guarded = Guarded()
    for change in (step, step, -step, step):
        guarded.weight += change
        guarded.check()
    for change in (1.01 * step, 2 * step, -1.01 * step):
        before = guarded.weight
        guarded.weight += change
        with pytest.raises(RuleSafeError, match="the weight changes from"):
            guarded.check()
        with pytest.raises(RuleSafeError, match="the weight changes from"):
            guarded.damp()
        guarded.weight = before
    for wrong in (-1e-3, 1.001):
        guarded.weight = wrong
        with pytest.raises(RuleSafeError, match="weight"):
            guarded.check()


@SIGNS
def test_a_command_to_damp_has_neither_torque_nor_stiffness(sign):
    Guarded().damp()
    with pytest.raises(RuleSafeError, match="both must be 0"):
        Guarded().damp(tau=sign * 0.01)
    with pytest.raises(RuleSafeError, match="both must be 0"):
        Guarded().damp(kp=0.01)


@SIGNS
def test_torque_just_below_and_just_above_half_of_the_effort(sign):
    assert FEED_FORWARD == 0.5
    guarded, half = Guarded(), motors().effort[ELBOW] / 2
    assert half == pytest.approx(9.0)
    guarded.torque[ELBOW] = sign * half * 0.999
    guarded.check()
    guarded.torque[ELBOW] = sign * half * 1.001
    with pytest.raises(RuleSafeError, match="excessive feed-forward torque"):
        guarded.check()


def test_the_weight_never_exceeds_one():
    guarded = Guarded()
    for guarded.weight in (0.5, 1.0):
        guarded.check(dt=1.5)
    guarded.weight = 1.0005  # within the ramp
    with pytest.raises(RuleSafeError, match=r"the weight changes from 1 to 1\.0005"):
        guarded.check()


def test_only_commanded_motors_are_checked():
    leg = 3
    Guarded("arm_sdk").check(q=(leg, 9.0))
    with pytest.raises(RuleSafeError, match="is commanded to leave its limits"):
        Guarded("lowcmd").check(q=(leg, 9.0))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"q": (23, np.nan)}, "not finite"),
        ({"tau": (23, np.inf)}, "not finite"),
        ({"q": (23, 3.5)}, "right_elbow_joint is commanded to leave its limits"),
        ({"q": (25, 0.4625)}, "right_wrist_pitch_joint is commanded to leave its limits"),
        ({"q": (23, 0.1)}, "right_elbow_joint is commanded to jump"),
        ({"q": (23, 0.002)}, "right_elbow_joint is commanded to accelerate"),
        ({"q": (12, 0.001)}, "torso_joint is commanded to jump"),
        ({"q": (16, 0.001)}, "left_elbow_joint is commanded to jump"),
        ({"q": (WEIGHT_SLOT, 1.1)}, "weight"),
        ({"q": (WEIGHT_SLOT, 0.5)}, "weight changes from 1 to 0.5"),
        (
            {"dq": (23, 0.1)},
            "right_elbow_joint has the velocity 0.100 rad",
        ),
        ({"kp": (23, 500.0)}, "right_elbow_joint has an invalid gain of 500"),
        ({"kd": (23, -1.0)}, "right_elbow_joint has an invalid gain of -1"),
        (
            {"tau": (23, 15.0)},
            "right_elbow_joint has an excessive feed-forward torque of 15.000 N m",
        ),
        ({"mode": (3, 1)}, "enabled motors"),
        ({"mode": (23, 0)}, "enabled motors"),
        ({"reserve": (2, 1)}, "reserve"),
        ({"mode_machine": 5}, "mode_machine 6, the robot has 5"),
    ],
)
def test_the_guard_refuses_and_says_what(changes, match):
    guarded = Guarded().engaged()
    with pytest.raises(RuleSafeError, match=match):
        guarded.check(**changes)
    guarded.check()


def test_a_mistake_of_the_bridge_itself_is_not_sent_and_damps():
    world = World().moving(0.2)
    world.core.drive.posture[16] += 0.5  # the left elbow, which must not move
    world.step()
    assert world.state is ControlState.DAMPING
    assert "refused a command, which was not sent: left_elbow_joint" in world.core.reason
    assert not world.commands[-1].cmd.kp.any()


@pytest.mark.parametrize("output", ["arm_sdk", "lowcmd"])
def test_a_refused_damping_command_is_tried_again(output, monkeypatch):
    world = World(output).engaged()
    drive, sent = world.core.drive, len(world.commands)
    stiff = drive._output.command(drive.posture, 1.0, np.zeros(MOTOR_COUNT), drive.mode_machine)
    monkeypatch.setattr(drive._output, "damping", lambda *args: stiff)
    world.core.stop("test")
    world.run(0.3)
    assert len(world.commands) == sent
    assert world.core.reason.startswith("no command to damp: a damping command has stiffness")
    monkeypatch.undo()
    world.run(0.1)
    assert world.state is ControlState.DAMPING and len(world.commands) > sent
    assert not any(command.cmd.kp.any() for command in world.commands[sent:])


@pytest.mark.parametrize("output", ["arm_sdk", "lowcmd"])
def test_any_error_while_a_command_is_computed_damps(output, monkeypatch):
    world = World(output).engaged()
    monkeypatch.setattr(world.core._chunks, "path", lambda *args: [][0])
    world.step()
    assert world.state is ControlState.DAMPING
    assert world.core.reason == "no command could be computed: IndexError: list index out of range"
    assert not world.commands[-1].cmd.kp.any()


# Chunks ---------------------------------------------------------------------------------------

NOW = 100 * SECOND


def check_rows(rows, offsets=None, stamp=NOW, **settings) -> None:
    """Check a chunk while the command is 0."""
    chunk = make_chunk(ACTION_JOINTS, rows, stamp, offsets)
    check_chunk(chunk, NOW, np.zeros(13), BridgeConfig(**settings))


@SIGNS
@pytest.mark.parametrize("joint", [0, 6])
def test_jumps_of_the_arm_just_below_and_just_above_the_limit(joint, sign):
    for first in (0, 2):  # from the command, and from the second step
        rows = np.zeros((4, 13))
        rows[first:, joint] = sign * 0.5
        check_rows(rows)
        rows[first:, joint] = sign * 0.5001
        start = "the command" if first == 0 else "step 1"
        with pytest.raises(RuleSafeError, match=f"{ACTION_JOINTS[joint]} by 0.50 rad from {start}"):
            check_rows(rows)
    rows[:2, joint] = sign * 9.0  # steps whose time has passed
    check_rows(rows, stamp=NOW - 2 * PERIOD, max_jump=0.6)
    rows = np.zeros((4, 13))
    rows[2:, 7] = sign * 9.0  # a finger
    check_rows(rows)


def test_ages_and_times_of_a_chunk_just_below_and_just_above_their_limits():
    rows = np.zeros((30, 13))
    check_rows(rows, stamp=NOW - 2 * SECOND)
    with pytest.raises(RuleSafeError, match="stale"):
        check_rows(rows, stamp=NOW - 2 * SECOND - 1)
    for stamp, settings, begin in (
        (NOW, {}, SECOND // 2),
        (NOW, {"chunk_timeout": 0.05}, 2 * PERIOD),
        (NOW + AHEAD, {"chunk_timeout": 0.7}, 7 * PERIOD),
    ):
        check_rows(rows[:2], [NOW + begin - stamp, SECOND], stamp, **settings)
        with pytest.raises(RuleSafeError, match="the chunk begins"):
            check_rows(rows[:2], [NOW + begin - stamp + 1, SECOND], stamp, **settings)
    # The executor refuses a stamp that is too far ahead, and names the clock as the cause.
    check_rows(rows[:2], [SECOND, 2 * SECOND], NOW + AHEAD + 1)
    for length, accepted in ((10 * SECOND, True), (10 * SECOND + 1, False)):
        if accepted:
            check_rows(rows[:2], [PERIOD, length])
        else:
            with pytest.raises(RuleSafeError, match=r"the chunk ends 10\.00 s"):
                check_rows(rows[:2], [PERIOD, length])
    check_rows(np.zeros((500, 13)), [SECOND * i // 100 for i in range(500)])
    with pytest.raises(RuleSafeError, match="has 501 steps"):
        check_rows(np.zeros((501, 13)), [SECOND * i // 100 for i in range(501)])


# Watchdogs ------------------------------------------------------------------------------------


def test_a_jump_of_the_clock_while_holding_drops_the_chunks_of_the_old_clock(world):
    world.send(world.moved({3: 0.2}, 10))
    world.until(ControlState.HOLDING)
    old = world.chunk(world.moved({3: 0.1}, 50))
    world.shift += SECOND // 2
    world.step()
    with pytest.raises(RuleSafeError, match="before the episode"):
        world.core.accept(old, world.clock)
    assert world.state is ControlState.HOLDING
    world.send(world.moved({3: 0.1}))
    assert world.state is ControlState.ACTIVE


def test_another_reason_for_the_hold_does_not_delay_the_damping():
    world = World(damping_timeout=1.0).engaged()
    world.until(ControlState.HOLDING)
    began = world.now
    world.run(0.6)
    world.alter = with_fields(temperature=np.full((35, 2), 90, np.int16))
    world.run(0.1)
    assert "90 deg C" in world.core.reason
    world.until(ControlState.DAMPING)
    assert (world.now - began) / SECOND == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("state", ["FAULT", "DAMPING"])
def test_the_fingers_stop_where_they_are(state):
    world = World(hand=True).engaged()
    rows = world.moved({7: 1.0}, 30)
    world.send(rows)
    for _ in range(125):
        world.step()
        world.fingers[:] = 0.3  # it grips something
    assert world.hand_targets[-1][0] > 0.4
    if state == "FAULT":
        world.alter = lambda low_state: None
    else:
        world.core.stop("a test")
    world.until(ControlState[state])
    world.step()
    assert world.hand_targets[-1][:6] == pytest.approx(0.3, abs=0.03)
    stopped = len(world.hand_targets)
    world.run(0.5)
    assert len(world.hand_targets) == stopped, "no target follows"
    assert_safe(world)


def test_constants_of_the_manufacturer():
    """DFX: limits of the teleoperation code. FTP: the hand's URDF. Speed and force limits: cautious
    values of this project."""
    assert DFX.open == (0, 0, 0, 0, 0, -0.1) and DFX.closed == (1.7, 1.7, 1.7, 1.7, 0.5, 1.3)
    assert FTP.open == (0, 0, 0, 0, 0, 0)
    assert FTP.closed == (1.4381, 1.4381, 1.4381, 1.4381, 0.5864, 1.1641)
    parameters = BridgeParameters()
    assert (parameters.hand_speed_limit, parameters.hand_force_limit) == (300, 300)
