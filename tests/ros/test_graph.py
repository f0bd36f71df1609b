"""Tests of `rulesafe topic`, `service` and `param` with a running simulation."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Int32

from rulesafe_core.convert import LATCHED_QOS
from rulesafe_interfaces.msg import MemoryTokens
from rulesafe_locks.rules import load_rule

pytestmark = pytest.mark.ros

TUTORIALS = (Path(__file__).parents[2] / "docs/tutorials.md").read_text("utf-8")


@pytest.fixture
def look(start):
    """look(*words) -> `rulesafe` as a Process."""
    return lambda *words: start("rulesafe_cli.cli", words=words)


def line_with(process, text):
    """Read the output of a process up to a line that contains a text, and return the line."""
    for line in process.process.stdout:
        if text in line:
            return line
    raise AssertionError(f"it ended without {text!r}")


def rows(text: str) -> dict[str, list[str]]:
    """Return the other columns of a table by its first one."""
    return {line.split()[0]: line.split()[1:] for line in text.splitlines()}


def test_the_commands_inspect_a_simulation(start, look):
    """The commands run at the same time, since none reads what another one changes."""
    start("rulesafe_sim.node", "cameras:=false", "rule:=rule_005")
    listening = look("topic", "echo", "/joint_states")
    line_with(listening, "---")  # the simulation runs
    asked = {
        "list": look("topic", "list"),
        "echo": look("topic", "echo", "instruction", "--once"),
        "hz": look("topic", "hz", "/joint_states", "--seconds", "15"),
        "nobody": look("topic", "echo", "/tokens", "--seconds", "15"),
        "services": look("service", "list"),
        "no service": look("service", "call", "/episode/stop"),
        "refused": look("service", "call", "/episode/reset", "{rule: rule_099}"),
        "set": look("param", "set", "/sim_node", "real_time_factor", "2.5"),
        "read only": look("param", "set", "/sim_node", "rule", "rule_002"),
    }
    codes, said = {}, {}
    for name, process in asked.items():
        codes[name], said[name] = process.wait()
    wrong = {"nobody": 2, "no service": 2, "read only": 2, "refused": 1}
    assert codes == {name: wrong.get(name, 0) for name in asked}, said
    listed = rows(said["list"])
    assert listed["/instruction"][:2] == ["std_msgs/msg/String", "1"]
    assert listed["/policy/action_chunk"][1] == "0" and int(listed["/joint_states"][2]) >= 1
    first, rest = re.sub("^waiting for .*\n", "", said["echo"]).split("---\n")
    assert yaml.safe_load(first) == {"data": load_rule("rule_005").description} and not rest
    assert re.search(r"^\d+\.\d Hz, ", said["hz"], re.M)
    last = said["nobody"].splitlines()[-1]
    assert last.startswith("rulesafe: no publisher on /tokens") and "/joint_states" in last
    assert "/episode/reset  rulesafe_interfaces/srv/ResetEpisode" in said["services"]
    assert "/sim_node/get_parameters" not in said["services"]
    assert "/episode/pause, /episode/reset" in said["no service"]
    assert (
        "rejected the value 'rule_002' of rule" in said["read only"]
        and said["read only"].count("\n") == 1
    )
    assert yaml.safe_load(said["refused"])["success"] is False and not said["set"]

    params = look("param", "list", "/sim_node")
    code, text = look("service", "call", "/episode/reset", "{rule: rule_002, seed: 3}").wait()
    assert code == 0 and yaml.safe_load(text)["episode"] == 2
    assert yaml.safe_load(params.wait()[1])["real_time_factor"] == 2.5
    code, text = listening.stop()
    assert code == 0 and "Traceback" not in text


def test_messages_are_received_with_any_qos_of_the_publisher(client, look):
    late = look("topic", "echo", "/numbers", "--count", "2")
    tokens = client.create_publisher(MemoryTokens, "/memory/tokens", LATCHED_QOS)
    tokens.publish(MemoryTokens(tokens=[2] * 200))
    short, full = (
        look("topic", "echo", "/memory/tokens", "--once", *more)
        for more in ((), ("--full-length",))
    )
    program = re.search(r'```python title="first_node.py"\n(.*?)```', TUTORIALS, re.S)[1]
    joints = client.create_publisher(JointState, "/joint_states", QoSProfile(depth=1))
    listener = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        while listener.poll() is None:
            joints.publish(JointState(name=["right_elbow_joint"], position=[0.5]))
            tokens.publish(MemoryTokens(tokens=[2] * 200, mask=[False] * 197 + [True] * 3))
            time.sleep(0.05)
    finally:
        listener.kill()
    assert listener.wait() == 0
    assert re.fullmatch(
        r"(elbow 0.50 rad, tokens \[\]\n)?(elbow 0.50 rad, tokens \[2, 2, 2\]\n){9,10}",
        listener.stdout.read(),
    )
    assert yaml.safe_load(short.wait()[1].split("---")[0])["tokens"] == [*[2] * 128, "..."]
    assert yaml.safe_load(full.wait()[1].split("---")[0])["tokens"] == [2] * 200

    line_with(late, "waiting for a publisher on /numbers")
    unreliable = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
    numbers = client.create_publisher(Int32, "/numbers", unreliable)
    while late.process.poll() is None:
        numbers.publish(Int32(data=4))
        time.sleep(0.1)
    assert late.wait() == (0, "data: 4\n---\n" * 2)
