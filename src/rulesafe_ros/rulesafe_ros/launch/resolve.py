"""Resolve a launch file's conditions, variables, scopes and includes to a list of steps.

All of it is resolved before the first process starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rulesafe_ros.launch import arguments
from rulesafe_ros.launch import processes as commands
from rulesafe_ros.launch.model import Element, LaunchError, Shutdown, Step
from rulesafe_ros.launch.parse import parse_file
from rulesafe_ros.launch.processes import optional, text
from rulesafe_ros.launch.substitutions import Context

MAX_NESTED_INCLUDES = 50
"""Maximum nesting of includes."""


def resolve(root: Element, context: Context, scratch: Path) -> list[Step]:
    """Return the steps of a launch.

    Args:
        root: root element returned by `parse_file`.
        context: variables (the given arguments) and environment; the launch file changes them.
        scratch: directory for parameter files, which must exist as long as the processes run.

    Raises:
        LaunchError: the file is invalid (with file and line).
    """
    resolver = _Resolver(context, scratch)
    resolver.files.append(root.file)
    resolver.actions(root.children)
    return resolver.steps


class _Resolver:
    def __init__(self, context: Context, scratch: Path) -> None:
        self.context = context
        self.scratch = scratch
        self.steps: list[Step] = []
        self.files: list[Path] = []
        self.parsed: dict[Path, Element] = {}
        self.processes = 0

    def actions(self, elements: Iterable[Element]) -> None:
        for element in elements:
            self.context.budget.spend(element)
            if self._enabled(element):
                self._action(element)

    def _enabled(self, element: Element) -> bool:
        for name in ("if", "unless"):
            if name in element.text:
                value = text(element, name, self.context).strip().lower()
                if value not in ("true", "1", "false", "0"):
                    raise element.error(f"{name}={value!r} is not valid; valid: true, 1, false, 0")
                return (value in ("true", "1")) == (name == "if")
        return True

    def _action(self, element: Element) -> None:
        context = self.context
        match element.tag:
            case "arg":
                self._argument(element)
            case "let":
                context.variables[text(element, "name", context)] = text(element, "value", context)
            case "set_env":
                name = text(element, "name", context)
                context.environment[name] = text(element, "value", context)
            case "group":
                with context.scope():
                    self.actions(element.children)
            case "include":
                self._include(element)
            case "node":
                self.processes += 1
                self.steps.append(commands.node(element, context, self.processes, self.scratch))
            case "shutdown":
                reason = optional(element, "reason", context) or "reason not given"
                self.steps.append(Shutdown(reason))

    def _argument(self, element: Element) -> None:
        name = element.values["name"]
        if name not in self.context.variables:
            if "default" not in element.text:
                raise element.error(f"required argument {name!r} is missing")
            self.context.variables[name] = text(element, "default", self.context)
        value = self.context.variables[name]
        choices = [choice.values["value"] for choice in element.all("choice")]
        if choices and value not in choices:
            raise element.error(f"{name}:={value} is not valid; valid: {', '.join(choices)}")

    def _include(self, element: Element) -> None:
        """Resolve an included file as `ros2 launch` does.

        The file shares all variables with the including file, and $(dirname) in its arguments is
        its own directory.
        """
        path = Path(text(element, "file", self.context)).absolute()
        if path in self.files:
            raise element.error(f"{path} includes itself")
        if len(self.files) > MAX_NESTED_INCLUDES:
            raise element.error(f"includes are nested more than {MAX_NESTED_INCLUDES} deep")
        if not path.is_file():
            raise element.error(f"no launch file {str(path)!r}")
        root = self.parsed.get(path) or parse_file(path)
        self.parsed[path] = root
        names = [text(arg, "name", self.context) for arg in element.children]
        before = self.context.directory
        self.context.directory = path.parent
        found = arguments.declared(root, self.context)
        arguments.check(found, names, f"{element.file}:{element.line}: <include>")
        for name, arg in zip(names, element.children, strict=True):
            self.context.variables[name] = text(arg, "value", self.context)
        self.files.append(path)
        self.actions(root.children)
        self.files.pop()
        self.context.directory = before


def parse_given(given: Iterable[str]) -> dict[str, str]:
    """Parse the `name:=value` words of the command line; of equal names, the last one is used."""
    parsed = {}
    for word in given:
        name, separator, value = word.partition(":=")
        if not (name and separator and value):
            raise LaunchError(f"malformed launch argument {word!r}, expected <name>:=<value>")
        parsed[name] = value
    return parsed
