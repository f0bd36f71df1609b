"""Counts of the replies of language models by stage of their verification."""

import json

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_demos.write import Decompose, ProgramTask, write
from rulesafe_design import answers
from rulesafe_design.generate import KINDS
from rulesafe_design.sandbox import SANDBOX_KINDS
from rulesafe_studies import lock_yield


def test_each_reason_of_failure_belongs_to_one_stage():
    locks, programs = (
        [kind for stage in stages.values() for kind in stage]
        for stages in lock_yield.STAGES.values()
    )
    for kinds in (locks, programs):
        assert len(kinds) == len(set(kinds))
    assert set(KINDS) - set(locks) == {"planner"}  # of task programs only
    assert {*answers.KINDS, *SANDBOX_KINDS, "closed"} <= set(programs)


def test_stages_count_the_replies_that_pass():
    outcomes = {"prose": 1, "syntax": 2, "time": 3, "shut": 4, "duplicate": 5, "accepted": 6}
    assert list(lock_yield.passed(outcomes, "locks").values()) == [20, 18, 15, 11, 6]


def test_task_programs_are_counted_from_their_verdicts(tmp_path):
    task = ProgramTask("rule_002", "safe_02", 0, "nominal")
    write(task, Decompose(task), tmp_path / "run", repairs=0, film=False)
    lock_yield.count((f"decomposed={tmp_path / 'run'}",), tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["decomposed"]["outcomes"] == {
        "opened": 1
    }
    (row,) = lock_yield.rows("programs", tmp_path / "out.json")
    assert row[:3] == ["decomposed", "1", "1 (21-100 %)"]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["schema"], "each argument is NAME=RUN"),
        (["schema=none"], "an --out that has ended"),
    ],
)
def test_wrong_arguments_have_one_clear_error(named, message, tmp_path):
    with pytest.raises(RuleSafeError, match=message):
        lock_yield.count(tuple(named), tmp_path / "out.json")
    assert not list(tmp_path.iterdir())
