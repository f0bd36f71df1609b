"""Checks of ROS 2 on this machine: packages, domain, discovery, shared memory and ports."""

import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from rulesafe_core.domains import LARGEST
from rulesafe_core.ros_environment import environment_fault
from rulesafe_ros.doctor.report import FAIL, OK, WARN, Item, ok_if
from rulesafe_ros.launch import packages

PACKAGES = ("rclpy", "sensor_msgs", "rulesafe_interfaces", "unitree_hg", "unitree_go")

MIN_SHARED_MEMORY = 64.0
"""Free shared memory that a graph with images needs, MiB."""

MAX_STALE_FILES = 200
"""Number of unused files in shared memory, left by killed processes, that causes a warning."""

PORTS = {8080: "rulesafe view --port"}
"""Default TCP ports and the options that change them."""

SHM = Path("/dev/shm")

PROFILE = "fast_dds_loopback.xml"
"""Name of the Fast DDS profile for UDP on loopback only."""


def environment() -> Item:
    """Check that no sourced ROS 2 takes precedence over the one in this virtual environment.

    A sourced colcon workspace that contains RuleSafe is accepted.
    """
    listed = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    sourced = [Path(p) for p in listed if p and not Path(p).is_relative_to(sys.prefix)]
    rulesafe = {
        _workspace(prefix)
        for prefix in sourced
        if any(name.startswith("rulesafe") for name in _packages(prefix))
    }
    foreign = [
        str(prefix)
        for prefix in sourced
        if "rclpy" in _packages(prefix) or not rulesafe & {prefix, *prefix.parents}
    ]
    good = (
        f"sourced: the RuleSafe workspace {rulesafe.pop()}"
        if rulesafe
        else "no other ROS 2 is sourced"
    )
    wheels = any(Path(sys.prefix).glob("lib/python*/site-packages/ros_jazzy_rclpy-*"))
    return ok_if(
        not (foreign and wheels),
        f"sourced: {', '.join(foreign[:3])}" if foreign else good,
        "This virtual environment contains ROS 2, but the sourced ROS 2 takes precedence: use a "
        "shell without `source /opt/ros/...`, or the setup for an installed ROS 2 in docs/ros.md",
    )


def _packages(prefix: Path) -> set[str]:
    """Return the names of the packages that are installed under a prefix."""
    return {p.name for p in (prefix / "share/ament_index/resource_index/packages").glob("*")}


def _workspace(prefix: Path) -> Path:
    """Return the install folder of a colcon workspace, given the prefix of a package in it, or the
    prefix itself (--merge-install)."""
    return prefix.parent if prefix.name in _packages(prefix) else prefix


def ros() -> Item:
    """Check the packages of ROS 2 and of the messages."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        found = f"not installed: {', '.join(missing)}"
        remedy = "make setup installs them; with an installed ROS 2: source it and the workspace"
        return Item(FAIL, found, remedy)
    if fault := environment_fault():
        return Item(FAIL, *fault)
    middleware = os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")
    return Item(OK, f"{', '.join(PACKAGES)}; {middleware}")


def shared_memory() -> Item:
    """Check free space in /dev/shm, and files of Fast DDS left there by killed processes."""
    try:
        stat = os.statvfs(SHM)
    except OSError as error:
        return Item(WARN, f"{SHM} is not available: {error.strerror}", _export(_udp_environment()))
    free = stat.f_bavail * stat.f_frsize / 2**20
    files = {path.name for path in SHM.glob("*fastrtps*")} | {p.name for p in SHM.glob("*fastdds*")}
    stale = files - _mapped()
    found = f"{free:.0f} MiB free in {SHM}, {len(stale)} files of Fast DDS that no process uses"
    if free < MIN_SHARED_MEMORY:
        remedy = "Container: start it with --shm-size=1g or --ipc=host. Otherwise: free space there"
        return Item(FAIL, found, remedy)
    return ok_if(
        len(stale) < MAX_STALE_FILES,
        found,
        f"If nodes do not receive messages: stop all nodes, then rm {SHM}/*fastrtps*; or "
        f"{_export(_udp_environment())}",
        bad=WARN,
    )


def _udp_environment() -> dict[str, str]:
    """Return the environment in which Fast DDS uses UDP on loopback only.

    rmw_fastrtps ignores FASTDDS_BUILTIN_TRANSPORTS if the discovery range is LOCALHOST.
    """
    profile = packages.share("rulesafe", Path.cwd(), os.environ) / "config" / PROFILE
    return {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(profile),
    }


def _export(environment: dict[str, str]) -> str:
    return "export " + " ".join(f"{name}={value}" for name, value in environment.items())


def _mapped() -> set[str]:
    """Return the names of files in shared memory that a process has mapped."""
    names: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            names |= set(re.findall(rf"{SHM}/(\S+)", maps.read_text()))
        except OSError:  # the process has ended, or belongs to another user
            continue
    return {name for file in names for name in (file, f"{file}_el")}


def domain() -> Item:
    """Check the ROS domain, the discovery range, and which RuleSafe nodes already run."""
    number = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    discovery_range = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "")
    if not number.isdigit() or int(number) > LARGEST:
        return Item(FAIL, f"ROS_DOMAIN_ID={number}", f"use a domain ID from 0 to {LARGEST}")
    running = _locked_topics(int(number))
    default = "LOCALHOST (RuleSafe's default)"
    found = f"domain {number}, discovery range {discovery_range or default}"
    if running:
        remedy = "RuleSafe nodes already run: stop them, or set ROS_DOMAIN_ID to another number"
        return Item(WARN, f"{found}; already published: {', '.join(running)}", remedy)
    profile = os.environ.get("FASTRTPS_DEFAULT_PROFILES_FILE", "")
    return ok_if(
        discovery_range in ("", "LOCALHOST") or Path(profile).name == PROFILE,
        found,
        "Other machines on the network can receive this robot's topics and command it: unset "
        "ROS_AUTOMATIC_DISCOVERY_RANGE unless this is intended",
        bad=WARN,
    )


def _locked_topics(number: int) -> list[str]:
    """Return the topics for which a publisher on this machine holds an exclusive lock."""
    try:
        text = Path("/proc/net/unix").read_text()
    except OSError:
        return []
    return sorted(set(re.findall(rf"@rulesafe/{number}(/\S+)", text)))


def discovery() -> Item:
    """Check that a process receives messages of another one, through shared memory or UDP."""
    if find_spec("rclpy") is None:
        return Item(FAIL, "not tested: rclpy is not installed", "make setup")
    if fault := environment_fault():
        return Item(FAIL, f"not tested: {fault[0]}", fault[1])
    received, error = _receives({})
    if received:
        return Item(OK, "a message was received by another process")
    if _receives(_udp_environment())[0]:
        return Item(
            FAIL,
            "a message was received over UDP, but not through shared memory",
            f"Stop all nodes, rm {SHM}/*fastrtps*, and try again; or {_export(_udp_environment())}",
        )
    return Item(
        FAIL,
        f"no message was received{f' ({error})' if error else ''}",
        "Loopback must be up (ip link set lo up), and no firewall may filter UDP on it; unset "
        "ROS_STATIC_PEERS, FASTRTPS_DEFAULT_PROFILES_FILE and ROS_DISCOVERY_SERVER",
    )


def _receives(overrides: dict[str, str]) -> tuple[bool, str]:
    """Return whether a subscriber process receives a message, and its last line on stderr."""
    environment = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", **os.environ, **overrides}
    command = [sys.executable, "-m", "rulesafe_ros.doctor.hello_node"]
    topic = f"/rulesafe_doctor_{os.getpid()}"
    publisher = subprocess.Popen(
        [*command, "publish", topic],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        done = subprocess.run(
            [*command, "subscribe", topic],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        publisher.kill()
        publisher.wait()
    return done.returncode == 0, (done.stderr.strip().splitlines() or [""])[-1][:200]


def ports() -> Item:
    """Check that the TCP ports of the live view are free."""
    used = [port for port in PORTS if not _free(port)]
    return ok_if(
        not used,
        f"in use: {', '.join(map(str, used))}" if used else f"{', '.join(map(str, PORTS))} free",
        "Stop the process that uses it, or: " + " and ".join(f"{PORTS[p]} PORT" for p in used),
        bad=WARN,
    )


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
