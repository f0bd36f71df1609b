#!/usr/bin/env python3
"""Reference pages from the code: commands and configuration for the site (`make docs`), topics for
docs/reference/topics.md.

    .venv/bin/python scripts/make_reference.py        # starts the nodes for a minute

tests/test_reference.py compares the page of topics with the output of this script.
"""

import ast
import dataclasses
import inspect
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rulesafe_core.settings import valid_range

ROOT = Path(__file__).resolve().parents[1]
TOPICS = ROOT / "docs/reference/topics.md"
HEAD = "<!-- Written by scripts/make_reference.py: change the code, then call it. -->\n"

NODES = {
    "sim_node": "rulesafe_sim.node:SimulationParameters",
    "frames_node": "rulesafe_core.frames_node:FramesParameters",
    "planner_node": "planner_node.node:PlannerParameters",
    "teleop_node": "teleop_node.settings:TeleopParameters",
    "vq_memory_node": "vq_memory_node.node:MemoryParameters",
    "policy_node": "policy_node.node:PolicyParameters",
    "evaluator_node": "rulesafe_eval.node:EvaluatorParameters",
    "h1_2_bridge": "h1_2_bridge.config:BridgeParameters",
    "h1_2_bridge_supervisor": "h1_2_bridge.supervisor:SupervisorParameters",
    "camera_points": "h1_2_bridge.camera_points_node:CameraPointsParameters",
    "robot_side_node": "h1_2_sim.node:RobotParameters",
    "instruction_node": "policy_node.instruction_node:InstructionParameters",
}
"""Node -> the class of its parameters, as module:name."""

SETTINGS = {
    "rulesafe_sim.config": ("SimulationConfig", "PhysicsConfig", "DriveGains"),
    "rulesafe_core.cameras": ("CameraConfig",),
    "planner_node.expert": ("ExpertConfig",),
    "vq_memory_node.train_config": ("MemoryTrainConfig",),
    "policy_node.configs": ("Dp3Config",),
    "policy_node.train_config": ("TrainConfig",),
    "policy_node.configs_vla": ("RdtConfig", "CogActConfig", "Pi0Config", "LanguageConfig"),
}
"""Module -> its frozen dataclasses of settings that users set in Python."""

VARIABLES = {
    "RULESAFE_LOCKS": "Folders of your own locks, joined by a colon: rules by their ids.",
    "OPENAI_API_KEY": "Key of a language model's endpoint; it is read from this variable only.",
    "OPENAI_BASE_URL": "The endpoint, if `--base-url` is not given.",
    "ROS_DOMAIN_ID": "The ROS domain, 0 to 101; one RuleSafe graph per domain and namespace.",
    "RULESAFE_NAMESPACE": "Namespace of nodes and commands, such as robot_1; empty: none.",
    "RULESAFE_ALLOW_MODULES": "Modules that files of policies may name, separated by commas.",
    "RULESAFE_ROBOT_INTERFACE": "Set by nodes that communicate with a robot: its interface.",
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "Range of DDS discovery; LOCALHOST unless it is set.",
    "ROS_HOME": "Where `rulesafe launch` writes logs, in `log/`; ~/.ros if not set.",
    "ROS_LOG_DIR": "Folder of these logs, instead of that in ROS_HOME.",
    "FASTRTPS_DEFAULT_PROFILES_FILE": "Profile of Fast DDS, such as config/fast_dds_loopback.xml.",
    "RMW_IMPLEMENTATION": "The middleware; `make setup` installs rmw_fastrtps_cpp.",
    "LD_LIBRARY_PATH": "Passed to the sandbox if set.",
    "AMENT_PREFIX_PATH": "Prefixes of the packages of a sourced ROS 2.",
    "PATH": "Folders of the nodes' executables.",
}
"""Environment variable that the code reads or sets -> its meaning."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Return a text as Markdown code; "" if it is empty."""
    return f"`{text}`" if text else ""


# Commands --------------------------------------------------------------------------------------


def cli() -> str:
    """Return the page of commands."""
    from rulesafe_cli.arguments import arguments_of
    from rulesafe_cli.table import COMMANDS, EXTENSIONS, INTEGRATIONS

    if missing := sorted(INTEGRATIONS.keys() - EXTENSIONS.names()):
        folders = " ".join(sorted({f"-e integrations/{INTEGRATIONS[name]}" for name in missing}))
        how = f"pip install --no-build-isolation --no-deps {folders}"
        raise RuntimeError(f"{', '.join(missing)}: not installed; call make setup or {how}")
    page = [
        "# Command line\n\n`rulesafe` is in `.venv/bin`. Each command has `--help`; a "
        "wrong name is answered with the valid ones and exit code 2. Words after a command are "
        "given as `--name value`; those without dashes are given in the order of the table.\n"
    ]
    for command in COMMANDS:
        about = command.help.partition(": ")[2] or command.help
        page.append(f"## {command.name}\n\n{about[0].upper()}{about[1:]}.\n")
        for name, function in command.functions().items():
            page.append(f"### rulesafe {name}\n\n{_description(function)}\n")
            if name in INTEGRATIONS:
                page.append(f"Requires the distribution `integrations/{INTEGRATIONS[name]}`.\n")
            if rows := [_argument(argument) for argument in arguments_of(function)]:
                page.append(table(("argument", "value", "default", "meaning"), rows))
    return "\n".join(page)


def _description(function: Any) -> str:
    found = []
    for paragraph in (inspect.getdoc(function) or "").partition("\n\nArgs:")[0].split("\n\n"):
        text = " ".join(paragraph.split())
        example = text.removeprefix("Example: ")
        found.append(text if example == text else f"```bash\n{example}\n```")
    return "\n\n".join(found)


def _argument(argument: Any) -> list[str]:
    default = argument.default
    if default is inspect.Parameter.empty:
        shown = "required"
    elif isinstance(default, tuple):
        shown = code(shlex.join(map(str, default)))
    else:
        shown = "" if default is None else code(str(default) or "''")
    names = ", ".join(argument.options) or argument.metavar
    value = argument.metavar if argument.options else ""
    return [code(names), code(value), shown, described(argument.owner)[argument.name]]


# Configuration ---------------------------------------------------------------------------------


def configuration() -> str:
    """Return the page of launch arguments, parameters, environment variables and settings."""
    page = [
        "# Configuration\n\nFour places, each for another kind of thing: arguments of "
        "launch files, parameters of nodes (`config/*.yaml`, keyed by node), environment "
        "variables, and frozen dataclasses in Python. What varies between episodes is in "
        "[splits](../safes.md#variations-and-splits), a safe in [its "
        "file](../safes.md#the-file).\n",
        "## Launch arguments\n\nGiven as `name:=value`. Required arguments have no default; "
        "`$(...)` is evaluated at the start.\n",
    ]
    page += [_launch_file(path) for path in sorted(ROOT.glob("launch/*.launch.xml"))]
    page.append("## Parameters of nodes\n\nNumbers out of their range are refused.\n")
    for name, path in NODES.items():
        module, _, settings = path.partition(":")
        parameters = dataclasses.fields(getattr(import_module(module), settings))
        head = ("parameter", "default", "range", "meaning")
        page.append(f"### {name}\n\n{table(head, map(_parameter, parameters))}")
    page.append("## Environment variables\n")
    page.append(table(("variable", "meaning"), [(code(n), VARIABLES[n]) for n in variables()]))
    page.append("## Settings in Python\n\nFrozen dataclasses; `dataclasses.replace` changes one.\n")
    for module, names in SETTINGS.items():
        page += [_settings(getattr(import_module(module), name)) for name in names]
    return "\n".join(page)


def _launch_file(path: Path) -> str:
    from rulesafe_ros.launch.commands import known_arguments

    rows = []
    for name, argument in known_arguments(path).items():
        default = argument.element.text.get("default")
        choices = f" One of: {', '.join(argument.choices)}." if argument.choices else ""
        about = argument.element.values.get("description", "").rstrip(".") + "."
        shown = "required" if default is None else code(default or '""')
        rows.append([code(name), shown, about + choices])
    comment = re.search(r"<!--(.*?)-->", path.read_text("utf-8"), re.S)
    summary = " ".join(comment[1].split()) if comment else ""
    return f"### {path.name}\n\n{summary}\n\n{table(('argument', 'default', 'meaning'), rows)}"


def _parameter(field: dataclasses.Field) -> list[str]:
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    shown = str(default).lower() if isinstance(default, bool) else str(default) or '""'
    return [code(field.name), code(shown), valid_range(field.metadata), field.metadata["help"]]


def variables() -> list[str]:
    """Return the sorted names of environment variables in the code.

    Raises:
        KeyError: VARIABLES does not describe a variable.
    """
    found = set()
    pattern = re.compile(r"environ(?:\.get|\.setdefault|\.pop)?[\[(]\s*\"([A-Z_]+)\"")
    for path in ROOT.glob("src/*/*/**/*.py"):
        text = path.read_text("utf-8")
        found |= set(pattern.findall(text)) | set(re.findall(r"\"([A-Z_]+)\" in os\.environ", text))
        found |= {name for name in VARIABLES if f'"{name}"' in text}
    unknown = found - set(VARIABLES)
    if unknown:
        raise KeyError(f"VARIABLES of {Path(__file__).name} does not describe {sorted(unknown)}")
    return sorted(found)


def _settings(kind: type) -> str:
    about = _attributes(kind)
    rows = []
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        default: Any = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        elif default is dataclasses.MISSING:
            default = "required"
        shown = (
            f"{type(default).__name__}()" if dataclasses.is_dataclass(default) else repr(default)
        )
        shown = default if default == "required" else code(shown)
        meaning = field.metadata.get("help") or about.get(field.name, "")
        rows.append([code(field.name), shown, valid_range(field.metadata), meaning])
    first = (kind.__doc__ or "").strip().split("\n\n")[0]
    head = f"### {kind.__module__}.{kind.__name__}\n\n{' '.join(first.split())}\n\n"
    return head + table(("setting", "default", "range", "meaning"), rows)


def described(owner: Any) -> dict[str, str]:
    """Return the descriptions of arguments or fields in the docstring of a function or a class."""
    text = re.split(r"(?:Args|Attributes):\n", inspect.getdoc(owner) or "")[-1]
    return dict(re.findall(r"^    (\w+): (.*?)(?=^    \w+: |^\S|\Z)", text, re.S | re.M))


def _attributes(kind: type) -> dict[str, str]:
    """Return the descriptions of fields, also inherited ones, from docstrings and comments."""
    found: dict[str, str] = {}
    for base in kind.__bases__:
        found |= _attributes(base) if dataclasses.is_dataclass(base) else {}
    found |= described(kind)
    path = Path(sys.modules[kind.__module__].__file__ or "")
    lines = path.read_text("utf-8").splitlines()
    tree = ast.parse("\n".join(lines))
    body = next(
        n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == kind.__name__
    ).body
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            comment = lines[(node.end_lineno or 1) - 1].partition("  # ")[2]
            if comment:
                found.setdefault(node.target.id, comment)
    return found


# Topics ----------------------------------------------------------------------------------------


ROBOT_NOTE = (
    "Bridge, supervisor, `instruction_node`, `camera_points` and `frames_node`, with the simulated "
    "robot in place of the real one. A policy and a memory add the topics that they have in "
    "simulation. A dry run, `output:=lowcmd` and [teleoperation](../teleoperation.md) are not "
    "included. `rulesafe bridge stop` publishes `/bridge/stop_request` latched."
)


def topics() -> str:
    """Return the page of topics, services and messages; start both graphs to list them."""
    from reference_graph import beside_the_robot, simulation

    page = [
        f"# Topics, services and messages\n\n{HEAD}\nTaken from running graphs. Rates, meaning and "
        "the topics that a policy may subscribe to are in [ROS 2 interface](../interface.md). "
        "*latched*: transient local, so late subscribers receive the last message. All publishers "
        "are reliable unless noted.\n"
    ]
    head = ("topic", "type", "published by", "subscribed by", "")
    for title, graph, note in (
        ("The simulation", simulation(), "With `film`, the expert, and a policy with all inputs."),
        ("The robot", beside_the_robot(), ROBOT_NOTE),
    ):
        page.append(f"## {title}\n\n{note}\n\n{table(head, graph.topics)}")
        page.append(table(("service or action", "type", "of"), graph.services))
    page.append("## Messages of this project\n")
    for path in sorted(ROOT.glob("src/rulesafe_interfaces/*/*.*")):
        if path.suffix in (".msg", ".srv", ".action"):
            name = f"rulesafe_interfaces/{path.parent.name}/{path.stem}"
            page.append(f"### {name}\n\n```text\n{path.read_text('utf-8').strip()}\n```\n")
    return "\n".join(page)


WRITE: dict[str, Callable[[], str]] = {"cli": cli, "configuration": configuration}
"""Pages that the site's build writes."""


if __name__ == "__main__":
    TOPICS.write_text(topics(), "utf-8")
    print(TOPICS)
