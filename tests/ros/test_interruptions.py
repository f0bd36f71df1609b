"""The table of docs/results/fault_tests.md: processes that end, pause or are in another domain."""

import ast
import os
import re
import signal
from functools import partial
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from std_msgs.msg import String

from rulesafe_core.convert import LATCHED_QOS
from rulesafe_core.domains import reserve_domain
from rulesafe_core.namespaces import NAMESPACE
from rulesafe_interfaces.msg import BridgeState, EpisodeStatus

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
SIM, NODE = "rulesafe_sim.node", "policy_node.node"
EPISODE = ("rule:=rule_020", "safe:=safe_01", "seed:=5", "cameras:=false", "execute_steps:=10")
POLICY = ("policy:=seeing_policies:Seeing", "execute_steps:=10")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Make the policies in this folder importable for the nodes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)


def test_each_row_of_the_table_names_a_test_that_exists():
    text = (ROOT / "docs/results/fault_tests.md").read_text("utf-8")
    section = text.split("## Restarts, late starts and network loss\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 10
    for row in rows:
        named = re.findall(r"`(\w+/test_\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
            assert test in {getattr(node, "name", "") for node in tree.body}, row


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_simulation_waits_for_a_policy_that_ended_or_is_paused(client, start, how):
    """After SIGKILL it is started again; after SIGSTOP it continues."""
    start(SIM, *EPISODE)
    policy = start(NODE, *POLICY)
    client.until(lambda: client.status.frame >= 20, "the first chunks")
    policy.process.send_signal(how)
    client.until(client.time_stops, "the simulation waits")
    frame = client.status.frame
    assert client.time_stops() and client.time_stops() and client.status.frame == frame
    if how == signal.SIGKILL:
        start(NODE, *POLICY)
    else:
        policy.process.send_signal(signal.SIGCONT)
    episode = client.status.episode
    client.until(lambda: client.status.frame >= frame + 20, "further chunks")
    assert client.status.episode == episode


def test_simulations_in_two_namespaces_are_separate(client, start, monkeypatch):
    """Each has the topics, services and time of its own; nothing is outside of the namespaces."""
    for name, seed in (("one", 5), ("two/arms", 6)):
        monkeypatch.setenv(NAMESPACE, name)
        start(SIM, *EPISODE, f"seed:={seed}")
        start("planner_node.node", "use_sim_time:=true")
        start("vq_memory_node.node", "model:=all_rules", "use_sim_time:=true")
    monkeypatch.setenv(NAMESPACE, "/robot_3/")
    robot = ("h1_2_sim.node", "h1_2_bridge.node", "h1_2_bridge.supervisor_node")
    for module in (*robot, "h1_2_bridge.camera_points_node", "rulesafe_core.frames_node"):
        start(module)
    start(NODE, *POLICY)
    start("rulesafe_eval.node", "episodes:=0")
    statuses: dict[str, EpisodeStatus] = {}
    states: list[BridgeState] = []
    for name in ("one", "two/arms"):
        store = partial(statuses.__setitem__, name)
        client.create_subscription(EpisodeStatus, f"/{name}/episode/status", store, 10)
    client.create_subscription(BridgeState, "/robot_3/bridge/state", states.append, 10)
    client.until(
        lambda: len(statuses) == 2 and all(status.frame > 20 for status in statuses.values()),
        "both episodes advance",
    )
    assert {name: status.seed for name, status in statuses.items()} == {"one": 5, "two/arms": 6}
    client.until(lambda: states and states[-1].state == "IDLE", "the bridge receives the robot")
    # A request outside of the namespaces stops the robot.
    client.create_publisher(String, "/bridge/stop_request", LATCHED_QOS).publish(String(data="me"))
    client.until(lambda: states[-1].state == "DAMPING", "the robot is stopped")
    nodes = [each for each in client.get_node_names_and_namespaces() if each[1] != "/"]
    assert len(nodes) == 2 * 3 + 8
    ends = (
        client.get_publisher_names_and_types_by_node,
        client.get_subscriber_names_and_types_by_node,
        client.get_service_names_and_types_by_node,
        client.get_client_names_and_types_by_node,
    )
    for node, space in nodes:
        names = {name for found in ends for name, _ in found(node, space)}
        outside = {name for name in names if not name.startswith(f"{space}/")}
        assert outside <= {"/rosout", "/parameter_events", "/bridge/stop_request"}, node


def test_an_invalid_namespace_is_one_line(start, monkeypatch):
    monkeypatch.setenv(NAMESPACE, "robot-1")
    code, output = start(SIM, *EPISODE).wait()
    assert code == 2 and output.startswith("sim_node: the namespace 'robot-1' (RULESAFE_NAMESPACE)")
    assert output.count("\n") == 1


def test_two_domains_on_one_machine_are_separate(client, start, monkeypatch):
    start(SIM, *EPISODE)
    client.wait_for_turn()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(reserve_domain()))
    other = start(SIM, *EPISODE, "seed:=6")
    output = ""
    while "ready: " not in output:
        output += (read := other.process.stdout.readline())
        assert read, output
    client.statuses.clear()
    client.settle(2.0)
    client.until(lambda: len(client.statuses) > 5, "statuses")
    assert {status.seed for status in client.statuses} == {5}
    assert len(client.get_publishers_info_by_topic("/clock")) == 1
    other.stop_well()
