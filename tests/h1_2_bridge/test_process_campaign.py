"""Random faults of the bridge's and the supervisor's processes, with the manufacturer's SDK as the
robot: whatever is paused or ends, the robot receives safe commands and finally weight 0.

    BRIDGE_PROCESS_RUNS=200 pytest tests/h1_2_bridge/test_process_campaign.py    # 34 minutes

Each run is one seed: a fault at a random time, while the bridge engages, moves or releases the arm.
The timeouts are long, so that a busy machine causes no fault; fault_campaign.py checks the exact
times, in virtual time.
"""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")

from recorder import BUSY, assert_within_limits
from user import PATIENCE, RAMP, User

pytestmark = [pytest.mark.ros, pytest.mark.thorough]

RUNS = int(os.environ.get("BRIDGE_PROCESS_RUNS", "2"))
SPEED = 0.1
SUPERVISOR_PATIENCE = 3.0
"""Time without a command after which the supervisor takes over, s."""

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


def cause(fault: str, bridge, supervisor, robot, user: User, rng: np.random.Generator) -> None:
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
    peer, bridge, start_supervisor, user, seed
):
    rng = np.random.default_rng(seed)
    fault = FAULTS[seed % len(FAULTS)]
    state = str(rng.choice(["ENGAGING", "ACTIVE", "releasing"]))
    print(f"{fault}; {state}")
    supervisor = start_supervisor(RAMP, SUPERVISOR_PATIENCE)
    robot = peer(200)
    process = bridge(
        speed=SPEED, state_timeout=2.5, supervisor_timeout=2.5, gap_timeout=2.5
    ).process
    bring_to(state, user, rng)
    cause(fault, process, supervisor, robot, user, rng)
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
    late = int(fault == "the bridge is paused" or fault.startswith("a stop"))
    assert_within_limits(record, speed=SPEED, ramp=RAMP, slack=BUSY, late=late)
