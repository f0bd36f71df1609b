"""Write dataclasses as YAML, the inverse of strict_yaml.build."""

from dataclasses import MISSING, is_dataclass
from math import degrees
from typing import Any, get_args, get_origin

import yaml

from rulesafe_core.body import Material, linear_to_srgb
from rulesafe_core.strict_yaml import keys_of

DECIMALS = 6
"""Numbers are rounded to this many decimals."""


def to_data(value: Any, about: Any = None) -> Any:
    """Return the mappings, lists, texts and numbers of a dataclass, with the keys of its file.

    Fields with their default value are omitted. `about`: the field of which it is the value.
    """
    if isinstance(value, Material):
        return _material(value)
    if is_dataclass(value) and not isinstance(value, type):
        found = {
            key: to_data(getattr(value, of.name), of)
            for key, of in keys_of(type(value)).items()
            if of.default is MISSING or getattr(value, of.name) != of.default
        }
        kinds = _classes(about)
        if len(kinds) > 1:
            return {"family": type(value).__name__.lower()} | found
        return found
    if isinstance(value, (tuple, list)):
        return [to_data(item) for item in value]
    if isinstance(value, dict):
        return {key: to_data(item) for key, item in value.items()}
    if isinstance(value, float):
        unit = about.metadata.get("unit") if about is not None else ""
        number = round(degrees(value) if unit == "deg" else value, DECIMALS) + 0.0
        return int(number) if number.is_integer() and abs(number) < 1e6 else number
    return value


def _classes(about: Any) -> list[type]:
    """Return the dataclasses among which a field's value is."""
    kind = None if about is None else about.type
    if kind is None or get_origin(kind) is tuple:
        return []
    return [each for each in get_args(kind) if isinstance(each, type) and is_dataclass(each)]


def _material(look: Material) -> dict[str, Any]:
    levels = (round(255 * linear_to_srgb(min(1.0, max(0.0, value)))) for value in look.color)
    color = "#" + "".join(f"{level:02x}" for level in levels)
    return {
        "color": color,
        "roughness": round(look.roughness, 3),
        "metallic": round(look.metallic, 3),
    }


class _Dumper(yaml.SafeDumper):
    """Writes lists and mappings of single values on one line."""

    def represent_sequence(self, tag, sequence, flow_style=None):
        return super().represent_sequence(tag, sequence, flow_style=_short(sequence))

    def represent_mapping(self, tag, mapping, flow_style=None):
        flat = isinstance(mapping, dict) and set(mapping) == {"color", "roughness", "metallic"}
        return super().represent_mapping(tag, mapping, flow_style=flat)


def _short(sequence: Any) -> bool:
    return all(
        isinstance(item, (int, float)) or (isinstance(item, list) and len(item) == 3)
        for item in sequence
    )


def dump(data: Any) -> str:
    """Return YAML, with the keys in the order of the data and lines of up to 100 characters."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True)
