"""What a program can reach while it runs: the guards that RestrictedPython's rewriting calls.

Everything is given by lists of what is allowed, type by type; there is no list of what is not.
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
"""Types with which a program may simply be mistaken: what they do not have at all is an error like
any other. With all other types nothing is given, and it is Forbidden to ask."""

Names = dict[str, Any]


class Forbidden(AttributeError):
    """The program reached for what the sandbox does not give. It may catch this, but `no_attempt`
    still tells."""

    attempts: ClassVar[list["Forbidden"]] = []

    def __init__(self, message: str):
        super().__init__(message)
        self.attempts.append(self)


def no_attempt() -> None:
    """Raises the first Forbidden there ever was, if there was one."""
    if Forbidden.attempts:
        raise Forbidden.attempts[0]


class Given:
    """An object that the sandbox hands to a program, such as self. The program reads what `read`
    answers, and nothing else of it."""

    __slots__ = ()

    def read(self, name: str) -> Any:
        """The attribute that the program sees under this name; AttributeError without one."""
        raise Forbidden(f"there is no attribute {name}")

    def write(self, name: str, value: Any) -> None:
        """Sets such an attribute."""
        raise Forbidden(f"the attribute {name} cannot be set")

    def remove(self, name: str) -> None:
        """Deletes such an attribute."""
        raise Forbidden(f"the attribute {name} cannot be deleted")


class Writer:
    """Stands on the left of `=` and after `del` for an object that is given."""

    __slots__ = ("_given",)

    def __init__(self, given: Given):
        object.__setattr__(self, "_given", given)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_given").write(name, value)

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_given").remove(name)


def read_attribute(value: Any, name: str) -> Any:
    """`value.name`."""
    if isinstance(value, Given):
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
    if isinstance(value, Given):
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
        return _given(value, "getattr").read(_checked(name))
    except Forbidden:
        raise
    except AttributeError:
        if default is _NOTHING:
            raise
        return default


def _hasattr(value: Any, name: str) -> bool:
    try:
        _given(value, "hasattr").read(_checked(name))
    except Forbidden:
        raise
    except AttributeError:
        return False
    return True


def _setattr(value: Any, name: str, new: Any) -> None:
    _given(value, "setattr").write(_checked(name), new)


def _delattr(value: Any, name: str) -> None:
    _given(value, "delattr").remove(_checked(name))


def _given(value: Any, function: str) -> Given:
    if isinstance(value, Given):
        return value
    raise Forbidden(f"{function} works on self only; for a dict write key in d, d[key]")


def _checked(name: Any) -> str:
    if type(name) is not str or not name.isidentifier() or name.startswith("__"):
        raise Forbidden(f"{name!r} is no name of an attribute that a program may use")
    return name


def _print(*values: Any, sep: Any = None, end: Any = None, flush: Any = None) -> None:
    """Nobody reads what a program prints."""


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
"""All that a program can name without having made it."""


def namespace(given: Names) -> Names:
    """The global names of a program that gets these objects."""
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
        **given,
    }
