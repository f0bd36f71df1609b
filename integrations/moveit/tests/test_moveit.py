"""The configuration of MoveIt agrees with the robot description and the nodes.

MoveIt is not installed: nothing here starts it.
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.robot import HOME, h1_2
from rulesafe_moveit import configuration

FOLDER = Path(configuration.__file__).parent
MEND = "call configuration.py"


def load(name):
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


@pytest.mark.episode
def test_the_files_are_those_of_the_robot_description():
    found = (FOLDER / "h1_2.srdf").read_text("utf-8")
    assert found == configuration.srdf(configuration.disabled_collisions()), MEND


def test_limits_and_controllers_are_those_of_the_code():
    for name, values in (
        ("joint_limits.yaml", configuration.joint_limits()),
        ("moveit_controllers.yaml", configuration.controllers()),
    ):
        assert (FOLDER / name).read_text("utf-8") == configuration.as_yaml(values), MEND


def test_the_srdf_names_links_and_joints_of_the_robot():
    robot, body = ET.parse(FOLDER / "h1_2.srdf").getroot(), h1_2()
    links, joints = {link.name for link in body.links}, {joint.name for joint in body.joints}
    named = {
        element.get(key) for element in robot.iter() for key in element.attrib if "link" in key
    }
    assert named <= links
    assert {joint.get("name") for joint in robot.iter("joint")} <= joints
    groups = {group.get("name") for group in robot.findall("group")}
    assert groups == {"right_arm", "right_hand", "right_arm_and_hand"}
    assert set(load("kinematics.yaml")) < groups < set(load("ompl_planning.yaml"))
    chain = robot.find("group/chain")
    parents, link, found = {j.child: j for j in body.joints}, chain.get("tip_link"), []
    while link != chain.get("base_link"):
        found.append(parents[link].name)
        link = parents[link].parent
    moving = [name for name in reversed(found) if body.joint(name).kind != "fixed"]
    assert tuple(moving) == ACTION_JOINTS[:7]


def test_links_are_disabled_for_the_stated_reason():
    """Neighbours are, hand and torso are not: they can touch."""
    contacts, disabled = configuration.Contacts(), {}
    for entry in ET.parse(FOLDER / "h1_2.srdf").getroot().iter("disable_collisions"):
        disabled[entry.get("link1"), entry.get("link2")] = entry.get("reason")
    assert disabled["right_shoulder_yaw_link", "right_elbow_link"] == "Adjacent"
    assert ("torso_link", "R_hand_base_link") not in disabled
    assert contacts.at(HOME) == {pair for pair, why in disabled.items() if why == "Default"}
    for posture in configuration.postures(100):
        touching = contacts.at(posture)
        assert not [pair for pair in touching if disabled.get(pair) == "Never"]


def test_the_controller_is_the_action_server():
    parameters = load("moveit_controllers.yaml")["moveit_simple_controller_manager"]
    (name,) = parameters["controller_names"]
    action = f"{name}/{parameters[name]['action_ns']}"
    assert action == "trajectory_node/follow_joint_trajectory"
    assert tuple(parameters[name]["joints"]) == ACTION_JOINTS
    assert set(load("joint_limits.yaml")["joint_limits"]) == set(ACTION_JOINTS)


def test_the_launch_file_passes_all_files(monkeypatch):
    """With stubs of the launch packages, which record what they are called with."""

    def record(**given):
        return SimpleNamespace(**given)

    for name, members in {
        "launch": {"LaunchDescription": lambda entities: entities},
        "launch.actions": {
            "DeclareLaunchArgument": lambda name, **given: name,
            "Shutdown": lambda: "shutdown",
        },
        "launch.substitutions": {"LaunchConfiguration": lambda name: f"$({name})"},
        "launch_ros": {},
        "launch_ros.actions": {"Node": record},
    }.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    path = FOLDER.parent / "moveit.launch.py"
    scope = {"__file__": str(path), "__name__": "moveit_launch"}
    exec(compile(path.read_text("utf-8"), str(path), "exec"), scope)
    # A missing package ends the launch before it has started a node of another one.
    _, move_group, world, server = scope["generate_launch_description"]()
    assert move_group.on_exit == server.on_exit == "shutdown"
    assert server.executable == "trajectory_node" and not hasattr(server, "package")
    assert server.parameters[0] == {"allow_partial_joints_goal": True}
    assert world.arguments[1] == "world" and world.arguments[3] == h1_2().links[0].name
    parameters = move_group.parameters[0]
    assert "<virtual_joint" in parameters["robot_description_semantic"]
    assert parameters["robot_description_planning"] == load("joint_limits.yaml")
    assert parameters["ompl"]["planning_plugins"] == ["ompl_interface/OMPLPlanner"]
    assert "moveit_simple_controller_manager" in parameters
