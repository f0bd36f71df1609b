"""Check the environment variables that ROS 2 reads, before rclpy is imported.

With an invalid one, ROS 2 ends the process or raises errors that do not name the remedy.
"""

import os
import socket
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from rulesafe_core.errors import RuleSafeError

LARGEST_DOMAIN = 232
"""Largest ROS domain ID whose ports are valid."""


def environment_fault() -> tuple[str, str] | None:
    """Return what is wrong with the environment and the remedy; None if nothing is wrong."""
    spec = find_spec("rclpy")
    if spec is None or spec.origin is None:
        return None  # the error of the import names the missing package
    package = Path(spec.origin).parent
    if not any((package / f"_rclpy_pybind11{suffix}").is_file() for suffix in EXTENSION_SUFFIXES):
        remedy = "unset PYTHONPATH, or use a shell without `source /opt/ros/...`"
        return f"{package} is not built for this Python", remedy
    middleware, known = os.environ.get("RMW_IMPLEMENTATION", ""), _middlewares(package)
    if middleware and known and middleware not in known:
        found = f"RMW_IMPLEMENTATION={middleware}, which is not installed"
        return found, f"unset RMW_IMPLEMENTATION, or set it to {' or '.join(sorted(known))}"
    domain = os.environ.get("ROS_DOMAIN_ID", "")
    if domain and not (domain.isdecimal() and int(domain) <= LARGEST_DOMAIN):
        return f"ROS_DOMAIN_ID={domain}", "unset it, or set it to a number from 0 to 101"
    return _loopback_fault() or _log_fault()


def check_environment() -> None:
    """Raise RuleSafeError if ROS 2 cannot start in this environment."""
    if fault := environment_fault():
        raise RuleSafeError("ROS 2 cannot start: {}; {}".format(*fault))


def log_folder() -> Path:
    """Return the folder of log files: ROS_LOG_DIR, else ROS_HOME/log, else ~/.ros/log."""
    home = os.environ.get("ROS_HOME") or "~/.ros"
    return Path(os.environ.get("ROS_LOG_DIR") or f"{home}/log").expanduser()


def _loopback_fault() -> tuple[str, str] | None:
    remedy = "run: sudo ip link set lo up; sudo ip address add 127.0.0.1/8 dev lo"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("127.0.0.1", 0))
            probe.sendto(b"", probe.getsockname())
        except OSError as error:
            return f"no messages over 127.0.0.1 on the loopback interface: {error.strerror}", remedy
    return None


def _log_fault() -> tuple[str, str] | None:
    remedy = "set ROS_LOG_DIR to a folder that can be written"
    if not any(os.environ.get(name) for name in ("ROS_LOG_DIR", "ROS_HOME", "HOME")):
        return "HOME is not set, below which log files are written", remedy
    folder = log_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"cannot create the folder of log files {folder}: {error.strerror}", remedy
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"cannot write to the folder of log files {folder}", remedy
    return None


def _middlewares(package: Path) -> set[str]:
    """Return the middlewares beside rclpy and in sourced workspaces, from the ament index."""
    sourced = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    prefixes = {*package.parents[3:4], *(Path(prefix) for prefix in sourced if prefix)}
    index = "share/ament_index/resource_index/rmw_typesupport"
    found = {path.name for prefix in prefixes for path in (prefix / index).glob("*")}
    return found - {"rmw_implementation"}
