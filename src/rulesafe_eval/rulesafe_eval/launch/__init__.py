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

from rulesafe_eval.launch import arguments
from rulesafe_eval.launch.model import LaunchError, Process, Shutdown, Step
from rulesafe_eval.launch.parse import parse_file
from rulesafe_eval.launch.resolve import parse_given, resolve
from rulesafe_eval.launch.run import command_line, run
from rulesafe_eval.launch.substitutions import Context

__all__ = ["LaunchError", "main"]

# What the processes get unless the environment says otherwise: no traffic beyond this machine, and
# output as it is written.
_DEFAULTS = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "PYTHONUNBUFFERED": "1"}


def main(argv: list[str]) -> int:
    """Run `rulesafe launch`.

    Arguments:
        argv: the words after `rulesafe launch`.

    Returns the exit status: 2 where the file or an argument is refused, else that of `run`.
    """
    parser = argparse.ArgumentParser(prog="rulesafe launch", description=__doc__)
    parser.add_argument("file", type=Path, help="a *.launch.xml file")
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="launch arguments")
    parser.add_argument("-s", "--show-args", action="store_true", help="list the arguments")
    parser.add_argument(
        "-p", "--print", "--dry-run", action="store_true", help="print what would be run"
    )
    options = parser.parse_intermixed_args(argv)
    try:
        return _launch(options.file.absolute(), options)
    except LaunchError as error:
        print(f"rulesafe launch: {error}", file=sys.stderr)
        return 2


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
