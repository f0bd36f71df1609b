"""Encode the values exchanged between a task program and the planner as JSON.

None, bool, int, float, str, list, tuple and dict are sent by value. Any other object stays in its
process, and a handle is sent instead. Both processes use this module, so its imports are light.
"""

from collections.abc import Callable
from typing import Any

ATOMS = (type(None), bool, int, float, str)


def encode(value: Any, handle: Callable[[Any], int]) -> Any:
    """Return the value as JSON. `handle` returns the number for any other object, or raises."""
    if isinstance(value, ATOMS):
        return value
    if isinstance(value, list):
        return [encode(part, handle) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(part, handle) for part in value]}
    if isinstance(value, dict):
        pairs = [[encode(key, handle), encode(part, handle)] for key, part in value.items()]
        return {"dict": pairs}
    return {"handle": handle(value)}


def decode(data: Any, lookup: Callable[[Any], Any]) -> Any:
    """Return the decoded value. `lookup` returns the object for a number, or raises.

    Raises:
        ValueError, TypeError, RecursionError: The data was not produced by `encode`.
    """
    if type(data) in ATOMS:
        return data
    if type(data) is list:
        return [decode(part, lookup) for part in data]
    if type(data) is dict and len(data) == 1:
        ((tag, parts),) = data.items()
        if tag == "handle":
            return lookup(parts)
        if tag == "tuple" and type(parts) is list:
            return tuple([decode(part, lookup) for part in parts])
        if tag == "dict" and type(parts) is list:
            return {decode(key, lookup): decode(part, lookup) for key, part in parts}
    raise ValueError("not an encoded value")
