"""Bridge and supervisor in a terminal: they release the robot after Ctrl-C, Ctrl-\\, a closed
terminal, or a killed launcher."""

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")

from user import PATIENT, RAMP, bridge_command, supervisor_command, supervisor_parameters

pytestmark = pytest.mark.ros

LAUNCH = Path(__file__).parents[2] / "launch/bridge.launch.xml"
SUPERVISOR_PATIENCE = 3.0
"""Time without a command after which the supervisor takes over, s."""


class Terminal:
    """A pseudo-terminal with a program as its session leader, as in an ssh session.

    Attributes:
        leader: the program.
        output: what the terminal has shown so far.
    """

    def __init__(self, command: list[str]) -> None:
        self._master, slave = pty.openpty()
        self.leader = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.output = ""
        self._open = True
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while self._open:
            if not select.select([self._master], [], [], 0.1)[0]:
                continue
            try:
                self.output += os.read(self._master, 65536).decode(errors="replace")
            except OSError:  # no process has the terminal open
                return

    def type(self, key: bytes) -> None:
        os.write(self._master, key)

    def close(self) -> None:
        """Close the terminal: its session receives SIGHUP, and then cannot write to it."""
        if self._open:
            self._open = False
            self._reader.join()
            os.close(self._master)

    def pid(self, name: str) -> int | None:
        """Return the process ID of a node from the output; None: it has not started yet."""
        found = re.search(rf"\[{name}(?:-\d+)?\]: process started with pid \[(\d+)\]", self.output)
        return int(found[1]) if found else None


def shell_command() -> list[str]:
    """Return a shell that runs bridge and supervisor in the foreground."""
    commands = {
        "h1_2_bridge_supervisor": supervisor_command(RAMP, SUPERVISOR_PATIENCE),
        "h1_2_bridge": bridge_command(),
    }
    started = "".join(
        f'{shlex.join(command)} & echo "[{name}]: process started with pid [$!]"; '
        for name, command in commands.items()
    )
    return ["sh", "-c", started + "wait"]


def launch_command(folder: Path) -> list[str]:
    """Return the launcher of bridge and supervisor."""
    config = folder / "bridge.yaml"
    parameters = {
        "h1_2_bridge": {k: v for k, v in PATIENT.items() if k != "network_interface"},
        "h1_2_bridge_supervisor": supervisor_parameters(RAMP, SUPERVISOR_PATIENCE),
    }
    config.write_text(
        yaml.safe_dump({name: {"ros__parameters": each} for name, each in parameters.items()})
    )
    return [
        *(sys.executable, "-m", "rulesafe_cli.cli", "launch", str(LAUNCH)),
        *("network_interface:=lo", f"bridge_config:={config}", "cameras:=false", "tf:=false"),
    ]


@pytest.fixture
def terminal(running):
    """terminal(command) -> a Terminal, whose processes are killed at the end of the test."""
    opened: list[Terminal] = []

    def start(command: list[str]) -> Terminal:
        opened.append(Terminal(command))
        return opened[-1]

    yield start
    for one in opened:
        one.leader.kill()
        one.leader.wait()
        one.close()
        for name in ("h1_2_bridge", "h1_2_bridge_supervisor"):
            if (pid := one.pid(name)) and running(pid):
                os.kill(pid, signal.SIGKILL)


def press(terminal: Terminal, key: bytes, times: int) -> None:
    for _ in range(times):
        terminal.type(key)
        time.sleep(0.3)


def hang_up(terminal: Terminal) -> None:
    """Close the terminal; an interactive shell then sends SIGHUP to its jobs once more."""
    group = terminal.leader.pid
    terminal.close()
    time.sleep(0.3)
    os.killpg(group, signal.SIGHUP)


ENDS = {
    "the launcher, Ctrl-C five times": lambda terminal: press(terminal, b"\x03", 5),
    "the launcher, Ctrl-\\": lambda terminal: press(terminal, b"\x1c", 1),
    "the launcher, its terminal is closed": hang_up,
    "the launcher, SIGKILL": lambda terminal: terminal.leader.kill(),
    "a shell, Ctrl-C twice": lambda terminal: press(terminal, b"\x03", 2),
    "a shell, Ctrl-\\": lambda terminal: press(terminal, b"\x1c", 1),
    "a shell, its terminal is closed": hang_up,
}
TYPICAL = (
    "the launcher, Ctrl-C five times",
    "the launcher, SIGKILL",
    "a shell, its terminal is closed",
)
"""One end of each kind: by a signal to all processes, to the launcher alone, and of a session."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "end",
    [end if end in TYPICAL else pytest.param(end, marks=pytest.mark.thorough) for end in ENDS],
)
def test_the_end_of_a_launch_or_a_terminal_releases_the_robot(
    robot, terminal, user, running, tmp_path, end
):
    robot.late = 1 if "Ctrl-C" in end else 0  # DDS may deliver a bridge's last command once more
    command = launch_command(tmp_path) if end.startswith("the launcher") else shell_command()
    screen = terminal(command)
    user.until(lambda: screen.pid("h1_2_bridge"), "the bridge has started")
    user.until(lambda: screen.pid("h1_2_bridge_supervisor"), "the supervisor has started")
    bridge, supervisor = screen.pid("h1_2_bridge"), screen.pid("h1_2_bridge_supervisor")
    user.engage()
    user.until(lambda: "publishes commands" in screen.output, "the supervisor receives commands")
    ENDS[end](screen)
    user.until(lambda: not running(bridge) and not running(supervisor), "both processes end")
    robot.until_weight_is_zero()
    screen.leader.wait(60)
    record = robot.record()
    assert record.weight.max() == 1.0 and record.weight[-1] == 0.0
    record = record.where(~record.late)
    engaged = record.weight.argmax()
    if "Ctrl-C" not in end:  # a second one ends the bridge at once; else it releases the robot
        longest = np.diff(record.sent[engaged:]).max()
        assert longest < SUPERVISOR_PATIENCE, "the supervisor took over"
    assert np.diff(record.weight[engaged:]).max() <= 0
