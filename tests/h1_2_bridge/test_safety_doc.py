"""docs/safety.md: its tests exist, its states and settings agree with the code."""

import ast
import re
from dataclasses import asdict
from pathlib import Path

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.states import ControlState

HERE = Path(__file__).parent
TEXT = (HERE.parents[1] / "docs/safety.md").read_text("utf-8")


def rows(title):
    """Return the cells of the table below a heading."""
    section = TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_each_fault_and_each_promise_names_a_test_that_exists():
    tests = {
        f"{path.name}::{node.name}"
        for path in HERE.glob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    faults, promises = rows("Faults"), rows("Promises")
    assert len(faults) > 25 and [row[0] for row in promises] == [str(i) for i in range(1, 15)]
    for _, fault, _, proof in [*(("", *row) for row in faults), *promises]:
        named = re.findall(r"`([^`]+::[^`]+)`", proof)
        assert named, fault
        assert set(named) <= tests, fault


def test_the_states_are_those_of_the_code():
    assert [row[0].strip("`") for row in rows("States")] == [state.value for state in ControlState]


def test_the_defaults_are_those_of_the_code():
    written = {row[0].strip("`"): row[1] for row in rows("Settings")}
    defaults = {name: str(value) for name, value in asdict(BridgeConfig()).items()}
    assert written.items() <= defaults.items()
    assert set(defaults) - set(written) == {"execute_steps", "execution"}
