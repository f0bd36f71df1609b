"""The base exception of the project and error messages shared by many modules."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class RuleSafeError(Exception):
    """An error that the user can fix: the message states what is wrong and what is valid."""


def unknown_name(kind: str, name: object, valid: Iterable[str]) -> RuleSafeError:
    """Return the error for an unknown name; its message lists the valid names."""
    return RuleSafeError(f"unknown {kind} {name!r:.200}; valid: {', '.join(valid)}")


EXTRAS = {
    **dict.fromkeys(("sklearn", "tensorboardX"), "learn"),
    **dict.fromkeys(("tokenizers", "torch", "transformers"), "learn"),
    "aiohttp": "view",
    **dict.fromkeys(("lz4", "mcap", "rosbags", "zstandard"), "bags"),
    "openai": "llm",
    "pymodbus": "robot",
    **dict.fromkeys(("builtin_interfaces", "diagnostic_msgs", "geometry_msgs"), "ros"),
    **dict.fromkeys(("rcl_interfaces", "rclpy", "rosgraph_msgs"), "ros"),
    **dict.fromkeys(("sensor_msgs", "std_msgs", "std_srvs", "trajectory_msgs"), "ros"),
}
"""Maps an optional module to the pip extra that installs it."""

MESSAGES = ("rulesafe_interfaces", "control_msgs", "tf2_msgs", "unitree_go", "unitree_hg")
"""Message packages of this repository, built against an installed ROS 2."""


def missing_package(error: ImportError) -> RuleSafeError:
    """Return the error for an optional package that cannot be imported, with how to install it."""
    name = (error.name or "").partition(".")[0]
    how = "make setup"
    if name in EXTRAS:
        pip = f"pip install -c constraints.txt '.[{EXTRAS[name]}]'"
        how = f"make setup or {pip} in a clone of the repository"
    elif name in MESSAGES:
        how = "make setup in a clone of the repository, or colcon build in its ros2_ws,"
    return RuleSafeError(f"{name or error} is not installed: {how} installs it")


@contextmanager
def resumable(kept: str = "completed work") -> Iterator[None]:
    """Print on Ctrl-C how to resume; use it as a `with` block or as a decorator of a command.

    `kept`: the work that is kept, unless the KeyboardInterrupt has a text that states it.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        done = str(stop) or kept
        print(f"\ninterrupted: {done} is kept; repeat the command to resume", file=sys.stderr)
        raise
