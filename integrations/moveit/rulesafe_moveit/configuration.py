"""Write MoveIt's configuration from the robot description: groups, disabled collisions, limits.

    .venv/bin/python integrations/moveit/rulesafe_moveit/configuration.py    # a minute

Pairs of links are disabled as in MoveIt's setup assistant: adjacent links, links in contact at the
home posture, and links that are in contact never or always at random postures. Half of the postures
move all joints, the other half the 13 joints that this project commands. tests/test_moveit.py
compares the files with the output of this script.
"""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.limits import action_limits
from planner_node.collision import shape_geometry
from rulesafe_core.body import joint_position
from rulesafe_core.joints import ACTION_JOINTS, ARM_JOINTS, HAND_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS, HOME, h1_2
from rulesafe_core.urdf import to_urdf

FOLDER = Path(__file__).resolve().parent
HEAD = "Written by configuration.py: change the code, then call it."
HAND_LINK = "R_hand_base_link"

POSTURES = 10_000
"""Number of random postures, as many as the setup assistant's default."""

Pair = tuple[str, str]


class Contacts:
    """Finds the links in contact at postures of the complete robot."""

    def __init__(self) -> None:
        self._body = h1_2()
        self._model = pin.buildModelFromXML(to_urdf(self._body))
        self._data, geometry = self._model.createData(), pin.GeometryModel()
        owners: list[str] = []
        for link in self._body.links:
            frame = self._model.frames[self._model.getBodyId(link.name)]
            for shape in (shape for shape in link.shapes if shape.collides):
                pose = frame.placement * pin.SE3(shape.pose)
                name = f"{link.name}#{len(owners)}"
                geometry.addGeometryObject(
                    pin.GeometryObject(name, frame.parentJoint, pose, shape_geometry(shape))
                )
                owners.append(link.name)
        self.links = tuple(dict.fromkeys(owners))
        self.adjacent = self._adjacent()
        self._pairs = []
        for i, j in combinations(range(len(owners)), 2):
            pair = owners[i], owners[j]
            if pair[0] != pair[1] and pair not in self.adjacent:
                geometry.addCollisionPair(pin.CollisionPair(i, j))
                self._pairs.append(pair)
        self._geometry, self._results = geometry, pin.GeometryData(geometry)

    def _adjacent(self) -> set[Pair]:
        """Return pairs (parent, child), sorted as `links`, with no link with shapes in between."""
        parents = {joint.child: joint.parent for joint in self._body.joints}
        pairs = set()
        for link in self.links:
            parent = parents.get(link)
            while parent is not None and parent not in self.links:
                parent = parents.get(parent)
            if parent is not None:
                pairs.add((parent, link))
        return pairs

    def at(self, positions: dict[str, float]) -> set[Pair]:
        """Return the pairs in contact at motor positions (rad); mimic joints follow the motors."""
        q = pin.neutral(self._model)
        for joint in self._body.moving_joints:
            index = self._model.joints[self._model.getJointId(joint.name)].idx_q
            q[index] = joint_position(joint, positions)
        pin.computeCollisions(self._model, self._data, self._geometry, self._results, q, False)
        results = self._results.collisionResults
        return {
            pair for pair, found in zip(self._pairs, results, strict=True) if found.isCollision()
        }

    def pairs(self) -> Iterator[Pair]:
        """Return all pairs of links with shapes."""
        return combinations(self.links, 2)


def postures(count: int) -> Iterator[dict[str, float]]:
    """Yield random motor positions (rad) from a fixed seed; a smaller count yields a prefix."""
    rng = np.random.default_rng(0)
    motors = [joint for joint in h1_2().moving_joints if joint.name in HOME]
    for i in range(count):
        drawn = {joint.name: float(rng.uniform(joint.lower, joint.upper)) for joint in motors}
        yield drawn if i % 2 else drawn | FIXED_POSITIONS


def disabled_collisions(count: int = POSTURES) -> dict[Pair, str]:
    """Return the pairs of links that need no check, with the reason."""
    contacts = Contacts()
    touched = Counter(pair for posture in postures(count) for pair in contacts.at(posture))
    at_home = contacts.at(HOME)
    reasons = {}
    for pair in contacts.pairs():
        if pair in contacts.adjacent:
            reasons[pair] = "Adjacent"
        elif pair in at_home:
            reasons[pair] = "Default"
        elif touched[pair] in (0, count):
            reasons[pair] = "Always" if touched[pair] else "Never"
    return reasons


def srdf(disabled: dict[Pair, str]) -> str:
    """Return the semantic robot description (SRDF)."""
    robot = ET.Element("robot", name=h1_2().name)
    robot.append(ET.Comment(f" {HEAD} "))
    arm = ET.SubElement(robot, "group", name="right_arm")
    ET.SubElement(arm, "chain", base_link="torso_link", tip_link=HAND_LINK)
    hand = ET.SubElement(robot, "group", name="right_hand")
    for name in HAND_JOINTS:
        ET.SubElement(hand, "joint", name=name)
    both = ET.SubElement(robot, "group", name="right_arm_and_hand")
    for name, joints in (("right_arm", ARM_JOINTS), ("right_hand", HAND_JOINTS)):
        ET.SubElement(both, "group", name=name)
        state = ET.SubElement(robot, "group_state", name="home", group=name)
        for joint in joints:
            ET.SubElement(state, "joint", name=joint, value=repr(HOME[joint]))
    ET.SubElement(
        robot,
        "end_effector",
        name="right_hand",
        parent_link=HAND_LINK,
        group="right_hand",
        parent_group="right_arm",
    )
    ET.SubElement(
        robot,
        "virtual_joint",
        name="world_joint",
        type="fixed",
        parent_frame="world",
        child_link=h1_2().links[0].name,
    )
    for (first, second), reason in disabled.items():
        ET.SubElement(robot, "disable_collisions", link1=first, link2=second, reason=reason)
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def joint_limits() -> dict[str, Any]:
    """Return the limits of velocity and acceleration, scaled by default by the bridge's speed."""
    limits, speed = action_limits(BridgeConfig(speed=1.0, margin=0.0)), BridgeConfig().speed
    return {
        "default_velocity_scaling_factor": speed,
        "default_acceleration_scaling_factor": speed,
        "joint_limits": {
            name: {
                "has_velocity_limits": True,
                "max_velocity": float(limits.velocity[i]),
                "has_acceleration_limits": True,
                "max_acceleration": float(limits.acceleration[i]),
            }
            for i, name in enumerate(ACTION_JOINTS)
        },
    }


def controllers() -> dict[str, Any]:
    """Return the parameters of moveit_simple_controller_manager for trajectory_node."""
    manager = "moveit_simple_controller_manager"
    return {
        "moveit_controller_manager": f"{manager}/MoveItSimpleControllerManager",
        "moveit_manage_controllers": False,
        "trajectory_execution": {
            "allowed_execution_duration_scaling": 2.0,
            "allowed_goal_duration_margin": 6.0,
            "allowed_start_tolerance": 0.05,
        },
        manager: {
            "controller_names": ["trajectory_node"],
            "trajectory_node": {
                "type": "FollowJointTrajectory",
                "action_ns": "follow_joint_trajectory",
                "default": True,
                "joints": list(ACTION_JOINTS),
            },
        },
    }


def as_yaml(values: dict[str, Any]) -> str:
    """Return values as YAML with the HEAD as comment."""
    return f"# {HEAD}\n{yaml.safe_dump(values, sort_keys=False)}"


def main() -> None:
    (FOLDER / "h1_2.srdf").write_text(srdf(disabled_collisions()), "utf-8")
    (FOLDER / "joint_limits.yaml").write_text(as_yaml(joint_limits()), "utf-8")
    (FOLDER / "moveit_controllers.yaml").write_text(as_yaml(controllers()), "utf-8")
    print(f"wrote {FOLDER}")


if __name__ == "__main__":
    main()
