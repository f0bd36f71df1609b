"""Random faults of the bridge's and the supervisor's processes, with the manufacturer's SDK as the
robot: whatever is paused or ends, the robot receives safe commands and finally weight 0.

    BRIDGE_PROCESS_RUNS=200 pytest tests/h1_2_bridge/test_process_campaign.py            # 34 min
    BRIDGE_STOPS=100 pytest tests/h1_2_bridge/test_process_campaign.py -k stop    # 8 min

Each run is one seed: a fault at a random time, while the bridge engages, moves or releases the arm.
The timeouts are long, so that a busy machine causes no fault; fault_campaign.py checks the exact
times, in virtual time.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
from user import PATIENCE, RAMP, User

from h1_2_bridge.ros import STOP_TOPIC
from rulesafe_core.chunks_ros import CHUNKS
from rulesafe_core.convert import LATCHED_QOS, STATE_QOS, to_trajectory
from rulesafe_core.messages import to_ns
from rulesafe_interfaces.msg import SupervisorState

pytestmark = [pytest.mark.ros, pytest.mark.thorough]

FLOOD = Path(__file__).with_name("flood.py")

RUNS = int(os.environ.get("BRIDGE_PROCESS_RUNS", "2"))
SUPERVISOR_PATIENCE = 3.0
"""Time without a command after which the supervisor takes over, s; a little more in each run, so
that its heartbeat is not mistaken for that of the supervisor of the run before."""

FAULTS = (
    "the bridge is paused",
    "the bridge is killed",
    "the bridge is interrupted twice",
    "the bridge is terminated",
    "the supervisor is paused",
    "the supervisor is killed",
    "the supervisor is interrupted, then the bridge is killed",
    "both are interrupted",
    "a stop is requested while the bridge is paused",
    "the robot's states are lost",
    "services are flooded by a client that leaves",
    "invalid transitions are requested",
    "a second robot publishes",
    "a second node publishes chunks",
)


def bring_to(state: str, user: User, rng: np.random.Generator) -> None:
    """Bring the bridge to a state and run for a random time."""
    if state == "ENGAGING":
        user.until_state("IDLE")
        user.until(lambda: not user.state.hand_trouble, "the hands")
        user.until(lambda: user.ask("engage").success, "engaging")
    else:
        user.engage()
        changes = {int(joint): float(rng.uniform(-0.3, 0.3)) for joint in rng.choice(7, 3, False)}
        user.move(user.way(changes, rows=40))
    if state == "releasing":
        assert user.ask("disengage").success
    user.spin(float(rng.uniform(0, RAMP)))


def cause(
    fault: str, bridge, supervisor, robot, peer, user: User, rng: np.random.Generator
) -> None:
    pause = float(rng.choice([0.3, 0.8, 1.5, 3.0, 6.0]))
    if fault in ("the bridge is paused", "a stop is requested while the bridge is paused"):
        bridge.send_signal(signal.SIGSTOP)
        if fault.startswith("a stop"):
            command = [sys.executable, "-m", "rulesafe_cli.cli", "bridge", "stop"]
            stop = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        user.spin(pause)
        bridge.send_signal(signal.SIGCONT)
        if fault.startswith("a stop"):
            stop.wait(PATIENCE)
    elif fault == "the supervisor is paused":
        supervisor.send_signal(signal.SIGSTOP)
        user.spin(pause)
        supervisor.send_signal(signal.SIGCONT)
    elif fault == "the robot's states are lost":
        robot.faults(silent=True)
        user.spin(pause)
        robot.faults(silent=False)
    elif fault == "services are flooded by a client that leaves":
        subprocess.run([sys.executable, str(FLOOD), str(pause)], check=True, timeout=PATIENCE)
        assert user.ask("stop").success and user.ask("reset").success
    elif fault == "invalid transitions are requested":
        change = user.create_client(ChangeState, "/h1_2_bridge/change_state")
        user.until(change.service_is_ready, "the node's services")
        for number in rng.permutation([1, 2, 3, 8, 200]):  # none is valid in an active node
            request = ChangeState.Request(transition=Transition(id=int(number)))
            answer = user.ask_again(lambda r=request: change.call_async(r), "a transition")
            assert not answer.success
        assert bridge.poll() is None
        user.until(lambda: user.state.state != "FAULT", "no fault")
    elif fault == "a second robot publishes":
        peer(rate=200)
        user.until_state("FAULT", "IDLE")
    elif fault == "a second node publishes chunks":
        second, engaging = Node("second_policy"), user.state.state == "ENGAGING"
        chunks = second.create_publisher(JointTrajectory, CHUNKS, STATE_QOS)
        user.until(chunks.get_subscription_count, "discovery")
        accepted, end = user.state.chunks_accepted, time.monotonic() + pause
        while time.monotonic() < end:
            steps = user.way({3: float(rng.uniform(-0.5, 0.5))}, rows=20)
            chunks.publish(to_trajectory(steps, to_ns(user.joints.header.stamp)))
            user.spin(0.1)
        assert engaging or user.state.chunks_accepted == accepted
        second.destroy_node()
    elif fault == "the supervisor is interrupted, then the bridge is killed":
        supervisor.send_signal(signal.SIGINT)
        user.spin(float(rng.uniform(0, 0.5)))
        bridge.kill()
    elif fault == "both are interrupted":
        for process in (bridge, supervisor):
            process.send_signal(signal.SIGINT)
    elif fault == "the bridge is interrupted twice":
        bridge.send_signal(signal.SIGINT)
        user.spin(float(rng.uniform(0, 1)))
        if bridge.poll() is None:
            bridge.send_signal(signal.SIGINT)
    else:
        process = bridge if "bridge" in fault else supervisor
        process.send_signal(signal.SIGTERM if "terminated" in fault else signal.SIGKILL)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(RUNS))
def test_whatever_happens_to_the_processes_the_robot_is_released(
    robot, bridge, start_supervisor, user, peer, seed
):
    rng = np.random.default_rng(seed)
    fault = FAULTS[seed % len(FAULTS)]
    state = str(rng.choice(["ENGAGING", "ACTIVE", "releasing"]))
    print(f"{fault}; {state}")
    patience = SUPERVISOR_PATIENCE + (1 + seed) / 1000
    supervisor = start_supervisor(RAMP, patience)
    process = bridge(state_timeout=2.5, supervisor_timeout=2.5, gap_timeout=2.5).process
    heartbeats: list[SupervisorState] = []
    subscription = user.create_subscription(
        SupervisorState, "/bridge/supervisor", heartbeats.append, 1
    )
    user.until(lambda: any(h.patience == patience for h in heartbeats), "its supervisor")
    user.destroy_subscription(subscription)
    bring_to(state, user, rng)
    cause(fault, process, supervisor, robot, peer, user, rng)
    user.spin(1.0)
    # At last the bridge is lost. A supervisor that was lost before has led to a release meanwhile.
    if supervisor.poll() is not None and process.poll() is None:
        robot.until_weight_is_zero()
    if process.poll() is None:
        process.kill()
    robot.until_weight_is_zero()
    user.spin(0.5)
    record = robot.record()
    assert len(record)
    assert record.weight[-1] == 0.0
    robot.late = int(fault == "the bridge is paused" or fault.startswith("a stop"))


# Stops on a loaded machine; test_stop.py checks the exact times of 100 stops in virtual time.

STOPS = int(os.environ.get("BRIDGE_STOPS", "4"))
WAYS = ("service", "latched topic", "topic with default QoS", "command line")


@pytest.fixture
def load():
    """Two processes that use the processor all the time."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for process in busy:
        process.kill()
        process.wait()


@pytest.mark.timeout(1800)
def test_every_stop_is_obeyed_on_a_loaded_machine(robot, bridge, start_supervisor, user, load):
    rng = np.random.default_rng(0)
    start_supervisor(RAMP, 3.0)
    process = bridge(supervisor_timeout=2.5, gap_timeout=2.5).process
    publishers = {
        "latched topic": user.create_publisher(String, STOP_TOPIC, LATCHED_QOS),
        "topic with default QoS": user.create_publisher(String, STOP_TOPIC, QoSProfile(depth=10)),
    }
    commands: list[subprocess.Popen] = []
    stopped: list[tuple[float, float]] = []  # from DAMPING to the reset, s of the system's clock
    for number in range(STOPS):
        way = WAYS[number % len(WAYS)]
        user.engage()
        user.move(user.way({3: float(rng.uniform(-0.3, 0.3))}, rows=40))
        user.spin(float(rng.uniform(0, 0.5)))
        paused = bool(rng.random() < 0.3)
        robot.late += paused
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
