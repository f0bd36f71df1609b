"""Malicious programs: each gets its verdict, and no process or descriptor is left."""

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design import confine
from rulesafe_design.exploring import explore
from rulesafe_design.sandbox import KINDS, Refused, restrictions
from rulesafe_design.verdicts import ProgramLimits

QUICK = ProgramLimits(call_s=0.2, wall_s=20)
SLOW = ProgramLimits(call_s=20, cpu_s=20, wall_s=60)


def body(*lines):
    return "\n".join(["def check_lock(self):", *(f"    {line}" for line in lines)])


def verdict(source, limits=QUICK):
    with pytest.raises(Refused) as refused:
        explore(source, limits)
    assert refused.value.kind in KINDS
    return refused.value.kind, str(refused.value)


pytestmark = pytest.mark.usefixtures("no_leaks")


def test_the_text_of_an_error_is_computed_within_the_limit_of_a_call():
    nested = ("x = 'a'", "for i in range(50):", "    x = [x, x]", "raise ValueError(x)")
    kind, text = verdict(body(*nested))
    assert kind == "time" and "after the time limit of 0.2 s" in text


HOSTILE = {
    # Basic cases
    "loops for ever": ("time", body("while True:", "    pass")),
    "allocates 10 GB": ("memory", body("x = [0] * (10**10 // 8)")),
    "opens a file": ("forbidden", body("open('/etc/passwd')")),
    "imports os": ("forbidden", "import os\n" + body("os.fork()")),
    "climbs through __class__": (
        "forbidden",
        body("x = ().__class__.__base__.__subclasses__()"),
    ),
    # Time
    "swallows the alarm": (
        "time",
        body("while True:", "    try:", "        while True: pass", "    except: pass"),
    ),
    "one long operation": ("time", body("x = 10**10**8")),
    "a long sum": ("time", body("x = sum(range(10**12))")),
    "calls itself twice": (
        "time",
        "def f():\n    try:\n        f()\n    except: f()\n" + body("f()"),
    ),
    "an endless finally": (
        "time",
        body("try: pass", "finally:", "    while True: pass"),
    ),
    # Memory
    "grows": ("memory", body("x = []", "while True:", "    x.append('a' * 10**6 + str(len(x)))")),
    "a long text": ("memory", body("x = 'a' * 10**9")),
    "a wide format": ("memory", body("x = f'{1:{10**10}}'")),
    "a list of a range": ("memory", body("x = list(range(10**9))")),
    # Errors
    "calls itself": ("error", "def f():\n    f()\n" + body("f()")),
    "a name that is not": ("error", body("x = nothing")),
    "a long number": ("error", body("x = str(10**5000)")),
    "another attribute": ("error", body("x = []", "x.add(1)")),
    "none": ("error", body("x = {}.get(1)", "x['n'] = 1")),
    "another link": ("error", body("self.is_open(link_name='lid')")),
    # Crashes of the interpreter
    "nested iterators": (
        "crash",
        body("x = iter([1])", "for i in range(200000):", "    x = map(abs, x)", "next(x)"),
    ),
    # Indirect access to attributes
    "getattr": ("forbidden", body("getattr(self, '__class__')")),
    "getattr of a value": ("forbidden", body("getattr('', 'join')")),
    "setattr": ("forbidden", body("setattr(self, '__class__', int)")),
    "setattr of a function": ("forbidden", body("setattr(check_lock, 'memory', [])")),
    "by map": ("forbidden", body("list(map(getattr, [self], ['__dict__']))")),
    "by apply": ("forbidden", body("getattr(*[self, '__class__'])")),
    "format": ("forbidden", body("'{0.__class__}'.format(self)")),
    "format_map": ("forbidden", body("'{x.__class__}'.format_map({'x': self})")),
    "memory on a function": ("forbidden", body("check_lock.memory = 1")),
    "parameters of a type": ("forbidden", body("x = list[int]")),
    "caught": ("forbidden", body("try:", "    'x'.format()", "except:", "    pass")),
    "caught, and none": ("forbidden", body("try: (1).real", "except Exception: pass")),
    "what an error holds": (
        "forbidden",
        body("try:", "    self.nothing", "except AttributeError as e:", "    x = e.obj"),
    ),
    "send": ("forbidden", body("(i for i in [1]).send(None)")),
    "throw": ("forbidden", body("(i for i in [1]).throw(ValueError)")),
    "a method of a type": ("forbidden", body("str.mro()")),
    # Invalid texts
    "too long": ("syntax", "#" * 70_000),
    "nested": ("syntax", body("x = " + "(" * 30_000)),
}


@pytest.mark.parametrize("kind, source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_programs_get_a_verdict(kind, source):
    found, text = verdict(source, QUICK if kind == "time" else SLOW)
    assert (found, bool(text)) == (kind, True)


def test_the_verdict_names_the_line_and_the_moves():
    knob = "self.is_open(link_name='knob')"
    source = body("x = 1", f"if {knob}:", "    while True:", "        x += 1")
    kind, text = verdict(source)
    assert kind == "time" and text.startswith(("line 4", "line 5")) and "after knob+" in text
    kind, text = verdict(body(f"if not {knob}:", "    return", "x = 1", "x = [][x]"))
    assert (kind, text) == ("error", "line 5: IndexError: list index out of range (after knob+)")


def test_total_cpu_time_is_limited():
    """Each call is within its limit, but the sum exceeds the total limit."""
    source = body("self.n = getattr(self, 'n', 0)", "for i in range(10**6):", "    pass")
    source += "\n    k = self.is_open(link_name='knob')\n    if k != getattr(self, 'k', False):"
    source += "\n        self.n += 1\n    self.k = k"
    kind, text = verdict(source, ProgramLimits(call_s=5, cpu_s=1, wall_s=60))
    assert kind == "time" and "CPU" in text


def test_valid_texts_for_which_the_parser_opens_files_or_modules():
    for line in ("self.x = '\\N{BULLET}'", "self.x = '\\d'", "self.x = 1if 1else 2"):
        assert explore(body(line)).complete
    assert explore("# -*- coding: utf-7 -*-\n\f" + body("pass")).complete
    assert explore("\ufeff" + body("pass").replace("\n", "\r\n")).complete


def test_iteration_order_of_sets_is_reproducible():
    """The hash seed of strings is fixed."""
    source = body(
        "names = {'knob', 'handle', 'door', 'a', 'b', 'c'}",
        "self.x = list(names)",
        "self.set_lock(link_name='door', lock=self.x[0] < self.x[1])",
    )
    assert explore(source) == explore(source)


def test_limits_are_checked():
    for wrong in ({"call_s": 0}, {"states": -1}, {"memory_mb": 10}, {"wall_s": float("nan")}):
        with pytest.raises(RuleSafeError, match=next(iter(wrong))):
            ProgramLimits(**wrong)
    with pytest.raises(RuleSafeError, match="unknown kind of refusal"):
        Refused("nonsense", "")


def test_messages_contain_no_control_characters():
    kind, text = verdict(body("raise ValueError('\\x1b[2J\\u202e' + 'a' * 9999)"))
    assert kind == "error" and text.startswith("line 2: ValueError: ?[2J?aaa") and len(text) < 700


def test_large_program_is_read_completely():
    lines = [f"self.x{i} = {i}" for i in range(3000)]
    assert explore(body(*lines)).complete


def test_walls_are_reported():
    found = restrictions()
    assert found["limits"] and found["no_new_privileges"] and found["parent"]
    assert found["seccomp"] == (confine.pyseccomp is not None)
    assert explore(body("pass")).restrictions == found
