"""The yield of language models in docs/lock_design.md is that of its data."""

import importlib.util
import json
from pathlib import Path

import pytest

from rulesafe_demos.write import Decompose, ProgramTask, write
from rulesafe_design import answers
from rulesafe_design.generate import KINDS
from rulesafe_design.sandbox import SANDBOX_KINDS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("lock_yield", ROOT / "scripts/lock_yield.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_reason_of_failure_belongs_to_one_stage(script):
    locks, programs = (
        [kind for stage in stages.values() for kind in stage] for stages in script.STAGES.values()
    )
    for kinds in (locks, programs):
        assert len(kinds) == len(set(kinds))
    assert set(KINDS) - set(locks) == {"planner"}  # of task programs only
    assert {*answers.KINDS, *SANDBOX_KINDS, "closed"} <= set(programs)


def test_stages_count_the_replies_that_pass(script):
    outcomes = {"prose": 1, "syntax": 2, "time": 3, "shut": 4, "duplicate": 5, "accepted": 6}
    assert list(script.passed(outcomes, "locks").values()) == [20, 18, 15, 11, 6]


def test_task_programs_are_counted_from_their_verdicts(script, tmp_path, capsys):
    task = ProgramTask("rule_002", "safe_02", 0, "nominal")
    write(task, Decompose(task), tmp_path / "run", repairs=0, film=False)
    script.main(str(tmp_path / "out.json"), f"decomposed={tmp_path / 'run'}")
    assert json.loads((tmp_path / "out.json").read_text())["decomposed"]["outcomes"] == {
        "opened": 1
    }
    assert "| decomposed | 1 | 1 (21-100 %) | 1 (21" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["schema"], "each argument is NAME=RUN"),
        (["schema=none"], "an --out that has ended"),
    ],
)
def test_wrong_arguments_have_one_clear_error(named, message, script, tmp_path):
    with pytest.raises(SystemExit, match=message):
        script.main(str(tmp_path / "out.json"), *named)
    assert not list(tmp_path.iterdir())


def test_the_table_is_that_of_the_data(script):
    found = json.loads((ROOT / "docs/results/data/lock_yield.json").read_text("utf-8"))
    page = (ROOT / "docs/lock_design.md").read_text("utf-8")
    assert [content["of"] for content in found.values()] == ["locks", "locks", "programs"]
    for name, content in found.items():
        assert content["asked"] == sum(content["outcomes"].values())
        assert script.row(name, content["outcomes"], content["of"]) in page.splitlines()
    schema, grammar, _ = found.values()
    assert ("grammar" in schema["origin"], "grammar" in grammar["origin"]) == (False, True)
    accepted = sum(content["outcomes"].get("accepted", 0) for content in (schema, grammar))
    assert f"{accepted} of {schema['asked'] + grammar['asked']} replies" in page
