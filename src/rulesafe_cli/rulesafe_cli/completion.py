"""`rulesafe completion`: words that a shell completes, asked of the commands themselves.

The shell calls `rulesafe` at each Tab; argcomplete tells it what may follow.
"""

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Literal

import tyro

Shell = Annotated[Literal["bash", "zsh", "fish"], tyro.conf.Positional]

VALUES = {"rule": "rules", "rules": "rules", "safe": "safes", "safes": "safes"}
"""Names of arguments -> what their values are, joined by commas in the plural."""

FILES = ("PATH", "DIR", "DATA", "FILE", "A", "B", "SCENES", "PROGRAM.py")
"""How helps name paths."""


def completion(shell: Shell) -> None:
    """Print the script that teaches a shell to complete the words of `rulesafe`.

    Of a shell that is open: eval "$(rulesafe completion bash)". For each new one put that line into
    ~/.bashrc or ~/.zshrc. Of fish: rulesafe completion fish | source

    Example: rulesafe completion bash

    Args:
        shell: Which one.
    """
    import argcomplete

    print(argcomplete.shellcode(["rulesafe"], shell=shell))


def complete() -> None:
    """Answer a shell's question, which is in the environment, and end the process."""
    import argcomplete

    from rulesafe_cli.parsers import complete_parser

    words = os.environ.get("COMP_LINE", "").split()
    parser = complete_parser(words[1] if len(words) > 1 else "")
    give_values(parser)
    argcomplete.autocomplete(parser, always_complete_options="long")


def give_values(parser: argparse.ArgumentParser) -> None:
    """Gives each argument of a parser, and of those below it, what completes its values."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                give_values(below)
        elif completer := _completer(action):
            action.completer = completer  # type: ignore[attr-defined]


def _completer(action: argparse.Action) -> Callable[..., Iterable[str]] | None:
    from argcomplete.completers import FilesCompleter

    metavar = str(action.metavar or "")
    name = action.dest if action.option_strings else metavar.lower()
    if name in VALUES:
        return _names(VALUES[name], many=name.endswith("s"))
    if metavar == "name:=value":
        return _launch_arguments
    if action.dest == "file" and action.type is Path:
        return FilesCompleter(("xml",))
    if action.choices:
        return None  # argcomplete's own
    is_path = any(part in FILES for part in metavar.strip("[] .").split("|"))
    return FilesCompleter() if is_path else _nothing


def _nothing(**_: object) -> list[str]:
    """A number or a word of one's own: no file's name is that."""
    return []


def _names(kind: str, many: bool) -> Callable[..., Iterable[str]]:
    def names(prefix: str, **_: object) -> list[str]:
        from rulesafe_locks.rules import RULES
        from rulesafe_sim.safes import SAFES

        before = prefix.rpartition(",")[0] if many else ""
        head = f"{before}," if before else ""
        return [head + name for name in (RULES if kind == "rules" else SAFES)]

    return names


def _launch_arguments(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    from rulesafe_ros.launch.commands import known_arguments

    file = getattr(parsed_args, "file", None)
    return [f"{name}:=" for name in known_arguments(Path(file))] if file else []
