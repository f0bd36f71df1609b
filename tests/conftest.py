"""What holds for all tests."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A shell's background job ignores Ctrl-C, and so would each process that a test starts from it and
# interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else this machine does.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Networks here are too small for two threads, and tests already keep every processor busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Each process that tests has a domain of its own, which nobody outside this machine hears. Without
# shared memory: killed processes leave some, and over that Fast DDS 2.14 falls silent at times, or
# crashes as a participant ends.
os.environ["ROS_DOMAIN_ID"] = str(os.getpid() % 100 + 1)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"  # of the profile's interface, loopback
os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(
    Path(__file__).parents[1] / "config/fast_dds_loopback.xml"
)


SLOW = ("colcon", "ros", "render")
"""Marks of tests that start processes, wait for clocks or draw."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: the last one should not keep a processor alone."""
    slow = {item.path for item in items if any(map(item.get_closest_marker, SLOW))}
    items.sort(key=lambda item: item.path not in slow)


def pytest_xdist_auto_num_workers() -> int:
    """Processes of `-n auto`: one more than processors, for many tests wait for a robot's clock."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.fixture
def client():
    """A node that hears an episode and sends chunks (tests/ros/ros_client.py)."""
    rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from ros_client import Client

    rclpy.init()
    node = Client()
    yield node
    node.destroy_node()
    rclpy.try_shutdown()
