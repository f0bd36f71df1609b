"""Evaluate the Python expressions of $(eval ...): comparisons, conditions and constants only.

`ros2 launch` evaluates any expression. The expressions supported here have the same value there.
Their evaluation takes a time that the length of the expression bounds, since no operation makes a
value larger than its operands.
"""

from __future__ import annotations

import ast

from rulesafe_ros.launch.model import LaunchError

MAX_EXPRESSION = 4_000
"""Maximum number of characters of an expression."""

_NODES = (
    *(ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Tuple, ast.Load),
    *(ast.And, ast.Or, ast.Not, ast.USub, ast.In, ast.NotIn),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)


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
        return str(eval(compile(tree, "eval", "eval"), {"__builtins__": {}}))
    except SyntaxError as error:
        raise LaunchError(f"{expression!r} is not a Python expression: {error.msg}") from None
    except (MemoryError, RecursionError):
        raise LaunchError(f"{expression:.200} is nested too deeply") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise LaunchError(f"evaluation of {expression!r:.200} failed: {error}") from None


def _check(node: ast.AST) -> None:
    """Raise LaunchError for an unsupported node; the only method is `lower` of a text."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return
        case ast.Name(id=name):
            raise LaunchError(f"name {name!r} is not defined; put text in quotes: '$(var name)'")
        case ast.Call(func=ast.Attribute(value=owner, attr="lower"), args=[], keywords=[]):
            _check(owner)
        case _ if isinstance(node, _NODES):
            for child in ast.iter_child_nodes(node):
                _check(child)
        case _:
            text = ast.unparse(node) or type(node).__name__
            raise LaunchError(f"{text!r} is not supported in $(eval ...)")
