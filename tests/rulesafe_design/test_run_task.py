"""Task programs in the sandbox, whose planner calls are executed in this process."""

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design import processes
from rulesafe_design.sandbox import Refused, run_task
from rulesafe_design.verdicts import ProgramLimits

PAPER = """# Step 1: rotate knob counterclockwise
planner.hand_pre_pinch("right")
constraint_left = planner.generate_constraints(obj_name="safe", target_link="knob")
_, target_effector_pose = planner.generate_end_effector_pose(constraint_left, hand_name="right")
planner.move_to_pose(target_effector_pose)
planner.rotate_hand(hand="right", angle=-60)
"""


@dataclass
class Pose:
    name: str


class PlannerStub:
    """Record each call and return its result from `answers`, otherwise None."""

    def __init__(self, **answers):
        self.answers, self.calls = answers, []

    def __call__(self, name, arguments, named):
        self.calls.append((name, arguments, named))
        answer = self.answers.get(name)
        return answer(*arguments, **named) if callable(answer) else answer


def refused(source, answer=lambda *call: None, limits=ProgramLimits(call_s=0.2, wall_s=20)):
    with pytest.raises(Refused) as caught:
        run_task(source, answer, limits)
    return caught.value.kind, str(caught.value)


def test_program_in_the_style_of_the_paper():
    constraints, pose = object(), Pose("a")
    stub = PlannerStub(
        generate_constraints=constraints,
        generate_end_effector_pose=(({"name": "tips"}, 0.5), pose),
    )
    assert run_task(PAPER, stub) is None
    assert stub.calls == [
        ("hand_pre_pinch", ["right"], {}),
        ("generate_constraints", [], {"obj_name": "safe", "target_link": "knob"}),
        ("generate_end_effector_pose", [constraints], {"hand_name": "right"}),
        ("move_to_pose", [pose], {}),
        ("rotate_hand", [], {"hand": "right", "angle": -60}),
    ]
    assert stub.calls[3][1][0] is pose


@pytest.mark.parametrize("name", ["rule_001", "rule_020"])
def test_the_example_programs(name):
    source = (Path(__file__).parents[2] / "examples" / "programs" / f"{name}.py").read_text()
    stub = PlannerStub(generate_end_effector_pose=lambda *a, **k: ((), Pose("x")))
    run_task(source, stub)
    assert {call for call, _, _ in stub.calls} >= {
        "hand_pinch",
        "rotate_hand",
        "move_to_pose",
    }


VALUES = [
    *(None, True, 1, -2.5, "é\0\n", [], [1, [2]], (1, (2, [3])), {"a": (1,), 2: None}),
    *(float("inf"), 10**30, {"handle": 0}, {"tuple": [1]}, {"dict": 1}),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_are_sent_both_ways(value):
    stub = PlannerStub(give=value)
    run_task("planner.take(planner.give(), x=planner.give())", stub)
    assert stub.calls[-1] == ("take", [value], {"x": value})
    assert repr(stub.calls[-1][1][0]) == repr(value)


def test_handles_are_opaque_and_can_be_passed_back():
    pose = Pose("secret")
    stub = PlannerStub(give=[pose, (pose, {"k": pose})])
    run_task("a = planner.give()\nplanner.take(*a)\nplanner.show(f'{a[0]}')", stub)
    assert stub.calls[1][1] == [pose, (pose, {"k": pose})]
    assert stub.calls[2][1] == ["an object of the planner"]
    for line in ("x.name", "x.number", "x[0]", "x()", "x.name = 1", "list(x)", "x + 1"):
        kind, _ = refused(f"x = planner.give()\n{line}", PlannerStub(give=pose))
        assert kind in ("error", "forbidden")


@pytest.mark.parametrize(
    "argument", ["{1}", "planner", "planner.x", "int", "lambda: 0", "b'x'", "range(3)", "{1: {2}}"]
)
def test_other_values_cannot_be_sent(argument):
    stub = PlannerStub()
    kind, text = refused(f"\nplanner.take({argument})", stub)
    assert kind == "error" and "line 2" in text and "valid: None, bool" in text
    assert not stub.calls


def test_planner_error_ends_the_program_with_its_line():
    def answer(name, arguments, named):
        if arguments == [2]:
            raise RuleSafeError("the hand is stuck")

    source = "def go(n):\n    planner.move(n)\n\nfor n in range(5):\n    try:\n        go(n)\n"
    source += "    except:\n        pass\n"
    kind, text = refused(source, answer)
    assert (kind, text) == ("planner", "line 2: move: the hand is stuck")


def test_other_errors_are_propagated():
    def answer(name, arguments, named):
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        run_task("planner.move()", answer)


@pytest.mark.parametrize(
    "source, kind",
    [
        ("while True:\n    pass", "time"),
        (
            "planner.move()\nwhile True:\n    try:\n        while True: pass\n    except: pass",
            "time",
        ),
        ("planner.move()\nx = 10**10**8", "time"),
        ("x = [0] * 10**10", "memory"),
        ("import os", "forbidden"),
        ("planner.__class__", "forbidden"),
        ("planner._on.simulation", "forbidden"),
        ("getattr(planner, '__dict__')", "forbidden"),
        ("planner.move = 1", "forbidden"),
        ("planner.move.__globals__", "forbidden"),
        ("open('/etc/passwd')", "forbidden"),
        ("try:\n    planner._wire\nexcept:\n    pass\nplanner.move()", "forbidden"),
        ("planner.move(", "syntax"),
        ("x = 1\nx.y", "error"),
        ("x, y = planner.move()", "error"),
        ("while True:\n    planner.move()", "output"),
        ("planner.move('x' * 10**6)", "output"),
    ],
)
def test_verdicts(source, kind):
    limits = ProgramLimits(
        call_s=0.2 if kind == "time" else 20, wall_s=60, calls=50, output_bytes=100_000
    )
    assert refused(source, limits=limits)[0] == kind


def test_maximum_number_of_calls():
    stub = PlannerStub()
    run_task("for i in range(50):\n    planner.move(i)", stub, ProgramLimits(calls=50))
    assert len(stub.calls) == 50
    stub = PlannerStub()
    source = "for i in range(51):\n    planner.move(i)"
    kind, text = refused(source, stub, ProgramLimits(calls=50))
    assert (kind, text) == ("output", "the program made more than 50 planner calls")
    assert len(stub.calls) == 50


def test_time_of_the_planner_does_not_count():
    """A planner call may take longer than the time limits of a program."""
    limits = ProgramLimits(call_s=1.0, wall_s=4.0)  # the start of the process counts
    run_task("for i in range(2):\n    planner.move()", lambda *call: time.sleep(4.2), limits)


COMPROMISED = (
    "import sys, json, os; say = lambda **m: os.write(1, json.dumps(m).encode() + b'\\n'); "
    "say(restrictions={}); os.read(0, 10**6); exec(%r)"
)
CALL = {"call": "move", "arguments": [], "named": {"dict": []}, "line": 1}


@pytest.mark.parametrize(
    "message",
    [
        *({**CALL, "call": x} for x in (None, 1, "", "__class__", "_x", "a.b", "a b")),
        *({**CALL, "arguments": x} for x in (None, 1, {"handle": 0}, [{"handle": 0}], [{"x": 1}])),
        *({**CALL, "arguments": [{"handle": x}]} for x in (-1, 10**9, "0", None, True, [])),
        *({**CALL, "named": x} for x in (None, [], {}, {"dict": [[1, 2]]}, {"dict": [1]})),
        *({**CALL, "named": {"dict": [[{"dict": []}, 2]]}}, {**CALL, "line": "x"}, {"done": 1}),
        {key: value for key, value in CALL.items() if key != "line"},
    ],
    ids=repr,
)
def test_invalid_messages_are_refused(monkeypatch, message):
    monkeypatch.setattr(processes, "BOOT", COMPROMISED % f"say(**{message!r}); os.read(0, 1)")
    stub = PlannerStub()
    kind, _ = refused("pass", stub)
    assert kind == "output" and not stub.calls


def test_process_that_does_not_read(monkeypatch):
    """The answer is larger than the pipe buffer, and the process does not read."""
    monkeypatch.setattr(
        processes, "BOOT", COMPROMISED % f"say(**{CALL!r}); import time; time.sleep(60)"
    )
    before = len(list(Path("/proc/self/fd").iterdir()))
    kind, text = refused("pass", PlannerStub(move="x" * 10**6), ProgramLimits(wall_s=1))
    assert kind == "time" and "no answer" in text
    assert len(list(Path("/proc/self/fd").iterdir())) == before
