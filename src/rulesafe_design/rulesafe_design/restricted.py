"""The Python that a program may be written in, checked and rewritten on its syntax tree.

RestrictedPython turns every access to an attribute or an item into a call of a guard (`guards`);
what stands here decides which statements and names may be used at all. It runs in the sandbox's
own process (`worker`), because even parsing a hostile text can end a process. Example::

    code = compile_lock("def check_lock(self):\\n    self._n = 1\\n")
"""

import ast
import builtins
import copy
from types import CodeType
from typing import Any

from RestrictedPython.transformer import (
    IOPERATOR_TO_STR,
    RestrictingNodeTransformer,
    copy_locations,
)

from rulesafe_design.guards import BUILTINS

PROGRAM = "<program \ud800>"
"""The file name under which a program is compiled, by which its lines are found. A lone surrogate
is in no path: on a syntax error the parser looks for a file of that name, and opening one would end
the process."""

SHOWN = 5
"""So many faults of a program are told at once."""

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
    """A program's end in the sandbox: the kind of fault and what was wrong, with the line."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class Policy(RestrictingNodeTransformer):
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
        own = OWN.get(kind)
        return own(self, node) if own else super().visit(node)

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
            self.error(node, f"the attribute {name} is not allowed; begin it with a letter or _")
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
        """`a[i] += x` becomes `a[i] = _inplacevar_("+=", a[i], x)`: a and i are evaluated twice,
        so they must be free of calls."""
        if isinstance(node.target, ast.Name):
            return super().visit_AugAssign(node)
        if any(isinstance(part, REPEATED) for part in ast.walk(node.target)):
            self.error(
                node, "the left side of an augmented assignment may not call; use a variable for it"
            )
            return node
        present = copy.deepcopy(node.target)
        present.ctx = ast.Load()
        new = ast.Assign(
            targets=[self.visit(node.target)],
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
        copy_locations(new, node)
        return new

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
        """Drops annotations. A default that can change would be a memory beside self."""
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in [*every, arguments.vararg, arguments.kwarg]:
            if argument is not None:
                argument.annotation = None
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None and not _immutable(default):
                self.error(
                    default,
                    "a default must be a number, text, None, True, False or a tuple of such; "
                    "use None and make the value inside",
                )

    unavailable: frozenset[str] = UNAVAILABLE


OWN: dict[type[ast.AST], Any] = {
    ast.Name: Policy._name,
    ast.Attribute: Policy._attribute,
    ast.AugAssign: Policy._augmented,
    ast.AnnAssign: Policy._annotated,
    ast.Compare: Policy._compare,
    ast.FunctionDef: Policy._function,
    ast.Lambda: Policy._lambda,
}
REPEATED = (
    *(ast.Call, ast.NamedExpr, ast.Lambda, ast.JoinedStr),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""What may not stand in an expression that is evaluated twice."""


def compile_lock(source: str) -> CodeType:
    """The code of a lock program: functions, one of them check_lock(self), and constants.

    Errors: Refusal "syntax" for what is no such program, "forbidden" for Python outside the subset.
    """
    tree = _parsed(source)
    faults = [fault for node in tree.body for fault in _not_lasting(node)]
    code = _compiled(tree, faults)
    found = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "check_lock"
    ]
    if len(found) != 1:
        raise Refusal(
            "syntax", f"a program has one function check_lock(self), this one has {len(found)}"
        )
    taken = found[0].args
    if len([*taken.posonlyargs, *taken.args]) != 1 or taken.vararg or taken.kwonlyargs:
        raise Refusal("syntax", f"line {found[0].lineno}: check_lock takes self and nothing else")
    return code


def compile_task(source: str) -> CodeType:
    """The code of a task program, any statements of the subset. Errors as for `compile_lock`."""
    return _compiled(_parsed(source), [])


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source.removeprefix("\ufeff"), PROGRAM)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise Refusal("syntax", f"{where}{error.msg}") from None
    except (RecursionError, MemoryError):
        raise Refusal("syntax", "the program is nested too deeply") from None
    except ValueError as error:  # null bytes, lone surrogates
        raise Refusal("syntax", f"the program is no text of Python: {error}") from None


def _compiled(tree: ast.Module, faults: list[tuple[int, str]]) -> CodeType:
    try:
        policy = Policy()
        policy.unavailable = UNAVAILABLE - _bound(tree)
        policy.visit(tree)
        faults = sorted({*faults, *policy.faults})
        if faults:
            told = [f"line {line}: {fault}" for line, fault in faults[:SHOWN]]
            if len(faults) > SHOWN:
                told.append(f"and {len(faults) - SHOWN} more")
            raise Refusal("forbidden", "\n".join(told))
        return compile(tree, PROGRAM, "exec", dont_inherit=True)
    except SyntaxError as error:  # such as break outside a loop
        raise Refusal("syntax", f"line {error.lineno}: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise Refusal("syntax", "the program is nested too deeply") from None
    except ValueError as error:
        raise Refusal("syntax", f"the program is no text of Python: {error}") from None


def _bound(tree: ast.Module) -> frozenset[str]:
    """Names that the program itself gives a meaning somewhere."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return frozenset(names)


def _not_lasting(node: ast.stmt) -> list[tuple[int, str]]:
    """The fault of a statement beside the functions that is more than a constant: it could keep a
    memory that the exploration does not see."""
    if isinstance(node, (ast.FunctionDef, ast.Pass)) or type(node).__name__ in REFUSED:
        return []
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return []  # a docstring
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        named = all(isinstance(target, ast.Name) for target in targets)
        if named and (node.value is None or _immutable(node.value)):
            return []
        fault = (
            "a constant is a number, text or a tuple of such; write a tuple for a list, and make "
            "dicts and sets inside check_lock"
        )
    else:
        fault = "beside functions there are constants only; move this statement into check_lock"
    return [(node.lineno, fault)]


def _immutable(node: ast.expr) -> bool:
    """Is it an expression whose value can never change?"""
    if isinstance(node, ast.UnaryOp):
        return _immutable(node.operand)
    if isinstance(node, ast.BinOp):
        return _immutable(node.left) and _immutable(node.right)
    if isinstance(node, ast.Tuple):
        return all(_immutable(element) for element in node.elts)
    return isinstance(node, (ast.Constant, ast.Name))


def _single(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))
