"""Test `rulesafe bridge` with the bridge and the simulated robot in separate processes."""

import re
import subprocess
import sys
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from unitree_go.msg import MotorStates
from user import Bridge

from h1_2_bridge import client_node, commands
from h1_2_bridge.client_node import BridgeClient
from h1_2_bridge.states import TEMPORARY_REFUSALS
from rulesafe_cli.cli import main
from rulesafe_core.client_node import connected
from rulesafe_core.errors import RuleSafeError

pytestmark = pytest.mark.ros

PATIENCE = 120.0
TUTORIAL = Path(__file__).parents[2] / "docs/tutorials.md"


def rulesafe(*arguments: str) -> tuple[int, str]:
    """Run `rulesafe bridge` in this process and return its exit code and output."""
    with StringIO() as output, redirect_stdout(output), redirect_stderr(output):
        return main(["bridge", *arguments]), output.getvalue()


def done(*arguments: str) -> str:
    """Run `rulesafe bridge`, which succeeds, and return its output."""
    code, output = rulesafe(*arguments)
    assert code == 0, output
    return output


@pytest.fixture
def robot():
    command = [sys.executable, "-m", "h1_2_sim.node", "--ros-args"]
    process = subprocess.Popen([*command, "-p", "cameras:=false"])
    yield process
    process.terminate()
    process.wait(PATIENCE)


@pytest.fixture
def bridge(robot):
    running = Bridge(network_interface="''")
    yield running
    running.stop()


def test_malformed_hand_states_count_as_none():
    with connected(lambda: BridgeClient(lambda text: None)) as client:
        publisher = client.create_publisher(MotorStates, "/inspire/state", 1)
        short = bytes([0, 1, 0, 0]) + (12).to_bytes(4, "little")
        client.create_timer(0.05, lambda: publisher.publish(short))
        client.spin_for(1.0)
        snapshot = client.listen(3.0)
    assert snapshot.hand is None
    assert "/inspire/state" not in snapshot.topics


def test_from_the_first_check_to_a_stop(bridge):
    """The commands of docs/robot.md, in order."""
    output = done("engage", "--wait", "60")
    assert "ENGAGING" in output and "ACTIVE" in output
    (program,) = re.findall(r"```python title=\"bend.py\"\n(.*?)```", TUTORIAL.read_text(), re.S)
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert run.stdout.startswith("right_elbow_joint went from "), run.stderr
    assert "IDLE: the weight is 0" in done("disengage")
    code, output = rulesafe("check", "--seconds", "5")
    for item in ("CRC", "mode", "motors", "joints within limits", "bridge", "hand"):
        assert f"[pass] {item} " in output, output
    assert "[skip] cameras" in output
    assert "[FAIL] supervisor" in output and "do not engage" in output
    assert code == 1
    done("engage", "--wait", "60")
    done("stop")
    code, output = rulesafe("engage", "--wait", "60")  # fails immediately
    assert code == 2 and "the bridge is DAMPING: " in output and "stop" in output
    assert "rulesafe bridge reset" in output
    assert "IDLE" in done("reset")


@pytest.mark.parametrize("command", ["engage --wait 1", "disengage", "reset", "check --seconds 1"])
def test_without_a_bridge_there_is_one_line_that_says_so(command, monkeypatch):
    monkeypatch.setattr(client_node, "DISCOVERY", 1.0)
    code, output = rulesafe(*command.split())
    last = output.strip().splitlines()[-1]
    if command.startswith("check"):
        assert code == 1 and "[pass]" not in output and "[FAIL] bridge" in output
    else:
        assert code == 2 and last.startswith("rulesafe: ")
        assert re.search(
            r"no bridge found in ROS domain \d+: no .* within 1 s; start launch/", last
        )


@pytest.mark.parametrize(
    ("refusal", "tries"),
    [
        *((f"x {temporary}; y", 50) for temporary in TEMPORARY_REFUSALS),
        ("too hot", 12),
    ],
)
def test_engaging_waits_for_what_is_temporary(refusal, tries, monkeypatch):
    """As in a launch that engages while the supervisor starts; others are final after 2 s."""
    now, called = [100.0], []

    class Client:
        def call(self, name):
            called.append(name)
            if len(called) < 50:
                raise RuleSafeError(refusal)

        def spin_for(self, seconds):
            now[0] += seconds

    monkeypatch.setattr(commands.time, "monotonic", lambda: now[0])
    with nullcontext() if tries == 50 else pytest.raises(RuleSafeError):
        commands._call_settled(Client(), "/bridge/engage", wait=300.0)
    assert len(called) == pytest.approx(tries, abs=1)
