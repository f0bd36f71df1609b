"""Build frozen dataclasses from YAML; an unknown, missing or invalid key is an error.

The type of a field determines how it is read: numbers, strings, Literals, tuples, mappings, other
dataclasses, and unions of dataclasses, where the key `family` names the class in lower case (a
field's metadata may have a default `family`). Its metadata (see settings.py) determine the valid
values. The unit of a field is part of its key: `width: float = required(unit="m")` is read from
`width_m`. Angles in degrees (`range_deg`) are converted to radians.
"""

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from math import radians
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

import yaml

from rulesafe_core.body import Color, Material, srgb_to_linear
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import convert
from rulesafe_core.text_files import (
    MAX_DEPTH,
    MAX_YAML_BYTES,
    MAX_YAML_VALUES,
    check_values,
    cleaned,
    read_text,
)

T = TypeVar("T")

Ranges = tuple[tuple[float, float], ...]
"""One or more ranges (min, max). In YAML, a single range may be [min, max] instead of a list."""


class _BoundedLoader(yaml.SafeLoader):
    """A YAML loader without merges (<<), which may expand exponentially, and long integers."""

    def flatten_mapping(self, node):
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                self._refuse("a merge (<<) is not supported", key)

    def construct_yaml_int(self, node):
        if len(node.value) > 100:
            self._refuse("an integer of more than 100 characters", node)
        return super().construct_yaml_int(node)

    def _refuse(self, reason, node):
        raise yaml.constructor.ConstructorError(None, None, reason, node.start_mark)


_BoundedLoader.add_constructor("tag:yaml.org,2002:int", _BoundedLoader.construct_yaml_int)


class _UniqueKeys(_BoundedLoader):
    """A YAML loader for which a duplicate key is an error (PyYAML uses the last value)."""

    def construct_mapping(self, node, deep=False):
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be a scalar", key_node.start_mark
                )
            key = self.construct_object(key_node, deep=deep)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key!r}", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def parse_yaml(text: str, loader: type[yaml.SafeLoader] = _BoundedLoader) -> Any:
    """Parse YAML with limits, with control characters in its texts replaced by their names.

    Raises:
        ValueError: it is invalid, too long, nested too deeply, or its aliases expand to too much.
    """
    if len(text) > MAX_YAML_BYTES:
        raise ValueError(f"longer than {MAX_YAML_BYTES} characters")
    try:
        data = yaml.load(text, loader)
        check_values(data, MAX_YAML_VALUES)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    except (yaml.YAMLError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(str(error)) from error
    return cleaned(data)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read the mapping in a YAML file. Raises RuleSafeError with the file name."""
    try:
        data = parse_yaml(read_text(path, MAX_YAML_BYTES), _UniqueKeys)
    except FileNotFoundError as error:
        raise RuleSafeError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise RuleSafeError(f"{path}: {error}") from error
    return as_mapping(data, f"{path}: the file")


def as_mapping(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        found = reprlib.repr(data)
        raise RuleSafeError(f"{where} must be a mapping of keys to values, not {found}")
    return data


def check_keys(data: Mapping[str, Any], valid: Iterable[str], where: str, optional=()) -> None:
    """Raise a RuleSafeError if keys are unknown or missing."""
    valid = list(valid)
    unknown = [str(key) for key in data if key not in valid]
    missing = [key for key in valid if key not in data and key not in optional]
    if not unknown and not missing:
        return
    problems = [
        f"{what} {', '.join(keys)}"
        for what, keys in (("unknown", unknown), ("missing", missing))
        if keys
    ]
    raise RuleSafeError(f"{where}: {'; '.join(problems)}; valid keys: {', '.join(valid)}")


def build(cls: type[T], data: Any, where: str) -> T:
    """Build an instance of a dataclass from parsed YAML.

    `where` ("file" or "file: parts.knob") is the prefix of error messages.
    """
    data = as_mapping(data, where)
    keys = keys_of(cls)
    optional = [
        key
        for key, of in keys.items()
        if of.default is not MISSING or of.default_factory is not MISSING
    ]
    check_keys(data, keys, where, optional)
    dot = "." if ": " in where else ": "
    values = {
        keys[key].name: _read(keys[key].type, data[key], f"{where}{dot}{key}", keys[key].metadata)
        for key in data
    }
    try:
        return cls(**values)
    except RuleSafeError as error:
        raise RuleSafeError(f"{where}: {error}") from error


def keys_of(cls: type) -> dict[str, Field]:
    """Return the fields of a dataclass by their keys in a file, which include the unit."""
    found = {}
    for of in fields(cls):
        unit = of.metadata.get("unit")
        found[f"{of.name}_{unit}" if unit else of.name] = of
    return found


def _read(kind: Any, value: Any, where: str, about: Mapping[str, Any]) -> Any:
    if kind in _READERS:
        return _READERS[kind](value, where, about)
    if isinstance(kind, type) and is_dataclass(kind):
        return build(kind, value, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        kinds = [each for each in arguments if each is not NoneType]
        if len(kinds) > 1:
            return _family(kinds, value, where, about.get("family"))
        return _read(kinds[0], value, where, about)
    if origin is Mapping:
        named = as_mapping(value, where)
        found: Any = {str(k): _read(arguments[1], named[k], f"{where}.{k}", about) for k in named}
    elif origin is tuple and isinstance(arguments[0], type) and is_dataclass(arguments[0]):
        if not isinstance(value, list):
            raise RuleSafeError(f"{where} is {reprlib.repr(value)}; valid: a list")
        found = tuple(_read(arguments[0], v, f"{where}[{i}]", about) for i, v in enumerate(value))
    else:
        found = convert(kind, value, where, about)
    if kind is float:
        return radians(found) if about.get("unit") == "deg" else found
    if kind is str:
        found = found.strip()
    if found in ("", (), {}):
        raise RuleSafeError(f"{where} is empty")
    return found


def _family(classes: Iterable[type], value: Any, where: str, default: str | None) -> Any:
    data = dict(as_mapping(value, where))
    named, family = {cls.__name__.lower(): cls for cls in classes}, data.pop("family", default)
    if family not in named:
        raise RuleSafeError(f"{where}.family is {family!r}; valid: {', '.join(named)}")
    return build(named[family], data, where)


def _ranges(value: Any, where: str, about: Mapping[str, Any]) -> Ranges:
    several = isinstance(value, list) and value and isinstance(value[0], list)
    pairs = value if several else [value]
    found = tuple(convert(tuple[float, float], pair, where, about) for pair in pairs)
    if any(first > last for first, last in found):
        raise RuleSafeError(f"{where} is {value}; valid: [from, to] with from <= to")
    return found


def _material(value: Any, where: str, about: Mapping[str, Any]) -> Material:
    data = as_mapping(value, where)
    check_keys(data, ("color", "roughness", "metallic"), where)
    share = {"low": 0, "high": 1}
    return Material(
        linear_rgb(data["color"], f"{where}.color"),
        convert(float, data["roughness"], f"{where}.roughness", share),
        convert(float, data["metallic"], f"{where}.metallic", share),
    )


def linear_rgb(color: Any, where: str) -> Color:
    """Convert an sRGB color "#rrggbb" to linear RGB (0..1)."""
    digits = color[1:] if isinstance(color, str) and color.startswith("#") else ""
    if len(digits) != 6 or any(c not in "0123456789abcdefABCDEF" for c in digits):
        raise RuleSafeError(f'{where} must be an sRGB color such as "#a0b1c2", not {color!r}')
    red, green, blue = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return srgb_to_linear(red), srgb_to_linear(green), srgb_to_linear(blue)


_READERS = {Ranges: _ranges, Material: _material}
"""Types with a custom reader."""
