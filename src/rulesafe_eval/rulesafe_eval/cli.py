"""The `rulesafe` command: finds the subcommand's module and hands it the remaining arguments.

A subcommand is one line of COMMANDS and a module with `main(argv: list[str]) -> int`, which
returns the exit code. Modules are imported only when called, so that light commands start fast.
A RuleSafeError, or a path that cannot be used, becomes one line on stderr and exit code 2, Ctrl-C
exit code 130.
"""

import os
import sys
from dataclasses import dataclass
from importlib import import_module

from rulesafe_sim.errors import RuleSafeError, unknown_name


@dataclass(frozen=True)
class Command:
    """One subcommand."""

    name: str
    module: str
    help: str
    example: str


COMMANDS = (
    Command(
        "rules",
        "rulesafe_eval.cli_rules",
        "list | show | solve | verify | generate: rules and what is proved of them",
        "rulesafe rules solve rule_020",
    ),
    Command(
        "safes",
        "rulesafe_eval.cli_safes",
        "list | show: the safes and their parts",
        "rulesafe safes show safe_03",
    ),
    Command(
        "demos",
        "rulesafe_eval.demos",
        "generate | render | replay | stats | program | run | write | ...: demonstrations",
        "rulesafe demos generate --rules rule_001 --episodes 10 --out demos",
    ),
    Command(
        "memory",
        "rulesafe_eval.memory",
        "train | tokens | plot | measure: memories of past joint positions",
        "rulesafe memory tokens demos --model rule_001_rule_020 --out tokens.parquet",
    ),
    Command(
        "eval",
        "rulesafe_eval.evaluation",
        "play episodes with a policy, the expert or an oracle; compare | report | table",
        "rulesafe eval --policy expert --rules rule_020 --episodes 4 --out runs/expert",
    ),
    Command(
        "policy",
        "rulesafe_eval.policies",
        "train | describe: policies with and without memory",
        "rulesafe policy train demos --policy dp3 --memory vq --out vq",
    ),
    Command(
        "launch",
        "rulesafe_eval.launch",
        "run a ROS 2 XML launch file on a machine without ros2",
        "rulesafe launch launch/sim_evaluation.launch.xml rule:=rule_001",
    ),
    Command(
        "bench",
        "rulesafe_eval.bench",
        "measure physics, observations and ROS latency on this machine",
        "rulesafe bench",
    ),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line (that of the process, if none is given); the exit code."""
    try:
        code = _dispatch(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()  # here, where a reader that has gone can still be caught
        return code
    except RuleSafeError as error:
        print(f"rulesafe: {error}", file=sys.stderr)
        return 2
    except (FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        print(f"rulesafe: {error.filename or error}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The interpreter flushes once more at exit; give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(help_text())
        return 0 if argv else 2
    name, *rest = argv
    if name == "--version":
        print(f"rulesafe {_version()}")
        return 0
    modules = {command.name: command.module for command in COMMANDS}
    if name not in modules:
        raise unknown_name("command", name, modules)
    code: int = import_module(modules[name]).main(rest)
    return code


def help_text() -> str:
    """What `rulesafe --help` prints."""
    commands = "\n".join(f"  {command.name:<8}{command.help}" for command in COMMANDS)
    examples = "\n".join(f"  {command.example}" for command in COMMANDS)
    return (
        "usage: rulesafe [--help] [--version] COMMAND ...\n\n"
        "Safes that open only after the right sequence of moves, for a robot to work out.\n\n"
        f"commands (each has --help):\n{commands}\n\nexamples:\n{examples}"
    )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("rulesafe")
    except PackageNotFoundError:
        return "(version unknown: run from the source tree, not installed)"


if __name__ == "__main__":
    sys.exit(main())
