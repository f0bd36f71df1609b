"""The `rulesafe` command: looks up the subcommand in the table and calls its function.

A RuleSafeError, an error of the operating system, or a missing package is printed as one line on
stderr, with exit code 2; Ctrl-C has exit code 130. Any other exception is a bug: its traceback is
printed, and then what to do.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from inspect import getdoc, signature
from pathlib import Path
from typing import Any

from rulesafe_cli.table import COMMANDS, EXTENSIONS, INTEGRATIONS, ROS, Command, Function
from rulesafe_core.errors import RuleSafeError, missing_package, unknown_name
from rulesafe_core.files import NO_ROOM, exclusive_output
from rulesafe_core.plugins import CONSENT
from rulesafe_core.ros_environment import check_environment
from rulesafe_core.text_files import control_character, printable, shown_error

ALLOW = "--allow-module"

BUG = (
    "rulesafe: unexpected error. Run `rulesafe doctor` to check this machine; if it finds nothing, "
    "please report the lines above and the command"
)


def main(argv: list[str] | None = None) -> int:
    """Run a command line, by default that of the process, and return the exit code."""
    _open_standard_streams()
    with _exit_on_signals():
        return _main(sys.argv[1:] if argv is None else argv)


def _main(argv: list[str]) -> int:
    try:
        code = _dispatch(argv)
        sys.stdout.flush()  # here, so that a closed pipe raises BrokenPipeError within the try
        return code
    except RuleSafeError as error:
        print(f"rulesafe: {shown_error(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        print(f"rulesafe: {missing_package(error)}", file=sys.stderr)
        return 2
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            return _os_error(error)
        traceback.print_exc()
        print(BUG, file=sys.stderr)
        return 1


def _os_error(error: OSError) -> int:
    """Print an error of the operating system in one line and return the exit code; a closed pipe,
    as of `| head`, is not printed."""
    try:
        sys.stdout.flush()
    except OSError:
        # The interpreter flushes again at exit, so stdout must be writable.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 1
    name = printable(str(error.filename or ""))
    name = name if len(name) <= 200 else f"{name[:200]} ..."
    what = f"cannot write {name or 'a file'}" if error.errno in NO_ROOM else name
    text = os.strerror(error.errno or 0)
    print(f"rulesafe: {what}: {text}" if what else f"rulesafe: {text}", file=sys.stderr)
    return 2


def _open_standard_streams() -> None:
    """Open /dev/null in place of closed standard streams: otherwise a file that is opened later
    would have the number of one, and libraries would print into it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 (open until the exit)


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Exit in order on SIGTERM and SIGHUP: worker processes end, and temporary files are removed.
    Commands with their own handlers replace these."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _dispatch(argv: list[str]) -> int:
    for word in argv:  # names of files are printed
        if control_character(word) is not None:
            raise RuleSafeError(f"the argument {word!r} has a control character or is not UTF-8")
    argv = _store_consent(argv)
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
    return _run(commands[name], rest)


def _store_consent(argv: Sequence[str]) -> list[str]:
    """Store the values of `--allow-module MODULE`, which every command accepts, for this process
    and its workers; return the other arguments."""
    rest, values = list[str](), list[str]()
    words = iter(argv)
    for word in words:
        name, _, value = word.partition("=")
        if name != ALLOW:
            rest.append(word)
        elif value := value or next(words, ""):
            values.append(value)
        else:
            raise RuleSafeError(f"{ALLOW} needs the name of a module or package")
    if values:
        os.environ[CONSENT] = ",".join([*values, *filter(None, [os.environ.get(CONSENT)])])
    return rest


def _run(command: Command, argv: Sequence[str]) -> int:
    """Run a command with its arguments and return the exit code.

    Raises:
        SystemExit: with code 2 for invalid arguments, which are printed on stderr.
    """
    import tyro  # not needed for --help and --version

    # A launch file appends --ros-args.
    args = argv[: argv.index("--ros-args")] if "--ros-args" in argv else argv
    functions = command.functions(*args[:1])
    name = " ".join([command.name, *args[:1]])
    if name in functions:
        args = args[1:]
    elif name in INTEGRATIONS:
        raise EXTENSIONS.not_installed(name)
    else:
        name = command.name
    if name in functions:
        below = {below: functions[below] for below in functions if below.startswith(f"{name} ")}
        return _call(functions[name], name, args, _listed(below)) or 0
    tyro.extras.subcommand_cli_from_dict(
        {below.split()[1]: function for below, function in functions.items()},
        prog=f"rulesafe {name}",
        description=f"{command.help}. Example: {command.example}",
        args=args,
    )
    raise AssertionError("unreachable: there is no such subcommand")


def _call(function: Function, name: str, args: Sequence[str], listed: str) -> int | None:
    import tyro

    from rulesafe_cli.arguments import arguments_of

    arguments, about = arguments_of(function), (getdoc(function) or "").partition("\n\nArgs:")[0]
    if all(
        not argument.metavar if argument.options else argument.many for argument in arguments[1:]
    ):
        # tyro does not accept positional arguments after an option.
        args = sorted(args, key=lambda arg: not arg.startswith("-"))
    try:
        # DisallowNone: None is the value of an omitted option, not a choice in the help.
        return tyro.cli(
            _prepared(function, name),
            prog=f"rulesafe {name}",
            description=about + listed,
            args=args,
            config=(tyro.conf.DisallowNone,),
        )
    except SystemExit as end:
        if end.code == 2:  # tyro suggests a similar option only if there is no other error
            known = [option for argument in arguments for option in argument.options]
            for arg in args:
                option = arg.partition("=")[0].replace("_", "-")
                if option.startswith("--") and option not in known:
                    like = get_close_matches(option, known, n=1)
                    hint = f"do you mean {like[0]}?" if like else f"see rulesafe {name} --help"
                    print(f"rulesafe {name} has no option {option}: {hint}", file=sys.stderr)
        raise


def _prepared(function: Function, name: str) -> Function:
    """Return a command that first checks the environment if it uses ROS 2, and that holds an
    exclusive lock on its `out`: of two commands with the same output, the results of one would be
    lost."""

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        if name in ROS or name.partition(" ")[0] in ROS:
            check_environment()
        out = signature(function).bind(*args, **options).arguments.get("out")
        if not isinstance(out, Path):
            return function(*args, **options)
        with exclusive_output(out, f"rulesafe {name}"):
            return function(*args, **options)

    return run


def _listed(functions: Mapping[str, Function]) -> str:
    """Return the part of a help on subcommands: name, first line and example of each."""
    lines = ["\n\nSubcommands:"] if functions else []
    for name, function in functions.items():
        first, *others = (getdoc(function) or "").split("\n\n")
        lines.append(f"  rulesafe {name}: {' '.join(first.split())}")
        lines += [f"    {' '.join(text.split())}" for text in others if text.startswith("Example:")]
    return "\n".join(lines)


def help_text() -> str:
    """Return the output of `rulesafe --help`."""
    commands = "\n".join(f"  {command.name:<12}{command.help}" for command in COMMANDS)
    examples = "\n".join(f"  {command.example}" for command in COMMANDS)
    return (
        "usage: rulesafe [--help] [--version] COMMAND ...\n\n"
        "A benchmark of safes whose doors open only after the right sequence of moves.\n\n"
        f"commands (each has --help):\n{commands}\n\nexamples:\n{examples}\n\n"
        f"{ALLOW} MODULE (all commands): files of policies may name this module or package,\n"
        "whose code runs then; entry points of installed packages are always allowed"
    )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("rulesafe")
    except PackageNotFoundError:
        return "(version unknown: run from the source tree, not installed)"


if __name__ == "__main__":
    sys.exit(main())
