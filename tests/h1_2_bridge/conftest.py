"""Fixtures of the bridge's tests: a simulated robot, the bridge, its supervisor and its client."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

# For the helper modules in this folder and in tests/ros.
sys.path[1:1] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "ros")]


@pytest.fixture
def world():
    """An engaged bridge in virtual time; all commands are checked at the end."""
    from virtual import World, assert_safe

    found = World().engaged()
    yield found
    assert_safe(found)


@pytest.fixture
def moving(world):
    """The same, while the arm moves."""
    world.keep_moving()
    world.run(0.5)
    assert abs(world.robot.dq[23]) > 0.05
    return world


@pytest.fixture
def peer(tmp_path):
    """peer(rate=500) -> a Peer that runs until the end of the test."""
    pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")
    from peer import Peer

    with ExitStack() as running:

        def start(rate: float = 500.0) -> Peer:
            found = Peer(tmp_path, rate)
            running.callback(found.stop)
            return found

        yield start


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Processes that the tests of a module share (user.Processes)."""
    pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")
    from user import Processes, User

    from rulesafe_core.client_node import connected

    with connected(User) as node:
        found = Processes(tmp_path_factory.mktemp("peer"), node)
        yield found
        found.end()


@pytest.fixture
def robot(processes):
    """The SDK peer of the module; the commands that it received are checked at the end."""
    from recorder import BUSY, assert_within_limits
    from user import RAMP

    found = processes.robot()
    yield found
    if found.process.poll() is None:
        late = found.late
        assert_within_limits(found.record(), speed=0.1, ramp=RAMP, slack=BUSY, late=late)


@pytest.fixture
def bridge(processes):
    """bridge(**parameters) -> the Bridge of the module, started if it must be."""
    return processes.bridge


@pytest.fixture
def user(processes):
    """The bridge's client of the module."""
    if not processes.runs():
        processes.user.clear()
    return processes.user


@pytest.fixture
def start_supervisor():
    """start_supervisor(ramp, patience, **options) -> its process, a subprocess.Popen with these
    options, which is killed at the end of the test."""
    from user import supervisor_command

    running: list[subprocess.Popen] = []

    def start(ramp: float, patience: float, **options) -> subprocess.Popen:
        running.append(subprocess.Popen(supervisor_command(ramp, patience), **options))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()
