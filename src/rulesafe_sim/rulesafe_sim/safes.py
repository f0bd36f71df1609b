"""The safes: ten YAML files in data/safes, and whatever file of that form a user writes.

    safe = load_safe("safe_03")          # or load_safe("my_safe.yaml")
    safe.parts["knob"].range             # rad; 0 = closed
    safe.grasps("knob", "turn")          # where and how a pinch takes it

`safe_body.safe_body(safe)` makes the geometry. docs/safes.md explains the file, key by key.
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.strict_yaml import (
    as_mapping,
    build,
    check_keys,
    choice,
    read_yaml,
    text,
)
from rulesafe_sim.safe import Case, Door, Handle, Knob, Looks, Safe
from rulesafe_sim.safe_checks import check_safe

SAFES = tuple(f"safe_{i:02d}" for i in range(1, 11))
"""Ids of the safes that come with the project."""


def load_safe(id_or_path: str | Path) -> Safe:
    """The safe of an id in SAFES, or of a YAML file's path. Errors: RuleSafeError naming file and
    key."""
    if id_or_path in SAFES:
        return _own_safe(str(id_or_path))
    path = Path(id_or_path)
    if path.suffix not in (".yaml", ".yml"):
        raise unknown_name("safe", str(id_or_path), (*SAFES, "or a path to a .yaml file"))
    return read_safe(path)


@lru_cache
def _own_safe(id: str) -> Safe:
    with resources.as_file(resources.files("rulesafe_sim") / f"data/safes/{id}.yaml") as path:
        return read_safe(path)


def read_safe(path: Path) -> Safe:
    """The safe that a YAML file describes, checked."""
    data = read_yaml(path)
    where = path.name
    check_keys(data, ("title", "hinge", "case", "looks", "parts"), where)
    parts = as_mapping(data["parts"], f"{where}: parts")
    check_keys(parts, ("knob", "handle", "door"), f"{where}: parts")
    head = build(_Head, {key: data[key] for key in ("title", "hinge")}, f"{where}: safe")
    safe = Safe(
        id=path.stem,
        title=head.title,
        hinge=head.hinge,
        case=build(Case, data["case"], f"{where}: case"),
        looks=build(Looks, data["looks"], f"{where}: looks"),
        knob=build(Knob, parts["knob"], f"{where}: parts.knob"),
        handle=build(Handle, parts["handle"], f"{where}: parts.handle"),
        door=build(Door, parts["door"], f"{where}: parts.door"),
    )
    try:
        check_safe(safe)
    except RuleSafeError as error:
        raise RuleSafeError(f"{where}: {error}") from error
    return safe


@dataclass(frozen=True)
class _Head:
    title: str = text()
    hinge: str = choice("left", "right")
