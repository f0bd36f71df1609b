"""Check and compile programs in a subset of Python.

This module runs in the sandbox process (`worker`), because even parsing a malicious text can crash
the interpreter. Example::

    code = compile_lock("def check_lock(self):\\n    self._n = 1\\n")
"""

import ast
from types import CodeType

from rulesafe_design.allowed_syntax import (
    REFUSED,
    UNAVAILABLE,
    Refusal,
    RestrictedPolicy,
    immutable,
)

__all__ = ["PROGRAM", "Refusal", "compile_lock", "compile_task"]

PROGRAM = "<program \ud800>"
"""File name that identifies the lines of a program in tracebacks. The lone surrogate makes it an
invalid path: on a syntax error the parser tries to open the file, and the system call filter would
kill the process."""

SHOWN = 5
"""Maximum number of errors listed in one message."""


def compile_lock(source: str) -> CodeType:
    """Compile a lock program: constants and functions, one of them check_lock(self).

    Raises:
        Refusal: "syntax" if it is not a valid lock program, "forbidden" if it uses Python features
            outside the subset.
    """
    tree, code = _compiled(source, constants_only=True)
    found = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "check_lock"
    ]
    if len(found) != 1:
        raise Refusal(
            "syntax", f"a program needs one function check_lock(self); this one has {len(found)}"
        )
    arguments = found[0].args
    more = arguments.vararg or arguments.kwonlyargs or arguments.kwarg
    if len([*arguments.posonlyargs, *arguments.args]) != 1 or more:
        raise Refusal("syntax", f"line {found[0].lineno}: check_lock must take only self")
    return code


def compile_task(source: str) -> CodeType:
    """Compile a task program.

    All statements of the restricted subset are allowed at module level. The errors are those of
    `compile_lock`.
    """
    return _compiled(source, constants_only=False)[1]


def _compiled(source: str, constants_only: bool) -> tuple[ast.Module, CodeType]:
    """Return the syntax tree and the code of a program that follows the policy.

    With `constants_only`, only functions and constants are allowed at module level.
    """
    try:
        tree = ast.parse(source.removeprefix("\ufeff"), PROGRAM)
        policy = RestrictedPolicy()
        policy.unavailable = UNAVAILABLE - _bound(tree)
        if constants_only:
            policy.faults += [fault for node in tree.body for fault in _not_constant(node)]
        policy.visit(tree)
        faults = sorted(set(policy.faults))
        if faults:
            lines = [f"line {line}: {fault}" for line, fault in faults[:SHOWN]]
            if len(faults) > SHOWN:
                lines.append(f"and {len(faults) - SHOWN} more")
            raise Refusal("forbidden", "\n".join(lines))
        return tree, compile(tree, PROGRAM, "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise Refusal("syntax", f"{where}{error.msg}") from None
    except (RecursionError, MemoryError):
        raise Refusal("syntax", "the program is nested too deeply") from None
    except ValueError as error:  # null bytes, lone surrogates
        raise Refusal("syntax", f"the program is not valid Python text: {error}") from None


def _bound(tree: ast.Module) -> frozenset[str]:
    """Return the names that the program defines."""
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


def _not_constant(node: ast.stmt) -> list[tuple[int, str]]:
    """Return the error for a module-level statement that is neither a function nor a constant.

    Such a statement could create state outside of self, which the exploration does not include.
    """
    if isinstance(node, (ast.FunctionDef, ast.Pass)) or type(node).__name__ in REFUSED:
        return []
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return []  # a docstring
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        named = all(isinstance(target, ast.Name) for target in targets)
        if named and (node.value is None or immutable(node.value)):
            return []
        fault = (
            "a module-level constant must be a number, a string or a tuple of these; use a tuple "
            "instead of a list, and create dicts and sets inside check_lock"
        )
    else:
        fault = "only functions and constants are valid at module level; move this into check_lock"
    return [(node.lineno, fault)]
