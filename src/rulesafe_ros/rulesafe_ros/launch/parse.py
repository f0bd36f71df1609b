"""Parse a launch file: convert XML to checked elements with their line numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from rulesafe_core.text_files import MAX_DEPTH, read_bytes
from rulesafe_ros.launch.model import Element, LaunchError
from rulesafe_ros.launch.packages import SHARE
from rulesafe_ros.launch.substitutions import parse as parse_template
from rulesafe_ros.launch.substitutions import unescape


def _seconds(text: str) -> float:
    value = float(text)
    if not value >= 0.0:
        raise ValueError("expected seconds >= 0, or inf")
    return value


def _one_of(*valid: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if text not in valid:
            raise ValueError(f"valid: {', '.join(valid)}")
        return text

    return convert


PARAMETER_TYPES = ("bool", "float", "int", "str")

Converters = dict[str, Callable[[str], Any]]


@dataclass(frozen=True)
class _Kind:
    """Valid attributes and children of an element. `plain` attributes take no substitutions."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    plain: Converters = field(default_factory=dict)


_ACTIONS = ("arg", "let", "set_env", "group", "include", "node", "shutdown")
_CONDITION = ("if", "unless")

# Keys: the tag, or parent/tag if the tag has a different meaning in that parent.
_KINDS = {
    "launch": _Kind(children=_ACTIONS),
    "arg": _Kind(
        ("name",),
        (*_CONDITION, "default", "description"),
        ("choice",),
        {"name": unescape, "description": unescape},
    ),
    "choice": _Kind(("value",), plain={"value": unescape}),
    "let": _Kind(("name", "value"), _CONDITION),
    "set_env": _Kind(("name", "value"), _CONDITION),
    "group": _Kind((), _CONDITION, _ACTIONS),
    "include": _Kind(("file",), _CONDITION, ("arg",)),
    "include/arg": _Kind(("name", "value")),
    "node": _Kind(
        ("exec",),
        (
            *("pkg", "name", "exec_name", "args", *_CONDITION, "output", "on_exit"),
            *("sigterm_timeout", "sigkill_timeout"),
        ),
        ("param",),
        {
            "on_exit": _one_of("shutdown"),
            "sigterm_timeout": _seconds,
            "sigkill_timeout": _seconds,
        },
    ),
    "param": _Kind((), ("name", "value", "type", "from"), (), {"type": _one_of(*PARAMETER_TYPES)}),
    "shutdown": _Kind((), (*_CONDITION, "reason")),
}


def parse_file(path: Path) -> Element:
    """Return the checked `<launch>` element of a file.

    Raises:
        LaunchError: an element or attribute is not supported (with file and line).
    """
    if path.suffix != ".xml":
        raise LaunchError(f"{path}: only XML launch files (*.launch.xml) are supported")
    try:
        source = read_bytes(path)
    except OSError as error:
        names = sorted(p.name for p in (SHARE / "rulesafe/launch").glob("*.launch.xml"))
        valid = f"the path of a launch file, or one of {', '.join(names)}"
        raise LaunchError(f"{path}: {error.strerror}; valid: {valid}") from None
    return _Builder(path).build(source)


@dataclass
class _Open:
    """An element whose end tag has not been parsed yet."""

    tag: str
    text: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)


class _Builder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.open: list[_Open] = []
        self.root: Element | None = None
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._doctype

    def build(self, source: bytes) -> Element:
        try:
            self.parser.Parse(source, True)
        except expat.ExpatError as error:
            raise LaunchError(
                f"{self.path}:{error.lineno}: {expat.ErrorString(error.code)}"
            ) from None
        assert self.root is not None
        return self.root

    def _fail(self, message: str) -> None:
        raise LaunchError(f"{self.path}:{self.parser.CurrentLineNumber}: {message}")

    def _doctype(self, *_: Any) -> None:
        self._fail("a DOCTYPE is not supported")

    def _characters(self, data: str) -> None:
        if data.strip():
            self._fail(f"<{self.open[-1].tag}>: unexpected text {data.strip()!r}")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        allowed = _kind(self.open).children if self.open else ("launch",)
        if tag not in allowed:
            where = f"in <{self.open[-1].tag}>" if self.open else "as the outermost element"
            valid = ", ".join(f"<{name}>" for name in allowed) or "none"
            self._fail(f"element <{tag}> is not supported {where}; supported: {valid}")
        if len(self.open) >= MAX_DEPTH:
            self._fail(f"elements are nested deeper than {MAX_DEPTH} levels")
        self.open.append(_Open(tag, attributes, self.parser.CurrentLineNumber))

    def _end(self, tag: str) -> None:
        kind = _kind(self.open)
        done = self.open.pop()
        element = Element(
            tag,
            done.text,
            _values(kind, done, self.path),
            tuple(done.children),
            self.path,
            done.line,
        )
        _check(element, kind)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element


def _kind(opened: list[_Open]) -> _Kind:
    """Return the kind of the innermost open element."""
    tag = opened[-1].tag
    parent = opened[-2].tag if len(opened) > 1 else ""
    return _KINDS.get(f"{parent}/{tag}") or _KINDS[tag]


def _values(kind: _Kind, done: _Open, path: Path) -> dict[str, Any]:
    """Return the converted plain attributes, and check the syntax of the others."""
    values = {}
    for name, text in done.text.items():
        try:
            if name in kind.plain:
                values[name] = kind.plain[name](text)
            else:
                parse_template(text)
        except (ValueError, LaunchError) as error:
            where = f"{path}:{done.line}: <{done.tag}>"
            raise LaunchError(f"{where}: attribute {name}={text!r}: {error}") from None
    return values


def _check(element: Element, kind: _Kind) -> None:
    known = (*kind.required, *kind.optional)
    for name in element.text:
        if name not in known:
            raise element.error(
                f"attribute {name!r} is not supported; supported: {', '.join(known) or 'none'}"
            )
    for name in kind.required:
        if name not in element.text:
            raise element.error(f"attribute {name!r} is missing")
    if "if" in element.text and "unless" in element.text:
        raise element.error("'if' and 'unless' cannot be combined")
    if element.tag == "param" and set(element.text) not in (
        {"from"}, {"name", "value"}, {"name", "value", "type"},
    ):  # fmt: skip
        raise element.error("needs either 'from', or 'name' and 'value' (and optionally 'type')")
