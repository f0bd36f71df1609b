"""Fixtures of the bridge's tests: a simulated robot, the bridge, its supervisor and its client."""

import subprocess
import sys
from pathlib import Path

import pytest

# For the helper modules in this folder and in tests/ros.
sys.path[1:1] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "ros")]


@pytest.fixture
def moving():
    """A world in virtual time in which the arm moves; all commands are checked at the end."""
    from virtual import World, assert_safe

    world = World().engaged()
    world.keep_moving()
    world.run(0.5)
    assert abs(world.robot.dq[23]) > 0.05
    yield world
    assert_safe(world)


@pytest.fixture
def peer(tmp_path):
    """peer(rate=500) -> a Peer that runs until the end of the test."""
    pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")
    from peer import Peer

    running: list[Peer] = []

    def start(rate: float = 500.0) -> Peer:
        running.append(Peer(tmp_path, rate))
        return running[-1]

    yield start
    for robot in running:
        robot.stop()


@pytest.fixture
def bridge():
    """bridge(**parameters) -> a Bridge that runs until the end of the test."""
    from user import Bridge

    running: list[Bridge] = []

    def start(**parameters) -> Bridge:
        running.append(Bridge(**parameters))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


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


@pytest.fixture
def user():
    """Return the bridge's client node."""
    from user import User

    from rulesafe_core.client_node import connected

    with connected(User) as node:
        yield node
