"""The bridge with the manufacturer's SDK as the robot, in two processes connected by DDS.

Every command that the robot received is checked at the end of each test. Tests that end the bridge
come last, so that the others share one.
"""

import signal
import subprocess

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")

from recorder import BUSY, MOVED, assert_within_limits
from user import RAMP
from virtual import encode_remote

from h1_2_bridge.hands import DFX
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS

pytestmark = pytest.mark.ros
THOROUGH = pytest.mark.thorough

_LEG = ("hip_yaw", "hip_pitch", "hip_roll", "knee", "ankle_pitch", "ankle_roll")
_ARM = (
    *("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow"),
    *("wrist_roll", "wrist_pitch", "wrist_yaw"),
)
MANUFACTURERS_ORDER = [
    *(f"left_{name}_joint" for name in _LEG),
    *(f"right_{name}_joint" for name in _LEG),
    "torso_joint",
    *(f"left_{name}_joint" for name in _ARM),
    *(f"right_{name}_joint" for name in _ARM),
]
"""Motors of the H1-2 in the order of its documentation."""


def test_each_motor_is_told_by_its_name(robot, bridge, user):
    """One motor at a time is at another position, by its index in the robot; on the topic only the
    joint of that name is."""
    bridge()
    user.until_state("IDLE")
    user.until(lambda: tuple(user.joints.name) == ALL_JOINTS, "joint states of body and hands")
    still = np.array(user.joints.position)
    names = list(user.joints.name)
    for index, name in enumerate(MANUFACTURERS_ORDER):
        robot.faults(offset={str(index): 0.25})

        def moved(name=name):
            del user.joint_states[:-1]
            return abs(user.position(name) - still[names.index(name)] - 0.25) < 0.05

        user.until(moved, name)
        change = np.array(user.joints.position) - still
        assert np.flatnonzero(np.abs(change) > 0.1).tolist() == [names.index(name)], name


def test_each_joint_alone_moves_its_motor(robot, bridge, user):
    """Move the 13 action joints one after the other and read the robot by motor index."""
    bridge()
    user.engage()
    for index, name in enumerate(ACTION_JOINTS):
        before = robot.report()
        change = -0.2 if name.endswith("shoulder_roll_joint") else 0.2
        user.move(user.way({index: change}))
        if index < 7:
            motor = 20 + index
            assert MANUFACTURERS_ORDER[motor] == name

            def arrived(motor=motor, start=before["q"], change=change):
                return (robot.report()["q"][motor] - start[motor]) / change > 0.75

            user.until(arrived, name)
            after = robot.report()
            others = np.delete(np.array(after["q"]) - before["q"], motor)
            assert np.abs(others).max() < 0.06, name
            np.testing.assert_allclose(after["hands"], before["hands"], atol=0.02)
        else:
            finger = index - 7  # the first six belong to the right hand

            share = change / (DFX.closed[finger] - DFX.open[finger])

            def closed(finger=finger, start=before["hands"], share=share):
                return start[finger] - robot.report()["hands"][finger] > 0.98 * share

            user.until(closed, name)
            others = np.delete(np.array(robot.report()["hands"]) - before["hands"], finger)
            # The previous finger may still settle; a commanded finger moves by at least 0.12.
            assert np.abs(others).max() < 0.05, name


def test_a_robot_that_falls_silent_is_a_fault_and_may_come_back(robot, bridge, user):
    bridge()
    user.engage()
    robot.faults(silent=True)
    user.until_state("FAULT")
    robot.until_weight_is_zero()  # in spite of the lost states
    assert not user.ask("engage").success
    robot.faults(silent=False)
    user.spin(1.0)
    assert user.state.state == "FAULT", "only a reset leaves FAULT"
    assert user.ask("reset").success
    user.engage()
    assert user.ask("disengage").success
    user.until_state("IDLE")


@pytest.mark.parametrize(
    ("fault", "counter"),
    [
        ({"corrupt": True}, "states_wrong_crc"),
        pytest.param({"frozen": True}, "states_repeated", marks=THOROUGH),
    ],
)
def test_states_that_say_nothing_are_a_fault(robot, bridge, user, fault, counter):
    """States with a wrong CRC and repeated states count as lost."""
    bridge()
    user.engage()
    before = getattr(user.state, counter)
    robot.faults(**fault)
    user.until_state("FAULT")
    assert getattr(user.state, counter) > before
    robot.until_weight_is_zero()


@pytest.mark.thorough
def test_lost_doubled_and_overtaken_states_are_endured(robot, bridge, user):
    bridge()
    user.engage()
    ignored = user.state.states_repeated + user.state.states_reordered
    robot.faults(drop=0.2, duplicate=True, reorder=True)
    before = robot.report()["q"][23]
    user.move(user.way({3: 0.3}))
    user.until(lambda: robot.report()["q"][23] > before + 0.2, "the elbow moves")
    assert user.state.state == "ACTIVE"
    assert user.state.states_repeated + user.state.states_reordered > ignored


def test_the_remote_stops_the_arm(robot, bridge, user):
    bridge()
    user.engage()
    robot.faults(remote=int.from_bytes(encode_remote(["L2"])[2:4], "little"))
    user.spin(1.0)
    assert user.state.state == "ACTIVE"
    robot.faults(remote=int.from_bytes(encode_remote(["L2", "B"])[2:4], "little"))
    user.until_state("DAMPING")
    user.until(lambda: not robot.record().motors[-1][MOVED, 4].any(), "damping commands")
    last = robot.record().motors[-1]
    assert (last[MOVED, 4] == 0).all() and (last[MOVED, 5] > 0).all()
    assert (last[MOVED, 3] == 0).all()
    assert not user.ask("engage").success
    robot.faults(remote=0)
    assert user.ask("reset").success
    user.until_state("IDLE")
    robot.until_weight_is_zero()


@pytest.mark.parametrize(
    ("fault", "state", "word"),
    [
        ({"temperature": {"22": 110}}, "HOLDING", "right_shoulder_yaw"),
        pytest.param({"torque": {"23": 500.0}}, "HOLDING", "right_elbow", marks=THOROUGH),
        pytest.param({"hands_silent": True}, "HOLDING", "hand", marks=THOROUGH),
    ],
)
def test_what_is_over_its_limits_is_held(robot, bridge, user, fault, state, word):
    bridge()
    user.engage()
    robot.faults(**fault)
    user.until_state(state)
    user.until(lambda: word in user.state.reason, f"{word} as the reason")
    before = np.array(robot.report()["q"])
    user.spin(1.0)
    assert np.abs(np.array(robot.report()["q"]) - before).max() < 0.02


def test_chunks_that_must_not_be_are_refused(robot, bridge, user):
    bridge()
    user.engage()
    before = np.array(user.state.command)
    jump, nan = user.way({3: 2.0}, rows=1).repeat(90, 0), user.way({3: 0.2})
    nan[4, 3] = np.nan
    for rows, names, word in (
        (jump, ACTION_JOINTS, "right_elbow_joint"),
        (nan, ACTION_JOINTS, "finite"),
        (user.way({}), ("left_elbow_joint", *ACTION_JOINTS[1:]), "left_elbow_joint"),
    ):
        refused = user.state.chunks_refused
        user.move(rows, names)
        user.until(lambda refused=refused: user.state.chunks_refused > refused, f"refused: {word}")
        assert word in user.state.refusal
    np.testing.assert_array_equal(user.state.command, before)


@pytest.mark.thorough
def test_a_robot_that_is_switched_off_and_on_is_found_again(robot, bridge, user, processes):
    bridge()
    user.until_state("IDLE")
    robot.process.kill()
    user.until_state("DISCONNECTED")
    second = processes.robot()
    user.until_state("IDLE")
    user.spin(1.0)  # the bridge receives from the new robot before the robot receives from it
    user.engage()
    assert user.ask("disengage").success
    user.until_state("IDLE")
    second.until_weight_is_zero()
    assert_within_limits(second.record(), speed=0.1, ramp=RAMP, slack=BUSY)


def test_engage_run_disengage_leaves_weight_exactly_zero(robot, bridge, user):
    process = bridge()
    user.until_state("IDLE")
    user.spin(1.0)
    assert robot.report()["commands"] == 0, "nothing is commanded before engaging"
    before = np.array(robot.report()["q"])
    user.engage()
    user.until(lambda: robot.report()["weight"] == 1.0, "weight 1")
    record = robot.record()
    assert record.weight.max() == 1.0
    np.testing.assert_allclose(record.q[0][12:], before[12:], atol=0.02)
    user.move(user.way({3: 0.3}))
    user.until(lambda: robot.report()["q"][23] > before[23] + 0.2, "the elbow moves")
    assert user.ask("disengage").success
    user.until_state("IDLE")
    robot.until_weight_is_zero()
    counts = [-1]

    def nothing_is_sent() -> bool:
        user.spin(0.5)
        counts.append(robot.report()["commands"])
        return counts[-1] == counts[-2]

    user.until(nothing_is_sent, "the end of the commands")
    assert robot.record().weight[-1] == 0.0
    assert process.stop() == 0


def test_the_stop_service_and_sigterm(robot, bridge, user):
    process = bridge()
    user.engage()
    assert user.ask("stop").success
    user.until_state("DAMPING")
    assert process.stop(signal.SIGTERM) == 143
    robot.until_weight_is_zero()


def test_a_paused_bridge_does_not_return_with_its_old_weight(robot, bridge, start_supervisor, user):
    """SIGSTOP for longer than the supervisor's patience, with the heartbeat required."""
    robot.late = 1
    supervisor = start_supervisor(RAMP, patience=3.0)
    process = bridge(gap_timeout=2.5, supervisor_timeout=2.5)
    user.engage()
    process.process.send_signal(signal.SIGSTOP)
    user.spin(3.3)  # the supervisor is ramping down, or has done so
    process.process.send_signal(signal.SIGCONT)
    robot.until_weight_is_zero()
    user.until_state("FAULT")
    user.spin(1.0)
    assert robot.weight_is_zero(), "the bridge is silent"
    record = robot.record()
    record = record.where(~record.late)
    assert (np.diff(record.weight[record.weight.argmax() :]) <= 0).all(), "it never rises"
    assert user.ask("reset").success
    user.engage()
    user.until(lambda: robot.report()["weight"] == 1.0, "weight 1")
    process.stop()
    supervisor.terminate()
    supervisor.wait(60)


@pytest.mark.thorough
def test_a_restarted_bridge_engages_from_weight_zero(robot, bridge, start_supervisor, user):
    """Killed while active, and started again before the supervisor's ramp ends."""
    start_supervisor(RAMP, patience=3.0)
    process = bridge(supervisor_timeout=2.5, gap_timeout=2.5)
    user.engage()
    process.stop(signal.SIGKILL)
    bridge(supervisor_timeout=2.5, gap_timeout=2.5)
    user.states.clear()
    user.until_state("IDLE")
    robot.until_weight_is_zero()
    user.engage()
    user.until(lambda: robot.report()["weight"] == 1.0, "weight 1")
    weight = robot.record().weight
    assert (np.flatnonzero(weight == 0) > weight.argmax()).any(), "weight 0 was between them"


@pytest.mark.thorough
def test_a_restarted_supervisor_is_accepted_after_a_reset(robot, bridge, start_supervisor, user):
    supervisor = start_supervisor(RAMP, patience=3.0)
    bridge(supervisor_timeout=2.5, gap_timeout=2.5)
    user.engage()
    supervisor.kill()
    supervisor.wait()
    user.until_state("FAULT")
    robot.until_weight_is_zero()
    start_supervisor(RAMP, patience=3.0)
    assert user.ask("reset").success
    user.engage()
    user.until(lambda: robot.report()["weight"] == 1.0, "weight 1")


def test_killed_bridge_leaves_weight_zero_by_its_supervisor(robot, bridge, start_supervisor, user):
    supervisor = start_supervisor(RAMP, patience=3.0, stderr=subprocess.PIPE, text=True)
    process = bridge()
    user.engage()
    assert any("the bridge publishes commands" in line for line in supervisor.stderr)  # it listens
    process.stop(signal.SIGKILL)
    robot.until_weight_is_zero()
    supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(60) == 0
    record = robot.record()
    assert record.weight[-1] == 0.0
    assert np.ptp(record.q[-20:], axis=0).max() == 0
