"""Evaluate the Python expressions of $(eval ...): arithmetic, comparisons and text only.

`ros2 launch` evaluates any expression. The expressions supported here have the same value there.
Expressions and all values within them have a maximum size, nested lists included. Each operation
therefore takes a bounded time, and their number is bounded by the length of the expression.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from rulesafe_ros.launch.model import LaunchError

MAX_EXPRESSION = 4_000
"""Maximum number of characters of an expression."""

MAX_LENGTH = 10_000
"""Maximum size of a text or list within an expression, as measured by `_size`."""

MAX_BITS = 4_000
"""Maximum number of bits of an integer within an expression."""

_NODES = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Load),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.UAdd),
    *(ast.And, ast.Or, ast.Not, ast.In, ast.NotIn),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
# `ros2 launch` provides the members of `math` both as `x` and as `math.x`.
_MATH = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
_FUNCTIONS = {f.__name__: f for f in (abs, bool, float, int, len, max, min, round, str)}
_NAMES: dict[str, Any] = {**_FUNCTIONS, **_MATH, "pow": math.pow, "math": math}
_TEXT_METHODS = ("endswith", "lower", "lstrip", "replace", "rstrip", "startswith", "strip", "upper")


def evaluate(expression: str) -> str:
    """Return the value of a Python expression as text.

    Raises:
        LaunchError: the expression is invalid or not supported, or its evaluation fails.
    """
    try:
        if len(expression) > MAX_EXPRESSION:
            raise ValueError(f"it is longer than {MAX_EXPRESSION} characters")
        tree = ast.parse(expression.strip(), mode="eval")
        _check(tree.body)
        bounded = ast.fix_missing_locations(_Bounded().visit(tree))
        names = {**_NAMES, "_operate": _operate, "_call": _call, "_bounded": _bounded}
        return str(eval(compile(bounded, "eval", "eval"), {"__builtins__": {}, **names}))
    except SyntaxError as error:
        raise LaunchError(f"{expression!r} is not a Python expression: {error.msg}") from None
    except (MemoryError, RecursionError):
        raise LaunchError(f"{expression:.200} is nested too deeply") from None
    except (ArithmeticError, AttributeError, TypeError, ValueError, LookupError) as error:
        raise LaunchError(f"evaluation of {expression!r:.200} failed: {error}") from None


class _Bounded(ast.NodeTransformer):
    """Bounds the values of operators and calls by `_operate` and `_call`, and those of lists."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = ast.Constant(type(node.op).__name__)
        return ast.Call(ast.Name("_operate", ast.Load()), [name, node.left, node.right], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_call", ast.Load()), [node.func, *node.args], [])

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_bounded", ast.Load()), [node], [])

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_bounded", ast.Load()), [node], [])


_OPERATORS = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
}


def _operate(name: str, left: Any, right: Any) -> Any:
    """Apply an operator; raise ValueError if the result could be too large."""
    bits = [number.bit_length() for number in (left, right) if isinstance(number, int)]
    sizes = [_size(value) for value in (left, right) if isinstance(value, (str, list, tuple))]
    if name == "Pow" and len(bits) == 2 and abs(right) * max(bits[0], 1) > MAX_BITS:
        raise ValueError(f"{left} ** {right} is too large")
    if name == "Mult" and sizes and bits:
        count = left if isinstance(left, int) else right
        if count * sizes[0] > MAX_LENGTH:
            raise ValueError(f"a text or list of {count * sizes[0]} items is too long")
    if name == "Mod" and isinstance(left, str) and re.search(r"%[^a-zA-Z%]*(\d{4}|\*)", left):
        raise ValueError("a width or precision in % is too large")
    return _bounded(_OPERATORS[name](left, right))


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function; raise ValueError if the result could be too large."""
    name = getattr(function, "__name__", "")
    costly = arguments if name in ("factorial", "comb", "perm") else ()
    for value in arguments[1:] if name == "round" else costly:
        if isinstance(value, int) and abs(value) > MAX_BITS:
            raise ValueError(f"{value} is too large for {name}")
    if name in ("replace", "strip", "lstrip", "rstrip"):
        text = function.__self__  # type: ignore[attr-defined]
        if (len(text) + 1) * max(map(_size, arguments), default=1) > MAX_LENGTH * 100:
            raise ValueError(f"the text or an argument of {name} is too long")
    return _bounded(function(*arguments))


def _bounded(value: Any) -> Any:
    """Return the value; raise ValueError if it is too large."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ValueError(f"an integer has more than {MAX_BITS} bits")
    if isinstance(value, (str, list, tuple)) and _size(value) > MAX_LENGTH:
        raise ValueError(f"a text or list has more than {MAX_LENGTH} items, counting nested ones")
    return value


def _size(value: Any) -> int:
    """Return the number of characters and list items, those of nested values included.

    An integer counts as many items as it has words of 64 bits.
    """
    if isinstance(value, str):
        return len(value)
    if isinstance(value, (list, tuple)):
        return len(value) + sum(map(_size, value))
    return value.bit_length() // 64 if isinstance(value, int) else 0


def _check(node: ast.AST) -> None:
    """Raise LaunchError for an unsupported node; only text has the methods of _TEXT_METHODS."""
    children: list[ast.AST]
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return
        case ast.Name(id=name) if name not in _NAMES:
            raise LaunchError(f"name {name!r} is not defined; put text in quotes: '$(var name)'")
        case ast.Name(id=name) if name != "math":
            return
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _MATH:
            return
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=arguments, keywords=[]) if (
            name in _TEXT_METHODS
        ):
            children = [owner, *arguments]
        case ast.Call(func=function, args=arguments, keywords=[]):
            children = [function, *arguments]
        case _ if isinstance(node, _NODES):
            children = list(ast.iter_child_nodes(node))
        case _:
            text = ast.unparse(node) or type(node).__name__
            raise LaunchError(f"{text!r} is not supported in $(eval ...)")
    for child in children:
        _check(child)
