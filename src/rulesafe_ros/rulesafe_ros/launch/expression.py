"""The Python expressions of $(eval ...): arithmetic, comparison and text, and nothing else.

The official launcher hands the text to Python's own `eval`; what is allowed here has the same
meaning there.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from rulesafe_ros.launch.model import LaunchError

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}
# The official launcher offers the members of `math` both bare and as `math.x`.
_MATH = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
_FUNCTIONS = {f.__name__: f for f in (abs, bool, float, int, len, max, min, round, str)}
_NAMES = {**_FUNCTIONS, **_MATH, "pow": math.pow}
_TEXT_METHODS = ("endswith", "lower", "lstrip", "replace", "rstrip", "startswith", "strip", "upper")


def evaluate(expression: str) -> str:
    """The value of a Python expression as text.

    Raises LaunchError for what is not Python, not in the subset, or fails as it runs.
    """
    try:
        return str(_value(ast.parse(expression.strip(), mode="eval").body))
    except SyntaxError as error:
        raise LaunchError(f"{expression!r} is not a Python expression: {error.msg}") from None
    except (ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise LaunchError(f"{expression!r} fails: {error}") from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.Name(id=name):
            raise LaunchError(f"name {name!r} is not defined; put text in quotes: '$(var name)'")
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _MATH:
            return _MATH[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand))
        case ast.BoolOp(op=op, values=values):
            return _all_or_any(values, isinstance(op, ast.And))
        case ast.Compare():
            return _comparison(node)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body) if _value(test) else _value(orelse)
        case ast.Tuple(elts=items):
            return tuple(_value(item) for item in items)
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Call(func=function, args=arguments, keywords=[]):
            return _callee(function)(*(_value(argument) for argument in arguments))
    raise LaunchError(f"{ast.unparse(node)!r} is not supported in $(eval ...)")


def _all_or_any(values: list[ast.expr], is_and: bool) -> Any:
    result: Any = is_and
    for value in values:
        result = _value(value)
        if bool(result) != is_and:
            break
    return result


def _comparison(node: ast.Compare) -> bool:
    left = _value(node.left)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        if type(op) not in _OPERATORS:
            raise LaunchError(f"{ast.unparse(node)!r} is not supported in $(eval ...)")
        right = _value(right_node)
        if not _OPERATORS[type(op)](left, right):
            return False
        left = right
    return True


def _callee(node: ast.expr) -> Callable[..., Any]:
    if isinstance(node, ast.Attribute) and node.attr in _TEXT_METHODS:
        owner = _value(node.value)
        if isinstance(owner, str):
            return getattr(owner, node.attr)
    function = _value(node)
    if not callable(function):
        raise LaunchError(f"{ast.unparse(node)!r} is not a function")
    return function
