"""Convert <node> and <executable> elements to processes."""

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

_OUTPUTS = ("screen", "log", "both", "own_log", "full")
_TYPES = {"bool": bool, "float": float, "int": int, "str": str}
_SCALARS = (bool, float, int, str)


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


def executable(element: Element, context: Context, number: int) -> Process:
    """Return the process of an <executable>."""
    return _process(element, context, command_words(element, "cmd", context), "name", number, {})


def node(element: Element, context: Context, number: int, scratch: Path) -> Process:
    """Return the process of a <node>. Inline parameters are written to files in `scratch`."""
    name = optional(element, "name", context)
    if name is not None and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise element.error(f"{name!r} is not a valid node name, such as camera_1")
    namespace = optional(element, "namespace", context)
    if namespace is not None and not namespace.startswith("/"):
        namespace = "/" + namespace
    if namespace is not None and not re.fullmatch(r"/|(/[A-Za-z_]\w*)+", namespace, re.ASCII):
        raise element.error(f"{namespace!r} is not a valid namespace, such as /robot_1")

    command = [*_find(element, context), *command_words(element, "args", context)]
    if "ros_args" in element.text:
        command += ["--ros-args", *command_words(element, "ros_args", context)]
    command.append("--ros-args")
    if name is not None:
        command += ["-r", f"__node:={name}"]
    if namespace is not None:
        command += ["-r", f"__ns:={namespace}"]
    # As in launch_ros, a parameter file names the node only if name and namespace are given.
    full = name is not None and namespace is not None
    target = f"{(namespace or '').rstrip('/')}/{name}" if full else "/**"
    inline: dict[str, Any] = {}
    params = groupby(element.all("param"), lambda param: "from" in param.text)
    for index, (is_file, group) in enumerate(params):
        if is_file:
            for param in group:
                command += ["--params-file", str(_parameter_file(param, context))]
        else:
            values = dict(_parameter(param, context) for param in group)
            path = scratch / f"launch_params_{number}_{index}.yaml"
            path.write_text(yaml.dump({target: {"ros__parameters": values}}))
            command += ["--params-file", str(path)]
            inline.update(values)
    for remap in element.all("remap"):
        command += ["-r", f"{text(remap, 'from', context)}:={text(remap, 'to', context)}"]
    return _process(element, context, command, "exec_name", number, inline)


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
    label: str,
    number: int,
    parameters: Mapping[str, Any],
) -> Process:
    environment = dict(context.environment)
    for variable in element.all("env"):
        environment[text(variable, "name", context)] = text(variable, "value", context)
    output = environment.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT") or (
        optional(element, "output", context) or "log"
    )
    if output not in _OUTPUTS:
        raise element.error(f"output {output!r} is not valid; valid: {', '.join(_OUTPUTS)}")
    command = [*shlex.split(optional(element, "launch-prefix", context) or ""), *command]
    directory = optional(element, "cwd", context)
    if directory is not None and not Path(directory).is_dir():
        raise element.error(f"attribute 'cwd': no directory {directory!r}")
    if not command or not command[0]:
        raise element.error("the command is empty")
    shell = element.values.get("shell", False)
    if not shell and not _runs(command[0], directory, environment):
        raise element.error(f"program {command[0]!r} not found")
    default = Path(command[0].split()[0] if shell else command[0]).name
    return Process(
        name=f"{optional(element, label, context) or default}-{number}",
        command=tuple(command),
        environment=environment,
        directory=directory,
        shell=shell,
        output=output,
        on_exit=element.values.get("on_exit"),
        sigterm_timeout=_timeout(element, "sigterm_timeout", context),
        sigkill_timeout=_timeout(element, "sigkill_timeout", context),
        parameters=parameters,
    )


def _runs(program: str, directory: str | None, environment: Mapping[str, str]) -> bool:
    if "/" in program:
        program = str(Path(directory or ".") / program)
    return shutil.which(program, path=environment.get("PATH")) is not None


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

    As in `ros2 launch`, the value is parsed before the substitutions, so that quotes keep text as
    text ("'1'"); the results of $(...) are then parsed again.
    """
    kind = param.values.get("type", "yaml")
    try:
        first = _read(param.text["value"], kind, lenient=True)
        item_kind = kind.removeprefix("list_of_")
        if isinstance(first, list):
            value: Any = [_finish(item, item_kind, context) for item in first]
        else:
            value = _finish(first, kind, context)
        _check_type(value, kind)
    except (LaunchError, ValueError) as error:
        raise param.error(f"attribute 'value': {error}") from None
    return text(param, "name", context), value


def _finish(item: Any, kind: str, context: Context) -> Any:
    """Perform the substitutions in a parsed value."""
    if not isinstance(item, str):
        return item
    template = parse(item)
    done = perform(template, context)
    literal = all(isinstance(part, str) for part in template)
    return done if literal else _read(done, kind, lenient=False)


def _read(source: str, kind: str, lenient: bool) -> Any:
    """Convert text to a value; if `lenient`, return text that cannot be converted unchanged."""
    if kind == "str":
        return source
    try:
        if kind in ("int", "float"):
            return _TYPES[kind](source)
        return parse_yaml(source)
    except ValueError:
        if lenient:
            return source
        raise ValueError(f"{source!r} cannot be read as {kind}") from None


def _check_type(value: Any, kind: str) -> None:
    items = value if isinstance(value, list) else [value]
    types = {type(item) for item in items}
    scalar = _TYPES.get(kind.removeprefix("list_of_"))
    if len(types) != 1 or not types <= set(_SCALARS):
        raise ValueError(f"{value!r} is not a bool, number or text, or a list of one of these")
    if kind != "yaml" and (types != {scalar} or isinstance(value, list) != kind.startswith("list")):
        raise ValueError(f"{value!r} is not of type {kind}")
