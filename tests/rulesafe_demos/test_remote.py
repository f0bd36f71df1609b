"""Planner calls of a sandboxed task program: valid, invalid and limited ones."""

import inspect
import re

import pytest

from planner_node.tasks import TaskPlanner
from rulesafe_demos.program import TimeLimitExceeded
from rulesafe_demos.remote import CALLS, MAX_CALLS, SandboxedProgram
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import Simulation

TAKE = 'c = planner.generate_constraints("safe", "knob")\n'
DEEP = "x = []\nfor i in range(100000):\n    x = [x]\nplanner.hand_open(x)\n"


@pytest.fixture(scope="module")
def simulation():
    """An episode in which the programs here move little."""
    simulation = Simulation()
    simulation.reset("rule_002", "safe_02", seed=0)
    return simulation


@pytest.fixture
def ending(simulation):
    """Runs a program; how it ended."""

    def run(source, *subscribers):
        runtime = Runtime(simulation, subscribers=subscribers)
        return SandboxedProgram(source).execute(TaskPlanner(simulation, runtime=runtime))

    return run


def test_the_calls_are_the_planners_public_methods():
    """A new method must be reviewed before untrusted programs may call it."""
    methods = inspect.getmembers(TaskPlanner, inspect.isfunction)
    assert set(CALLS) == {name for name, _ in methods if not name.startswith("_")}


@pytest.mark.parametrize(
    ("program", "kind", "reason"),
    [
        ("planner.hand_open(\n", "syntax", "line 1"),
        ("import os\n", "forbidden", "line 1: import"),
        ("\nplanner._on.play(None)\n", "forbidden", "line 2: planner has no call _on"),
        ("getattr(planner, '_on')\n", "forbidden", "line 1"),
        ("planner.__class__\n", "forbidden", "line 1"),
        ("planner.simulation.reset()\n", "forbidden", "line 1"),
        ("planner.hand_open = 1\n", "forbidden", "line 1"),
        (TAKE + "c.target_link\n", "forbidden", "line 2"),
        (TAKE + "c.__class__\n", "forbidden", "line 2"),
        (TAKE + "c[0]\n", "forbidden", "line 2"),
        ("planner.simulation()\n", "call", "line 1: simulation: unknown call .*hand_pre_pinch"),
        ("planner.log()\n", "call", "unknown call of the planner 'log'"),
        ("planner.fly('x' * 10)\n", "call", "unknown call of the planner 'fly'"),
        (TAKE + "planner.rotate_hand('right', c)\n", "call", "line 2: .*angle must be a number"),
        (TAKE + "planner.hand_open(c)\n", "call", "hand must be a string"),
        (TAKE + "planner.move_to_pose(c)\n", "call", "must be a pose .* got constraints"),
        ("planner.generate_end_effector_pose(0)\n", "call", "must be constraints .* got 0"),
        ("planner.generate_end_effector_pose([[1]])\n", "call", "got a list"),
        ("planner.move_to_pose([[1.0] * 4] * 4)\n", "call", "must be a pose"),
        ("planner.rotate_hand('right', 1e300)\n", "call", r"got 1e\+300"),
        ("planner.rotate_hand('right', float('nan'))\n", "call", "got nan"),
        ("planner.rotate_hand('right', 10 ** 400)\n", "call", "got another number"),
        ("planner.rotate_hand('right', True)\n", "call", "got a bool"),
        ("planner.rotate_hand('right', '60')\n", "call", "got a str"),
        ("planner.hand_open('x' * 1000000)\n", "call", "at most 200 characters"),
        ("planner.hand_open(1, 2, 3)\n", "call", "too many positional arguments; valid: hand"),
        ("planner.hand_open(self=1)\n", "call", "unexpected keyword"),
        ("planner.hand_open(**{'x' * 100000: 1})\n", "call", "unexpected keyword"),
        ("planner.hand_open(lambda: 1)\n", "error", "line 1: TypeError"),
        (DEEP, "error", "line 4: RecursionError"),
        ("planner.hand_open('left')\n", "planner", "line 1: hand_open: unknown hand 'left'"),
        ("planner.rotate_hand('right', 60)\n", "planner", "line 1: rotate_hand: no part is held"),
        ("1 / 0\n", "error", "line 1: ZeroDivisionError"),
        ("while True:\n    pass\n", "time", "line "),
        ("while True:\n    " + TAKE, "calls", f"line 2: .*more than {MAX_CALLS} calls"),
    ],
)
def test_what_ends_a_program(ending, program, kind, reason):
    found = ending(program)
    assert (found.kind, bool(re.search(reason, found.reason))) == (kind, True), found
    assert len(found.reason) < 2500


def test_no_program_goes_on_after_a_call_that_failed(ending):
    tries = (
        "for i in range(3):\n    try:\n        planner.rotate_hand('right', 60)\n"
        "    except Exception:\n        pass\n"
    )
    found = ending(tries)
    assert found.kind == "planner"
    assert "line 3: rotate_hand: no part is held" in found.reason


def test_a_program_that_ends_says_nothing(ending):
    shapes = "r, pose = planner.generate_end_effector_pose(c)\nname, excess, unit = r[0]\n"
    found = ending(TAKE + shapes + "if excess != 0 or unit not in ('m', 'rad'):\n    1 / 0\n")
    assert (found.kind, found.reason) == ("", "")


def test_time_that_is_up_ends_it(ending):
    def end(simulation, action, activity):
        if action is not None:
            raise TimeLimitExceeded("the time limit is over")

    found = ending("while True:\n    planner.hand_pre_grasp()\n    planner.hand_open()\n", end)
    assert found.kind == "simulated"
    assert "the time limit is over" in found.reason
