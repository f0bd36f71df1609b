"""The attributes that a lock program has set on self, as a value with comparison, hash and copies.

A key is a flat description of the attributes: two states have the same key exactly if no program
can distinguish them. Lists, dicts and sets that are shared, or that hold themselves, are written
once and referred to afterwards. A state made from a key iterates over its sets in an order that the
key alone decides. Runs in the sandbox's own process and imports nothing heavy.
"""

from typing import Any

from rulesafe_design.restricted import Refusal

Key = tuple[Any, ...]

DEPTH = 50
"""Maximum depth of lists within lists."""

VALID = "None, bool, int, float, str, list, tuple, dict, set and frozenset"

TRUE, FALSE = ("b", 1), ("b", 0)
PLAIN = (str, int, type(None))
TAGS: dict[type, str] = {list: "l", tuple: "t", dict: "d", set: "s", frozenset: "z"}
KINDS: dict[str, Any] = {tag: kind for kind, tag in TAGS.items()}


def key_of(values: dict[str, Any]) -> Key:
    """Return the key of the attributes of self. Refusal "state" for anything except data."""
    numbers: dict[int, int] = {}
    key: list[Any] = []
    for name in sorted(values):
        key += (name, _encoded(values[name], name, numbers, 0))
    return tuple(key)


def values_of(key: Key) -> dict[str, Any]:
    """Return new attributes, which share nothing with those that the key was made from."""
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
    if kind not in TAGS:
        raise Refusal("state", f"self.{name} holds a {kind.__name__}; valid: {VALID}")
    if kind in (list, set, dict):
        if id(value) in numbers:
            return ("r", numbers[id(value)])
        numbers[id(value)] = len(numbers)
    # A dict in the order of insertion, which a program can see
    parts = [part for item in value.items() for part in item] if kind is dict else value
    key = [_encoded(part, name, numbers, depth + 1) for part in parts]
    return (TAGS[kind], *(_sorted(key) if kind in (set, frozenset) else key))


def _sorted(key: list[Any]) -> list[Any]:
    """Sort the elements of a set: numbers, which are not written out for it, then the rest."""
    numbers = sorted(part for part in key if type(part) is int)
    return numbers + sorted((part for part in key if type(part) is not int), key=_order)


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
    kind = KINDS[tag]
    if kind in (tuple, frozenset):
        return kind([_decoded(part, made) for part in parts])
    new = kind()
    made.append(new)
    if kind is dict:
        for i in range(0, len(parts), 2):
            item = _decoded(parts[i], made)
            new[item] = _decoded(parts[i + 1], made)
    else:
        add = new.extend if kind is list else new.update
        add([_decoded(part, made) for part in parts])
    return new
