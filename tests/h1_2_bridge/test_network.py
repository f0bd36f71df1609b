"""Selection of the network interface to the robot, and its DDS profiles."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from h1_2_bridge.network import (
    UNNAMED,
    check_files,
    cyclone_dds_profile,
    fast_dds_profile,
    from_arguments,
    interfaces,
    receives_own,
    use_interface,
)
from rulesafe_core.errors import RuleSafeError


def texts(document: str, tag: str) -> list[str]:
    """Return the contents of all elements with this tag."""
    return [e.text or "" for e in ET.fromstring(document).iter() if e.tag.endswith(f"}}{tag}")]


def test_loopback_is_an_interface():
    assert interfaces()["lo"] == "127.0.0.1"


def test_profiles_name_the_interfaces_and_no_others(tmp_path):
    fast = fast_dds_profile(["192.168.123.2", "127.0.0.1"])
    assert texts(fast, "address") == ["192.168.123.2", "127.0.0.1"]
    assert texts(fast, "useBuiltinTransports") == ["false"]
    cyclone = ET.fromstring(cyclone_dds_profile(["eth0", "lo"]).encode())
    names = [e.get("name") for e in cyclone.iter() if e.tag.endswith("}NetworkInterface")]
    assert names == ["eth0", "lo"]


def test_what_replaces_shared_memory_is_the_profile_of_loopback():
    """It has the transports of config/fast_dds_loopback.xml."""
    file = (Path(__file__).parents[2] / "config/fast_dds_loopback.xml").read_text("utf-8")
    for tag in ("address", "type", "useBuiltinTransports"):
        assert texts(file, tag) == texts(fast_dds_profile(["127.0.0.1"]), tag)


def test_the_environment_gets_the_profiles(tmp_path):
    environment: dict[str, str] = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    use_interface("lo", environment, tmp_path)
    profile = environment["FASTRTPS_DEFAULT_PROFILES_FILE"]
    assert texts((tmp_path / "fast_dds.xml").read_text(), "address") == ["127.0.0.1"]
    assert profile == str(tmp_path / "fast_dds.xml")
    assert environment["CYCLONEDDS_URI"] == f"file://{tmp_path}/cyclone_dds.xml"
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"


def test_no_name_leaves_all_as_it_is(tmp_path):
    environment: dict[str, str] = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    use_interface("", environment, tmp_path)
    assert environment == {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    assert list(tmp_path.iterdir()) == []


def test_an_interface_that_is_not_there_is_refused():
    with pytest.raises(RuleSafeError, match="lo"):
        use_interface("eth77", {})


def test_an_interface_that_a_real_robot_needs_and_nobody_named_is_asked_for():
    environment: dict[str, str] = {}
    with pytest.raises(RuleSafeError, match=r"network_interface:=NAME.*lo \(127\.0\.0\.1\)"):
        use_interface(UNNAMED, environment)
    assert environment == {}


def test_the_parameter_is_found_before_there_is_a_node(tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text("h1_2_bridge:\n  ros__parameters: {network_interface: eth3, speed: 0.1}\n")
    assert from_arguments([]) == ""
    assert from_arguments(["--ros-args", "-p", "speed:=1.0"]) == ""
    assert from_arguments(["--ros-args", "-p", "network_interface:=eth0"]) == "eth0"
    assert from_arguments(["--ros-args", "-p", "network_interface:=''"]) == ""
    assert from_arguments(["--ros-args", "--param", "a:network_interface:='eth1'"]) == "eth1"
    assert from_arguments(["--ros-args", "--params-file", str(file)]) == "eth3"
    both = ["--params-file", str(file), "-p", "network_interface:=lo"]
    assert from_arguments(both) == "lo"
    with pytest.raises(RuleSafeError, match="gone"):
        from_arguments(["--params-file", str(tmp_path / "gone.yaml")])


@pytest.mark.parametrize(
    "section",
    [
        "/**/h1_2_bridge: {ros__parameters: {dry_run: true, speed: 0.1, ramp: 4.0}}",
        "/**/h1_2_b*: {ros__parameters: {dry_run: true}}",
        "left: {h1_2_bridge: {ros__parameters: {dry_run: true}}}",
        "/**: {ros__parameters: {speed: 0.2}}\nh1_2_bridge: {ros__parameters: {dry_run: true}}",
    ],
)
def test_a_file_of_the_user_is_not_overridden_silently(section, tmp_path):
    """Launch files write their arguments to a second file."""
    mine, launched = tmp_path / "mine.yaml", tmp_path / "launch_params.yaml"
    mine.write_text(f"{section}\nother: {{ros__parameters: {{ramp: 5.0}}}}\n")
    files = ["--params-file", str(mine), "--params-file", str(launched)]
    launched.write_text("/**:\n  ros__parameters: {dry_run: true, ramp: 4.0}\n")
    check_files("h1_2_bridge", files)
    launched.write_text("/**:\n  ros__parameters: {dry_run: false}\n")
    check_files("another_node", files)
    with pytest.raises(
        RuleSafeError, match=r"dry_run is True in .*mine\.yaml and False in .*launch"
    ):
        check_files("h1_2_bridge", files)


def test_parameters_that_are_no_mapping_are_refused(tmp_path):
    (tmp_path / "mine.yaml").write_text("h1_2_bridge: {ros__parameters: [1]}\n")
    with pytest.raises(RuleSafeError, match="valid: a mapping"):
        check_files("h1_2_bridge", ["--params-file", str(tmp_path / "mine.yaml")])


@pytest.mark.ros
def test_the_supervisor_refuses_an_unknown_interface():
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    result = subprocess.run(
        [
            *(sys.executable, "-m", "h1_2_bridge.supervisor_node"),
            *("--ros-args", "-p", "network_interface:=eth77"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 2
    assert "eth77" in result.stderr and "lo" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.ros
@pytest.mark.parametrize("interface", ["lo", ""])
def test_messages_of_another_process_are_received_and_own_ones_as_stated(interface):
    """With a profile of use_interface, Fast DDS does not deliver the process's own messages, and
    `receives_own` knows. The other process has no profile, like the policy."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    talker = subprocess.Popen([sys.executable, "-c", TALKER])
    try:
        result = subprocess.run(
            [sys.executable, "-c", LISTENER, interface], capture_output=True, text=True, timeout=120
        )
    finally:
        talker.kill()
        talker.wait()
    expected = "False ['other']\n" if interface else "True ['other', 'own']\n"
    assert result.stdout == expected, result.stderr


def test_without_a_profile_of_this_package_own_messages_are_received(tmp_path):
    environment: dict[str, str] = {}
    assert receives_own("rmw_fastrtps_cpp", environment)
    use_interface("lo", environment, tmp_path)
    assert not receives_own("rmw_fastrtps_cpp", environment)
    assert receives_own("rmw_cyclonedds_cpp", environment)
    (tmp_path / "fast_dds.xml").write_text("<dds/>")
    assert receives_own("rmw_fastrtps_cpp", environment)
    (tmp_path / "fast_dds.xml").unlink()
    assert receives_own("rmw_fastrtps_cpp", environment)


TALKER = """
import time, rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("talker")
out = node.create_publisher(String, "/words", 10)
while True:
    out.publish(String(data="other"))
    time.sleep(0.05)
"""

LISTENER = """
import sys, time
from h1_2_bridge.network import receives_own, use_interface
use_interface(sys.argv[1])
import rclpy
from rclpy.utilities import get_rmw_implementation_identifier
from std_msgs.msg import String
rclpy.init()
publishing, subscribing = rclpy.create_node("publishing"), rclpy.create_node("subscribing")
received = set()
subscribing.create_subscription(String, "/words", lambda m: received.add(m.data), 10)
publisher = publishing.create_publisher(String, "/words", 10)
own = receives_own(get_rmw_implementation_identifier())
end = time.monotonic() + 90
late = end  # when an own message would have been received
while len(received) < 2 and time.monotonic() < min(end, late):
    publisher.publish(String(data="own"))
    rclpy.spin_once(subscribing, timeout_sec=0.1)
    if received and not own:
        late = min(late, time.monotonic() + 3)
print(own, sorted(received))
"""
