"""The guard functions that a program rewritten by RestrictedPython calls at run time.

Access is controlled by allowlists for each type; there are no lists of forbidden names. This module
runs in the sandbox process (`worker`) and imports only light modules.
"""

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from RestrictedPython.Guards import guarded_iter_unpack_sequence, guarded_unpack_sequence

METHODS: dict[type, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        str: "capitalize casefold center count endswith find index isalnum isalpha isascii "
        "isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join "
        "ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust "
        "rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill",
        list: "append clear copy count extend index insert pop remove reverse sort",
        dict: "clear copy get items keys pop popitem setdefault update values",
        set: "add clear copy difference difference_update discard intersection "
        "intersection_update isdisjoint issubset issuperset pop remove symmetric_difference "
        "symmetric_difference_update union update",
        frozenset: "copy difference intersection isdisjoint issubset issuperset "
        "symmetric_difference union",
        tuple: "count index",
        int: "bit_length",
        bool: "",
        float: "is_integer",
    }.items()
}
"""The allowed attributes of each type; other types have none. str.format is not allowed, because a
format string can read any attribute."""

ITEMS = (str, list, tuple, dict, range)
"""Types whose values can be indexed."""

DATA = (*METHODS, type(None))
"""Types for which a missing attribute is an ordinary AttributeError. Access to attributes of all
other types is Forbidden."""

Names = dict[str, Any]


class Forbidden(AttributeError):
    """The program accessed something that the sandbox does not provide.

    A program can catch this error, so `raise_first_attempt` raises it again afterwards.
    """

    attempts: ClassVar[list["Forbidden"]] = []

    def __init__(self, message: str):
        super().__init__(message)
        self.attempts.append(self)


def raise_first_attempt() -> None:
    """Raise the first Forbidden error of the process again, if there was one."""
    if Forbidden.attempts:
        raise Forbidden.attempts[0]


class Provided:
    """Base class of objects that the sandbox provides to a program, such as self.

    The program can access only attributes that `read`, `write` and `remove` allow.
    """

    __slots__ = ()

    def read(self, name: str) -> Any:
        """Return the attribute, or raise AttributeError."""
        raise Forbidden(f"the attribute {name} does not exist")

    def write(self, name: str, value: Any) -> None:
        """Set the attribute, or raise AttributeError."""
        raise Forbidden(f"the attribute {name} cannot be set")

    def remove(self, name: str) -> None:
        """Delete the attribute, or raise AttributeError."""
        raise Forbidden(f"the attribute {name} cannot be deleted")


class Writer:
    """Wrapper of a provided object as the target of `=` and `del`."""

    __slots__ = ("_provided",)

    def __init__(self, provided: Provided):
        object.__setattr__(self, "_provided", provided)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_provided").write(name, value)

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_provided").remove(name)


def read_attribute(value: Any, name: str) -> Any:
    """Return `value.name`."""
    if isinstance(value, Provided):
        return value.read(name)
    kind = type(value)
    if name in METHODS.get(kind, ()):
        return getattr(value, name)
    valid = ", ".join(sorted(METHODS.get(kind, ()))) or "none"
    ordinary = kind in DATA and not hasattr(kind, name)
    error = AttributeError if ordinary else Forbidden
    raise error(f"{name} is not available for values of type {kind.__name__}; valid: {valid}")


def read_item(value: Any, key: Any) -> Any:
    """Return `value[key]`."""
    if type(value) in ITEMS:
        return value[key]
    error = TypeError if type(value) in DATA else Forbidden
    raise error(f"values of type {type(value).__name__} cannot be indexed")


def writable(value: Any) -> Any:
    """Return the object to use instead of `value` as the target of `=` and `del`."""
    if isinstance(value, Provided):
        return Writer(value)
    if type(value) in (list, dict):
        return value
    error = TypeError if type(value) in DATA else Forbidden
    raise error(f"values of type {type(value).__name__} cannot be modified")


IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    **{"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv},
    **{"%=": operator.imod, "**=": operator.ipow, "//=": operator.ifloordiv},
    **{"<<=": operator.ilshift, ">>=": operator.irshift},
    **{"|=": operator.ior, "^=": operator.ixor, "&=": operator.iand},
}


def in_place(sign: str, value: Any, other: Any) -> Any:
    """Return the result of an augmented assignment such as `value += other`."""
    if sign not in IN_PLACE:
        raise Forbidden(f"{sign} is not allowed; valid: {', '.join(IN_PLACE)}")
    return IN_PLACE[sign](value, other)


def apply(function: Any, /, *arguments: Any, **named: Any) -> Any:
    """Return `function(*arguments, **named)`."""
    return function(*arguments, **named)


# Built-in functions ---------------------------------------------------------------------------

_NOTHING = object()


def _getattr(value: Any, name: str, default: Any = _NOTHING) -> Any:
    try:
        return _provided(value, "getattr").read(_checked(name))
    except Forbidden:
        raise
    except AttributeError:
        if default is _NOTHING:
            raise
        return default


def _hasattr(value: Any, name: str) -> bool:
    try:
        _provided(value, "hasattr").read(_checked(name))
    except Forbidden:
        raise
    except AttributeError:
        return False
    return True


def _setattr(value: Any, name: str, new: Any) -> None:
    _provided(value, "setattr").write(_checked(name), new)


def _delattr(value: Any, name: str) -> None:
    _provided(value, "delattr").remove(_checked(name))


def _provided(value: Any, function: str) -> Provided:
    if isinstance(value, Provided):
        return value
    raise Forbidden(f"{function} is only allowed on self; for a dict, write key in d or d[key]")


def _checked(name: Any) -> str:
    if type(name) is not str or not name.isidentifier() or name.startswith("__"):
        raise Forbidden(
            f"{name!r} is not a valid attribute name; it must be an identifier without leading __"
        )
    return name


def _print(*values: Any, sep: Any = None, end: Any = None, flush: Any = None) -> None:
    """Discard the output of print."""


TYPES = (bool, dict, float, frozenset, int, list, set, str, tuple)
FUNCTIONS = (
    *(abs, all, any, chr, divmod, enumerate, filter, isinstance, iter, len, map, max, min, next),
    *(ord, range, repr, reversed, round, sorted, sum, zip),
)
EXCEPTIONS = (
    *(ArithmeticError, AssertionError, AttributeError, Exception, IndexError, KeyError),
    *(LookupError, NameError, NotImplementedError, OverflowError, RecursionError, RuntimeError),
    *(StopIteration, TypeError, ValueError, ZeroDivisionError),
)
BUILTINS: Names = dict(
    sorted(
        {
            **{thing.__name__: thing for thing in (*TYPES, *FUNCTIONS, *EXCEPTIONS)},
            **{"getattr": _getattr, "hasattr": _hasattr, "setattr": _setattr, "delattr": _delattr},
            "print": _print,
        }.items()
    )
)
"""All predefined names of a program."""


def namespace(objects: Names) -> Names:
    """Return the global namespace of a program, which contains the given objects."""
    return {
        "__builtins__": BUILTINS,
        "__name__": "program",
        "_getattr_": read_attribute,
        "_getitem_": read_item,
        "_getiter_": iter,
        "_write_": writable,
        "_inplacevar_": in_place,
        "_apply_": apply,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        **objects,
    }
