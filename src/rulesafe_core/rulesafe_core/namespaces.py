"""Namespace of nodes and topics, for several simulations or robots in one ROS domain."""

import os
import re

from rulesafe_core.errors import RuleSafeError

NAMESPACE = "RULESAFE_NAMESPACE"
"""Environment variable: namespace of all nodes and commands; empty: none."""

ROBOT_INTERFACE = "RULESAFE_ROBOT_INTERFACE"
"""Environment variable of a process that communicates with a robot: its network interface."""

GLOBAL_TOPICS = ("/clock", "/tf", "/tf_static", "/diagnostics")
"""Topics whose names start with a slash by convention."""

ROBOT_TOPICS = ("/lowstate", "/arm_sdk", "/lowcmd", "/inspire/state", "/inspire/cmd")
"""Topics of the robot, whose names are the manufacturer's."""


def relative(topic: str) -> str:
    """Return the name of a topic of docs/interface.md relative to the namespace of a node."""
    return topic.removeprefix("/")


def namespace_arguments() -> list[str]:
    """Return the arguments of rclpy that put nodes in the namespace of the environment.

    Global topics are remapped into it, as Nav2 does. Those of the robot are remapped if a
    simulation publishes them: a process that communicates with a robot keeps their names.

    Raises:
        RuleSafeError: the namespace is invalid.
    """
    name = os.environ.get(NAMESPACE, "").strip("/")
    if not name:
        return []
    if not re.fullmatch(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*", name, re.ASCII):
        raise RuleSafeError(
            f"the namespace {name!r} ({NAMESPACE}) is invalid; valid: names of letters, digits and "
            "_ that do not start with a digit, separated by /, such as robot_1"
        )
    robot = () if os.environ.get(ROBOT_INTERFACE) else ROBOT_TOPICS
    remapped = (f"{topic}:={relative(topic)}" for topic in (*GLOBAL_TOPICS, *robot))
    return [
        "--ros-args",
        *(part for rule in (f"__ns:=/{name}", *remapped) for part in ("-r", rule)),
    ]
