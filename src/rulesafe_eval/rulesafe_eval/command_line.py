"""Every command of `rulesafe` as an argparse parser: for shell completion and for the reference.

A command's module has SUBCOMMANDS (a name and a function each) in itself or in its `commands`, or
`make_parser()`, or one callable that ALONE names; some have a callable beside their subcommands.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module, util
from types import ModuleType
from typing import Any

from rulesafe_eval.cli import COMMANDS, Command

ALONE = {
    "bench": "Options",
    "completion": "completion",
    "doctor": "doctor",
    "eval": "evaluate",
    "view": "view",
}
"""Commands that do something without a subcommand -> the callable of their module that does it."""


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command and subcommand, in order, by its words, such as "rules list"."""
    found = {}
    for command in COMMANDS:
        found.update(parsers_of(command))
    return found


def parsers_of(command: Command) -> dict[str, argparse.ArgumentParser]:
    """The same of one command. Errors: LookupError where its module has none of what is needed."""
    modules = list(_modules(command.module))
    for module in modules:
        if hasattr(module, "make_parser"):
            return {command.name: module.make_parser()}
    found = {}
    if command.name in ALONE:
        found[command.name] = parser_of(_first(modules, ALONE[command.name]))
    subcommands: Mapping[str, Callable[..., Any]] = _first(modules, "SUBCOMMANDS", {})
    for name, function in subcommands.items():
        found[f"{command.name} {name}"] = parser_of(function)
    if not found:
        raise LookupError(f"{command.module} has neither SUBCOMMANDS nor an entry in ALONE")
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


def _modules(name: str) -> list[ModuleType]:
    names = [name]
    if util.find_spec(name) and getattr(import_module(name), "__path__", None):
        names += [f"{name}.commands"] if util.find_spec(f"{name}.commands") else []
    return [import_module(each) for each in names]


def _first(modules: list[ModuleType], name: str, default: Any = None) -> Any:
    for module in modules:
        if hasattr(module, name):
            return getattr(module, name)
    if default is None:
        raise LookupError(f"{modules[0].__name__} has no {name}")
    return default


def parser_of(function: Callable[..., Any]) -> Any:
    """A function's words as argparse knows them."""
    import tyro

    with warnings.catch_warnings():
        # It tells to complete by tyro instead, which knows of no command with modules of its own.
        warnings.simplefilter("ignore", DeprecationWarning)
        return tyro.extras.get_parser(function)
