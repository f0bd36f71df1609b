"""ROS 2 on this machine: its packages, domain, discovery, shared memory and ports."""

import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from rulesafe_ros.doctor.report import FAIL, OK, WARN, Item, judged
from rulesafe_ros.launch import packages

PACKAGES = ("rclpy", "sensor_msgs", "rulesafe_interfaces", "unitree_hg", "unitree_go")

DOMAINS = 101
"""The highest ROS domain whose ports are below the ephemeral ports of Linux."""

SHARED = 64.0
"""MiB of shared memory that a graph with images needs."""

LEFT = 200
"""Number of files left in shared memory by killed processes above which a warning is due."""

PORTS = {8080: "rulesafe view --port", 8765: "rulesafe view --foxglove-port"}
"""Default TCP ports -> the option that changes them."""

SHM = Path("/dev/shm")

PROFILE = "fast_dds_loopback.xml"
"""Configuration of Fast DDS for UDP on loopback only."""


def environment() -> Item:
    """Whether a sourced ROS 2 hides the ROS packages of this virtual environment.

    A colcon workspace with RuleSafe is accepted.
    """
    listed = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    sourced = [Path(p) for p in listed if p and not Path(p).is_relative_to(sys.prefix)]
    own = {
        _workspace(prefix)
        for prefix in sourced
        if any(name.startswith("rulesafe") for name in _packages(prefix))
    }
    foreign = [
        str(prefix)
        for prefix in sourced
        if "rclpy" in _packages(prefix) or not own & {prefix, *prefix.parents}
    ]
    good = f"sourced: RuleSafe's workspace {own.pop()}" if own else "no other ROS 2 is sourced"
    wheels = any(Path(sys.prefix).glob("lib/python*/site-packages/ros_jazzy_rclpy-*"))
    return judged(
        not (foreign and wheels),
        f"sourced: {', '.join(foreign[:3])}" if foreign else good,
        "This Python has a ROS 2 of its own, and the sourced one stands before it: use a shell "
        "without `source /opt/ros/...`, or the environment of docs/ros.md for a ROS machine",
    )


def _packages(prefix: Path) -> set[str]:
    """Return the names of the packages that are installed there."""
    return {p.name for p in (prefix / "share/ament_index/resource_index/packages").glob("*")}


def _workspace(prefix: Path) -> Path:
    """Return the install folder of a colcon workspace, given the prefix of a package in it, or the
    prefix itself (--merge-install)."""
    return prefix.parent if prefix.name in _packages(prefix) else prefix


def ros() -> Item:
    """The packages of ROS 2 and the messages."""
    lacking = [name for name in PACKAGES if find_spec(name) is None]
    middleware = os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")
    if lacking:
        found, remedy = f"no {', '.join(lacking)}", "make setup installs and builds them"
        return Item(FAIL, found, f"{remedy}; with ROS 2 installed: source it and your workspace")
    return judged(
        middleware == "rmw_fastrtps_cpp" or "/opt/ros" in os.environ.get("AMENT_PREFIX_PATH", ""),
        f"{', '.join(PACKAGES)}; {middleware}",
        f"{middleware} is not among the wheels: unset RMW_IMPLEMENTATION",
    )


def shared_memory() -> Item:
    """Space in /dev/shm, and files of Fast DDS that killed processes left there."""
    try:
        stat = os.statvfs(SHM)
    except OSError as error:
        return Item(WARN, f"no {SHM}: {error.strerror}", _export(_by_udp()))
    free = stat.f_bavail * stat.f_frsize / 2**20
    files = {path.name for path in SHM.glob("*fastrtps*")} | {p.name for p in SHM.glob("*fastdds*")}
    left = files - _mapped()
    found = f"{free:.0f} MiB free in {SHM}, {len(left)} files of Fast DDS that nobody uses"
    if free < SHARED:
        remedy = "A container: start it with --shm-size=1g or --ipc=host. Else make room there"
        return Item(FAIL, found, remedy)
    return judged(
        len(left) < LEFT,
        found,
        f"If nodes do not hear each other: end all of them, then rm {SHM}/*fastrtps*; or "
        f"{_export(_by_udp())}",
        bad=WARN,
    )


def _by_udp() -> dict[str, str]:
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
        except OSError:  # it has ended, or belongs to another user
            continue
    return {name for file in names for name in (file, f"{file}_el")}


def domain() -> Item:
    """The ROS domain, the discovery range, and our nodes that already run in it."""
    number = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    reach = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "")
    if not number.isdigit() or int(number) > DOMAINS:
        return Item(
            FAIL, f"ROS_DOMAIN_ID={number}", f"export ROS_DOMAIN_ID to a number of 0 to {DOMAINS}"
        )
    running = _claimed(int(number))
    words = f"domain {number}, discovery {reach or 'LOCALHOST by our launch files'}"
    if running:
        remedy = "They run already: stop them, or export ROS_DOMAIN_ID to another number"
        return Item(WARN, f"{words}; somebody writes {', '.join(running)}", remedy)
    profile = os.environ.get("FASTRTPS_DEFAULT_PROFILES_FILE", "")
    return judged(
        reach in ("", "LOCALHOST") or Path(profile).name == PROFILE,
        words,
        "Others on the network hear this robot and can drive it: unset "
        "ROS_AUTOMATIC_DISCOVERY_RANGE unless you mean it",
        bad=WARN,
    )


def _claimed(number: int) -> list[str]:
    """Return the topics that processes of this machine have claimed (rulesafe_core.ros.claim)."""
    try:
        text = Path("/proc/net/unix").read_text()
    except OSError:
        return []
    return sorted(set(re.findall(rf"@rulesafe/{number}(/\S+)", text)))


def discovery() -> Item:
    """Whether one process receives messages of another, with and without shared memory."""
    if find_spec("rclpy") is None:
        return Item(FAIL, "not tried: no rclpy", "make setup")
    received, error = _receives({})
    if received:
        return Item(OK, "one process heard another")
    if _receives(_by_udp())[0]:
        return Item(
            FAIL,
            "heard over UDP alone, not through shared memory",
            f"End all nodes, rm {SHM}/*fastrtps*, and try again; or {_export(_by_udp())}",
        )
    return Item(
        FAIL,
        f"nothing heard{f' ({error})' if error else ''}",
        "Loopback must be up (ip link set lo up), and no firewall filter UDP on it; unset "
        "ROS_STATIC_PEERS, FASTRTPS_DEFAULT_PROFILES_FILE and ROS_DISCOVERY_SERVER",
    )


def _receives(more: dict[str, str]) -> tuple[bool, str]:
    """Return whether a listener receives a message, and the last line of its errors."""
    environment = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", **os.environ, **more}
    command = [sys.executable, "-m", "rulesafe_ros.doctor.hello_node"]
    topic = f"/rulesafe_doctor_{os.getpid()}"
    speaker = subprocess.Popen(
        [*command, "speak", topic],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        done = subprocess.run(
            [*command, "listen", topic],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        speaker.kill()
        speaker.wait()
    return done.returncode == 0, (done.stderr.strip().splitlines() or [""])[-1][:200]


def ports() -> Item:
    """Whether the ports of the live view are free."""
    taken = [port for port in PORTS if not _free(port)]
    return judged(
        not taken,
        f"taken: {', '.join(map(str, taken))}" if taken else f"{', '.join(map(str, PORTS))} free",
        "Somebody listens there: end it, or " + " and ".join(f"{PORTS[p]} PORT" for p in taken),
        bad=WARN,
    )


def _free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
