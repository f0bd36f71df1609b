"""Test the table of docs/robustness.md: processes that end, pause or are in another domain."""

import ast
import os
import re
import signal
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rulesafe_core.domains import reserve_domain

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
    text = (ROOT / "docs/robustness.md").read_text("utf-8")
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
