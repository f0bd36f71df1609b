"""Restrict DDS to the network interface of the robot by writing DDS profiles.

Motor commands must reach only the robot's network. A process that calls `use_interface` before
rclpy.init communicates on the named interface and on loopback. All other nodes use only loopback
(ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST, no profile). With "lo" no message leaves the machine, but
discovery uses multicast as on the robot's network, so that a simulated robot on the same machine is
discovered with any DDS implementation. With Fast DDS, neither topics nor services connect the nodes
within such a process, so that the bridge receives only the commands of other programs on its
command topic.
"""

import atexit
import fcntl
import os
import shutil
import socket
import struct
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.namespaces import ROBOT_INTERFACE
from rulesafe_core.strict_yaml import parse_yaml, read_yaml
from rulesafe_core.text_files import read_text

LOOPBACK = "lo"

PARAMETER = "network_interface"
"""ROS parameter of the nodes. DDS reads its profile before a node exists: see `from_arguments`."""

UNNAMED = "?"
"""Parameter value of launch/robot.launch.xml target:=real without network_interface."""

_SIOCGIFADDR = 0x8915  # linux/sockios.h

FAST_DDS_PROFILE = "FASTRTPS_DEFAULT_PROFILES_FILE"
"""Environment variable with the path of Fast DDS's profile."""

IGNORE_OWN = "fastdds.ignore_local_endpoints"
"""Property of Fast DDS: a participant does not receive its own messages."""

_FAST_DDS = """<?xml version="1.0" encoding="UTF-8" ?>
<dds xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <profiles>
    <transport_descriptors>
      <transport_descriptor>
        <transport_id>named_interfaces</transport_id>
        <type>UDPv4</type>
        <interfaceWhiteList>
{addresses}
        </interfaceWhiteList>
      </transport_descriptor>
    </transport_descriptors>
    <participant profile_name="h1_2_bridge" is_default_profile="true">
      <rtps>
        <userTransports>
          <transport_id>named_interfaces</transport_id>
        </userTransports>
        <useBuiltinTransports>false</useBuiltinTransports>
        <propertiesPolicy>
          <properties>
            <property>
              <name>{ignore_own}</name>
              <value>true</value>
            </property>
          </properties>
        </propertiesPolicy>
      </rtps>
    </participant>
  </profiles>
</dds>
"""

_CYCLONE_DDS = """<?xml version="1.0" encoding="UTF-8" ?>
<CycloneDDS xmlns="https://cdds.io/config">
  <Domain Id="any">
    <General>
      <Interfaces>
{names}
      </Interfaces>
    </General>
  </Domain>
</CycloneDDS>
"""


def interfaces() -> dict[str, str]:
    """Return the IPv4 addresses of this machine's network interfaces by interface name."""
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                response = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
            except OSError:  # no address
                continue
            found[name] = socket.inet_ntoa(response[20:24])
    return found


def fast_dds_profile(addresses: Sequence[str]) -> str:
    """Return a Fast DDS profile that uses UDP only on interfaces with these IPv4 addresses."""
    lines = [f"          <address>{escape(address)}</address>" for address in addresses]
    return _FAST_DDS.format(addresses="\n".join(lines), ignore_own=IGNORE_OWN)


def cyclone_dds_profile(names: Sequence[str]) -> str:
    """Return a Cyclone DDS profile that uses only the interfaces with these names."""
    entry = '        <NetworkInterface name="{}" priority="default" multicast="default"/>'
    return _CYCLONE_DDS.format(names="\n".join(entry.format(escape(name)) for name in names))


def use_interface(
    name: str,
    environment: MutableMapping[str, str] = os.environ,
    folder: Path | None = None,
) -> None:
    """Configure DDS in this process to use one interface and loopback; call before rclpy.init.

    Args:
        name: name of the interface; empty: leave the environment unchanged.
        environment: mapping to which the DDS variables are written.
        folder: folder for the profiles; None: a new temporary folder.

    Raises:
        RuleSafeError: the interface does not exist, has no IPv4 address, or is UNNAMED.
    """
    if not name:
        return
    known = interfaces()
    if name == UNNAMED:
        valid = ", ".join(f"{each} ({known[each]})" for each in sorted(known))
        raise RuleSafeError(
            f"{PARAMETER} is not set: a real robot needs {PARAMETER}:=NAME; valid: {valid}"
        )
    if name not in known:
        raise unknown_name("network interface with an IPv4 address", name, sorted(known))
    names = list(dict.fromkeys((name, LOOPBACK)))
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="h1_2_bridge_"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    fast, cyclone = folder / "fast_dds.xml", folder / "cyclone_dds.xml"
    fast.write_text(fast_dds_profile([known.get(each, "127.0.0.1") for each in names]), "utf-8")
    cyclone.write_text(cyclone_dds_profile(names), "utf-8")
    environment[FAST_DDS_PROFILE] = str(fast)
    environment["FASTDDS_DEFAULT_PROFILES_FILE"] = str(fast)  # name since Fast DDS 3
    environment["CYCLONEDDS_URI"] = f"file://{cyclone}"
    environment[ROBOT_INTERFACE] = name
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"  # restricted to these interfaces


def receives_own(middleware: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether this process receives its own messages on the topics that it subscribes to.

    Args:
        middleware: as rclpy.get_rmw_implementation_identifier() returns it.
        environment: the environment in which DDS was started.
    """
    if not middleware.startswith("rmw_fastrtps") or FAST_DDS_PROFILE not in environment:
        return True
    try:
        return IGNORE_OWN not in read_text(Path(environment[FAST_DDS_PROFILE]))
    except (OSError, RuleSafeError):
        return True


def from_arguments(arguments: Sequence[str]) -> str:
    """Return the parameter `network_interface` in a node's arguments, empty if it is not set.

    It may be given by `-p NAME:=VALUE` or in a `--params-file`; the last one counts. Raises
    RuleSafeError if a file cannot be read.
    """
    value = ""
    for option, argument in pairwise(arguments):
        if option in ("-p", "--param") and argument.split(":=")[0].split(":")[-1] == PARAMETER:
            value = str(_parsed(argument.split(":=", 1)[1]) or "")
        elif option == "--params-file":
            for _, parameters in _sections(read_yaml(Path(argument))):
                value = str(parameters.get(PARAMETER, value) or "")
    return value


def check_files(name: str, arguments: Sequence[str]) -> None:
    """Raise RuleSafeError if two parameter files of a node give a parameter different values: a
    launch file's arguments would silently override a file of the user, such as its `dry_run`."""
    found: dict[str, tuple[object, str]] = {}
    for option, path in pairwise(arguments):
        if option != "--params-file":
            continue
        of_file: dict[str, object] = {}
        for node, parameters in _sections(read_yaml(Path(path))):
            if fnmatchcase(name, node.rpartition("/")[2]):
                of_file |= parameters
        for key, value in of_file.items():
            before, first = found.get(key, (value, path))
            if before != value:
                raise RuleSafeError(
                    f"{key} is {before!r:.60} in {first} and {value!r:.60} in {path}, the launch "
                    f"arguments: omit it in the former, or launch with {key}:=VALUE"
                )
            found[key] = value, path


def _sections(
    content: Mapping[str, object], namespace: str = ""
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield name and parameters of each node in a file of parameters; raise RuleSafeError if they
    are no mapping."""
    for key, node in content.items():
        if not isinstance(node, dict):
            continue
        if "ros__parameters" in node:
            parameters = node["ros__parameters"] or {}
            if not isinstance(parameters, dict):
                raise RuleSafeError(
                    f"ros__parameters of {key} is {parameters!r:.60}; valid: a mapping"
                )
            yield f"{namespace}{key}", parameters
        else:
            yield from _sections(node, f"{namespace}{key}/")


def _parsed(text: str) -> object:
    try:
        return parse_yaml(text)
    except ValueError as error:
        raise RuleSafeError(f"-p {PARAMETER}:={text:.100}: {error}") from error
