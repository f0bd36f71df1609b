"""The `rulesafe` command: finds the subcommand in the table and calls its function.

A RuleSafeError, a path that cannot be used, or a missing package becomes one line on stderr and
exit code 2, Ctrl-C exit code 130. After any other exception, which is a bug, the last line says
what to do.
"""

import os
import sys
import traceback
from importlib import import_module

from rulesafe_cli.table import COMMANDS
from rulesafe_core.errors import RuleSafeError, missing_package, unknown_name

BUG = (
    "rulesafe: that should not have happened. `rulesafe doctor` looks at this machine; if it finds "
    "nothing, please report the lines above and the command"
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line (that of the process, if none is given); the exit code."""
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may follow
        import_module("rulesafe_cli.completion").complete()
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
        print(f"rulesafe: {missing_package(error)}", file=sys.stderr)
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
    commands = {command.name: command for command in COMMANDS}
    if name not in commands:
        raise unknown_name("command", name, commands)
    from rulesafe_cli.arguments import run  # tyro, which --help and --version do without

    return run(commands[name], rest)


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
