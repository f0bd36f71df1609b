"""Environments in which ROS 2 cannot start: one line with the remedy before anything starts."""

import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from rulesafe_cli.cli import main
from rulesafe_cli.table import COMMANDS, ROS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.ros_environment import check_environment, environment_fault
from rulesafe_ros.doctor import graph
from rulesafe_ros.doctor.report import FAIL

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

FAULTS = [
    ({"RMW_IMPLEMENTATION": "rmw_of_nobody"}, "unset RMW_IMPLEMENTATION, or set it to rmw_"),
    ({"ROS_DOMAIN_ID": "abc"}, "ROS_DOMAIN_ID=abc; unset it, or set it to a number from 0 to 101"),
    ({"ROS_DOMAIN_ID": "-1"}, "ROS_DOMAIN_ID=-1"),
    ({"ROS_DOMAIN_ID": "233"}, "ROS_DOMAIN_ID=233"),
    ({"HOME": "/proc/absent", "ROS_LOG_DIR": ""}, "/proc/absent/.ros/log: .*; set ROS_LOG_DIR to"),
    ({"HOME": "", "ROS_LOG_DIR": ""}, "HOME is not set, .*; set ROS_LOG_DIR to"),
    ({"ROS_LOG_DIR": "/proc/absent"}, "/proc/absent: .*; set ROS_LOG_DIR to"),
]


@pytest.fixture(autouse=True)
def valid(monkeypatch, tmp_path):
    """An environment in which nothing is wrong."""
    for name in ("RMW_IMPLEMENTATION", "ROS_DOMAIN_ID", "ROS_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    assert environment_fault() is None


@pytest.mark.parametrize(("changed", "message"), FAULTS)
def test_a_fault_is_stated_with_its_remedy(changed, message, monkeypatch, capsys):
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RuleSafeError, match=f"^ROS 2 cannot start: .*{message}"):
        check_environment()
    for words in (["topic", "list"], ["launch", "memory.launch.xml"]):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert error.startswith("rulesafe: ROS 2 cannot start: ") and error.count("\n") == 1
    for check in (graph.ros, graph.discovery):
        item = check()
        assert item.verdict == FAIL and item.remedy == environment_fault()[1]


def test_an_rclpy_of_another_python_is_named(monkeypatch, tmp_path):
    package = tmp_path / "python/rclpy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('no _rclpy_pybind11')\n")
    (package / "_rclpy_pybind11.cpython-34m.so").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.delitem(sys.modules, "rclpy", raising=False)
    with pytest.raises(RuleSafeError, match="rclpy is not built for this Python; unset PYTHONPATH"):
        check_environment()
    (package / f"_rclpy_pybind11{EXTENSION_SUFFIXES[0]}").touch()
    check_environment()


@pytest.mark.parametrize(
    "setup", ["true", "ip link set lo up && ip address del 127.0.0.1/8 dev lo"]
)
def test_a_loopback_interface_without_ipv4_is_named(setup):
    """In a network namespace, whose loopback interface is down at first."""
    if subprocess.run(["unshare", "-rn", "sh", "-c", setup], capture_output=True).returncode:
        pytest.skip("network namespaces or the tool ip are not available")
    code = "from rulesafe_core.ros_environment import check_environment; check_environment()"
    run = f'{setup} && exec "$0" -c "{code}"'
    command = ["unshare", "-rn", "sh", "-c", run, sys.executable]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "no messages over 127.0.0.1 on the loopback interface: " in done.stderr
    assert "sudo ip link set lo up" in done.stderr


def test_middlewares_of_a_sourced_workspace_are_valid(monkeypatch, tmp_path):
    index = tmp_path / "share/ament_index/resource_index/rmw_typesupport"
    index.mkdir(parents=True)
    (index / "rmw_of_mine").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    for name in ("rmw_of_mine", "rmw_fastrtps_cpp"):
        monkeypatch.setenv("RMW_IMPLEMENTATION", name)
        check_environment()


def test_a_node_is_not_imported(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "abc")
    code = (
        "import sys; sys.argv[0] = 'vq_memory_node'; from rulesafe_core.start import node; "
        "code = node(); assert 'rclpy' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("vq_memory_node: ROS 2 cannot start: ROS_DOMAIN_ID=abc")


def test_the_commands_that_are_checked_exist():
    functions = {name for command in COMMANDS for name in command.functions()}
    for name in ROS:
        assert any(each == name or each.startswith(f"{name} ") for each in functions), name
