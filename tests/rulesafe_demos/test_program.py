"""`rulesafe demos run` and `program`: task programs from the command line."""

import re
from pathlib import Path

import av
import pytest

from rulesafe_cli.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/programs/rule_001.py"


def run(*words):
    return main(["demos", "run", *map(str, words)])


def test_a_program_is_executed_and_filmed(tmp_path, capsys, small_film):
    out = tmp_path / "film"
    words = ("--rule", "rule_001", "--safe", "safe_02", "--seed", 1, "--out", out)
    assert run(EXAMPLE, *words) == 0
    printed = capsys.readouterr().out
    assert "rule_001 on safe_02, seed 1: opened, 3/3 steps" in printed
    assert "step 3 (door+), try 1" in printed
    frames = int(re.search(r"steps, (\d+) frames", printed)[1])
    with av.open(str(out / "film.mp4")) as film:
        shot = sum(1 for _ in film.decode(video=0))
    assert shot >= frames > 50
    assert (out / "sheet.png").stat().st_size > 50_000


@pytest.mark.episode
def test_a_written_program_opens_the_safe(tmp_path, capsys):
    assert main(["demos", "program", "--rule", "rule_002", "--safe", "safe_03"]) == 0
    path = tmp_path / "program.py"
    path.write_text(capsys.readouterr().out)
    assert run(path, "--rule", "rule_002", "--safe", "safe_03", "--no-film") == 0
    assert "opened, 2/2 steps" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [path]


WRITTEN = sorted((ROOT / "examples/programs/written").glob("rule_*.py"))


@pytest.mark.episode
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.stem == "rule_003" else pytest.mark.thorough)
        for path in WRITTEN
    ],
    ids=lambda path: path.stem,
)
def test_a_program_of_a_language_model_opens_its_safe(path, capsys):
    safe = f"safe_{(int(path.stem[-3:]) - 1) % 10 + 1:02d}"
    words = ("--rule", path.stem, "--safe", safe, "--seed", 7100, "--no-film")
    assert run(path, *words) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("planner.hand_open('right')\n", "the program ended, and the door is not open"),
        ("\nplanner.rotate_hand('right', angle=60)\n", "line 2: rotate_hand: no part is held"),
        ("x = 1\ny = x / 0\n", "line 2: ZeroDivisionError: division by zero"),
    ],
)
def test_why_the_door_stays_shut(tmp_path, capsys, program, reason):
    path = tmp_path / "program.py"
    path.write_text(program)
    assert run(path, "--rule", "rule_002", "--safe", "safe_02", "--no-film") == 1
    assert reason in capsys.readouterr().out


def test_programs_that_cannot_be_run(tmp_path, capsys):
    broken = tmp_path / "broken.py"
    broken.write_text("planner.hand_open(\n")
    for path, reason in ((broken, "line 1: '(' was never closed"), (tmp_path / "no.py", "no.py")):
        assert run(path, "--rule", "rule_002", "--safe", "safe_02", "--no-film") == 2
        assert reason in capsys.readouterr().err
