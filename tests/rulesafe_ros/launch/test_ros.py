"""Tests with an rclpy node in an installed package, started by the launcher."""

import sys

import pytest
from waiting import wait_for

pytest.importorskip("rclpy", reason="needs rclpy")
pytestmark = pytest.mark.ros

# Prints its name, its parameters and its topic, then spins.
NODE = f"""#!{sys.executable}
import os, pathlib, sys
import rclpy
from rclpy.executors import ExternalShutdownException
rclpy.init()
node = rclpy.create_node("default", automatically_declare_parameters_from_overrides=True)
print("name", node.get_fully_qualified_name())
for name in "abcdefg":
    value = node.get_parameter_or(name).value
    print(name, repr(value))
print("extra", sys.argv[1])
try:
    pathlib.Path(os.environ["READY"]).write_text(str(os.getpid()))
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    print("node ends")
"""


@pytest.fixture
def prefix(bench):
    """An install prefix with the package `talk` and its executable `talker`."""
    directory = bench.directory / "install/lib/talk"
    directory.mkdir(parents=True)
    (directory / "talker").write_text(NODE)
    (directory / "talker").chmod(0o755)
    bench.environment["AMENT_PREFIX_PATH"] = str(bench.directory / "install")
    bench.environment["READY"] = str(bench.directory / "ready.pid")
    return bench


def finish(bench, body):
    launcher = bench.start(str(bench.write(body)))
    ready = bench.directory / "ready.pid"
    wait_for(lambda: launcher.poll() is not None or (ready.exists() and ready.read_text() != ""))
    launcher.terminate()
    output, _ = launcher.communicate(timeout=60)
    return output


def test_parameters_and_names_reach_a_node(prefix):
    (prefix.directory / "a.yaml").write_text(
        "/**:\n  ros__parameters: {a: 1, b: 1, c: 1}\n"
        "/chief:\n  ros__parameters: {c: 2}\n"
        "someone_else:\n  ros__parameters: {a: 9, d: 9}\n"
    )
    output = finish(
        prefix,
        """<node pkg="talk" exec="talker" name="chief" args="word" output="screen">
             <param from="$(dirname)/a.yaml"/>
             <param name="b" value="3"/><param name="e" value="5" type="str"/>
             <param name="f" value="1.5"/><param name="g" value="true"/></node>""",
    )
    for line in (
        "name /chief", "a 1", "b 3", "c 2", "d None", "e '5'", "f 1.5", "g True", "extra word",
        "node ends",
    ):  # fmt: skip
        assert f"[talker-1] {line}\n" in output
    assert "process has finished cleanly" in output


def test_parameters_given_later_win_over_a_file_with_wildcards(prefix):
    (prefix.directory / "a.yaml").write_text("/**:\n  ros__parameters: {a: 1, b: 1}\n")
    output = finish(
        prefix,
        """<node pkg="talk" exec="talker" name="chief" args="-" output="screen">
          <param from="$(dirname)/a.yaml"/><param name="a" value="2"/></node>""",
    )
    assert "[talker-1] a 2\n[talker-1] b 1\n" in output


def test_a_node_of_the_ros_wheels_dies_with_a_killed_launcher(prefix, running):
    """With the variable unset, the Python process replaces itself once when it starts."""
    talker = prefix.directory / "install/lib/talk/talker"
    body = f'<node exec="env" args="-u _ROS_WHEELS_BOOTSTRAP_COMPLETE {talker} -"/>'
    launcher = prefix.start(str(prefix.write(body)))
    ready = prefix.directory / "ready.pid"
    wait_for(lambda: ready.exists() and ready.read_text() != "")
    pid = int(ready.read_text())
    launcher.kill()
    launcher.wait()
    wait_for(lambda: not running(pid))


def test_console_scripts_of_python_packages_are_executables(prefix):
    (process,) = prefix.resolve('<node pkg="rulesafe_sim" exec="sim_node"/>')
    assert process.name == "sim_node-1"
    assert process.command[0].endswith("/sim_node")
