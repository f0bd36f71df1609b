"""The subcommands of `rulesafe`: one entry each.

A command consists of functions of its package, given as "module:NAME" and imported only when
called, so that light commands start fast. tyro derives options from a function's signature and help
from its docstring. The function returns the exit code, or None for 0.

An installed distribution adds a subcommand to one of these commands with an entry point in its
pyproject.toml::

    [project.entry-points."rulesafe.commands"]
    "safes import" = "my_package.commands:import_safe"
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from rulesafe_core import plugins

Function = Callable[..., Any]

EXTENSIONS: plugins.Registry[Function] = plugins.Registry("rulesafe.commands", "command")
"""Subcommands of other distributions."""

INTEGRATIONS = plugins.INTEGRATIONS[EXTENSIONS.group]
"""Subcommand of a distribution in integrations/ -> the distribution's folder there."""


ROS = ("bridge", "teleop", "view", "topic", "service", "param", "bag record", "bag play")
"""Commands, and subcommands of others, that are nodes in a running ROS 2 graph."""


@dataclass(frozen=True)
class Command:
    """One subcommand of `rulesafe`.

    Attributes:
        name: the word after `rulesafe`.
        help: line of the command in `rulesafe --help`.
        example: a complete command line.
        function: "module:NAME" of the function that runs if the next word is no subcommand.
        subcommands: "module:NAME" of a mapping from subcommand names to functions.
    """

    name: str
    help: str
    example: str
    function: str = ""
    subcommands: str = ""

    def functions(self, word: str = "") -> dict[str, Function]:
        """Import the command and return its functions by name, such as "eval compare".

        Those of installed distributions follow the built-in ones in alphabetical order.

        Args:
            word: the subcommand that is run, if any. The others of distributions are not imported
                then, so that an error in one of them does not affect it.
        """
        own = {self.name: load(self.function)} if self.function else {}
        below: Mapping[str, Function] = load(self.subcommands) if self.subcommands else {}
        own |= {f"{self.name} {word}": function for word, function in below.items()}
        added = {
            name: reference
            for name, reference in sorted(EXTENSIONS.references().items())
            if name.startswith(f"{self.name} ") and name not in own
        }
        run = f"{self.name} {word}"
        if run in own or run in added:
            added = {name: reference for name, reference in added.items() if name == run}
        return own | {name: plugins.import_object(each) for name, each in added.items()}


def load(place: str) -> Any:
    """Import and return the object at "module:NAME"."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


COMMANDS = (
    Command(
        "rules",
        "list | show | solve | verify | generate: lock rules and their proofs",
        "rulesafe rules solve rule_020",
        subcommands="rulesafe_design.commands.rules:SUBCOMMANDS",
    ),
    Command(
        "safes",
        "list | show | ...: the safes and their parts",
        "rulesafe safes show safe_03",
        subcommands="rulesafe_sim.commands:SUBCOMMANDS",
    ),
    Command(
        "demos",
        "generate | render | replay | stats | program | ...: demonstrations",
        "rulesafe demos generate --rules rule_001 --episodes 10 --out demos",
        subcommands="rulesafe_demos.commands:SUBCOMMANDS",
    ),
    Command(
        "memory",
        "train | tokens | plot: memory models of past joint positions",
        "rulesafe memory tokens demos --model rule_001_rule_020 --out tokens.parquet",
        subcommands="vq_memory_node.commands:SUBCOMMANDS",
    ),
    Command(
        "eval",
        "evaluate a policy or an oracle; compare | report | table | verify",
        "rulesafe eval --policy expert --rules rule_020 --episodes 4 --out runs/expert",
        function="rulesafe_eval.commands:evaluate",
        subcommands="rulesafe_eval.commands:SUBCOMMANDS",
    ),
    Command(
        "policy",
        "train | describe | open-loop | serve | ...: policies with and without memory",
        "rulesafe policy train demos --policy dp3 --memory vq --out vq",
        subcommands="policy_node.commands:SUBCOMMANDS",
    ),
    Command(
        "launch",
        "run a ROS 2 XML launch file on a machine without ros2",
        "rulesafe launch launch/sim_evaluation.launch.xml rule:=rule_001",
        function="rulesafe_ros.launch.commands:launch",
    ),
    Command(
        "bridge",
        "check | engage | disengage | stop | reset | identify: the bridge to a real robot",
        "rulesafe bridge check --network-interface eth0",
        subcommands="h1_2_bridge.commands:SUBCOMMANDS",
    ),
    Command(
        "teleop",
        "move the robot's right hand with the keyboard",
        "rulesafe teleop",
        function="teleop_node.commands:teleop",
    ),
    Command(
        "bag",
        "record | info | play | to-dataset | to-video: recordings of a ROS 2 graph",
        "rulesafe bag record --out bag",
        subcommands="rulesafe_ros.bag.commands:SUBCOMMANDS",
    ),
    Command(
        "view",
        "live view of cameras, robot, memory and plan in a web page",
        "rulesafe view",
        function="rulesafe_ros.view.commands:view",
    ),
    Command(
        "topic",
        "list | echo | hz: the topics of a running graph, their messages and rates",
        "rulesafe topic echo /memory/tokens --once",
        subcommands="rulesafe_ros.graph.topic:SUBCOMMANDS",
    ),
    Command(
        "service",
        "list | call: the services of a running graph",
        "rulesafe service call /episode/reset '{rule: rule_007}'",
        subcommands="rulesafe_ros.graph.service:SUBCOMMANDS",
    ),
    Command(
        "param",
        "list | get | set: the parameters of a running node",
        "rulesafe param list /sim_node",
        subcommands="rulesafe_ros.graph.param:SUBCOMMANDS",
    ),
    Command(
        "doctor",
        "check the renderer, ROS 2, discovery and versions; print how to fix each problem",
        "rulesafe doctor",
        function="rulesafe_ros.doctor.commands:doctor",
    ),
    Command(
        "completion",
        "bash | zsh | fish: script for completion with the Tab key",
        "rulesafe completion bash",
        function="rulesafe_cli.completion:completion",
    ),
)
