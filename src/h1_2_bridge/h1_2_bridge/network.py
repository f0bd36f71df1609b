"""Which network interface DDS speaks on to the robot: named by the user, written to DDS profiles.

Commands to motors shall go where the robot is and nowhere else. A process that calls
`use_interface` before rclpy.init speaks on the named interface and on loopback, where the other
nodes are: those keep to loopback, by ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST and no profile. With
"lo" nothing leaves the machine, and yet participants are found by multicast, as on the robot's
network: a robot that is a process on the same machine is found, whichever DDS it uses.
"""

import fcntl
import os
import socket
import struct
import tempfile
from collections.abc import MutableMapping, Sequence
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

import yaml

from rulesafe_core.errors import RuleSafeError, unknown_name

LOOPBACK = "lo"

PARAMETER = "network_interface"
"""The nodes' parameter; DDS reads its profile before there is a node, hence `from_arguments`."""

UNNAMED = "?"
"""Value of the parameter where launch/robot.launch.xml target:=real has no network_interface."""

_SIOCGIFADDR = 0x8915  # linux/sockios.h

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
    """IPv4 address by name of each interface of this machine that has one."""
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
            except OSError:  # no address
                continue
            found[name] = socket.inet_ntoa(answer[20:24])
    return found


def fast_dds_profile(addresses: Sequence[str]) -> str:
    """Profile of Fast DDS: UDP on the interfaces with these IPv4 addresses and no others."""
    lines = [f"          <address>{escape(address)}</address>" for address in addresses]
    return _FAST_DDS.format(addresses="\n".join(lines))


def cyclone_dds_profile(names: Sequence[str]) -> str:
    """Profile of Cyclone DDS: the interfaces of these names and no others."""
    entry = '        <NetworkInterface name="{}" priority="default" multicast="default"/>'
    return _CYCLONE_DDS.format(names="\n".join(entry.format(escape(name)) for name in names))


def use_interface(
    name: str,
    environment: MutableMapping[str, str] = os.environ,
    folder: Path | None = None,
) -> None:
    """Makes DDS of this process speak on the interface and on loopback. To be called before
    rclpy.init; the profiles are written to `folder`, else to one of this user's own.

    An empty name leaves everything as the environment has it. Errors: RuleSafeError for an
    interface that this machine has not, or that has no IPv4 address, and for UNNAMED.
    """
    if not name:
        return
    known = interfaces()
    if name == UNNAMED:
        valid = ", ".join(f"{each} ({known[each]})" for each in sorted(known))
        raise RuleSafeError(
            f"a real robot needs {PARAMETER}:=NAME, the network interface to it; valid: {valid}"
        )
    if name not in known:
        raise unknown_name("network interface with an IPv4 address", name, sorted(known))
    names = list(dict.fromkeys((name, LOOPBACK)))
    folder = folder or Path(tempfile.mkdtemp(prefix="h1_2_bridge_"))
    fast, cyclone = folder / "fast_dds.xml", folder / "cyclone_dds.xml"
    fast.write_text(fast_dds_profile([known.get(each, "127.0.0.1") for each in names]), "utf-8")
    cyclone.write_text(cyclone_dds_profile(names), "utf-8")
    environment["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(fast)
    environment["FASTDDS_DEFAULT_PROFILES_FILE"] = str(fast)  # its name from Fast DDS 3 on
    environment["CYCLONEDDS_URI"] = f"file://{cyclone}"
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"  # of these interfaces


def from_arguments(arguments: Sequence[str]) -> str:
    """The parameter `network_interface` that a node's arguments give: `-p NAME:=VALUE`, or in a
    `--params-file`; the last one counts, and none is "".

    Errors: RuleSafeError for a file that cannot be read.
    """
    value = ""
    for option, argument in pairwise(arguments):
        if option in ("-p", "--param") and argument.split(":=")[0].split(":")[-1] == PARAMETER:
            value = str(yaml.safe_load(argument.split(":=", 1)[1]) or "")
        elif option == "--params-file":
            value = _from_file(Path(argument), value)
    return value


def _from_file(path: Path, value: str) -> str:
    try:
        nodes = yaml.safe_load(path.read_text("utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise RuleSafeError(f"cannot read the parameters {path}: {error}") from error
    for node in nodes.values():
        parameters = node.get("ros__parameters", {}) if isinstance(node, dict) else {}
        value = str(parameters.get(PARAMETER, value) or "")
    return value
