"""Statistics: right figures from known attempts, and the files that are written."""

import csv

import pytest

from rulesafe_cli.cli import main
from rulesafe_data.attempt_recording import save
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_demos.attempts import make_request
from rulesafe_demos.perform import ending, facts_of, failed
from rulesafe_demos.stats import Row, causes, grouped, load_rows


def row(rule, number, success, frames=100, failure="", **more):
    figures = {"retries": 0, "resampled": 0, "wall_seconds": 2.0, "planning_seconds": 0.5}
    figures |= {"cpu_seconds": 4.0, "picture_seconds": None} | more
    return Row(
        rule, f"safe_{number % 2 + 1:02d}", number, success, frames, failure=failure, **figures
    )


ROWS = [
    row("rule_001", 0, True, frames=100),
    row("rule_001", 1, False, frames=50, failure="step 2 (knob+): 12 mm off"),
    row("rule_001", 2, True, frames=200, retries=3),
    row("rule_002", 0, False, failure="step 4 (knob+): 7.5 mm off", wall_seconds=None),
]


def test_groups_count_what_they_say():
    first, second, everything = grouped(ROWS, lambda r: r.rule)
    assert (first.name, second.name, everything.name) == ("rule_001", "rule_002", "all")
    assert (first.attempts, first.successes, first.frames, first.retries) == (3, 2, 150, 1)
    assert everything.rate == 0.5
    assert second.frames != second.frames  # NaN: no success
    assert first.planning_share == 0.25
    # Wilson's interval of 2 in 4, by its formula with z = 1.96.
    assert (everything.low, everything.high) == pytest.approx((0.15004, 0.84996), abs=1e-5)
    assert [g.attempts for g in grouped(ROWS, lambda r: r.safe)] == [3, 1, 4]


def test_demonstrations_in_an_hour_of_cpu_time():
    rows = [
        row("rule_001", 0, True, cpu_seconds=4.0, picture_seconds=12.0),
        row("rule_001", 1, False, cpu_seconds=2.0),
    ]
    (rule, _) = grouped(rows, lambda r: r.rule)
    assert rule.states_per_hour == pytest.approx(3600 / 6)  # 6 s for one success
    assert rule.demonstrations_per_hour == pytest.approx(3600 / 18)
    (bare, _) = grouped(ROWS[:1], lambda r: r.rule)
    assert bare.demonstrations_per_hour != bare.demonstrations_per_hour  # NaN: no pictures


def test_failures_of_one_kind_fall_together():
    assert causes(ROWS) == [
        (
            2,
            "step N (knob+): N mm off",
            "rule_001 on safe_02 (attempt 1), rule_002 on safe_01 (attempt 0)",
        )
    ]


def test_the_files_of_a_directory(tmp_path, capsys):
    request = make_request("rule_001", 2, 3, "safe_02", "nominal", 0)
    DemoFolder(tmp_path).settle(request)
    for number, failure in enumerate(["the knob slipped", "", "the knob slipped"]):
        attempt = request.episode("rule_001", number)
        outcome = ending(failed(attempt, failure)) | {"success": not failure, "retries": number}
        facts = facts_of(request, attempt) | {"resampled": 1} | outcome
        frame = {"time": 0.0}
        save(DemoFolder(tmp_path).file("rule_001", number, not failure), [frame] * 11, facts)
    assert [r.frames for r in load_rows(tmp_path)] == [10, 10, 10]
    assert main(["demos", "stats", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "failed, 2 x: the knob slipped\n    rule_001 on safe_02 (attempt 0), rule_001" in text
    lines = [line.split() for line in text.splitlines()]
    for name in ("rule_001", "safe_02"):
        assert any(line[:3] == [name, "1/3", "33.3"] for line in lines)
    with (tmp_path / "stats.csv").open() as file:
        (rule, everything) = csv.DictReader(file)
    assert (rule["name"], everything["name"]) == ("rule_001", "all")
    assert (rule["attempts"], rule["successes"], rule["frames"]) == ("3", "1", "10")
    assert float(rule["rate"]) == pytest.approx(1 / 3, abs=1e-5)
