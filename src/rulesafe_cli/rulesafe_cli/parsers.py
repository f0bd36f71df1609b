"""Every command of `rulesafe` as an argparse parser: for shell completion and for the reference."""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

from rulesafe_cli.table import COMMANDS, Command, load


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command and subcommand, in order, by its words, such as "rules list"."""
    found = {}
    for command in COMMANDS:
        found.update(parsers_of(command))
    return found


def parsers_of(command: Command) -> dict[str, argparse.ArgumentParser]:
    """The same of one command."""
    if command.parser:
        return {command.name: load(command.parser)()}
    found = {command.name: parser_of(load(command.function))} if command.function else {}
    subcommands = load(command.subcommands) if command.subcommands else {}
    for name, function in subcommands.items():
        found[f"{command.name} {name}"] = parser_of(function)
    return found


def complete_parser(only: str = "") -> argparse.ArgumentParser:
    """One parser for all words of the command line.

    Args:
        only: a command's name; of the others the names alone are known then, which saves their
            imports. None has that name: names alone.
    """
    root = argparse.ArgumentParser(prog="rulesafe")
    root.add_argument("--version", action="store_true")
    commands = root.add_subparsers()
    for command in COMMANDS:
        own = parsers_of(command) if command.name == only else {}
        alone = [own[command.name]] if command.name in own else []
        parser = commands.add_parser(command.name, help=command.help, parents=alone, add_help=False)
        below = [words for words in own if words != command.name]
        if below:
            subcommands = parser.add_subparsers()
        for words in below:
            subcommands.add_parser(words.split()[1], parents=[own[words]], add_help=False)
    return root


def parser_of(function: Callable[..., Any]) -> Any:
    """A function's words as argparse knows them."""
    import tyro

    with warnings.catch_warnings():
        # It tells to complete by tyro instead, which knows of no command with modules of its own.
        warnings.simplefilter("ignore", DeprecationWarning)
        return tyro.extras.get_parser(function)
