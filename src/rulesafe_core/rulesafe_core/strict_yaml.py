"""Frozen dataclasses from YAML, strictly: a key too many, too few or out of range is an error.

A field's unit is part of its key in the file: `width: float = number("m")` is read from `width_m`.
Angles are written in degrees (`range_deg`) and kept in radians.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, field, fields
from math import radians
from pathlib import Path
from typing import Any, TypeVar

import yaml

from rulesafe_core.body import Color, Material, linear
from rulesafe_core.errors import RuleSafeError

T = TypeVar("T")


def number(unit: str = "", low: float = 0.0, high: float = 1.0, **kwargs: Any) -> Any:
    """A number in `unit` ("deg" is kept in rad), `low` <= number <= `high` in the file's unit."""
    return field(metadata={"kind": "number", "unit": unit, "low": low, "high": high}, **kwargs)


def count(low: int, high: int, **kwargs: Any) -> Any:
    """A whole number, `low` <= number <= `high`."""
    return field(metadata={"kind": "count", "low": low, "high": high}, **kwargs)


def choice(*names: str, **kwargs: Any) -> Any:
    """One of the given words."""
    return field(metadata={"kind": "choice", "names": names}, **kwargs)


def text(**kwargs: Any) -> Any:
    return field(metadata={"kind": "text"}, **kwargs)


def ranges(unit: str = "", low: float = 0.0, high: float = 1.0, **kwargs: Any) -> Any:
    """A range [from, to] in `unit`, within `low` .. `high`, or a list of several: a tuple of pairs
    in either case."""
    return field(metadata={"kind": "ranges", "unit": unit, "low": low, "high": high}, **kwargs)


def vector(unit: str = "", **kwargs: Any) -> Any:
    """Three numbers."""
    return field(metadata={"kind": "vector", "unit": unit}, **kwargs)


def vectors(unit: str = "", **kwargs: Any) -> Any:
    """A list of one or more vectors."""
    return field(metadata={"kind": "vectors", "unit": unit}, **kwargs)


def named_vectors(unit: str = "", **kwargs: Any) -> Any:
    """One or more vectors by names that the file chooses."""
    return field(metadata={"kind": "named_vectors", "unit": unit}, **kwargs)


def material(**kwargs: Any) -> Any:
    """color (sRGB, "#rrggbb"), roughness and metallic (0..1)."""
    return field(metadata={"kind": "material"}, **kwargs)


def block(cls: type, **kwargs: Any) -> Any:
    """A nested dataclass."""
    return field(metadata={"kind": "block", "cls": cls}, **kwargs)


def variant(*classes: type, **kwargs: Any) -> Any:
    """One of several dataclasses, named by the key `family` (the class's name in lower case)."""
    names = {cls.__name__.lower(): cls for cls in classes}
    return field(metadata={"kind": "variant", "classes": names}, **kwargs)


class _UniqueKeys(yaml.SafeLoader):
    """PyYAML lets the last of two equal keys win; here the second is an error."""

    def construct_mapping(self, node, deep=False):
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be a word", key_node.start_mark
                )
            key = self.construct_object(key_node, deep=deep)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands here twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping that a file holds. Errors: RuleSafeError, naming the file."""
    try:
        data = yaml.load(path.read_text("utf-8"), _UniqueKeys)
    except OSError as error:
        raise RuleSafeError(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise RuleSafeError(f"{path}: {error}") from error
    return as_mapping(data, f"{path}: the file")


def as_mapping(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise RuleSafeError(f"{where} must hold keys and values, not {data!r}")
    return data


def check_keys(data: Mapping[str, Any], valid: Iterable[str], where: str, optional=()) -> None:
    """Errors: RuleSafeError for keys that are unknown or missing, listing the valid ones."""
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
    """An instance of a dataclass whose fields were made by this module's functions.

    `where` ("file: parts.knob") begins every error message.
    """
    data = as_mapping(data, where)
    keys = keys_of(cls)
    optional = [
        key
        for key, f in keys.items()
        if f.default is not MISSING or f.default_factory is not MISSING
    ]
    check_keys(data, keys, where, optional)
    values = {keys[key].name: _read(keys[key], data[key], f"{where}.{key}") for key in data}
    try:
        return cls(**values)
    except RuleSafeError as error:
        raise RuleSafeError(f"{where}: {error}") from error


def keys_of(cls: type) -> dict[str, Field]:
    """The keys of a dataclass in a file, units included, and their fields."""
    found = {}
    for f in fields(cls):
        unit = f.metadata.get("unit")
        found[f"{f.name}_{unit}" if unit else f.name] = f
    return found


def _read(f: Field, value: Any, where: str) -> Any:
    return _READERS[f.metadata["kind"]](value, f.metadata, where)


def _number(value: Any, meta: Mapping[str, Any], where: str) -> float:
    low, high, unit = meta["low"], meta["high"], meta["unit"]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        hint = " (YAML reads 1e-4 as a word; write 0.0001)" if isinstance(value, str) else ""
        raise RuleSafeError(f"{where} must be a number, not {value!r}{hint}")
    if not low <= value <= high:
        raise RuleSafeError(f"{where} must lie in {low:g} .. {high:g} {unit}, not {value}".rstrip())
    return radians(value) if unit == "deg" else float(value)


def _count(value: Any, meta: Mapping[str, Any], where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise RuleSafeError(f"{where} must be a whole number, not {value!r}")
    if not meta["low"] <= value <= meta["high"]:
        raise RuleSafeError(f"{where} must lie in {meta['low']} .. {meta['high']}, not {value}")
    return value


def _choice(value: Any, meta: Mapping[str, Any], where: str) -> str:
    if value not in meta["names"]:
        raise RuleSafeError(f"{where} must be one of {', '.join(meta['names'])}, not {value!r}")
    return value


def _text(value: Any, meta: Mapping[str, Any], where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RuleSafeError(f"{where} must be a text, not {value!r}")
    return value.strip()


def _ranges(value: Any, meta: Mapping[str, Any], where: str) -> tuple[tuple[float, float], ...]:
    several = isinstance(value, list) and bool(value) and isinstance(value[0], list)
    return tuple(_range(pair, meta, where) for pair in (value if several else [value]))


def _range(value: Any, meta: Mapping[str, Any], where: str) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise RuleSafeError(
            f"{where} must be a range [from, to] or a list of such ranges, not {value!r}"
        )
    first, last = (_number(end, meta, where) for end in value)
    if first > last:
        raise RuleSafeError(f"{where}: a range begins with its smaller end, unlike {value}")
    return first, last


def _vector(value: Any, meta: Mapping[str, Any], where: str) -> tuple[float, float, float]:
    if not isinstance(value, list) or len(value) != 3:
        raise RuleSafeError(f"{where} must be three numbers [x, y, z], not {value!r}")
    free = {"low": float("-inf"), "high": float("inf"), "unit": meta["unit"]}
    x, y, z = (_number(number, free, where) for number in value)
    return x, y, z


def _vectors(value: Any, meta: Mapping[str, Any], where: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or not value:
        raise RuleSafeError(f"{where} must be a list of points [[x, y, z], ...], not {value!r}")
    return tuple(_vector(point, meta, f"{where}[{i}]") for i, point in enumerate(value))


def _named_vectors(value: Any, meta: Mapping[str, Any], where: str) -> dict[str, Any]:
    named = as_mapping(value, where)
    if not named:
        raise RuleSafeError(f"{where} must hold one or more vectors by name")
    return {str(name): _vector(named[name], meta, f"{where}.{name}") for name in named}


def _material(value: Any, meta: Mapping[str, Any], where: str) -> Material:
    data = as_mapping(value, where)
    check_keys(data, ("color", "roughness", "metallic"), where)
    part = {"low": 0.0, "high": 1.0, "unit": ""}
    return Material(
        linear_rgb(data["color"], f"{where}.color"),
        _number(data["roughness"], part, f"{where}.roughness"),
        _number(data["metallic"], part, f"{where}.metallic"),
    )


def linear_rgb(color: Any, where: str) -> Color:
    """Linear RGB (0..1) of an sRGB color "#rrggbb"."""
    digits = color[1:] if isinstance(color, str) and color.startswith("#") else ""
    if len(digits) != 6 or any(c not in "0123456789abcdefABCDEF" for c in digits):
        raise RuleSafeError(f'{where} must be an sRGB color such as "#a0b1c2", not {color!r}')
    red, green, blue = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return linear(red), linear(green), linear(blue)


def _block(value: Any, meta: Mapping[str, Any], where: str) -> Any:
    return build(meta["cls"], value, where)


def _variant(value: Any, meta: Mapping[str, Any], where: str) -> Any:
    data = dict(as_mapping(value, where))
    classes = meta["classes"]
    family = data.pop("family", None)
    if family not in classes:
        raise RuleSafeError(f"{where}.family must be one of {', '.join(classes)}, not {family!r}")
    return build(classes[family], data, where)


_READERS = {
    "number": _number,
    "count": _count,
    "choice": _choice,
    "text": _text,
    "ranges": _ranges,
    "vector": _vector,
    "vectors": _vectors,
    "named_vectors": _named_vectors,
    "material": _material,
    "block": _block,
    "variant": _variant,
}
