"""Convert <node> elements to processes."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from rulesafe_core.strict_yaml import parse_yaml
from rulesafe_ros.launch import packages
from rulesafe_ros.launch.model import Element, LaunchError, Process
from rulesafe_ros.launch.substitutions import Context, Template, parse, perform, substitute

_OUTPUTS = ("screen", "log")
_VALID = {
    "int": "a whole number, such as 3",
    "float": "a number, such as 0.3",
    "bool": "true, 1, false, 0",
}


def text(element: Element, name: str, context: Context) -> str:
    """Return an attribute after substitution; a LaunchError names file and line."""
    try:
        return substitute(element.text[name], context)
    except LaunchError as error:
        raise element.error(f"attribute {name!r}: {error}") from None


def optional(element: Element, name: str, context: Context) -> str | None:
    return text(element, name, context) if name in element.text else None


def command_words(element: Element, name: str, context: Context) -> list[str]:
    """Return an attribute as words of a command line; a result of $(...) is not split."""
    if name not in element.text:
        return []
    try:
        return [perform(word, context) for word in split(parse(element.text[name]))]
    except (LaunchError, ValueError) as error:
        raise element.error(f"attribute {name!r}: {error}") from None


def split(template: Template) -> list[Template]:
    """Split a template into words as a shell does, without splitting substitutions."""
    done: list[Template] = []
    word: Template = ()
    for part in template:
        if not isinstance(part, str):
            word = (*word, part)
            continue
        tokens = shlex.split(part)
        if word and (part[0].isspace() or not tokens):
            done, word = [*done, word], ()
        for index, token in enumerate(tokens):
            if index:
                done, word = [*done, word], ()
            word = (*word, token)
        if word and part[-1].isspace():
            done, word = [*done, word], ()
    return [*done, word] if word else done


def node(element: Element, context: Context, number: int, scratch: Path) -> Process:
    """Return the process of a <node>. Inline parameters are written to files in `scratch`."""
    name = optional(element, "name", context)
    if name is not None and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise element.error(f"{name!r} is not a valid node name, such as camera_1")
    command = [*_find(element, context), *command_words(element, "args", context), "--ros-args"]
    if name is not None:
        command += ["-r", f"__node:={name}"]
    inline: dict[str, Any] = {}
    params = groupby(element.all("param"), lambda param: "from" in param.text)
    for index, (is_file, group) in enumerate(params):
        if is_file:
            for param in group:
                command += ["--params-file", str(_parameter_file(param, context))]
        else:
            values = dict(_parameter(param, context) for param in group)
            path = scratch / f"launch_params_{number}_{index}.yaml"
            path.write_text(yaml.dump({"/**": {"ros__parameters": values}}))
            command += ["--params-file", str(path)]
            inline.update(values)
    return _process(element, context, command, number, inline)


def _find(element: Element, context: Context) -> list[str]:
    name = text(element, "exec", context)
    if "pkg" not in element.text:
        return [name]
    try:
        return packages.executable(text(element, "pkg", context), name, context.environment)
    except LaunchError as error:
        raise element.error(str(error)) from None


def _process(
    element: Element,
    context: Context,
    command: list[str],
    number: int,
    parameters: Mapping[str, Any],
) -> Process:
    environment = dict(context.environment)
    output = optional(element, "output", context) or "log"
    if output not in _OUTPUTS:
        raise element.error(f"output {output!r} is not valid; valid: {', '.join(_OUTPUTS)}")
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise element.error(f"program {command[0]!r} not found")
    label = optional(element, "exec_name", context) or Path(command[0]).name
    return Process(
        name=f"{label}-{number}",
        command=tuple(command),
        environment=environment,
        output=output,
        on_exit=element.values.get("on_exit"),
        sigterm_timeout=_timeout(element, "sigterm_timeout", context),
        sigkill_timeout=_timeout(element, "sigkill_timeout", context),
        parameters=parameters,
    )


def _timeout(element: Element, name: str, context: Context) -> float:
    """Return the attribute, else the launch argument of the same name, else 5 s."""
    given = element.values.get(name, context.variables.get(name, 5.0))
    try:
        return float(given)
    except ValueError:
        raise element.error(f"{name}:={given} is not a number of seconds") from None


def _parameter_file(param: Element, context: Context) -> Path:
    path = Path(text(param, "from", context))
    if not path.is_file():
        raise param.error(f"no parameter file {str(path)!r}")
    return path


def _parameter(param: Element, context: Context) -> tuple[str, Any]:
    """Return name and typed value. Without the attribute `type`, YAML determines the type.

    As in `ros2 launch`, YAML is then parsed before the substitutions, so that quotes keep text as
    text ("'1'"), and the results of $(...) are parsed again.
    """
    kind, source = param.values.get("type"), param.text["value"]
    name = text(param, "name", context)
    try:
        if kind is None:
            value = _untyped(source, context)
        else:
            value = _typed(substitute(source, context), kind)
    except (LaunchError, ValueError) as error:
        raise param.error(f"parameter {name!r}, value={source!r}: {error}") from None
    return name, value


def _untyped(source: str, context: Context) -> Any:
    try:
        value = parse_yaml(source)
    except ValueError:
        value = source
    if isinstance(value, str):
        template = parse(value)
        value = perform(template, context)
        if not all(isinstance(part, str) for part in template):
            value = parse_yaml(value)
    if not isinstance(value, (bool, float, int, str)):
        raise ValueError(f"{source!r} is not a bool, number or text")
    return value


def _typed(source: str, kind: str) -> bool | float | int | str:
    """Convert text to "bool", "float", "int" or "str"."""
    if kind == "str":
        return source
    try:
        if kind in ("int", "float"):
            return int(source) if kind == "int" else float(source)
        value = parse_yaml(source)
        if isinstance(value, bool) or str(value) in ("0", "1"):
            return bool(value)
    except ValueError:
        pass
    raise ValueError(f"{source!r} is not valid; valid: {_VALID[kind]}")
