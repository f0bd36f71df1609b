"""The `rulesafe` command: finds the subcommand's module and hands it the remaining arguments.

A subcommand is one line of COMMANDS and a module with `main(argv: list[str]) -> int`, which
returns the exit code. Modules are imported only when called, so that light commands start fast.
A RuleSafeError, a path that cannot be used, or a package that is not there, becomes one line on
stderr and exit code 2, Ctrl-C exit code 130. Of anything else, which is a bug, the last line says
what to do.
"""

import os
import sys
import traceback
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
        "bridge",
        "rulesafe_eval.bridge",
        "check | engage | disengage | stop | reset: the bridge to a real robot",
        "rulesafe bridge check --network-interface eth0",
    ),
    Command(
        "bag",
        "rulesafe_eval.bag",
        "record | info | play | to-dataset | to-video: recordings of a ROS 2 graph",
        "rulesafe bag record --out bag",
    ),
    Command(
        "view",
        "rulesafe_eval.view",
        "cameras, robot, memory, plan and buttons, live on a page and in Foxglove",
        "rulesafe view",
    ),
    Command(
        "topic",
        "rulesafe_eval.graph.topic",
        "list | echo | hz: the topics of a running graph, what one says and how often",
        "rulesafe topic echo /memory/tokens --once",
    ),
    Command(
        "service",
        "rulesafe_eval.graph.service",
        "list | call: the services of a running graph",
        "rulesafe service call /episode/reset '{rule: rule_007}'",
    ),
    Command(
        "param",
        "rulesafe_eval.graph.param",
        "list | get | set: the parameters of a running node",
        "rulesafe param list /sim_node",
    ),
    Command(
        "bench",
        "rulesafe_eval.bench",
        "measure physics, observations and ROS latency on this machine",
        "rulesafe bench",
    ),
    Command(
        "doctor",
        "rulesafe_eval.doctor",
        "check Vulkan, ROS 2, discovery, versions, ... and say how to mend each",
        "rulesafe doctor",
    ),
    Command(
        "completion",
        "rulesafe_eval.completion",
        "bash | zsh | fish: words completed by the Tab key",
        "rulesafe completion bash",
    ),
)


BUG = (
    "rulesafe: that should not have happened. `rulesafe doctor` looks at this machine; if it finds "
    "nothing, please report the lines above and the command"
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line (that of the process, if none is given); the exit code."""
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may follow
        import_module("rulesafe_eval.completion").complete()
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
    except ModuleNotFoundError as error:
        print(f"rulesafe: {error}: make setup installs what is missing", file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()
        print(BUG, file=sys.stderr)
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
    commands = "\n".join(f"  {command.name:<12}{command.help}" for command in COMMANDS)
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
