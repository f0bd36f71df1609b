"""Tests of `rulesafe doctor`: findings and remedies; checks never raise."""

import os
import socket
import subprocess
import sys

import pytest

from rulesafe_cli.cli import main
from rulesafe_core.domains import reserve_domain
from rulesafe_ros.doctor import graph, graphics, machine
from rulesafe_ros.doctor.checks import CHECKS
from rulesafe_ros.doctor.report import FAIL, OK, WARN


def test_a_passed_check_is_one_line_and_exit_code_0(capsys):
    assert main(["doctor", "--only", "python,packages"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:3] for line in lines[:2]] == [["]", "python"], ["]", "packages"]]
    assert lines[-1] == "No check failed. Next: make demo"


def test_a_failure_has_a_remedy_and_exit_code_1(capsys, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "lab")
    assert main(["doctor", "--only", "domain,python"]) == 1
    out = capsys.readouterr().out
    assert "[FAIL] domain" in out and "-> use a domain ID from 0 to 101" in out
    assert out.splitlines()[-1].endswith("rulesafe doctor --only domain")


def test_an_unknown_check_lists_the_valid_ones(capsys):
    assert main(["doctor", "--only", "plumbing"]) == 2
    assert f"valid: {', '.join(CHECKS)}" in capsys.readouterr().err


def test_a_wrong_version_and_a_missing_package_are_named(monkeypatch):
    required = ["numpy>=999", "no-such-package>=1", 'also-not-there; extra == "learn"']
    monkeypatch.setattr(machine.metadata, "requires", lambda name: required)
    item = machine.packages()
    assert item.verdict == FAIL and "make setup" in item.remedy
    assert "does not meet >=999" in item.found
    assert "no-such-package is not installed" in item.found
    monkeypatch.setattr(machine.metadata, "requires", lambda name: required[2:])
    assert machine.packages().found.endswith("extras not installed: learn")


def test_programs_that_are_missing_are_named_by_their_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    item = machine.programs()
    assert item.verdict == WARN
    assert item.remedy == "sudo apt-get install cmake g++ graphviz ninja-build"


def test_rendering_fails_without_the_compiled_library(monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import rulesafe_render.renderer\nrulesafe_render.renderer.KERNELS = ()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    item = graphics.renderer()
    assert item.verdict == FAIL and "make setup" in item.found


def test_rendering_works():
    item = graphics.renderer()
    assert item.verdict == OK and "first image after" in item.found


def test_a_sourced_ros_before_the_wheels_fails(monkeypatch, tmp_path):
    site = tmp_path / "venv/lib/python3.11/site-packages/ros_jazzy_rclpy-1.dist-info"
    site.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "venv/lib/ros"))
    assert graph.environment().verdict == OK
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/opt/ros/jazzy")
    assert graph.environment().verdict == FAIL


@pytest.mark.parametrize("merged", [False, True])
def test_a_workspace_with_rulesafe_is_accepted(monkeypatch, tmp_path, merged):
    (tmp_path / "venv/lib/python3.11/site-packages/ros_jazzy_rclpy-1.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))

    def install(workspace, package):
        prefix = tmp_path / workspace / "install" / ("" if merged else package)
        index = prefix / "share/ament_index/resource_index/packages"
        index.mkdir(parents=True, exist_ok=True)
        (index / package).touch()
        return str(prefix)

    own = [install("ros2_ws", name) for name in ("rulesafe_sim", "unitree_hg")]
    monkeypatch.setenv("AMENT_PREFIX_PATH", ":".join([*own, str(tmp_path / "venv/lib/ros")]))
    item = graph.environment()
    assert item.verdict == OK and str(tmp_path / "ros2_ws/install") in item.found
    monkeypatch.setenv("AMENT_PREFIX_PATH", ":".join([*own, install("jazzy_ws", "rclpy")]))
    item = graph.environment()
    assert item.verdict == FAIL and "jazzy_ws" in item.found and "ros2_ws" not in item.found


def test_stale_files_in_shared_memory_are_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(graph, "SHM", tmp_path)
    monkeypatch.setattr(graph, "MAX_STALE_FILES", 3)
    assert "0 files" in graph.shared_memory().found
    for number in range(3):
        (tmp_path / f"fastrtps_{number}").touch()
    item = graph.shared_memory()
    assert item.verdict == WARN and "3 files" in item.found
    monkeypatch.setattr(graph, "MIN_SHARED_MEMORY", float("inf"))
    assert "--shm-size" in graph.shared_memory().remedy


def test_a_used_domain_and_a_used_port_are_reported(monkeypatch):
    number = reserve_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
    monkeypatch.delenv("ROS_AUTOMATIC_DISCOVERY_RANGE", raising=False)
    assert graph.domain().verdict == OK
    with socket.socket(socket.AF_UNIX) as held, socket.socket() as listening:
        held.bind(f"\0rulesafe/{number}/clock")
        item = graph.domain()
        assert item.verdict == WARN and "/clock" in item.found
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        monkeypatch.setattr(graph, "PORTS", {port: "--port"})
        assert graph.ports().found == f"in use: {port}"
    assert graph.ports().verdict == OK


@pytest.mark.ros
def test_the_remedy_for_shared_memory_avoids_it(tmp_path):
    """With the environment of the remedy, no file of shared memory is mapped and all sockets are on
    loopback or multicast."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    code = (
        "import os, rclpy\nrclpy.init()\nnode = rclpy.create_node('test')\n"
        "print('/dev/shm/fast' in open('/proc/self/maps').read())\n"
        "own = {os.readlink(p.path) for p in os.scandir('/proc/self/fd') if p.is_symlink()}\n"
        "rows = [line.split() for line in list(open('/proc/net/udp'))[1:]]\n"
        "print(*{row[1][:8] for row in rows if f'socket:[{row[9]}]' in own})\n"
        "os._exit(0)"
    )
    environment = {**os.environ, "ROS_DOMAIN_ID": str(reserve_domain()), **graph._udp_environment()}
    output = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    mapped, addresses = output.splitlines()
    assert mapped == "False"
    assert set(addresses.split()) <= {"0100007F", "0100FFEF"}  # 127.0.0.1 and 239.255.0.1


@pytest.mark.ros
def test_discovery_between_two_processes(monkeypatch):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(reserve_domain()))
    assert graph.discovery().verdict == OK
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_of_nobody")
    item = graph.discovery()
    assert item.verdict == FAIL and "rmw_of_nobody" in item.found


def test_it_starts_without_large_packages():
    """Packages that may be missing are not imported before the checks start."""
    code = (
        "import sys\nfrom rulesafe_cli.cli import main\nmain(['doctor', '--only', 'python'])\n"
        "print(sorted({'scipy', 'sapien', 'rclpy', 'torch', 'av'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
