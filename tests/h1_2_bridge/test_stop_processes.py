"""Software stops on a loaded machine, in processes, with the manufacturer's SDK as the robot.

    BRIDGE_STOPS=100 pytest tests/h1_2_bridge/test_stop_processes.py    # 8 minutes

Each stop uses one of the ways to request it. test_stop.py checks the exact times of 100 stops in
virtual time.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")

from rclpy.qos import QoSProfile
from recorder import BUSY, assert_within_limits
from std_msgs.msg import String
from user import PATIENCE, RAMP

from h1_2_bridge.ros import STOP_TOPIC
from rulesafe_core.convert import LATCHED_QOS

pytestmark = [pytest.mark.ros, pytest.mark.thorough]

STOPS = int(os.environ.get("BRIDGE_STOPS", "4"))
WAYS = ("service", "latched topic", "topic with default QoS", "command line")
SPEED = 0.1


@pytest.fixture
def load():
    """Two processes that use the processor all the time."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for process in busy:
        process.kill()
        process.wait()


@pytest.mark.timeout(1800)
def test_every_stop_is_obeyed_on_a_loaded_machine(peer, bridge, start_supervisor, user, load):
    rng = np.random.default_rng(0)
    start_supervisor(RAMP, 3.0)
    robot = peer(200)
    process = bridge(speed=SPEED, supervisor_timeout=2.5, gap_timeout=2.5).process
    publishers = {
        "latched topic": user.create_publisher(String, STOP_TOPIC, LATCHED_QOS),
        "topic with default QoS": user.create_publisher(String, STOP_TOPIC, QoSProfile(depth=10)),
    }
    commands: list[subprocess.Popen] = []
    stopped: list[tuple[float, float]] = []  # from DAMPING to the reset, s of the system's clock
    pauses = 0
    for number in range(STOPS):
        way = WAYS[number % len(WAYS)]
        user.engage()
        user.move(user.way({3: float(rng.uniform(-0.3, 0.3))}, rows=40))
        user.spin(float(rng.uniform(0, 0.5)))
        paused = bool(rng.random() < 0.3)
        pauses += paused
        if paused:
            process.send_signal(signal.SIGSTOP)
        if way in publishers:
            publishers[way].publish(String(data=way))
        elif way == "service":
            user.call("stop")
        else:
            stop = [sys.executable, "-m", "rulesafe_cli.cli", "bridge", "stop"]
            commands.append(subprocess.Popen(stop, stdout=subprocess.DEVNULL))
        user.spin(0.5 if paused else 0.0)
        process.send_signal(signal.SIGCONT)
        user.until_state("DAMPING")
        damped = time.time()
        user.spin(0.3)
        user.until(
            lambda damped=damped: robot.report()["newest"] > damped, "a command after the stop"
        )
        for command in commands:  # it may repeat the request
            command.wait(PATIENCE)
        stopped.append((damped, time.time()))
        assert user.ask("reset").success
        user.until_state("IDLE")
    robot.until_weight_is_zero()
    record = robot.record()
    stiff = record.motors[:, :27, 4].any(axis=1) & (record.weight > 0)
    for damped, reset in stopped:
        during = (record.sent > damped) & (record.sent < reset)  # some arrive later
        assert during.any() and not stiff[during].any()
    assert record.weight[-1] == 0.0
    assert_within_limits(record, speed=SPEED, ramp=RAMP, slack=BUSY, late=pauses)
