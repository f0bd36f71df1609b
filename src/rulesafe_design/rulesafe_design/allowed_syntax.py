"""Check and rewrite the syntax tree of a program: the statements and names that it may use.

RestrictedPython replaces every attribute and item access by a call of a guard (`guards`); this
policy decides which syntax is allowed. It runs in the sandbox process.
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
    "Import": "import is not allowed; use self and the available built-in functions",
    "ImportFrom": "import is not allowed; use self and the available built-in functions",
    "ClassDef": "class is not allowed; keep data in dicts and lists",
    "Global": "global is not allowed; store persistent state on self, for example in self._state",
    "Nonlocal": "nonlocal is not allowed; return the value, or store it in a dict",
    "AsyncFunctionDef": "async is not allowed; write a plain function",
    "AsyncFor": "async is not allowed; write a plain loop",
    "AsyncWith": "async is not allowed",
    "Await": "await is not allowed",
    "Yield": "yield is not allowed; return a list",
    "YieldFrom": "yield is not allowed; return a list",
    "With": "with is not allowed; a program cannot open files or other resources",
    "TryStar": "except* is not allowed; write except",
    "Match": "match is not allowed; write if and elif",
    "TypeAlias": "type aliases are not allowed; leave them out",
    "TemplateStr": "template strings are not allowed; write an f-string",
}
"""Syntax node types that are not allowed, with the error message."""

UNAVAILABLE = frozenset(dir(builtins)) - frozenset(BUILTINS)
AVAILABLE = ", ".join(name for name in BUILTINS if name.islower()) + " and common exceptions"


class Refusal(Exception):
    """The sandbox process refuses a program. `kind`: one of `verdicts.SANDBOX_KINDS`."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class RestrictedPolicy(RestrictingNodeTransformer):
    """RestrictedPython's rules, with some differences.

    Attributes and names may begin with one underscore, augmented assignment works on items and
    attributes, annotations are removed, and print is an ordinary function. The syntax in REFUSED,
    such as classes and imports, is not allowed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[tuple[int, str]] = []  # line, message

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
        # Names that begin and end with an underscore are reserved for the guards.
        if name is None or name == "_":
            return
        if name.startswith("__") or (name.startswith("_") and name.endswith("_")):
            self.error(node, f"the name {name} is not allowed; begin it with a letter")

    def gen_tmp_name(self) -> str:
        return super().gen_tmp_name() + "_"  # a reserved name, see check_name

    # Visitors of one node type each ------------------------------------------------------------

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
        # RestrictedPython refuses every leading underscore, so pass it a different name.
        if name.startswith("_"):
            node.attr = "hidden"
        new: Any = super().visit_Attribute(node)
        if isinstance(new, ast.Call):
            new.args[1] = ast.copy_location(ast.Constant(name), node)
        else:
            new.attr = name
        return new

    def _augmented(self, node: ast.AugAssign) -> Any:
        """Rewrite `a[i] += x` to `t = a; k = i; t[k] = _inplacevar_("+=", t[k], x)`. As in Python,
        a and i are evaluated once and before x."""
        target = node.target
        if isinstance(target, ast.Name):
            return super().visit_AugAssign(node)
        before = [self._assigned_to_temporary(target, "value")]
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            ends = [end for end in ("lower", "upper", "step") if getattr(target.slice, end)]
            before += [self._assigned_to_temporary(target.slice, end) for end in ends]
        elif isinstance(target, ast.Subscript):
            before.append(self._assigned_to_temporary(target, "slice"))
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

    def _assigned_to_temporary(self, node: Any, part: str) -> ast.Assign:
        """Assign a part of a node to a temporary variable with a reserved name."""
        name, value = self.gen_tmp_name(), getattr(node, part)
        setattr(node, part, ast.copy_location(_Internal(id=name, ctx=ast.Load()), value))
        return ast.Assign([ast.Name(name, ast.Store())], self.visit(value))

    def _assign(self, node: ast.Assign) -> Any:
        if len(node.targets) > 1 and any(
            isinstance(target, (ast.Tuple, ast.List)) for target in node.targets
        ):
            self.error(node, "unpacking in a chain of = is not allowed; use separate assignments")
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
                self.error(node, "is may only be used with None, True and False; write == or !=")
        return super().visit_Compare(node)

    def _function(self, node: ast.FunctionDef) -> Any:
        if node.decorator_list:
            self.error(node, "decorators are not allowed; call the function explicitly")
        node.returns = None
        self._arguments(node.args)
        return super().visit_FunctionDef(node)

    def _lambda(self, node: ast.Lambda) -> Any:
        self._arguments(node.args)
        return super().visit_Lambda(node)

    def _arguments(self, arguments: ast.arguments) -> None:
        """Remove annotations and refuse mutable defaults, which would be state outside of self."""
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in [*every, arguments.vararg, arguments.kwarg]:
            if argument is not None:
                argument.annotation = None
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None and not immutable(default):
                self.error(
                    default,
                    "a default must be a number, a string, None, True, False or a tuple of these; "
                    "use None and create the value inside the function",
                )

    unavailable: frozenset[str] = UNAVAILABLE


class _Internal(ast.Name):
    """A temporary variable inserted by the transformer, whose name is not checked."""


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
