"""Words of the command line, read by tyro: one place for how helps and hints of commands look."""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from inspect import getdoc
from typing import Any

from rulesafe_cli.table import Command, load

Function = Callable[..., Any]


def call(
    function: Function, prog: str, argv: Sequence[str] | None, about: str | None = None
) -> Any:
    """Calls a function with what the words say; what it returns.

    Args:
        function: its signature and docstring are the options and the help.
        prog: the words before, such as "rulesafe eval".
        argv: the words; those of the process, if None.
        about: the help's text in place of the docstring's.

    Errors: SystemExit(2) for words that are not valid, which are named on stderr.
    """
    import tyro

    words = sys.argv[1:] if argv is None else argv
    try:
        # What may be None is so where the option is left out: no "{None}|" among its values.
        return tyro.cli(
            function, prog=prog, description=about, args=words, config=(tyro.conf.DisallowNone,)
        )
    except SystemExit as end:
        if end.code == 2:
            _hint(function, prog, words)
        raise


def run(command: Command, argv: Sequence[str]) -> int:
    """Run a command with the words after its name; the exit code.

    Errors: SystemExit(2) for words that are not valid, which are named on stderr.
    """
    words, prog = without_ros(argv), f"rulesafe {command.name}"
    subcommands: Mapping[str, Function] = load(command.subcommands) if command.subcommands else {}
    if words and words[0] in subcommands:
        # By itself, so that only its own options are proposed where one is not known.
        code = call(subcommands[words[0]], f"{prog} {words[0]}", words[1:])
    elif command.parser:
        code = load(command.function)(load(command.parser)().parse_intermixed_args(words))
    elif command.function:
        function = load(command.function)
        about = help_of(function)
        if subcommands:
            about += f"\n\nSubcommands:\n{listed(subcommands, prog)}"
        code = call(function, prog, words, about)
    else:
        import tyro

        about = f"{command.help}. Example: {command.example}"
        tyro.extras.subcommand_cli_from_dict(
            dict(subcommands), prog=prog, description=about, args=words
        )
        raise AssertionError("unreachable: there is no such subcommand")
    return code or 0


def without_ros(argv: Sequence[str]) -> Sequence[str]:
    """The words of a command without what a launch file appends for nodes (`--ros-args ...`)."""
    return argv[: argv.index("--ros-args")] if "--ros-args" in argv else argv


def help_of(function: Function) -> str:
    """The text of a function's help: its docstring up to the arguments."""
    return (getdoc(function) or "").partition("\n\nArgs:")[0]


def listed(subcommands: Mapping[str, Function], prog: str) -> str:
    """Subcommands for a help: name, first line and example of each, below one another."""
    lines = []
    for name, function in subcommands.items():
        first, *others = (getdoc(function) or "").split("\n\n")
        lines.append(f"  {prog} {name}: {' '.join(first.split())}")
        lines += [f"    {' '.join(text.split())}" for text in others if text.startswith("Example:")]
    return "\n".join(lines)


def _hint(function: Function, prog: str, words: Sequence[str]) -> None:
    """Says on stderr which options are not known, and which are like them."""
    from rulesafe_cli.parsers import parser_of

    known = [name for action in parser_of(function)._actions for name in action.option_strings]
    for word in words:
        name = word.partition("=")[0].replace("_", "-")
        if name.startswith("--") and name not in known:
            like = get_close_matches(name, known, n=1)
            meant = f"do you mean {like[0]}?" if like else "all are in --help"
            print(f"{prog} has no option {name}: {meant}", file=sys.stderr)
