"""Convert the attributes that a lock program has set on self to a hashable key, and back.

Two states have the same key if and only if no program can distinguish them. The key contains each
list, dict and set once; further references (shared or cyclic) are stored as numbers. The iteration
order of sets in a decoded state depends only on the key.

This module runs in the sandbox process and imports only light modules.
"""

from typing import Any

from rulesafe_design.restricted import Refusal

Key = tuple[Any, ...]

DEPTH = 50
"""Maximum nesting depth of containers."""

VALID = "None, bool, int, float, str, list, tuple, dict, set and frozenset"

TRUE, FALSE = ("b", 1), ("b", 0)
PLAIN = (str, int, type(None))
TAGS: dict[type, str] = {list: "l", tuple: "t", dict: "d", set: "s", frozenset: "z"}
KINDS: dict[str, Any] = {tag: kind for kind, tag in TAGS.items()}


def key_of(values: dict[str, Any]) -> Key:
    """Return the key of the attributes of self; raise Refusal "state" unless all are plain data."""
    numbers: dict[int, int] = {}
    key: list[Any] = []
    for name in sorted(values):
        key += (name, _encoded(values[name], name, numbers, 0))
    return tuple(key)


def values_of(key: Key) -> dict[str, Any]:
    """Return the attributes for a key, as new objects."""
    containers: list[Any] = []
    return {key[i]: _decoded(key[i + 1], containers) for i in range(0, len(key), 2)}


def _encoded(value: Any, name: str, numbers: dict[int, int], depth: int) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is bool:
        return TRUE if value else FALSE
    if kind is float:
        if value != value:
            raise Refusal("state", f"self.{name} contains nan; nan is not equal to itself")
        return ("f", value.hex())
    if depth >= DEPTH:
        raise Refusal("state", f"self.{name} is nested deeper than {DEPTH} levels")
    if kind not in TAGS:
        raise Refusal("state", f"self.{name} contains a {kind.__name__}; valid: {VALID}")
    if kind in (list, set, dict):
        if id(value) in numbers:
            return ("r", numbers[id(value)])
        numbers[id(value)] = len(numbers)
    # A program can observe the insertion order of a dict, so the order is part of the key
    parts = [part for item in value.items() for part in item] if kind is dict else value
    key = [_encoded(part, name, numbers, depth + 1) for part in parts]
    return (TAGS[kind], *(_sorted(key) if kind in (set, frozenset) else key))


def _sorted(key: list[Any]) -> list[Any]:
    """Return the encoded elements of a set in a fixed order: ints by value, then the others."""
    numbers = sorted(part for part in key if type(part) is int)
    return numbers + sorted((part for part in key if type(part) is not int), key=_order)


def _order(part: Any) -> str:
    try:
        return repr(part)
    except ValueError:  # Python limits the number of digits when it converts an int to text
        raise Refusal("state", "a set on self contains a tuple with too large an int") from None


def _decoded(key: Any, containers: list[Any]) -> Any:
    if type(key) is not tuple:
        return key
    tag, parts = key[0], key[1:]
    if tag == "b":
        return bool(parts[0])
    if tag == "f":
        return float.fromhex(parts[0])
    if tag == "r":
        return containers[parts[0]]
    kind = KINDS[tag]
    if kind in (tuple, frozenset):
        return kind([_decoded(part, containers) for part in parts])
    new = kind()
    containers.append(new)
    if kind is dict:
        for i in range(0, len(parts), 2):
            item = _decoded(parts[i], containers)
            new[item] = _decoded(parts[i + 1], containers)
    else:
        add = new.extend if kind is list else new.update
        add([_decoded(part, containers) for part in parts])
    return new
