"""Who may import what: docs/architecture.md, section Packages."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
MODULES = sorted(SOURCE.glob("*/*/**/*.py"))
SCENE = {"physics.py", "articulations.py", "cameras.py", "visuals.py"}
ROS_MESSAGES = {"sensor_msgs", "std_msgs", "trajectory_msgs", "rulesafe_interfaces"}
ALLOWED = {
    "rulesafe_sim": {"rulesafe_sim"},
    "rulesafe_data": {"rulesafe_sim", "rulesafe_data"},
    "rulesafe_design": {"rulesafe_sim", "rulesafe_design"},
    "planner_node": {"rulesafe_sim", "planner_node"},
    "vq_memory_node": {"rulesafe_sim", "rulesafe_data", "vq_memory_node"},
    "policy_node": {"rulesafe_sim", "rulesafe_data", "vq_memory_node", "policy_node"},
    "rulesafe_eval": {
        *("rulesafe_sim", "rulesafe_data", "rulesafe_design", "planner_node", "vq_memory_node"),
        "policy_node",
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


def test_there_are_modules_to_look_at():
    assert len(MODULES) > 40
