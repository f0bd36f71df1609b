"""Pre-flight checks: each passes for a healthy robot and fails, with a remedy, for a faulty one."""

from dataclasses import replace

import numpy as np
import pytest

from h1_2_bridge.checks import CAMERA_TOPICS, CHECKS, run_checks
from h1_2_bridge.findings import FAIL, PASS, SKIP, as_text
from h1_2_bridge.motors import MOTOR_COUNT, MOTOR_JOINTS
from h1_2_bridge.snapshot import Arrivals, BridgeFacts, RobotSnapshot
from h1_2_bridge.wire import LowState
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.robot import HOME

SECONDS = 2
MS = 1_000_000


def arrivals(rate: float, age_ms: float = 5.0) -> Arrivals:
    count = round(SECONDS * rate)
    times = [round(i * 1e9 / rate) for i in range(count)]
    return Arrivals(times, [round(age_ms * MS)] * count)


def low_state(tick: int = 0, **changes) -> LowState:
    q = np.zeros(35, np.float32)
    q[:MOTOR_COUNT] = [HOME[name] for name in MOTOR_JOINTS]
    warm = np.full((35, 2), 35, np.int16)
    return LowState(**{"mode_machine": 6, "tick": tick, "q": q, "temperature": warm, **changes})


def healthy(**changes) -> RobotSnapshot:
    """Return a snapshot of a healthy robot and an idle bridge."""
    snapshot = RobotSnapshot(
        states=[low_state(2 * i) for i in range(500 * SECONDS)],
        lowstate=arrivals(500),
        joints=dict(HOME),
        topics={
            "/joint_states": arrivals(100),
            "/inspire/state": arrivals(100),
            **{topic: arrivals(10, 60.0) for topic in CAMERA_TOPICS},
        },
        bridge=BridgeFacts("IDLE", "receiving states from the robot", "arm_sdk", "dfx", "", False),
        publishers={"/arm_sdk": ["h1_2_bridge", "h1_2_bridge_supervisor"], "/lowcmd": []},
        nodes={"h1_2_bridge", "h1_2_bridge_supervisor"},
        hand=np.ones(12, np.float32),
        instruction="Open the safe.",
    )
    return replace(snapshot, **changes)


def verdicts(snapshot: RobotSnapshot) -> dict[str, str]:
    return {finding.name: finding.verdict for finding in run_checks(snapshot)}


def test_a_robot_that_is_well_passes_everything():
    assert set(verdicts(healthy()).values()) == {PASS}
    assert "No check failed" in as_text(run_checks(healthy()))


def test_nothing_at_all_fails_without_an_exception():
    found = run_checks(RobotSnapshot())
    assert len(found) == len(CHECKS)
    assert {"robot state rate", "bridge"} <= {f.name for f in found if f.verdict == FAIL}
    assert all(f.remedy for f in found if f.verdict == FAIL)


def test_a_robot_that_says_nothing_is_one_failure():
    silent = BridgeFacts("DISCONNECTED", "no state", "arm_sdk", "none", "", False)
    nothing = healthy(states=[], lowstate=Arrivals(), joints={}, topics={}, bridge=silent)
    found = {f.name: f for f in run_checks(nothing)}
    assert [n for n, f in found.items() if f.verdict == FAIL] == ["robot state rate", "bridge"]
    assert [
        n
        for n, f in found.items()
        if f.found == "no valid state on /lowstate" and f.verdict == SKIP
    ] == [
        *("CRC", "robot tick advances", "mode", "motors", "joints within limits", "arm at rest"),
        "joint states",
    ]
    assert "2 of 16 failed, 11 skipped: do not engage" in as_text(list(found.values()))
    malformed = verdicts(healthy(states=[], malformed=1000))
    assert malformed["CRC"] == FAIL, "it uses another message layout"


def test_a_simulated_robot_that_is_slow_has_no_cables():
    slow = healthy(lowstate=arrivals(250))
    assert "cable" in run_checks(slow)[0].remedy
    slow.nodes.add("robot_side_node")
    assert "too slow" in run_checks(slow)[0].remedy and "cable" not in run_checks(slow)[0].remedy


def test_two_robots_are_named_as_the_cause():
    names = ["a program that is not a ROS 2 node", "robot_side_node"]
    two = healthy(lowstate=arrivals(1000), publishers={"/lowstate": names})
    finding = run_checks(two)[0]
    assert finding.verdict == FAIL and finding.found.endswith(f"2 publishers: {', '.join(names)}")
    assert finding.remedy.startswith("Two robots") and "cable" not in finding.remedy


def spoiled(index: int, **changes) -> list[LowState]:
    states = [low_state(2 * i) for i in range(500 * SECONDS)]
    states[index] = replace(states[index], **changes)
    return states


BEYOND = low_state().q.copy()
BEYOND[20] = 3.0
HOT = np.full((35, 2), 35, np.int16)
HOT[23, 1] = 75
FAULTY = np.zeros(35, np.uint32)
FAULTY[21] = 4
FAST = np.zeros(35, np.float32)
FAST[22] = 1.0


def test_without_publishers_of_commands_nothing_passes():
    found = {f.name: f for f in run_checks(healthy(bridge=None, publishers={}))}
    assert found["no other publisher"].verdict == SKIP


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("robot state rate", {"lowstate": arrivals(250)}, "250 Hz"),
        ("robot state rate", {"states": [low_state(t) for t in (0, 2, 200, 202)]}, "198 ms"),
        ("CRC", {"states": spoiled(7, valid=False)}, "1 of 1000 states invalid"),
        ("CRC", {"malformed": 3}, "3 of 1000 states invalid"),
        ("robot tick advances", {"states": [low_state(5)] * 1000}, "1 different ticks"),
        ("mode", {"states": spoiled(7, mode_machine=1)}, "mode_machine 1"),
        ("mode", {"states": [low_state(i, mode_pr=1) for i in range(1000)]}, "mode_pr 1"),
        ("motors", {"states": [low_state(0, temperature=HOT)]}, "right_elbow_joint at 75"),
        ("motors", {"states": [low_state(0, motor_fault=FAULTY)]}, "right_shoulder_roll_joint"),
        ("joints within limits", {"states": [low_state(0, q=BEYOND)]}, "right_shoulder_pitch"),
        ("arm at rest", {"states": [low_state(0, dq=FAST)]}, "1.00 rad/s"),
        (
            "bridge",
            {"bridge": BridgeFacts("FAULT", "no state", "arm_sdk", "dfx", "", False)},
            "FAULT: no state",
        ),
        ("bridge", {"bridge": None}, "no message on /bridge/state"),
        ("no other publisher", {"publishers": {"/lowcmd": ["teleop"]}}, "/lowcmd: teleop"),
        ("supervisor", {"nodes": {"h1_2_bridge"}}, "does not run"),
        ("joint states", {"joints": {**HOME, "right_elbow_joint": 1.5}}, "from /lowstate"),
        (
            "joint states",
            {"joints": {name: HOME[name] for name in ALL_JOINTS[:27]}},
            "R_pinky_proximal_joint",
        ),
        ("hand", {"hand": np.ones(6, np.float32)}, "6 entries"),
        (
            "hand",
            {"bridge": BridgeFacts("IDLE", "", "arm_sdk", "ftp", "no answer", False)},
            "ftp: no answer",
        ),
        (
            "cameras",
            {"topics": {"/joint_states": arrivals(100), CAMERA_TOPICS[0]: arrivals(5)}},
            f"{CAMERA_TOPICS[0]} 5 Hz",
        ),
        ("clocks", {"topics": {"/joint_states": arrivals(100, 900.0)}}, "900 ms"),
        ("clocks", {"topics": {"/joint_states": arrivals(100, -50.0)}}, "-50 ms"),
    ],
)
def test_each_item_fails_alone_and_says_what_to_do(name, changes, said):
    found = {f.name: f for f in run_checks(healthy(**changes))}
    assert found[name].verdict == FAIL
    assert said in found[name].found
    assert found[name].remedy
    assert f"[FAIL] {name}" in as_text(list(found.values()))
    assert "do not engage" in as_text(list(found.values()))


def test_what_may_be_missing_is_skipped():
    dry = BridgeFacts("IDLE", "", "arm_sdk", "none", "", True)
    found = verdicts(healthy(bridge=dry, nodes={"h1_2_bridge"}, instruction=None))
    assert [name for name, verdict in found.items() if verdict == SKIP] == [
        *("supervisor", "hand", "instruction")
    ]
    without = verdicts(healthy(topics={"/joint_states": arrivals(100)}))
    assert without["cameras"] == SKIP
    one = healthy(topics={"/joint_states": arrivals(100), CAMERA_TOPICS[0]: arrivals(10)})
    assert verdicts(one)["cameras"] == PASS, "a policy may need only some"
    body = {name: HOME[name] for name in MOTOR_JOINTS}
    assert verdicts(healthy(bridge=dry, joints=body))["joint states"] == PASS


def test_the_distance_from_the_start_of_episodes_is_stated():
    finding = {f.name: f for f in run_checks(healthy())}["posture"]
    assert finding.verdict == PASS
    hanging = healthy(joints={**HOME, "right_elbow_joint": 1.57})
    finding = {f.name: f for f in run_checks(hanging)}["posture"]
    assert finding.verdict == SKIP and "right_elbow_joint is 1.77 rad" in finding.found
    assert "Episodes start at HOME" in finding.remedy
