"""`rulesafe launch`: runs ROS 2 XML launch files on machines without ros2.

A subset of the official format (docs/launch.md), each part of which means what it means to
`ros2 launch` in Jazzy; whatever is outside is refused by name and line before anything starts.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rulesafe_ros.launch import arguments, packages
from rulesafe_ros.launch.model import LaunchError, Process, Shutdown, Step
from rulesafe_ros.launch.parse import parse_file
from rulesafe_ros.launch.resolve import parse_given, resolve
from rulesafe_ros.launch.run import command_line, run
from rulesafe_ros.launch.substitutions import Context

# What the processes get unless the environment says otherwise: no traffic beyond this machine, and
# output as it is written.
_DEFAULTS = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "PYTHONUNBUFFERED": "1"}


def make_parser() -> argparse.ArgumentParser:
    """What `rulesafe launch` understands."""
    parser = argparse.ArgumentParser(
        prog="rulesafe launch",
        description=__doc__,
        epilog="Example: rulesafe launch launch/sim_evaluation.launch.xml rule:=rule_001",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", type=Path, help="a *.launch.xml file; or PACKAGE FILE, one of a package's launch/"
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="launch arguments")
    parser.add_argument("-s", "--show-args", action="store_true", help="list the arguments")
    parser.add_argument(
        "-p", "--print", "--dry-run", action="store_true", help="print what would be run"
    )
    return parser


def launch(options: argparse.Namespace) -> int:
    """Run a launch file; `options` are those of `make_parser`.

    Returns the exit status: 2 where the file or an argument is refused, else that of `run`.
    """
    try:
        return _launch(_file(options), options)
    except LaunchError as error:
        print(f"rulesafe launch: {error}", file=sys.stderr)
        return 2


def _file(options: argparse.Namespace) -> Path:
    """The launch file. Of `PACKAGE FILE`, as one writes it for `ros2 launch`, FILE is taken from
    the arguments."""
    first: str = next(iter(options.arguments), "")
    if options.file.is_file() or not first.endswith(".xml") or ":=" in first:
        return options.file.absolute()
    form = "give the file's path, as in: rulesafe launch launch/sim_evaluation.launch.xml"
    try:
        folder = packages.share(str(options.file), Path.cwd(), os.environ) / "launch"
    except LaunchError:
        raise LaunchError(f"no launch file and no package {str(options.file)!r}; {form}") from None
    if not (folder / first).is_file():
        known = ", ".join(sorted(path.name for path in folder.glob("*.launch.xml"))) or "none"
        raise LaunchError(f"no {first!r} in {folder}, which has: {known}; or {form}")
    del options.arguments[0]
    return folder / first


def known_arguments(file: Path) -> dict[str, arguments.Argument]:
    """The arguments of a launch file and of those that it includes, by name.

    Errors: LaunchError where it cannot be read.
    """
    context = Context({}, {**_DEFAULTS, **os.environ}, file.absolute().parent)
    found = arguments.declared(parse_file(file.absolute()), context)
    return {argument.name: argument for argument in found}


def _launch(file: Path, options: argparse.Namespace) -> int:
    given = parse_given(options.arguments)
    root = parse_file(file)
    context = Context(given, {**_DEFAULTS, **os.environ}, file.parent)
    known = arguments.declared(root, context)
    if options.show_args:
        print(arguments.describe(known))
        return 0
    arguments.check(known, list(given), str(file))
    with tempfile.TemporaryDirectory(prefix="rulesafe_launch_") as scratch:
        steps = resolve(root, context, Path(scratch))
        if options.print:
            print("\n".join(_describe(steps)))
            return 0
        return run(steps)


def _describe(steps: Iterable[Step], indent: str = "") -> Iterator[str]:
    for step in steps:
        if isinstance(step, Process):
            ending = "  # its end ends the launch" if step.on_exit else ""
            yield f"{indent}[{step.name}] {command_line(step)}{ending}"
            for name, value in step.parameters.items():
                yield f"{indent}    {name} = {value!r}"
        elif isinstance(step, Shutdown):
            yield f"{indent}shutdown: {step.reason}"
        else:
            yield f"{indent}after {step.period:g} s:"
            yield from _describe(step.steps, indent + "    ")
