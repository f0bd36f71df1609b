"""Topics, lifecycle and shutdown of the bridge's node. Faults of the robot are tested in
test_faults.py and test_robot_state_faults.py (virtual time) and in test_sdk_robot.py."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")

from builtin_interfaces.msg import Time
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
from unitree_hg.msg import LowCmd
from user import PATIENCE

from h1_2_bridge.ros import STOP_TOPIC
from h1_2_bridge.wire import decode_low_cmd
from rulesafe_core.chunks import SECOND
from rulesafe_core.chunks_ros import CHUNKS
from rulesafe_core.convert import LATCHED_QOS, STATE_QOS, to_trajectory
from rulesafe_core.domains import reserve_domain
from rulesafe_core.joints import ALL_JOINTS, BODY_JOINTS
from rulesafe_core.messages import to_ns

pytestmark = pytest.mark.ros

FLOOD = Path(__file__).with_name("flood.py")


def subscribe(user, kind, topic, qos, raw=False):
    """Subscribe to a topic and return a list to which its messages are appended."""
    messages = []
    user.create_subscription(kind, topic, messages.append, qos, raw=raw)
    return messages


def test_the_topics_are_those_of_the_simulation(robot, bridge, user):
    imu = subscribe(user, Imu, "/imu", STATE_QOS)
    description = subscribe(user, String, "/robot_description", LATCHED_QOS)
    started = subscribe(user, Time, "/episode/started", LATCHED_QOS)
    bridge()
    user.until_state("IDLE")
    user.until(lambda: description and imu, "all topics")
    user.until(lambda: tuple(user.joints.name) == ALL_JOINTS, "joint states of body and hands")
    assert '<robot name="h1_2">' in description[0].data
    assert '<link name="base_link"' in description[0].data
    episodes = len(started)
    user.joint_states.clear()
    user.until(lambda: len(user.joint_states) >= 200, "two seconds of joint states")
    assert all(tuple(message.name) == ALL_JOINTS for message in user.joint_states)
    stamps = np.array([to_ns(message.header.stamp) for message in user.joint_states])
    assert (np.diff(stamps) > 0).all()
    assert stamps[199] - stamps[0] > 1.5 * SECOND, "100 Hz, not faster"
    message, q = user.joints, robot.report()["q"]
    assert np.allclose(message.position[:27], q, atol=0.01)
    assert len(message.position) == len(message.velocity) == 39
    assert imu[-1].orientation.w == pytest.approx(1.0)
    assert len(started) == episodes, "no episode before the robot is engaged"
    user.engage()
    user.until(lambda: len(started) > episodes, "/episode/started")
    user.until(
        lambda: started[-1] in [message.header.stamp for message in user.joint_states],
        "the episode's first joint states, which have its stamp",
    )


def test_nobody_else_may_command_the_arm(robot, bridge, user):
    bridge()
    user.until_state("IDLE")
    user.until(lambda: not user.state.hand_trouble, "the hands")
    other = user.create_publisher(LowCmd, "/arm_sdk", 10)
    refusal = user.ask("engage")
    end = time.monotonic() + PATIENCE  # of the discovery of the other publisher, and of its name
    while refusal.success or "not a ROS 2 node" in refusal.message:
        assert time.monotonic() < end, refusal.message
        user.ask("disengage")
        user.until_state("IDLE", "FAULT")  # FAULT: discovered while it was engaged
        if user.state.state == "FAULT":
            user.ask("reset")
            user.until_state("IDLE")
        refusal = user.ask("engage")
    assert refusal.message == "/arm_sdk has another publisher: bridge_user; end that program"
    user.destroy_publisher(other)


def test_the_first_publisher_of_chunks_is_followed_and_the_second_is_named(robot, bridge, user):
    bridge()
    user.engage()

    def send() -> None:
        accepted = user.state.chunks_accepted
        user.move(user.way({3: 0.1}, rows=30))
        user.until(lambda: user.state.chunks_accepted > accepted, "a chunk of the first publisher")

    for _ in range(10):
        send()
    second = Node("second_policy")
    chunks = second.create_publisher(JointTrajectory, CHUNKS, STATE_QOS)
    user.until(
        lambda: chunks.get_subscription_count() and user.count_publishers(CHUNKS) == 2, "discovery"
    )
    for _ in range(8):  # fewer than those of the first publisher; its name may be discovered late
        expected = user.state.chunks_refused + 1
        chunks.publish(to_trajectory(user.way({3: -0.5}), to_ns(user.joints.header.stamp)))
        user.until(lambda e=expected: user.state.chunks_refused >= e, "a refused chunk")
        if "second_policy" in user.state.refusal:
            break
        time.sleep(0.5)
    assert user.state.refusal == (
        f"/{CHUNKS} has two publishers, bridge_user and second_policy; end one of them"
    )
    send()
    assert user.state.state == "ACTIVE"
    second.destroy_node()


def test_publishers_that_are_not_received_because_of_their_qos_are_logged(robot, bridge, user):
    logs = subscribe(user, Log, "/rosout", LATCHED_QOS)
    bridge()
    user.until_state("IDLE")
    node = Node("best_effort_policy")
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    ends = [
        node.create_publisher(JointTrajectory, CHUNKS, best_effort),
        node.create_publisher(String, STOP_TOPIC, 1),  # volatile: one of two subscriptions matches
    ]
    text = f"messages of best_effort_policy on /{CHUNKS} are not received: best effort publisher"

    def found(start: str) -> list[str]:
        return [log.msg for log in logs if log.msg.lower().startswith(start)]

    user.until(lambda: found(text), "the warning")
    user.clear()
    user.until(lambda: len(user.states) > 25, "two reports more")
    assert len(found("messages of")) == 1, "once, and nothing about the stop topic"
    assert len(ends) == 2
    node.destroy_node()


def test_a_second_robot_releases_the_first(robot, bridge, user, peer):
    bridge()
    user.engage()
    other = peer(rate=200)
    user.until_state("FAULT")
    expected = "state has two publishers, both a program that is not a ROS 2 node; end one"
    assert expected in user.state.reason
    robot.until_weight_is_zero()
    assert user.ask("reset").success
    user.until_state("IDLE")
    assert expected in user.ask("engage").message
    before = user.position("right_elbow_joint")
    other.faults(offset={"23": 0.5})
    user.clear()
    user.until(lambda: len(user.joint_states) > 100, "joint states")
    index = user.joints.name.index("right_elbow_joint")
    assert all(abs(message.position[index] - before) < 0.1 for message in user.joint_states)
    other.stop()
    user.engage()


@pytest.mark.parametrize("stop_first", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_interrupted_it_lets_the_robot_go_first(robot, bridge, user, stop_first):
    process = bridge()
    user.engage()
    if stop_first:
        assert user.ask("stop").success
    assert process.stop() == 0
    robot.until_weight_is_zero()
    record = robot.record()
    assert record.weight.max() == 1.0 and record.weight[-1] == 0.0
    assert (np.diff(record.weight[record.weight.argmax() :]) <= 0).all(), "it falls, no jump"


def test_without_hands_the_body_alone_is_told_and_moved(robot, bridge, user):
    bridge(hand="none")
    user.engage()
    assert tuple(user.joints.name) == BODY_JOINTS
    user.move(user.way({3: 0.1, 7: 0.3}))
    user.until(lambda: user.state.chunks_accepted, "a chunk is followed")
    user.spin(0.5)
    assert robot.report()["hand_commands"] == 0


def test_a_dry_run_shows_what_would_be_sent(robot, bridge, user):
    commands = subscribe(user, LowCmd, "/bridge/dry_run/arm_sdk", 1, raw=True)
    fingers = subscribe(user, JointState, "/bridge/dry_run/hand_targets", 1000)
    bridge(dry_run=True)
    user.engage()
    assert user.state.dry_run
    user.until(lambda: commands, "commands")
    user.move(user.way({3: 0.1, 7: 0.3}))
    goal = user.state.command[3] + 0.1
    user.until(lambda: abs(user.state.command[3] - goal) < 0.005, "the command arrives")
    user.until(lambda: fingers, "the fingers' targets")
    assert all(name.startswith("R_") for name in fingers[-1].name)
    cmd = decode_low_cmd(commands[-1])
    assert cmd.valid and cmd.q[27] == 1.0
    report = robot.report()
    assert (report["commands"], report["hand_commands"]) == (0, 0)
    assert np.ptp([np.array(report["q"])[23], robot.report()["q"][23]]) < 0.01


@pytest.fixture
def transition(bridge, user):
    """transition(number) -> whether the bridge's node made this transition; it is not active."""
    bridge(autostart=False)
    change = user.create_client(ChangeState, "/h1_2_bridge/change_state")
    user.until(change.service_is_ready, "the node's services")
    state = user.create_client(GetState, "/h1_2_bridge/get_state")
    user.until(state.service_is_ready, "the node's services")
    user.ask_again(lambda: state.call_async(GetState.Request()), "its state")

    def ask(number: int) -> bool:
        future = change.call_async(ChangeState.Request(transition=Transition(id=number)))
        user.until(future.done, "a transition")
        return future.result().success

    return ask


def test_an_invalid_transition_does_not_end_an_engaged_bridge(robot, transition, user):
    for number in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert transition(number)
    user.engage()
    for number in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP, 200):
        assert not transition(number)
    user.clear()
    user.until(lambda: user.state.state in ("ACTIVE", "HOLDING"), "the bridge continues")
    assert user.state.weight == 1.0


def test_a_client_that_floods_services_and_leaves_delays_no_stop(robot, bridge, user):
    """The responses to such a client take 100 ms each; see test_services_ros.py."""
    bridge()
    user.engage()
    flood = subprocess.run([sys.executable, str(FLOOD), "3"], capture_output=True, timeout=PATIENCE)
    assert flood.returncode == 0, flood.stderr
    answer = user.call("stop")
    user.until_state("DAMPING")
    user.until(answer.done, "the response")
    assert user.ask("reset").success


def test_shut_down_it_releases_the_robot_and_engages_no_more(robot, transition, user):
    """It is not deactivated while it holds the robot, either."""
    assert not user.ask("engage").success, "not before it is active"
    for number in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert transition(number)
    user.engage()
    assert not transition(Transition.TRANSITION_DEACTIVATE)
    user.spin(0.5)
    assert user.state.state in ("ACTIVE", "HOLDING") and user.state.weight == 1.0
    assert user.ask("disengage").success
    user.until_state("IDLE")
    for number in (
        Transition.TRANSITION_DEACTIVATE,
        Transition.TRANSITION_CLEANUP,
        Transition.TRANSITION_CONFIGURE,
        Transition.TRANSITION_ACTIVATE,
    ):
        assert transition(number)
    user.engage()
    assert transition(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    user.until_state("IDLE")
    robot.until_weight_is_zero()
    assert "shut down; start the bridge again" in user.ask("engage").message


WRONG = {
    "output:=sport": "unknown output 'sport'; valid: arm_sdk, lowcmd",
    "network_interface:=nowhere": "unknown network interface",
    "hand:=glove": "unknown hand 'glove'; valid: dfx, ftp, none",
    "speed:=1.5": "speed",
    "execution:=latest": "unknown chunk executor 'latest'",
    "stop_buttons:=L9": "unknown button 'L9'",
    "hand_right_open:=1,2": "hand_right_open must be 6 comma-separated numbers (rad)",
}
"""Error messages by parameter."""


USUAL = ("output:=sport", "network_interface:=nowhere")
"""Found after and before the node is created."""


@pytest.mark.parametrize(
    "parameter",
    [each if each in USUAL else pytest.param(each, marks=pytest.mark.thorough) for each in WRONG],
)
def test_wrong_parameters_end_it_with_one_line(parameter):
    result = subprocess.run(
        [sys.executable, "-m", "h1_2_bridge.node", "--ros-args", "-p", parameter],
        env={**os.environ, "ROS_DOMAIN_ID": str(reserve_domain())},  # a second bridge is refused
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 2, result.stderr
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("h1_2_bridge: ") and WRONG[parameter] in last
