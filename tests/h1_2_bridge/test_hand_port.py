"""Calibrations and registers of the hands, and what lies between the core and a hand driver."""

import numpy as np
import pytest

from h1_2_bridge.config import BridgeConfig, BridgeParameters
from h1_2_bridge.core import Sent
from h1_2_bridge.hand_port import OLDEST, PERIOD, HandPort
from h1_2_bridge.hand_watch import HandWatch
from h1_2_bridge.hands import (
    DRIVER_JOINTS,
    FTP,
    Calibration,
    HandState,
    Registers,
    calibration,
    ftp_registers,
)
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2

SECOND = 10**9


# Parameters ---------------------------------------------------------------------------------


def test_the_registers_are_those_of_the_manual():
    assert Registers() == Registers(1486, 1498, 1522, 1546, 1582) == ftp_registers("")
    changed = ftp_registers(" speed_set = 7, angle_actual=8 ,")
    assert (changed.speed_set, changed.angle_actual, changed.angle_set) == (7, 8, 1486)


def test_a_calibration_is_that_of_its_side_else_the_default():
    parameters = BridgeParameters(
        hand_left_open="0, 0, 0, 0, 0, -0.2", hand_left_closed="1, 1, 1, 1, 0.5, 1"
    )
    assert calibration(parameters, "right", FTP) is FTP
    left = calibration(parameters, "left", FTP)
    assert left == Calibration(open=(0, 0, 0, 0, 0, -0.2), closed=(1, 1, 1, 1, 0.5, 1))
    for numbers in ("0,0,0,0,0", "0,0,0,0,0,0,0", "0,0,0,0,0,x", ""):
        wrong = BridgeParameters(hand_left_open=numbers, hand_left_closed="1,1,1,1,1,1")
        with pytest.raises(RuleSafeError, match="hand_left_open must be 6 comma-separated"):
            calibration(wrong, "left", FTP)
    for end, other in (("open", "closed"), ("closed", "open")):
        with pytest.raises(RuleSafeError, match=f"differ .* {end} "):
            Calibration(**{end: (1.0,) * 6, other: (1.0, 1.0, 1.05, 1.0, 1.0, 1.0)})
    with pytest.raises(RuleSafeError, match="needs 6 open and 6 closed"):
        Calibration(open=(0,) * 6, closed=(1,) * 7)  # type: ignore[arg-type]
    assert Calibration(open=(1,) * 6, closed=(0,) * 6).to_hand([0.75] * 6)[0] == 0.75


# Between core and driver --------------------------------------------------------------------


class Driver:
    """A driver that records its commands."""

    joints = DRIVER_JOINTS

    def __init__(self) -> None:
        self.commands: list[tuple[float, int]] = []

    def state(self, now: int) -> HandState:
        return HandState(np.zeros(12), now)

    def command(self, positions, now: int) -> None:
        self.commands.append((positions[0], now))


class Core:
    """The part of the core that a HandPort uses."""

    def __init__(self) -> None:
        self.hand = HandWatch(BridgeConfig(), DRIVER_JOINTS)


def test_targets_are_passed_once_per_period_the_newest_first():
    assert (PERIOD, OLDEST) == (SECOND // 100, SECOND // 10)
    port, core = HandPort(Driver()), Core()
    assert tuple(port.joints) == DRIVER_JOINTS
    port.update(core, SECOND)
    for ms in (4, 8, 9.9, 10, 14, 19, 20):
        port.store(Sent(hand=np.full(12, ms)))
        port.store(Sent())
        port.update(core, SECOND + round(ms * 10**6))
    assert port.driver.commands == [(10, SECOND + PERIOD), (20, SECOND + 2 * PERIOD)]
    assert core.hand.last.stamp == SECOND + 2 * PERIOD
    port.update(core, SECOND + 4 * PERIOD)
    assert len(port.driver.commands) == 2, "a target is sent once"


def test_targets_from_before_a_stall_are_dropped():
    for pause, sends in ((OLDEST, True), (OLDEST + 1, False)):
        port, core = HandPort(Driver()), Core()
        port.update(core, SECOND)
        port.store(Sent(hand=np.ones(12)))
        port.update(core, SECOND + pause)
        assert bool(port.driver.commands) == sends
        port.update(core, SECOND + pause + PERIOD)
        assert len(port.driver.commands) == sends


def test_a_dry_run_shows_its_targets():
    shown = []
    port, core = HandPort(Driver(), show=shown.append), Core()
    core.hand = None
    for now in (SECOND, SECOND + PERIOD):
        port.store(Sent(hand=np.ones(12)))
        port.update(core, now)
    assert len(shown) == 1 and port.driver.commands == []


def test_the_watch_of_the_hands_at_its_limits():
    watch = HandWatch(BridgeConfig(hand_timeout=0.5), DRIVER_JOINTS)
    assert watch.trouble(0) == "no state received from the hands yet"
    assert np.isnan(watch.fingers).all() and watch.fingers.shape == (6,)
    watch.receive(None)
    watch.receive(HandState(np.zeros(12), SECOND))
    watch.check(SECOND + SECOND // 2)
    with pytest.raises(RuleSafeError, match=r"no state received from the hands for 0\.51 s"):
        watch.check(SECOND + 51 * SECOND // 100)
    positions = np.arange(12) / 100
    watch.receive(HandState(positions, SECOND + SECOND // 10))
    np.testing.assert_allclose(watch.velocities, positions * 10)
    assert watch.fingers.tolist() == positions[:6].tolist()
    watch.receive(HandState(positions, SECOND + SECOND // 10))  # the same state again
    np.testing.assert_allclose(watch.velocities, positions * 10)
    for finger, known in ((3, False), (9, True)):
        unknown = positions.copy()
        unknown[finger] = np.nan
        watch.receive(HandState(unknown, 2 * SECOND))
        assert bool(watch.trouble(2 * SECOND)) != known, "only the right hand is commanded"
    watch.receive(HandState(positions, 2 * SECOND, fault="broken"))
    assert watch.trouble(2 * SECOND) == "hand fault: broken"


def test_targets_of_fingers_keep_the_limits_of_the_simulation():
    watch = HandWatch(BridgeConfig(), DRIVER_JOINTS)
    targets = watch.targets([-9, 9, 0.5, 0.5, 9, -9])
    assert np.isnan(targets[6:]).all()
    joints = [h1_2().joint(name) for name in HAND_JOINTS]
    assert targets[:6].tolist() == [
        joints[0].lower,
        joints[1].upper,
        0.5,
        0.5,
        joints[4].upper,
        joints[5].lower,
    ]
