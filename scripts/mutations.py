"""Single changes of Python code, for scripts/mutants.py.

Changes concern comparisons, logical and arithmetic operators, numbers, truth values, conditions,
calls of functions such as abs() or max(), optional arguments, and statements with side effects,
which are omitted. Strings, annotations, decorators, assertions and arguments of `raise` are kept.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SWAPPED: dict[type, tuple[type, ...]] = {
    **{ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE)},
    **{ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,)},
    **{ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,)},
    **{ast.And: (ast.Or,), ast.Or: (ast.And,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,)},
    **{ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,)},
    **{ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,)},
}
RENAMED = {"max": "min", "minimum": "maximum", "any": "all", "floor": "ceil", "argmax": "argmin"}
RENAMED |= {new: old for old, new in RENAMED.items()}
DROPPED = ("abs", "sorted", "copy", "round", "clip")
"""Functions and methods whose call is replaced by its first argument or by its object."""


@dataclass(frozen=True)
class Mutant:
    """A change of one file: `text` replaces the bytes `begin` to `end`."""

    file: str
    where: str
    change: str
    line: int
    begin: int
    end: int
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.file, self.where, self.change


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a file, in the order of its lines."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found, counts = [], Counter[tuple[str, str]]()
    for where, node, text in _walk(ast.parse(source), ()):
        change = _described(" ".join(ast.unparse(node).split()), " ".join(text.split()))
        counts[where, change] += 1
        change += f" #{counts[where, change]}" if counts[where, change] > 1 else ""
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        text = f"({text})" if isinstance(node, ast.expr) else text
        found.append(Mutant(file, where, change, node.lineno, begin, end, text))
    return found


def _described(old: str, new: str) -> str:
    """Return "old -> new"; of a long change at most 30 common characters before and after it."""
    if len(old) > 60:
        start = _common(old, new)
        end = _common(old[start:][::-1], new[start:][::-1])
        first, last = max(0, start - 30), max(0, end - 30)
        old, new = old[first : len(old) - last], new[first : len(new) - last]
    return f"{old} -> {new}"


def _common(old: str, new: str) -> int:
    """Return the length of the common beginning of two texts."""
    different = (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return next(different, min(len(old), len(new)))


def _walk(node: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any, str]]:
    """Yield (function, node, new text) of each change below a node."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        names = (*names, node.name)
    for changed, text in _changes(node):
        yield ".".join(names) or "module", changed, text
    skipped = {"annotation", "returns", "decorator_list", "exc", "cause", "bases"}
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            skip = field in skipped or docstring or isinstance(child, (ast.JoinedStr, ast.Assert))
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                skip = True
            if isinstance(child, ast.AST) and not skip:
                yield from _walk(child, names)


def _changes(node: Any) -> Iterator[tuple[Any, str]]:
    """Yield the changes of one node: the node to replace, and its new text."""
    if isinstance(node, ast.If):
        yield from ((node.test, "False"), (node.test, "True"))
    for text in _new_texts(node):
        yield node, text


def _new_texts(node: Any) -> Iterator[str]:
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for new in SWAPPED.get(type(operator), ()):
                    ops = [*node.ops[:index], new(), *node.ops[index + 1 :]]
                    yield ast.unparse(ast.Compare(node.left, ops, node.comparators))
        case ast.BoolOp():
            yield ast.unparse(ast.BoolOp(SWAPPED[type(node.op)][0](), node.values))
            for index in range(len(node.values)):
                rest = node.values[:index] + node.values[index + 1 :]
                yield ast.unparse(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])
        case ast.BinOp() if not any(_is_text(side) for side in (node.left, node.right)):
            for new in SWAPPED.get(type(node.op), ()):
                yield ast.unparse(ast.BinOp(node.left, new(), node.right))
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield ast.unparse(node.operand)
        case ast.Constant(value=bool()):
            yield str(not node.value)
        case ast.Constant(value=int(value)):
            yield str(value + 1)
        case ast.Constant(value=float(value)):
            yield str(2 * value or 1.0)
        case ast.Call(func=ast.Name() | ast.Attribute()):
            yield from _calls(node)
        case ast.IfExp():
            yield from (ast.unparse(node.body), ast.unparse(node.orelse))
        case ast.Break() | ast.Continue():
            yield "continue" if isinstance(node, ast.Break) else "break"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield "pass"
        case ast.Assign() | ast.AnnAssign(value=ast.expr()):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not any(isinstance(target, (ast.Name, ast.Tuple)) for target in targets):
                yield "pass"


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", 0), (str, bytes))


def _calls(node: ast.Call) -> Iterator[str]:
    func, name = node.func, ast.unparse(node.func).split(".")[-1]
    if name in RENAMED:
        new = (
            ast.Attribute(func.value, RENAMED[name])
            if isinstance(func, ast.Attribute)
            else ast.Name(RENAMED[name])
        )
        yield ast.unparse(ast.Call(new, node.args, node.keywords))
    if name in DROPPED and node.args:
        yield ast.unparse(node.args[0])
    elif name in DROPPED and isinstance(func, ast.Attribute):
        yield ast.unparse(func.value)
    for index, keyword in enumerate(node.keywords):
        if keyword.arg:
            rest = node.keywords[:index] + node.keywords[index + 1 :]
            yield ast.unparse(ast.Call(node.func, node.args, rest))
