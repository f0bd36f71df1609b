"""Replacement of values in nested frozen dataclasses."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

T = TypeVar("T")


def replace_nested(value: Any, kind: type[T], function: Callable[[T], T]) -> Any:
    """Return a value with each instance of `kind` in it replaced by `function(instance)`.

    Looks into dataclasses and tuples, but not into instances of `kind`. What does not change is
    returned as it is.
    """
    if isinstance(value, kind):
        return function(value)
    if isinstance(value, tuple):
        items = tuple(replace_nested(item, kind, function) for item in value)
        return (
            items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        )
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {}
    for of in fields(value):
        old = getattr(value, of.name)
        new = replace_nested(old, kind, function)
        if new is not old:
            changed[of.name] = new
    return replace(value, **changed) if changed else value
