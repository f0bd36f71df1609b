"""The guards that RestrictedPython's rewriting calls while a program runs.

All access is granted by lists of what is allowed, type by type; nothing is forbidden by a list.
Runs in the sandbox's own process (`worker`) and imports nothing heavy.
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
"""The attributes of each type of value; all other types have none. str.format is not among them:
it reads attributes by itself."""

ITEMS = (str, list, tuple, dict, range)
"""Types whose values take an index or a key."""

DATA = (*METHODS, type(None))
"""Types for which a missing attribute is an ordinary error of the program. With all other types,
any access is Forbidden."""

Names = dict[str, Any]


class Forbidden(AttributeError):
    """The program accessed something that the sandbox does not provide. It may catch this error;
    `raise_first_attempt` raises it again."""

    attempts: ClassVar[list["Forbidden"]] = []

    def __init__(self, message: str):
        super().__init__(message)
        self.attempts.append(self)


def raise_first_attempt() -> None:
    """Raise the first Forbidden of the process, if there was one."""
    if Forbidden.attempts:
        raise Forbidden.attempts[0]


class Provided:
    """An object that the sandbox provides to a program, such as self. The program can access only
    what `read`, `write` and `remove` allow."""

    __slots__ = ()

    def read(self, name: str) -> Any:
        """Return the attribute of this name; AttributeError without one."""
        raise Forbidden(f"there is no attribute {name}")

    def write(self, name: str, value: Any) -> None:
        """Sets such an attribute."""
        raise Forbidden(f"the attribute {name} cannot be set")

    def remove(self, name: str) -> None:
        """Deletes such an attribute."""
        raise Forbidden(f"the attribute {name} cannot be deleted")


class Writer:
    """Replaces a provided object on the left of `=` and after `del`."""

    __slots__ = ("_provided",)

    def __init__(self, provided: Provided):
        object.__setattr__(self, "_provided", provided)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_provided").write(name, value)

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_provided").remove(name)


def read_attribute(value: Any, name: str) -> Any:
    """`value.name`."""
    if isinstance(value, Provided):
        return value.read(name)
    kind = type(value)
    if name in METHODS.get(kind, ()):
        return getattr(value, name)
    valid = ", ".join(sorted(METHODS.get(kind, ()))) or "none"
    mistaken = kind in DATA and not hasattr(kind, name)
    fault = AttributeError if mistaken else Forbidden
    raise fault(f"values of type {kind.__name__} have no {name} here; valid: {valid}")


def read_item(value: Any, key: Any) -> Any:
    """`value[key]`."""
    if type(value) in ITEMS:
        return value[key]
    fault = TypeError if type(value) in DATA else Forbidden
    raise fault(f"values of type {type(value).__name__} have no items here")


def writable(value: Any) -> Any:
    """What takes the place of `value` on the left of `=` and after `del`."""
    if isinstance(value, Provided):
        return Writer(value)
    if type(value) in (list, dict):
        return value
    fault = TypeError if type(value) in DATA else Forbidden
    raise fault(f"values of type {type(value).__name__} cannot be written to")


IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    **{"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv},
    **{"%=": operator.imod, "**=": operator.ipow, "//=": operator.ifloordiv},
    **{"<<=": operator.ilshift, ">>=": operator.irshift},
    **{"|=": operator.ior, "^=": operator.ixor, "&=": operator.iand},
}


def in_place(sign: str, value: Any, other: Any) -> Any:
    """`value += other` and the like."""
    if sign not in IN_PLACE:
        raise Forbidden(f"{sign} is not allowed")
    return IN_PLACE[sign](value, other)


def apply(function: Any, /, *arguments: Any, **named: Any) -> Any:
    """`function(*arguments, **named)`."""
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
    raise Forbidden(f"{function} works on self only; for a dict write key in d, d[key]")


def _checked(name: Any) -> str:
    if type(name) is not str or not name.isidentifier() or name.startswith("__"):
        raise Forbidden(f"{name!r} is no name of an attribute that a program may use")
    return name


def _print(*values: Any, sep: Any = None, end: Any = None, flush: Any = None) -> None:
    """Ignore what a program prints."""


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
"""All names that a program has without defining them."""


def namespace(objects: Names) -> Names:
    """Return the global names of a program that receives these objects."""
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
