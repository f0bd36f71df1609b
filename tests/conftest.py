"""What holds for all tests."""

import os
import signal
from pathlib import Path

# A shell's background job ignores Ctrl-C, and so would each process that a test starts from it and
# interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

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


def pytest_xdist_auto_num_workers() -> int:
    """Processes of `-n auto`: one more than processors, for many tests wait for a robot's clock."""
    return len(os.sched_getaffinity(0)) + 1
