"""The statements and names that a program may use, checked and rewritten on its syntax tree.

RestrictedPython replaces every access to an attribute or an item by a call of a guard (`guards`);
this policy decides which syntax is allowed. Runs in the sandbox's own process.
"""

import ast
import builtins
import copy
from typing import Any

from RestrictedPython.transformer import (
    IOPERATOR_TO_STR,
    RestrictingNodeTransformer,
    copy_locations,
)

from rulesafe_design.guards import BUILTINS

REFUSED = {
    "Import": "import is not allowed; what there is needs none: self and a few built-in functions",
    "ImportFrom": "import is not allowed; what there is needs none: self and built-in functions",
    "ClassDef": "class is not allowed; keep data in dicts and lists",
    "Global": "global is not allowed; keep what must last on self, such as self._state",
    "Nonlocal": "nonlocal is not allowed; return the value, or keep it in a dict",
    "AsyncFunctionDef": "async is not allowed; write a plain function",
    "AsyncFor": "async is not allowed; write a plain loop",
    "AsyncWith": "async is not allowed",
    "Await": "await is not allowed",
    "Yield": "yield is not allowed; return a list",
    "YieldFrom": "yield is not allowed; return a list",
    "With": "with is not allowed; there is nothing to open",
    "TryStar": "except* is not allowed; write except",
    "Match": "match is not allowed; write if and elif",
    "TypeAlias": "type aliases are not allowed; leave them out",
    "TemplateStr": "template strings are not allowed; write an f-string",
}
"""Kinds of syntax that are refused, with what to do instead."""

UNAVAILABLE = frozenset(dir(builtins)) - frozenset(BUILTINS)
AVAILABLE = ", ".join(name for name in BUILTINS if name.islower()) + " and common exceptions"


class Refusal(Exception):
    """A program is refused in the sandbox: the kind of fault and the message, with the line."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class RestrictedPolicy(RestrictingNodeTransformer):
    """RestrictedPython's rules, with these differences: attributes and names may begin with one
    underscore, augmented assignment works on items and attributes, annotations are dropped, print
    is a function like others. Classes, imports and all that is in REFUSED are not allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[tuple[int, str]] = []  # line, what is wrong

    def error(self, node: ast.AST, info: str) -> None:
        self.faults.append((getattr(node, "lineno", 0), info))

    def not_allowed(self, node: ast.AST) -> None:
        self.error(node, f"{type(node).__name__} is not allowed")

    def visit(self, node: ast.AST) -> Any:
        kind = type(node)
        if kind.__name__ in REFUSED:
            self.error(node, REFUSED[kind.__name__])
            return node
        visitor = VISITORS.get(kind)
        return visitor(self, node) if visitor else super().visit(node)

    def check_name(self, node: Any, name: str | None, allow_magic_methods: bool = False) -> None:
        # The guards' names begin and end with an underscore: no program may bind or read such.
        if name is None or name == "_":
            return
        if name.startswith("__") or (name.startswith("_") and name.endswith("_")):
            self.error(node, f"the name {name} is not allowed; begin it with a letter")

    def gen_tmp_name(self) -> str:
        return super().gen_tmp_name() + "_"  # such as no program may write

    # Each of these takes one kind of node ------------------------------------------------------

    def _name(self, node: ast.Name) -> ast.AST:
        self.check_name(node, node.id)
        if isinstance(node.ctx, ast.Load) and node.id in self.unavailable:
            self.error(node, f"{node.id} is not available; available: {AVAILABLE}")
        return node

    def _attribute(self, node: ast.Attribute) -> ast.AST:
        name = node.attr
        if name.startswith("__"):
            self.error(
                node, f"the attribute {name} is not allowed; begin it with one _ or a letter"
            )
            return node
        # RestrictedPython refuses every leading underscore: it gets to see another name.
        if name.startswith("_"):
            node.attr = "hidden"
        new: Any = super().visit_Attribute(node)
        if isinstance(new, ast.Call):
            new.args[1] = ast.copy_location(ast.Constant(name), node)
        else:
            new.attr = name
        return new

    def _augmented(self, node: ast.AugAssign) -> Any:
        """`a[i] += x` becomes `t = a; k = i; t[k] = _inplacevar_("+=", t[k], x)`, so that a and i
        are evaluated once and before x, as Python does."""
        target = node.target
        if isinstance(target, ast.Name):
            return super().visit_AugAssign(node)
        before = [self._kept(target, "value")]
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            ends = [end for end in ("lower", "upper", "step") if getattr(target.slice, end)]
            before += [self._kept(target.slice, end) for end in ends]
        elif isinstance(target, ast.Subscript):
            before.append(self._kept(target, "slice"))
        present = copy.deepcopy(target)
        present.ctx = ast.Load()
        new = ast.Assign(
            targets=[self.visit(target)],
            value=ast.Call(
                func=ast.Name("_inplacevar_", ast.Load()),
                args=[
                    ast.Constant(IOPERATOR_TO_STR[type(node.op)]),
                    self.visit(present),
                    self.visit(node.value),
                ],
                keywords=[],
            ),
        )
        for statement in (*before, new):
            copy_locations(statement, node)
        return [*before, new]

    def _kept(self, node: Any, part: str) -> ast.Assign:
        """Assign a part of a node to a variable that no program can name."""
        name, value = self.gen_tmp_name(), getattr(node, part)
        setattr(node, part, ast.copy_location(_Internal(id=name, ctx=ast.Load()), value))
        return ast.Assign([ast.Name(name, ast.Store())], self.visit(value))

    def _assign(self, node: ast.Assign) -> Any:
        if len(node.targets) > 1 and any(
            isinstance(target, (ast.Tuple, ast.List)) for target in node.targets
        ):
            self.error(node, "unpacking in a chain of = is not allowed; write an assignment each")
            return node
        return super().visit_Assign(node)

    def _annotated(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            self.check_name(node, getattr(node.target, "id", None))
            return ast.copy_location(ast.Pass(), node)
        new = ast.Assign(targets=[node.target], value=node.value)
        copy_locations(new, node)
        return self.visit(new)

    def _compare(self, node: ast.Compare) -> Any:
        sides = [node.left, *node.comparators]
        for operator, one, other in zip(node.ops, sides, sides[1:], strict=False):
            if isinstance(operator, (ast.Is, ast.IsNot)) and not (_single(one) or _single(other)):
                self.error(node, "is compares with None, True and False only; write == or !=")
        return super().visit_Compare(node)

    def _function(self, node: ast.FunctionDef) -> Any:
        if node.decorator_list:
            self.error(node, "decorators are not allowed; call the function yourself")
        node.returns = None
        self._arguments(node.args)
        return super().visit_FunctionDef(node)

    def _lambda(self, node: ast.Lambda) -> Any:
        self._arguments(node.args)
        return super().visit_Lambda(node)

    def _arguments(self, arguments: ast.arguments) -> None:
        """Drop annotations. A mutable default would be a memory in addition to self."""
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in [*every, arguments.vararg, arguments.kwarg]:
            if argument is not None:
                argument.annotation = None
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None and not immutable(default):
                self.error(
                    default,
                    "a default must be a number, text, None, True, False or a tuple of such; "
                    "use None and make the value inside",
                )

    unavailable: frozenset[str] = UNAVAILABLE


class _Internal(ast.Name):
    """A variable of the rewriting itself, which is not checked."""


VISITORS: dict[type[ast.AST], Any] = {
    _Internal: lambda policy, node: ast.copy_location(ast.Name(node.id, node.ctx), node),
    ast.Assign: RestrictedPolicy._assign,
    ast.Name: RestrictedPolicy._name,
    ast.Attribute: RestrictedPolicy._attribute,
    ast.AugAssign: RestrictedPolicy._augmented,
    ast.AnnAssign: RestrictedPolicy._annotated,
    ast.Compare: RestrictedPolicy._compare,
    ast.FunctionDef: RestrictedPolicy._function,
    ast.Lambda: RestrictedPolicy._lambda,
}


def immutable(node: ast.expr) -> bool:
    """Return whether the value of an expression can never change."""
    if isinstance(node, ast.UnaryOp):
        return immutable(node.operand)
    if isinstance(node, ast.BinOp):
        return immutable(node.left) and immutable(node.right)
    if isinstance(node, ast.Tuple):
        return all(immutable(element) for element in node.elts)
    return isinstance(node, (ast.Constant, ast.Name))


def _single(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))
