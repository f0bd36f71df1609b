"""Who may import what: docs/architecture.md, section Packages."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
MODULES = sorted(SOURCE.glob("*/*/**/*.py"))
SCENE = {"physics.py", "articulations.py", "cameras.py", "visuals.py"}
ROS_MESSAGES = {"sensor_msgs", "std_msgs", "trajectory_msgs", "rulesafe_interfaces"}
ROS_MESSAGES |= {"unitree_hg", "unitree_go"}
ALLOWED = {
    "rulesafe_sim": {"rulesafe_sim"},
    "rulesafe_data": {"rulesafe_sim", "rulesafe_data"},
    "rulesafe_design": {"rulesafe_sim", "rulesafe_design"},
    "planner_node": {"rulesafe_sim", "planner_node"},
    "vq_memory_node": {"rulesafe_sim", "rulesafe_data", "vq_memory_node"},
    "policy_node": {"rulesafe_sim", "rulesafe_data", "vq_memory_node", "policy_node"},
    "h1_2_bridge": {"rulesafe_sim", "h1_2_bridge"},
    "rulesafe_eval": {
        *("rulesafe_sim", "rulesafe_data", "rulesafe_design", "planner_node", "vq_memory_node"),
        *("policy_node", "h1_2_bridge"),
        "rulesafe_eval",
    },
}


def imported(path: Path) -> set[str]:
    """Top-level names of everything a module imports, inside its functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_arrows_point_one_way(path):
    package = path.relative_to(SOURCE).parts[0]
    if package not in ALLOWED or path.name == "setup.py":
        return
    names = imported(path)
    assert names & set(ALLOWED) <= ALLOWED[package]
    speaks_ros = path.name.endswith("node.py") or path.name in ("convert.py", "ros.py")
    if path.name != "pictures.py":  # pictures as messages, for the simulation's node
        assert speaks_ros or not names & ({"rclpy"} | ROS_MESSAGES)
    assert path.name in SCENE or "sapien" not in names


def test_the_bridge_needs_neither_simulator_nor_learning():
    """Nor does anything that it imports: a robot's computer has neither."""
    modules = sorted((SOURCE / "h1_2_bridge/h1_2_bridge").rglob("*.py"))
    names = [f"h1_2_bridge.{path.stem}" for path in modules if path.stem != "__init__"]
    code = "import importlib, sys\nros = ('rclpy', 'rcl_interfaces', 'builtin_interfaces')\n"
    code += "\n".join(
        f"try: importlib.import_module({name!r})\nexcept ModuleNotFoundError as error:\n"
        "    if error.name.split('.')[0] not in ros: raise"
        for name in names
    )
    code += "\nprint({'sapien', 'torch', 'planner_node'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n", result.stderr


def test_what_the_view_shows_needs_no_ros():
    """Neither itself nor anything that it imports: the page and its server are tried without."""
    names = ("board", "foxglove_relay", "frames", "guard", "history", "layout", "model", "options")
    names += ("relay", "sources", "web")
    code = "\n".join(f"import rulesafe_ros.view.{name}" for name in names)
    code += "\nimport sys; print({'rclpy', 'sapien', 'torch'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n", result.stderr


def test_there_are_modules_to_look_at():
    assert len(MODULES) > 40
