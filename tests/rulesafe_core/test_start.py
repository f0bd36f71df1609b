"""A node that is interrupted while it is imported ends without output."""

import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import pytest

ENTRIES = distribution("rulesafe").entry_points
NODES = {entry.name: entry.value for entry in ENTRIES if entry.group == "rulesafe.nodes"}
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
START = "import sys; sys.argv[0] = '/bin/my_node'; from rulesafe_core.start import node; "


def test_every_node_has_an_executable_that_starts_it():
    scripts = {entry.name: entry.value for entry in ENTRIES if entry.group == "console_scripts"}
    assert len(NODES) == 12
    assert {name: scripts.get(name) for name in NODES} == dict.fromkeys(
        NODES, "rulesafe_core.start:node"
    )
    for value in NODES.values():
        module, _, function = value.partition(":")
        source = find_spec(module)
        assert source and source.origin
        assert re.search(rf"^(def )?{function}\b", Path(source.origin).read_text(), re.MULTILINE)


def test_little_is_imported_before_a_sigint_is_handled():
    code = (
        "import os, signal, sys\n"
        "before = set(sys.modules)\n"
        "import rulesafe_core.start\n"
        "print(sorted(set(sys.modules) - before))"
    )
    source = str(Path(find_spec("rulesafe_core").origin).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env=environment
    )
    assert result.stdout == "['rulesafe_core', 'rulesafe_core.start']\n", result.stderr


@pytest.fixture
def my_node(tmp_path):
    """my_node(source): a folder to start in, where a distribution has the node "my_node"."""

    def make(source: str):
        (tmp_path / "module_of_mine.py").write_text(source, "utf-8")
        info = tmp_path / "mine-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[rulesafe.nodes]\nmy_node = module_of_mine:main\n")
        return tmp_path

    return make


def test_a_sigint_during_the_imports_ends_the_process(my_node):
    folder = my_node(
        "import time\n"
        "try:\n"
        "    print('importing', flush=True)\n"
        "    time.sleep(60)\n"
        "except BaseException as error:\n"
        "    raise ImportError from error\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", f"{START} node()"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout and process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 130


def test_once_imported_the_node_handles_sigint_itself(my_node):
    folder = my_node(
        "import os, signal\n"
        "def main():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        return 7\n"
    )
    code = f"{START} raise SystemExit(node())"
    assert subprocess.run([sys.executable, "-c", code], cwd=folder).returncode == 7


@pytest.mark.parametrize(
    ("module", "remedy"),
    [
        ("no_such_package", "make setup installs it"),
        ("unitree_hg.msg", "or colcon build"),
    ],
)
def test_a_missing_package_is_one_line(module, remedy, my_node):
    folder = my_node(f"raise ModuleNotFoundError(name={module!r})")
    command = [sys.executable, "-c", f"{START} raise SystemExit(node())"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"my_node: {module.split('.')[0]} is not installed: ")
    assert remedy in done.stderr and done.stderr.count("\n") == 1


def test_only_ros_context_initialises_rclpy():
    """It sets the range of DDS discovery."""
    sources = (Path(__file__).parents[2] / "src").rglob("*.py")
    assert [path.name for path in sources if "rclpy.init(" in path.read_text("utf-8")] == ["ros.py"]


@pytest.mark.ros
@pytest.mark.parametrize(
    ("name", "arguments", "given", "expected"),
    [
        ("frames_node", [], {}, "LOCALHOST"),
        ("frames_node", [], {RANGE: "SUBNET"}, "SUBNET"),
        ("h1_2_bridge", [], {}, "LOCALHOST"),
        ("h1_2_bridge", ["--ros-args", "-p", "network_interface:=lo"], {}, "SUBNET"),
    ],
)
def test_other_machines_do_not_discover_a_node(name, arguments, given, expected):
    """Unless the variable is set, or the bridge has the interface of a robot."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    code = (
        "import os, sys, rclpy\n"
        f"rclpy.init = lambda **options: sys.exit(os.environ[{RANGE!r}])\n"
        f"sys.argv[0] = {name!r}\n"
        "from rulesafe_core.start import node\n"
        "node()"
    )
    unset = {key: value for key, value in os.environ.items() if key != RANGE}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=unset | given,
    )
    assert done.stderr == f"{expected}\n"


def test_a_node_that_two_distributions_have_is_started(my_node):
    """Those of a sourced workspace and of the environment that it was built in."""
    folder = my_node("def main():\n    return 7\n")
    shutil.copytree(folder / "mine-1.0.dist-info", folder / "theirs-1.0.dist-info")
    (folder / "theirs-1.0.dist-info/METADATA").write_text("Name: theirs\nVersion: 1.0\n")
    code = f"{START} raise SystemExit(node())"
    assert subprocess.run([sys.executable, "-c", code], cwd=folder).returncode == 7
