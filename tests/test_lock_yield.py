"""The yield of language models in docs/lock_design.md is that of its data."""

import importlib.util
import json
from pathlib import Path

import pytest

from rulesafe_design.generate import KINDS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("lock_yield", ROOT / "scripts/lock_yield.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_reason_of_failure_belongs_to_one_stage(script):
    kinds = [kind for stage in script.STAGES.values() for kind in stage]
    assert len(kinds) == len(set(kinds))
    assert set(KINDS) - set(kinds) == {"planner"}  # of task programs only


def test_stages_count_the_replies_that_pass(script):
    outcomes = {"prose": 1, "syntax": 2, "time": 3, "shut": 4, "duplicate": 5, "accepted": 6}
    assert list(script.passed(outcomes).values()) == [20, 18, 15, 11, 6]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["schema"], "each argument is NAME=RUN"),
        (["schema=none"], "a folder of `rules generate` that has ended"),
    ],
)
def test_wrong_arguments_have_one_clear_error(named, message, script, tmp_path):
    with pytest.raises(SystemExit, match=message):
        script.main(str(tmp_path / "out.json"), *named)
    assert not list(tmp_path.iterdir())


def test_the_table_is_that_of_the_data(script):
    found = json.loads((ROOT / "docs/results/data/lock_yield.json").read_text("utf-8"))
    page = (ROOT / "docs/lock_design.md").read_text("utf-8")
    assert len(found) == 2
    for name, content in found.items():
        assert content["asked"] == sum(content["outcomes"].values())
        assert script.row(name, content["outcomes"]) in page.splitlines()
    schema, grammar = found.values()
    assert ("grammar" in schema["origin"], "grammar" in grammar["origin"]) == (False, True)
    outcomes = sum(content["outcomes"].get("accepted", 0) for content in found.values())
    assert f"{outcomes} of {sum(c['asked'] for c in found.values())} replies" in page
