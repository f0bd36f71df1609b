"""Parse text with $(...) substitutions, and perform the substitutions.

The syntax is that of the official XML and YAML front ends: arguments are separated by one space, an
argument with spaces is quoted, a backslash escapes a character, and within quotes the arguments of
a nested substitution cannot be quoted again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rulesafe_core.text_files import MAX_DEPTH
from rulesafe_ros.launch import packages
from rulesafe_ros.launch.expression import evaluate
from rulesafe_ros.launch.model import Budget, LaunchError

MAX_TEXT = 100_000
"""Maximum number of characters of a value."""


@dataclass(frozen=True)
class Call:
    """One $(name argument ...)."""

    name: str
    arguments: tuple[Template, ...]


Template = tuple[str | Call, ...]


@dataclass
class Context:
    """Variables and environment at one point of a launch file."""

    variables: dict[str, str]
    environment: dict[str, str]
    directory: Path  # directory of the current launch file
    budget: Budget = field(default_factory=Budget)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Restore variables and environment at the end of the block."""
        variables, environment = dict(self.variables), dict(self.environment)
        try:
            yield
        finally:
            self.variables, self.environment = variables, environment


def parse(text: str) -> Template:
    """Parse text with substitutions; raise LaunchError for invalid syntax or an unknown name."""
    return _Parser(text).template(quote="")


def perform(template: Template, context: Context) -> str:
    """Return the template's text in this context; raise LaunchError if it is too long."""
    text = "".join(part if isinstance(part, str) else _call(part, context) for part in template)
    if len(text) > MAX_TEXT:
        raise LaunchError(f"a value of {len(text)} characters; at most {MAX_TEXT} are valid")
    return text


def substitute(text: str, context: Context) -> str:
    return perform(parse(text), context)


def unescape(text: str) -> str:
    """Return the text of an attribute that takes no substitutions."""
    return re.sub(r"\\(.)", r"\1", text)


def _call(call: Call, context: Context) -> str:
    arguments = [perform(argument, context) for argument in call.arguments]
    return SUBSTITUTIONS[call.name].function(context, *arguments)


def _lookup(kind: str, table: Mapping[str, str], name: str, default: str | None) -> str:
    if name in table:
        return table[name]
    if default is None:
        raise LaunchError(f"{kind} {name!r} is not set and no default is given")
    return default


def _variable(context: Context, name: str, default: str | None = None) -> str:
    return _lookup("variable", context.variables, name, default)


def _environment(context: Context, name: str, default: str | None = None) -> str:
    return _lookup("environment variable", context.environment, name, default)


@dataclass(frozen=True)
class _Substitution:
    function: Callable[..., str]
    min_arguments: int
    max_arguments: int


SUBSTITUTIONS = {
    "var": _Substitution(_variable, 1, 2),
    "env": _Substitution(_environment, 1, 2),
    "eval": _Substitution(lambda context, text: evaluate(text), 1, 1),
    "dirname": _Substitution(lambda context: str(context.directory), 0, 0),
    "find-pkg-share": _Substitution(
        lambda context, name: str(packages.share(name, context.directory, context.environment)),
        1,
        1,
    ),
}


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    def template(self, quote: str) -> Template:
        """Return the parts up to the closing quote, or to the end of the text without a quote."""
        parts: list[str | Call] = []
        while self.position < len(self.text) and self._peek() != quote:
            parts.append(self._call(quote) if self._at_call() else self._character())
        if quote and self._peek() != quote:
            raise LaunchError(f"{self.text!r}: unterminated quote {quote}")
        self.position += len(quote)
        return _joined(parts)

    def _call(self, quote: str) -> Call:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LaunchError(f"substitutions are nested deeper than {MAX_DEPTH} levels")
        self.position += len("$(")
        name = re.compile(r"[A-Za-z][\w-]*|").match(self.text, self.position)[0]  # type: ignore[index]
        self.position += len(name)
        arguments: list[Template] = []
        while self._peek() == " ":
            self.position += 1
            arguments.append(self._argument(quote))
        if self._peek() != ")":
            raise LaunchError(f"{self.text!r}: expected ')' or one space at {self._rest()!r}")
        self.position += 1
        self.depth -= 1
        return _checked(Call(name, tuple(arguments)))

    def _argument(self, quote: str) -> Template:
        if not quote and self._peek() in ("'", '"'):
            opening = self._peek()
            self.position += 1
            return self.template(opening)
        ends = f" ()'\"{quote}" if not quote else f" (){quote}"
        parts: list[str | Call] = []
        while self._at_call() or (self._peek() and self._peek() not in ends):
            parts.append(self._call(quote) if self._at_call() else self._character())
        if not parts:
            raise LaunchError(f"{self.text!r}: expected an argument at {self._rest()!r}")
        return _joined(parts)

    def _character(self) -> str:
        character = self._peek()
        self.position += 1
        if character == "$":
            raise LaunchError(f"{self.text!r}: escape a dollar sign as \\$")
        if character == "\\" and self._peek():
            character = self._peek()
            self.position += 1
        return character

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _at_call(self) -> bool:
        return self.text.startswith("$(", self.position)

    def _rest(self) -> str:
        return self.text[self.position :]


def _joined(parts: list[str | Call]) -> Template:
    """Return the parts with adjacent characters joined."""
    joined: list[str | Call] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _checked(call: Call) -> Call:
    if call.name not in SUBSTITUTIONS:
        valid = ", ".join(SUBSTITUTIONS)
        raise LaunchError(f"substitution $({call.name}) is not supported; supported: {valid}")
    known = SUBSTITUTIONS[call.name]
    count = len(call.arguments)
    if not known.min_arguments <= count <= known.max_arguments:
        limits = sorted({known.min_arguments, known.max_arguments})
        expected = " to ".join(map(str, limits))
        hint = " (quote text with spaces)" if count > known.max_arguments else ""
        raise LaunchError(f"$({call.name}) takes {expected} arguments, {count} given{hint}")
    return call
