"""Arguments of commands, read from signatures: for completion, hints and the reference."""

import re
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import tyro


@dataclass(frozen=True)
class CommandArgument:
    """An argument of a command.

    Attributes:
        name: name of the function's parameter, or of the field of a dataclass.
        options: option names of the argument; empty if it is positional.
        metavar: placeholder of its value in the help, such as INT or {a,b}; empty for a switch.
        choices: valid values of the argument, if they are limited, or the names of a registry.
        many: whether it takes any number of values.
        default: value if the argument is not given; inspect.Parameter.empty if it is required.
        owner: the function, or the dataclass, whose docstring describes it.
    """

    name: str
    options: tuple[str, ...]
    metavar: str
    choices: tuple[str, ...]
    many: bool
    default: Any
    owner: Callable[..., Any]


def arguments_of(function: Callable[..., Any], defaults: object = None) -> list[CommandArgument]:
    """Return the arguments of a command in order. A dataclass is expanded into its fields.

    Args:
        function: the command's function, or a dataclass.
        defaults: an instance of the dataclass, whose values are the defaults.
    """
    hints, found = get_type_hints(function, include_extras=True), []
    for name, parameter in signature(function).parameters.items():
        kind, marks = _plain(hints[name])
        default = getattr(defaults, name, parameter.default)
        if is_dataclass(kind):
            found += arguments_of(kind, default)  # type: ignore[arg-type]
            continue
        switch = kind is bool
        options = [alias for mark in marks for alias in getattr(mark, "aliases", None) or ()]
        options.append(f"--{name.replace('_', '-')}")
        if switch and tyro.conf.FlagCreatePairsOff not in marks:
            options.append(f"--no-{name.replace('_', '-')}")
        if tyro.conf.Positional in marks:
            options = []
        metavars = [mark.metavar for mark in marks if getattr(mark, "metavar", None)]
        metavar = "".join(metavars) or ("" if switch else _metavar(kind))
        names = re.match(r"\{(.*?)\}", metavar)  # of a Literal or of a registry
        choices = tuple(names[1].split(",")) if names else ()
        many = get_origin(kind) is tuple
        found.append(
            CommandArgument(name, tuple(options), metavar, choices, many, default, function)
        )
    return found


def _plain(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type hint without annotations and None, and the annotations."""
    if get_origin(hint) is Annotated:
        kind, marks = _plain(hint.__origin__)
        return kind, (*marks, *hint.__metadata__)
    if NoneType in get_args(hint):
        return _plain(next(part for part in get_args(hint) if part is not NoneType))
    return hint, ()


def _metavar(kind: Any) -> str:
    values, origin = get_args(kind), get_origin(kind)
    if origin is Literal:
        return f"{{{','.join(values)}}}"
    if origin is tuple:
        return f"[{_metavar(values[0])} [{_metavar(values[0])} ...]]"
    if values:
        return "|".join(map(_metavar, values))
    return "PATH" if kind is Path else kind.__name__.upper()
