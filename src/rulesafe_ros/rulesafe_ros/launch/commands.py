"""`rulesafe launch`: run ROS 2 XML launch files without a ROS 2 installation."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import tyro

from rulesafe_core.ros_environment import check_environment
from rulesafe_core.text_files import shown_error
from rulesafe_ros.launch import arguments, packages
from rulesafe_ros.launch.model import LaunchError, Process, Step
from rulesafe_ros.launch.parse import parse_file
from rulesafe_ros.launch.resolve import parse_given, resolve
from rulesafe_ros.launch.run import command_line, run
from rulesafe_ros.launch.substitutions import Context

# Environment of the processes: DDS discovery on this machine only (`ros_context` sets this for
# RuleSafe's nodes), and unbuffered output.
_DEFAULTS = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "PYTHONUNBUFFERED": "1"}

Flag = tyro.conf.FlagCreatePairsOff[bool]


def launch(
    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")],
    launch_arguments: Annotated[
        tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="name:=value")
    ] = (),
    show_args: Annotated[Flag, tyro.conf.arg(aliases=("-s",))] = False,
    dry_run: Annotated[Flag, tyro.conf.arg(aliases=("-p", "--print"))] = False,
) -> int:
    """Run a ROS 2 XML launch file without a ROS 2 installation.

    Supports a subset of the official format (docs/ros.md) with the behavior of `ros2 launch` in
    Jazzy. An unsupported element is an error with its file and line, reported before any process
    starts. The exit code is 2 if the file or an argument is invalid.

    Example: rulesafe launch launch/sim_evaluation.launch.xml rule:=rule_001

    Args:
        file: Path of a *.launch.xml file, or the name of a launch file of rulesafe; or PACKAGE
            FILE: a file in the package's launch/ folder.
        launch_arguments: Arguments of the launch file.
        show_args: List the arguments of the launch file and exit.
        dry_run: Print the commands without running them.
    """
    try:
        path, given = _find_file(file, launch_arguments)
        return _launch(path, parse_given(given), show_args, dry_run)
    except LaunchError as error:
        print(f"rulesafe launch: {shown_error(error)}", file=sys.stderr)
        return 2


def _find_file(file: Path, rest: tuple[str, ...]) -> tuple[Path, tuple[str, ...]]:
    """Return the path of the launch file and the launch arguments.

    In the form `PACKAGE FILE`, as for `ros2 launch`, FILE is the first item of `rest`. A file name
    without a folder refers to the package rulesafe.
    """
    first = next(iter(rest), "")
    if file.is_file():
        return file.absolute(), rest
    if first.endswith(".xml") and ":=" not in first:
        return _packaged(str(file), first), rest[1:]
    if file.suffix == ".xml" and file.name == str(file):
        return _packaged("rulesafe", file.name), rest
    return file.absolute(), rest


def _packaged(package: str, name: str) -> Path:
    """Return the path of a launch file of a package."""
    form = "give the file's path, as in: rulesafe launch launch/sim_evaluation.launch.xml"
    try:
        folder = packages.share(package, Path.cwd(), os.environ) / "launch"
    except LaunchError:
        raise LaunchError(f"no launch file and no package {package!r}; {form}") from None
    if not (folder / name).is_file():
        known = ", ".join(sorted(path.name for path in folder.glob("*.launch.xml"))) or "none"
        raise LaunchError(f"no {name!r} in {folder}; valid: {known}; or {form}")
    return folder / name


def known_arguments(file: Path) -> dict[str, arguments.LaunchArgument]:
    """Return the arguments of a launch file and of the files that it includes, by name.

    Raises:
        LaunchError: the file cannot be read or is invalid.
    """
    path, _ = _find_file(file, ())
    context = Context({}, {**_DEFAULTS, **os.environ}, path.parent)
    found = arguments.declared(parse_file(path), context)
    return {argument.name: argument for argument in found}


def _launch(file: Path, given: dict[str, str], show_args: bool, dry_run: bool) -> int:
    root = parse_file(file)
    context = Context(given, {**_DEFAULTS, **os.environ}, file.parent)
    known = arguments.declared(root, context)
    if show_args:
        print(arguments.describe(known))
        return 0
    arguments.check(known, list(given), str(file))
    with tempfile.TemporaryDirectory(prefix="rulesafe_launch_") as scratch:
        steps = resolve(root, context, Path(scratch))
        if dry_run:
            print("\n".join(_describe(steps)))
            return 0
        check_environment()
        return run(steps)


def _describe(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Process):
            ending = "  # the launch ends with this process" if step.on_exit else ""
            yield f"[{step.name}] {command_line(step)}{ending}"
            for name, value in step.parameters.items():
                yield f"    {name} = {value!r}"
        else:
            yield f"shutdown: {step.reason}"
            return
