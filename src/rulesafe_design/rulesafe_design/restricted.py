"""Check and compile programs, which may use a subset of Python.

Runs in the sandbox's own process (`worker`), because even parsing a hostile text can end a process.
Example::

    code = compile_lock("def check_lock(self):\\n    self._n = 1\\n")
"""

import ast
from types import CodeType

from rulesafe_design.policy import REFUSED, UNAVAILABLE, Refusal, RestrictedPolicy, immutable

__all__ = ["PROGRAM", "Refusal", "compile_lock", "compile_task"]

PROGRAM = "<program \ud800>"
"""The file name under which a program is compiled, which identifies its lines in tracebacks. It has
a lone surrogate, which no path has: on a syntax error the parser looks for a file of that name, and
opening one would end the process."""

SHOWN = 5
"""Maximum number of faults in one message."""


def compile_lock(source: str) -> CodeType:
    """The code of a lock program: functions, one of them check_lock(self), and constants.

    Errors: Refusal "syntax" for what is no such program, "forbidden" for Python outside the subset.
    """
    tree, code = _compiled(source, constants_only=True)
    found = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "check_lock"
    ]
    if len(found) != 1:
        raise Refusal(
            "syntax", f"a program has one function check_lock(self), this one has {len(found)}"
        )
    given = found[0].args
    more = given.vararg or given.kwonlyargs or given.kwarg
    if len([*given.posonlyargs, *given.args]) != 1 or more:
        raise Refusal("syntax", f"line {found[0].lineno}: check_lock takes self and nothing else")
    return code


def compile_task(source: str) -> CodeType:
    """The code of a task program, any statements of the subset. Errors as for `compile_lock`."""
    return _compiled(source, constants_only=False)[1]


def _compiled(source: str, constants_only: bool) -> tuple[ast.Module, CodeType]:
    """Return the syntax tree and the code of a program that follows the policy.

    `constants_only`: functions and constants are the only statements at module level.
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
        raise Refusal("syntax", f"the program is no text of Python: {error}") from None


def _bound(tree: ast.Module) -> frozenset[str]:
    """Return the names that the program itself defines."""
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
    """Return the fault of a statement at module level that is neither a function nor a constant: it
    could be a memory that the exploration does not include."""
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
            "a constant is a number, text or a tuple of such; write a tuple for a list, and make "
            "dicts and sets inside check_lock"
        )
    else:
        fault = "beside functions there are constants only; move this statement into check_lock"
    return [(node.lineno, fault)]
