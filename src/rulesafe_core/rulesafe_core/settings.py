"""Settings: dataclass fields that define default, range, unit and description in one place.

    @dataclass(frozen=True)
    class Ramp(Settings):
        duration: float = setting(3.0, "Time from weight 0 to 1.", 0.2, 30, "s")

    Ramp(duration=60)  # RuleSafeError: duration is 60; valid: 0.2 to 30 s

ROS node parameters (`ros.declare`), YAML files (`strict_yaml.build`), command-line help and
the references of the site are derived from the same fields.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import cleandoc
from math import inf, isfinite
from numbers import Integral
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from rulesafe_core.errors import RuleSafeError

_BOUNDS = {
    "low": (operator.ge, "{} or more"),
    "high": (operator.le, "{} or less"),
    "above": (operator.gt, "above {}"),
    "below": (operator.lt, "below {}"),
}
MAX_SHOWN = 200
"""Maximum number of characters of a value in an error message."""

_SCALARS = {float: "a number", int: "an integer", bool: "true or false", str: "a string"}


def check_positive(name: str, value: Any) -> None:
    """Raise RuleSafeError unless a number is a positive integer, also one of numpy."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise RuleSafeError(f"{name} is {value!r}; valid: an integer of 1 or more")


def setting(
    default: Any,
    help: str = "",
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    *,
    above: float | None = None,
    below: float | None = None,
    changeable: bool = False,
    check: Callable[[Any], object] | None = None,
) -> Any:
    """Define a dataclass field with metadata.

    Args:
        default: default value; MISSING makes the setting required (see `required`).
        help: description of the setting.
        low, high: inclusive bounds of a number, or of each number in a tuple.
        unit: unit of the value and its bounds.
        above, below: exclusive bounds.
        changeable: whether the ROS parameter can be changed while the node runs.
        check: function that validates a change of the ROS parameter beyond its type and range, such
            as whether a file exists. It receives the settings after the change, and rejects them
            with a RuleSafeError.
    """
    bounds = {"low": low, "high": high, "above": above, "below": below}
    about: dict[str, Any] = {name: bound for name, bound in bounds.items() if bound is not None}
    about |= {"unit": unit, "help": help, "changeable": changeable, "check": check}
    return field(default=default, metadata=about)


def required(
    low: float | None = None, high: float | None = None, unit: str = "", **about: Any
) -> Any:
    """Define a dataclass field without a default; for the arguments see `setting`."""
    return setting(MISSING, low=low, high=high, unit=unit, **about)


@dataclass(frozen=True)
class Settings:
    """Base class of settings: validates the values of a new instance, and adds the help of each
    setting to the docstring of the class."""

    def __init_subclass__(cls) -> None:
        helps = [
            f"    {name}: {described(of.metadata)}"
            for name, of in vars(cls).items()
            if isinstance(of, Field) and of.metadata.get("help")
        ]
        if helps:
            cls.__doc__ = "\n".join([cleandoc(cls.__doc__ or ""), "", "Attributes:", *helps])

    def __post_init__(self) -> None:
        for of in fields(self):
            convert(of.type, getattr(self, of.name), of.name, of.metadata)


def described(about: Mapping[str, Any]) -> str:
    """Return the help text of a field's metadata, with its unit."""
    return f"{about['help']} Unit: {about['unit']}." if about["unit"] else about["help"]


def valid_range(about: Mapping[str, Any]) -> str:
    """Format the bounds and unit of a field's metadata, such as "0.2 to 30 s" or "above 0"."""
    bounds = {name: about[name] for name in _BOUNDS if name in about}
    shown = {name: f"{v:g}" if isinstance(v, float) else str(v) for name, v in bounds.items()}
    if shown.keys() == {"low", "high"}:
        text = f"{shown['low']} to {shown['high']}"
    else:
        text = " and ".join(_BOUNDS[name][1].format(v) for name, v in shown.items())
    return f"{text} {about.get('unit', '')}".strip()


def convert(kind: Any, value: Any, name: str, about: Mapping[str, Any]) -> Any:
    """Convert a value to the type of its setting and validate it.

    Args:
        kind: float, int, bool, str, Literal, a tuple of these, or one of these or None. A value of
            any other type is returned unchanged.
        value: value as read from a file or ROS parameter: a list for a tuple, or 1 for 1.0.
        name: name of the setting, for the error message.
        about: metadata of the field.

    Raises:
        RuleSafeError: the type is wrong or the number is out of range.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if NoneType in arguments and len(arguments) == 2:
        return None if value is None else convert(arguments[0], value, name, about)
    if origin is Literal:
        if value not in arguments:
            raise RuleSafeError(
                f"{name} is {_shown(value)}; valid: {', '.join(map(str, arguments))}"
            )
        return value
    if origin is tuple:
        return _converted_tuple(arguments, value, name, about)
    if kind not in _SCALARS:
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 1e300 else inf
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        valid = ", ".join(filter(None, (_SCALARS[kind], valid_range(about))))
        hint = " (write 1e-4 as 0.0001)" if kind is float and isinstance(value, str) else ""
        raise RuleSafeError(f"{name} is {_shown(value)}; valid: {valid}{hint}")
    bounds = [(_BOUNDS[bound][0], about[bound]) for bound in _BOUNDS if bound in about]
    finite = kind is not float or isfinite(value)
    if not (finite and all(satisfies(value, limit) for satisfies, limit in bounds)):
        valid = valid_range(about) if bounds else "a finite number"
        shown = f"{value:g}" if kind is float else _shown(value)
        raise RuleSafeError(f"{name} is {shown}; valid: {valid}")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]} ..."


def _converted_tuple(
    kinds: tuple[Any, ...], value: Any, name: str, about: Mapping[str, Any]
) -> tuple[Any, ...]:
    items = tuple(value) if isinstance(value, (tuple, list)) else None
    if items is not None and kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(items)
    if items is None or len(items) != len(kinds):
        count = "" if kinds[-1] is Ellipsis else f"{len(kinds)} "
        what = "numbers" if kinds[0] in (float, int) else "values"
        raise RuleSafeError(f"{name} is {_shown(value)}; valid: a list of {count}{what}")
    return tuple(
        convert(kind, item, f"{name}[{i}]", about)
        for i, (kind, item) in enumerate(zip(kinds, items, strict=True))
    )
