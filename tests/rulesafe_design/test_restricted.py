"""The subset of Python: refused syntax with its messages, and allowed programs."""

import ast
import builtins

import pytest

from rulesafe_design.allowed_syntax import RestrictedPolicy
from rulesafe_design.guards import namespace
from rulesafe_design.lock_worker import ProvidedSafe
from rulesafe_design.restricted import Refusal, compile_lock, compile_task


def body(*lines):
    """Return a lock program whose check_lock has these lines."""
    return "\n".join(["def check_lock(self):", *(f"    {line}" for line in lines)])


def run_once(source, phases=(False, False), **values):
    """Call check_lock once and return the attributes of self."""
    names = namespace({})
    exec(compile_lock(source), names)
    safe = ProvidedSafe(phases, (False, False, True), values)
    names["check_lock"](safe)
    return safe.values


REFUSED = {
    # Access to the object tree
    "class": (body("x = ().__class__"), "__class__"),
    "base": (body("x = (1).__class__.__base__.__subclasses__()"), "__subclasses__"),
    "dict": (body("self.__dict__['x'] = 1"), "__dict__"),
    "globals of a function": (body("x = self.is_open.__globals__"), "__globals__"),
    "function of a method": (body("x = self.is_open.__func__"), "__func__"),
    "traceback": (
        body("try:", "    1 / 0", "except Exception as e:", "    x = e.__traceback__"),
        "__traceback__",
    ),
    "frame of a generator": (body("x = (i for i in [1]).gi_frame"), "gi_frame"),
    "frame of a traceback": (body("x = self.tb_frame"), "tb_frame"),
    "in an f-string": (body("x = f'{self.__class__}'"), "__class__"),
    "in a comprehension": (body("x = [i.__class__ for i in [1]]"), "__class__"),
    "in a default": (body("(lambda x=self.__dict__: x)()"), "__dict__"),
    "in a slice": (body("x = [1][().__class__:]"), "__class__"),
    "other letters": (body("x = self.__\uff43lass__"), "__class__"),
    "on the left": (body("self.__class__ = int"), "__class__"),
    "after del": (body("del self.__class__"), "__class__"),
    "of an augmented assignment": (body("self.__x += 1"), "__x"),
    "of a loop": (body("for self.__x in [1]:", "    pass"), "__x"),
    "keyword pattern": (body("match self:", "    case int(real=x):", "        pass"), "match"),
    # Names
    **{
        name: (body(f"x = {name}"), f"{name} is not available")
        for name in (
            *("open", "eval", "exec", "compile", "globals", "locals", "vars", "dir", "type", "id"),
            *("input", "breakpoint", "object", "super", "memoryview", "classmethod"),
            *("__import__", "BaseException", "SystemExit", "ExceptionGroup"),
        )
        if hasattr(builtins, name)  # ExceptionGroup since Python 3.11
    },
    "builtins": (body("x = __builtins__"), "__builtins__"),
    "name": (body("x = __name__"), "__name__"),
    "a guard read": (body("_getattr_(self, '__class__')"), "_getattr_"),
    "a guard bound": (body("_getattr_ = 1"), "_getattr_"),
    "a guard as a function": ("def _write_(x):\n    return x\n" + body("pass"), "_write_"),
    "a guard as a parameter": (body("f = lambda _getattr_: self.x"), "_getattr_"),
    "a guard as arguments": (body("def f(*_apply_):", "    pass"), "_apply_"),
    "a guard by keyword": (body("def f(*, _getitem_):", "    pass"), "_getitem_"),
    "a guard in a loop": (body("for _getiter_ in [1]:", "    pass"), "_getiter_"),
    "a guard in a comprehension": (body("[1 for _getattr_ in [1]]"), "_getattr_"),
    "a guard by walrus": (body("(_getattr_ := 1)"), "_getattr_"),
    "a guard of an error": (
        body("try:", "    pass", "except ValueError as _getattr_:", "    pass"),
        "_getattr_",
    ),
    "a guard unpacked": (body("a, *_write_ = [1, 2]"), "_write_"),
    "a guard deleted": (body("del _getattr_"), "_getattr_"),
    "a guard annotated": (body("_getattr_: int = 1"), "_getattr_"),
    "a guard annotated without a value": (body("_getattr_: int"), "_getattr_"),
    "two leading underscores": (body("__x = 1"), "__x"),
    "default of a lambda": (body("f = lambda a=[]: a"), "default"),
    "a sum with a list": ("A = (1,) + []\n" + body("pass"), "line 1: a module-level constant"),
    "a sum of a list": ("A = [] + (1,)\n" + body("pass"), "line 1: a module-level constant"),
    "a temporary name": (body("_tmp0_ = 1"), "_tmp0_"),
    # Statements
    "import": ("import os\n" + body("pass"), "line 1: import"),
    "from": (body("from os import system"), "line 2: import"),
    "class statement": (body("class A:", "    pass"), "class"),
    "global": (body("global x", "x = 1"), "global"),
    "nonlocal": (body("x = 1", "def f():", "    nonlocal x"), "nonlocal"),
    "async": ("async " + body("pass"), "async"),
    "yield": (body("yield 1"), "yield"),
    "yield from": (body("yield from []"), "yield"),
    "await": ("async def f():\n    await f()\n" + body("pass"), "async"),
    "with": (body("with self:", "    pass"), "with"),
    "decorator": ("@print\n" + body("pass"), "decorators"),
    "a chain that unpacks": (body("(a, b) = c = [1, 2]"), "unpacking in a chain"),
    "is": (body("x = 1", "y = x is x"), "write == or !="),
    # State outside of self
    "list constant": ("A = []\n" + body("pass"), "line 1: a module-level constant must be"),
    "list in a tuple": ("A = ([],)\n" + body("pass"), "line 1: a module-level constant must be"),
    "call constant": ("A = dict()\n" + body("pass"), "line 1: a module-level constant must be"),
    "walrus constant": ("A = (B := 1)\n" + body("pass"), "line 1: a module-level constant must be"),
    "lambda constant": (
        "A = lambda x=[]: x\n" + body("pass"),
        "line 1: a module-level constant must be",
    ),
    **{
        f"target {target}": (
            f"A = 1\n{target} = 1\n" + body("pass"),
            "line 2: a module-level constant must be",
        )
        for target in ("A.b", "A[0]", "(A, B)", "[A]", "A = A.b")
    },
    "loop at module level": (
        "for x in (1,):\n    pass\n" + body("pass"),
        "line 1: only functions and constants are valid at module level",
    ),
    "default": ("def check_lock(self, a=[]):\n    pass", "default"),
    "default of a helper": ("def f(a={}):\n    pass\n" + body("pass"), "default"),
    "default by keyword": ("def f(*, a=[]):\n    pass\n" + body("pass"), "default"),
}


@pytest.mark.parametrize("source, words", REFUSED.values(), ids=REFUSED)
def test_refused_with_the_line_and_the_reason(source, words):
    with pytest.raises(Refusal, match=r"line [1-9]") as refusal:
        compile_lock(source)
    assert refusal.value.kind == "forbidden"
    assert words in str(refusal.value)


def test_task_programs_may_have_statements_and_lists_at_module_level():
    compile_task("steps = []\nfor part in ['knob', 'handle']:\n    steps.append(part)\n")
    with pytest.raises(Refusal, match="import"):
        compile_task("import os")


@pytest.mark.parametrize(
    "source, words",
    [
        ("def check_lock(self:\n    pass", "line 1: '(' was never closed"),
        (body("x = '\0'"), "null bytes"),
        (body("x = '\ud800'"), "surrogates"),
        (body("x = " + "(" * 500 + ")" * 500), "nested"),
        (body("x = " + "-" * 30_000 + "1"), "nested too deeply"),
        (body("x = 1" + " + 1" * 20_000), "nested too deeply"),
        (body("x = a" + ".b" * 15_000), "nested too deeply"),
        (body("break"), "line 2: 'break' outside loop"),
        ("", "check_lock(self); this one has 0"),
        (body("pass") + "\n" + body("pass"), "this one has 2"),
        ("def check_lock():\n    pass", "check_lock must take only self"),
        *(
            (f"def check_lock({arguments}):\n    pass", "line 1: check_lock must take only self")
            for arguments in (
                *("self, other", "self, *others", "self, **named", "self, *, named=1", "*self"),
                *("other, /, self", "**self", "*, self"),
            )
        ),
        (body("\tx = 1", "        y = 2"), "line 3"),
    ],
)
def test_invalid_programs_are_refused(source, words):
    with pytest.raises(Refusal) as refusal:
        compile_lock(source)
    assert refusal.value.kind == "syntax"
    assert words in str(refusal.value)


@pytest.mark.parametrize(("count", "more"), [(1, ""), (5, ""), (6, "and 1 more")])
def test_five_errors_are_listed(count, more):
    """In the order of their lines, and each once."""
    with pytest.raises(Refusal) as refusal:
        compile_lock("import os\n" + body(*["x = open"] * (count - 1), "pass"))
    first, *lines = str(refusal.value).splitlines()
    assert first.startswith("line 1: import")
    assert len(lines) == min(count, 5) - 1 + bool(more)
    assert all(line.startswith(f"line {n}: open") for n, line in enumerate(lines[:4], 3))
    assert not more or lines[-1] == more


def test_syntax_of_later_versions_of_python_is_refused():
    class Unless(ast.stmt):
        pass

    policy = RestrictedPolicy()
    policy.visit(Unless(lineno=3))
    assert policy.faults == [(3, "Unless is not allowed")]
    compile_lock(body("del open"))  # fails when it runs


# Allowed programs -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines, expected",
    [
        (["self._x = 1"], {"_x": 1}),
        (["self.x: list[int] = []", "self.x += [1]", "self.x *= 2"], {"x": [1, 1]}),
        (["d = {'n': [0]}", "d['n'][0] += 2", "self.d = d"], {"d": {"n": [2]}}),
        (["d = {'a': 1}", "k = 'a'", "d[k] -= 3", "self.d = d"], {"d": {"a": -2}}),
        (["self.x = 2", "self.x **= 5", "self.x %= 7"], {"x": 4}),
        (["s = [1, 2, 3]", "s[1:] += [4]", "self.s = s"], {"s": [1, 2, 3, 4]}),
        (["d = {'a': 1}", "d |= {'b': 2}", "del d['a']", "self.d = d"], {"d": {"b": 2}}),
        (["self.t = f'{1 + 1:03d}{\"x\"!r}'"], {"t": "002'x'"}),
        (["self.s = sorted({c for c in 'cab'})"], {"s": ["a", "b", "c"]}),
        (["self.d = {k: v for k, (v, _) in {'a': (1, 2)}.items()}"], {"d": {"a": 1}}),
        (["a, (b, *c) = 1, (2, 3, 4)", "self.x = [a, b, c]"], {"x": [1, 2, [3, 4]]}),
        (["for i, (a, b) in enumerate([(1, 2)]):", "    self.x = i + a + b"], {"x": 3}),
        (["f = lambda *a, **k: (a, k)", "self.x = f(*[1], **{'y': 2})"], {"x": ((1,), {"y": 2})}),
        (["if (n := len('abc')) > 2:", "    self.n = n"], {"n": 3}),
        (["n = 0", "while n < 5:", "    n += 1", "    if n == 3: break", "self.n = n"], {"n": 3}),
        (["try:", "    self._s", "except AttributeError:", "    self._s = 1"], {"_s": 1}),
        (["try:", "    1 / 0", "except ZeroDivisionError as e:", "    self.e = str(e)"], None),
        (["self.x = getattr(self, 'x', 4) + 1"], {"x": 5}),
        (
            ["setattr(self, 'x', 3)", "delattr(self, 'x')", "self.y = hasattr(self, 'x')"],
            {"y": False},
        ),
        (["self.x = 1", "del self.x"], {}),
        (["self.x = None is None and [] is not None"], {"x": True}),
        (["x = 1", "self.x = None is x", "self.y = x is None"], {"x": False, "y": False}),
        (["self._x = 1", "self.y = self._x + 1"], {"_x": 1, "y": 2}),
        (["x = True", "self.x = x is True"], {"x": True}),
        (["n: int", "n = 3", "self.n: int = n"], {"n": 3}),
        (["input = 1", "self.x = input"], {"x": 1}),
        (["for open in [2]:", "    self.x = open"], {"x": 2}),
        (["def open(n):", "    return n + 1", "self.x = open(2)"], {"x": 3}),
        (["f = lambda id, *vars, exec=3: (id, vars, exec)", "self.x = f(1, 2)"], None),
        (
            ["try:", "    1 / 0", "except ZeroDivisionError as dir:", "    self.x = str(dir)"],
            {"x": "division by zero"},
        ),
        (["print('ignored', 1, sep='')"], {}),
        (["self.x = ''.join(reversed('ab')) + 'abc'[-2:]"], {"x": "babc"}),
        (
            ["def fact(n):", "    return 1 if n < 2 else n * fact(n - 1)", "self.x = fact(5)"],
            {"x": 120},
        ),
        (["self.x = isinstance(1, (int, str)) and any(x > 2 for x in [1, 3])"], {"x": True}),
        (  # the right side changes the index after the element is selected
            [
                *("def bump():", "    at[0] = 1", "    return 5", "at = [0]", "self.x = [0, 0]"),
                "self.x[at[0]] += bump()",
            ],
            {"x": [5, 0]},
        ),
        (  # a function on the left is called once
            [
                *("def next_one():", "    self.n += 1", "    return self.n", "self.n = -1"),
                *("self.x = [0, 0, 0]", "self.x[next_one()] += 7", "self.x[next_one()] -= 1"),
            ],
            {"x": [7, -1, 0], "n": 1},
        ),
        (["y = [1]", "self.x = {'a': y}", "self.x['a'] += [2]", "self.y = y"], None),
        (
            ["self.a = self.b = [1]", "self.a += [2]", "self.x = self.b"],
            {"a": [1, 2], "b": [1, 2], "x": [1, 2]},
        ),
        (["x = [[1, 2], [3]]", "x[0][-1] *= 10", "self.x = x"], {"x": [[1, 20], [3]]}),
    ],
)
def test_allowed_programs_behave_as_in_python(lines, expected):
    values = run_once(body(*lines))
    if expected is not None:
        assert values == expected

    class Plain:  # for running the same text without the sandbox
        pass

    plain, names = Plain(), {}
    exec(body(*lines), names)
    names["check_lock"](plain)
    assert vars(plain) == values


def test_module_level_constants_and_helpers():
    source = (
        '"""A lock."""\nCODE = ("knob", "handle")\nLIMIT: int = -3 + 2 * 4\n'
        "def _digits(self, code=CODE):\n    return [part[0] for part in code]\n"
        + body("self.x = _digits(self) * LIMIT")
    )
    assert run_once(source) == {"x": ["k", "h"] * 5}


def test_lock_object_has_the_interface_of_the_paper():
    source = body(
        "self.x = self.is_open(obj_name='safe', link_name='knob')",
        "self.y = self.is_open(link_name='handle')",
        "self.z = self.is_open('safe', 'door')",
    )
    assert run_once(source, phases=(True, False)) == {
        "x": True,
        "y": False,
        "z": False,
    }
    for line in ("self.is_open(link_name='lid')", "self.is_open()", "self.set_lock('box', 'door')"):
        with pytest.raises(ValueError, match="valid: '"):
            run_once(body(line))
    with pytest.raises(TypeError, match="lock=True or lock=False"):
        run_once(body("self.set_lock(link_name='door', lock=1)"))
    with pytest.raises(AttributeError, match="what the program sets"):
        run_once(body("self.helper()"))


def test_program_can_set_attributes_with_internal_names():
    """Attributes set by a program do not change the object that the sandbox provides."""
    source = body(
        "self.values = self.locked = self.phases = self.read = self.write = 1",
        "self.ok = self.is_open(link_name='knob')",
    )
    assert run_once(source, phases=(True, False))["ok"] is True


@pytest.mark.parametrize("arguments", ["self", "self, /", "this"])
def test_check_lock_may_name_its_argument_as_it_likes(arguments):
    compile_lock(f"A = B = 1\ndef check_lock({arguments}):\n    pass")


def test_annotations_are_not_evaluated():
    lines = ["def f(n: nothing, *a: nothing, **k: nothing) -> nothing:", "    return n"]
    assert run_once(body(*lines, "self.x = f(1)")) == {"x": 1}
