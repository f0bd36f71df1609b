"""Evaluate the Python expressions of $(eval ...): arithmetic, comparisons and text only.

`ros2 launch` evaluates any expression. The expressions supported here have the same value there.
"""

from __future__ import annotations

import ast
import math
from typing import Any

from rulesafe_ros.launch.model import LaunchError

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
        tree = ast.parse(expression.strip(), mode="eval")
        _check(tree.body)
        return str(eval(compile(tree, "eval", "eval"), {"__builtins__": {}, **_NAMES}))
    except SyntaxError as error:
        raise LaunchError(f"{expression!r} is not a Python expression: {error.msg}") from None
    except (ArithmeticError, AttributeError, TypeError, ValueError, LookupError) as error:
        raise LaunchError(f"evaluation of {expression!r} failed: {error}") from None


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
