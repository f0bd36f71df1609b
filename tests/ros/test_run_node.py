"""Test what the main function of a node prints and returns when a signal ends it."""

import os
import subprocess
import sys

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

pytestmark = pytest.mark.ros

# A node whose `run` evaluates the expression given as argument.
NODE = """
import signal, sys, rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rulesafe_core.ros import run_node

def shut_down():
    rclpy.shutdown()
    raise ExternalShutdownException

class Logger:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class State(int):
    PENDING = property(signal.raise_signal)

def start_task():
    # Interrupts the first line of the constructor.
    rclpy.task.FutureState = State(signal.SIGINT)
    return rclpy.task.Task(print)

def run(node, executor):
    return eval(sys.argv[1])

sys.exit(run_node("talker", lambda: Node("talker"), [], run, lambda node: "stopped before the end"))
"""


@pytest.mark.parametrize("end", ["", "raise RuntimeError\n"])
def test_a_sigint_during_an_import_ends_the_node_after_it(end, tmp_path):
    """The import may fail because of the signal; no alarm must end the process then."""
    (tmp_path / "slow_library.py").write_text(
        "import signal, sys, time\n"
        "signal.raise_signal(signal.SIGINT)\n"
        "for _ in range(100):\n"
        "    time.sleep(0.01)  # handlers run here\n"
        f"print('imported', flush=True)\n{end}"
    )
    done = subprocess.run(
        [sys.executable, "-c", NODE, "__import__('slow_library') and signal.pause()"],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout == "imported\ntalker: stopped before the end\n", done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("run", "code", "printed"),
    [
        ("3", 3, ""),
        ("signal.raise_signal(signal.SIGINT)", 0, "talker: stopped before the end\n"),
        ("shut_down()", 0, "talker: stopped before the end\n"),
        ("Logger() and signal.pause()", 0, "talker: stopped before the end\n"),
        ("start_task() and signal.pause()", 0, "talker: stopped before the end\n"),
        (
            "signal.raise_signal(signal.SIGTERM) or shut_down()",
            143,
            "talker: stopped before the end\n",
        ),
    ],
)
def test_a_node_that_a_signal_ends_prints_that_it_did_not_finish(run, code, printed):
    done = subprocess.run(
        [sys.executable, "-c", NODE, run],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, printed, "")
