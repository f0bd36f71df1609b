"""The arguments of a launch file: their declarations, and checks of the given values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rulesafe_ros.launch.model import Element, LaunchError
from rulesafe_ros.launch.parse import parse_file
from rulesafe_ros.launch.substitutions import Call, Context, parse, substitute

# Arguments that every launch accepts, as `ros2 launch` does.
ALWAYS = ("sigterm_timeout", "sigkill_timeout")


@dataclass(frozen=True)
class LaunchArgument:
    """An <arg> declared in a launch file or in a file that it includes."""

    element: Element
    conditional: bool  # whether its declaration depends on a condition
    given: frozenset[str]  # names of arguments passed by the enclosing <include> elements

    @property
    def name(self) -> str:
        return self.element.values["name"]

    @property
    def overwritten(self) -> bool:
        """Whether the enclosing <include> sets this argument, so that a given one has no effect."""
        return self.name in self.given

    @property
    def choices(self) -> list[str]:
        return [choice.values["value"] for choice in self.element.all("choice")]

    @property
    def required(self) -> bool:
        return "default" not in self.element.text and not self.conditional

    def description(self) -> str:
        text = self.element.values.get("description")
        if not self.choices:
            return text or "no description given"
        if text is None:
            return f"One of: {self.choices}"
        return f"{text.removesuffix('.')}. Valid choices are: {self.choices}"


def declared(root: Element, context: Context) -> list[LaunchArgument]:
    """Return the arguments of a file and of the files it includes, without running anything.

    Names of included files are resolved with the variables in `context` and the defaults of earlier
    arguments; files whose name cannot be resolved are skipped. The context is not changed.
    """
    file_context = Context(
        dict(context.variables), dict(context.environment), root.file.parent, context.budget
    )
    collector = _DeclarationCollector(file_context)
    collector.walk(root.children, False, frozenset())
    return list(collector.found.values())


class _DeclarationCollector:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.found: dict[str, LaunchArgument] = {}
        self.files: list[Path] = []

    def walk(self, elements: Iterable[Element], conditional: bool, given: frozenset[str]) -> None:
        for element in elements:
            self.context.budget.spend(element)
            is_conditional = conditional or element.conditional
            match element.tag:
                case "arg":
                    name = element.values["name"]
                    argument = LaunchArgument(element, is_conditional, given)
                    before = self.found.get(name, argument)
                    if before.overwritten or before is argument:
                        self.found[name] = argument
                    if name not in self.context.variables:
                        self._set(name, element.text.get("default"))
                case "let":
                    self._set(self._try(element.text["name"]), element.text["value"])
                case "group":
                    self.walk(element.children, is_conditional, given)
                case "include":
                    self._include(element, is_conditional, given)

    def _include(self, element: Element, conditional: bool, given: frozenset[str]) -> None:
        names = {self._try(arg.text["name"]) or "" for arg in element.children}
        for arg in element.children:
            self._set(self._try(arg.text["name"]), arg.text["value"])
        file = self._try(element.text["file"])
        if file is None or not Path(file).is_file() or Path(file) in self.files:
            return
        before = self.context.directory
        self.context.directory = Path(file).absolute().parent
        self.files.append(Path(file))
        self.walk(parse_file(Path(file).absolute()).children, conditional, given | names)
        self.files.pop()
        self.context.directory = before

    def _set(self, name: str | None, text: str | None) -> None:
        value = None if text is None else self._try(text)
        if name is not None and value is not None:
            self.context.variables[name] = value

    def _try(self, text: str) -> str | None:
        try:
            return substitute(text, self.context)
        except LaunchError:
            return None


def check(arguments: list[LaunchArgument], names: Iterable[str], where: str) -> None:
    """Check that all given arguments are declared and used, and all required ones are given.

    Args:
        arguments: arguments that the launch file declares.
        names: names of the arguments given on the command line or in the <include>.
        where: prefix of the error message.

    Raises:
        LaunchError: an argument is unknown, missing or has no effect.
    """
    given = set(names)
    known = [argument.name for argument in arguments if not argument.overwritten]
    overwritten = {argument.name for argument in arguments} - {*known}
    problems = [
        f"argument {name!r} has no effect: an <include> sets it"
        if name in overwritten
        else f"unknown argument {name!r}"
        for name in names
        if name not in (*known, *ALWAYS)
    ] + [
        f"required argument {argument.name!r} is missing ({argument.description()}; "
        f"declared at {argument.element.file}:{argument.element.line})"
        for argument in arguments
        if argument.required and argument.name not in given | argument.given
    ]
    if problems:
        valid = ", ".join(known) or "none"
        raise LaunchError(f"{where}: {'; '.join(problems)}; valid arguments: {valid}")


def describe(arguments: list[LaunchArgument]) -> str:
    """Return the output of `ros2 launch FILE --show-args`, without substituting $(...)."""
    lines = ["Arguments (pass arguments as '<name>:=<value>'):"]
    for argument in arguments:
        lines += ["", f"    '{argument.name}':{'*' if argument.conditional else ''}"]
        lines.append(f"        {argument.description()}")
        if "default" in argument.element.text:
            lines.append(f"        (default: {_default(argument.element.text['default'])})")
    if not arguments:
        lines += ["", "  No arguments."]
    elif any(argument.conditional for argument in arguments):
        lines += ["", "* argument(s) which are only used if specific conditions occur"]
    return "\n".join(lines)


def _default(text: str) -> str:
    parts = parse(text)
    if any(isinstance(part, Call) for part in parts):
        return text
    return repr("".join(str(part) for part in parts))
