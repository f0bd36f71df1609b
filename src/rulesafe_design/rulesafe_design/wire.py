"""Values between a task program and the planner, as JSON.

None, bool, int, float, str, list, tuple and dict are sent as they are; any other object stays in
its process, and a handle is sent instead. Imports nothing heavy: both processes use it.
"""

from collections.abc import Callable
from typing import Any

ATOMS = (type(None), bool, int, float, str)


def encode(value: Any, handle: Callable[[Any], int]) -> Any:
    """Return the value as JSON. `handle` returns the number of another object, or raises."""
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


def decode(data: Any, handled: Callable[[Any], Any]) -> Any:
    """Return the value. `handled` returns the object of a number, or raises.

    ValueError, TypeError or RecursionError for anything that `encode` never writes.
    """
    if type(data) in ATOMS:
        return data
    if type(data) is list:
        return [decode(part, handled) for part in data]
    if type(data) is dict and len(data) == 1:
        ((tag, parts),) = data.items()
        if tag == "handle":
            return handled(parts)
        if tag == "tuple" and type(parts) is list:
            return tuple([decode(part, handled) for part in parts])
        if tag == "dict" and type(parts) is list:
            return {decode(key, handled): decode(part, handled) for key, part in parts}
    raise ValueError("no value of a task program")
