"""A graph of its own for every test: loopback only, one domain per test process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_DOMAIN_ID"] = str(os.getpid() % 100 + 1)

sys.path.append(str(Path(__file__).parent))  # for ros_client

PATIENCE = 60.0


class Process:
    """A node in a process of its own."""

    def __init__(self, module: str, *parameters: str):
        arguments = [part for p in parameters for part in ("-p", p)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *(["--ros-args", *arguments] if arguments else [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self, how: int = signal.SIGINT) -> tuple[int, str]:
        """Interrupts it, unless it has ended: exit code and output."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        output, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output

    def wait(self) -> tuple[int, str]:
        """Waits until it ends by itself."""
        output, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output


@pytest.fixture
def client():
    rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from ros_client import Client

    rclpy.init()
    node = Client()
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def start():
    """start(module, *parameters) -> Process; all are gone after the test."""
    running: list[Process] = []

    def begin(module: str, *parameters: str) -> Process:
        running.append(Process(module, *parameters))
        return running[-1]

    yield begin
    for process in running:
        if process.process.poll() is None:
            process.process.kill()
            process.process.wait()
