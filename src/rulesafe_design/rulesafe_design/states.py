"""What a lock program has put on self, as a value that can be compared, hashed and copied from.

A key is a flat description of the attributes: two states have the same key exactly where no program
can tell them apart. Lists, dicts and sets that are shared, or that hold themselves, are written
once and referred to afterwards. A state made from a key iterates over its sets in an order that the
key alone decides. Runs in the sandbox's own process and imports nothing heavy.
"""

from typing import Any

from rulesafe_design.restricted import Refusal

Key = tuple[Any, ...]

DEPTH = 50
"""Lists within lists are followed so far."""

VALID = "None, bool, int, float, str, list, tuple, dict, set and frozenset"

TRUE, FALSE = ("b", 1), ("b", 0)
PLAIN = (str, int, type(None))


def key_of(values: dict[str, Any]) -> Key:
    """The key of the attributes of self. Refusal "state" for what is not data."""
    numbers: dict[int, int] = {}
    key: list[Any] = []
    for name in sorted(values):
        key += (name, _encoded(values[name], name, numbers, 0))
    return tuple(key)


def values_of(key: Key) -> dict[str, Any]:
    """The attributes anew; nothing in them is shared with those that the key was made from."""
    made: list[Any] = []
    return {key[i]: _decoded(key[i + 1], made) for i in range(0, len(key), 2)}


def _encoded(value: Any, name: str, numbers: dict[int, int], depth: int) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is bool:
        return TRUE if value else FALSE
    if kind is float:
        if value != value:
            raise Refusal("state", f"self.{name} holds nan, which equals nothing, not even itself")
        return ("f", value.hex())
    if depth >= DEPTH:
        raise Refusal("state", f"self.{name} is nested deeper than {DEPTH} levels")
    if kind is tuple:
        return ("t", *[_encoded(part, name, numbers, depth + 1) for part in value])
    if kind is frozenset:
        return ("z", *_sorted(value, name, numbers, depth))
    if kind not in (list, dict, set):
        raise Refusal("state", f"self.{name} holds a {kind.__name__}; valid: {VALID}")
    if id(value) in numbers:
        return ("r", numbers[id(value)])
    numbers[id(value)] = len(numbers)
    return _container(value, kind, name, numbers, depth)


def _container(value: Any, kind: type, name: str, numbers: dict[int, int], depth: int) -> Key:
    if kind is list:
        return ("l", *[_encoded(part, name, numbers, depth + 1) for part in value])
    if kind is set:
        return ("s", *_sorted(value, name, numbers, depth))
    key: list[Any] = ["d"]  # with the order of insertion, which a program can see
    for item in value:
        key.append(_encoded(item, name, numbers, depth + 1))
        key.append(_encoded(value[item], name, numbers, depth + 1))
    return tuple(key)


def _sorted(value: Any, name: str, numbers: dict[int, int], depth: int) -> list[Any]:
    """In an order of its own: text is not compared with numbers, nor written out for it."""
    parts = [_encoded(part, name, numbers, depth + 1) for part in value]
    whole = sorted(part for part in parts if type(part) is int)
    return whole + sorted((part for part in parts if type(part) is not int), key=_order)


def _order(part: Any) -> str:
    try:
        return repr(part)
    except ValueError:  # Python writes out no numbers of thousands of digits
        raise Refusal("state", "a set on self holds a tuple with a number too large") from None


def _decoded(key: Any, made: list[Any]) -> Any:
    if type(key) is not tuple:
        return key
    tag, parts = key[0], key[1:]
    if tag == "b":
        return bool(parts[0])
    if tag == "f":
        return float.fromhex(parts[0])
    if tag == "r":
        return made[parts[0]]
    if tag == "t":
        return tuple([_decoded(part, made) for part in parts])
    if tag == "z":
        return frozenset([_decoded(part, made) for part in parts])
    new: Any = {"l": list, "s": set, "d": dict}[tag]()
    made.append(new)
    if tag == "l":
        new.extend([_decoded(part, made) for part in parts])
    elif tag == "s":
        new.update([_decoded(part, made) for part in parts])
    else:
        for i in range(0, len(parts), 2):
            item = _decoded(parts[i], made)
            new[item] = _decoded(parts[i + 1], made)
    return new
