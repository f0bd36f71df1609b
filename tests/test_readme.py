"""The README's Python runs as it stands, and its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
DOCUMENT = (ROOT / "docs/programs.md").read_text("utf-8").split("## The sandbox\n")[0]
TASKS = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("program", TASKS)
def test_programs_of_the_documents_run(program):
    run(program)


@pytest.mark.parametrize("program", PROGRAMS)
def test_readme_programs_run(program):
    run(program)


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_first_program_has_eight_lines():
    assert len([line for line in PROGRAMS[0].splitlines() if line]) == 8


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8"))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


def test_it_is_short():
    assert len(README.splitlines()) <= 110


@pytest.mark.parametrize(
    ("page", "said", "results"),
    [
        ("expert", "600 of 600", "| all | 600/600 |"),
        (
            "twenty_rules",
            "tokens of all joints, [168 of 200](docs/results/leaderboard.md)",
            "opens 168 of 200",
        ),
        ("twenty_rules", "[opens 508 of 600]", "| 508/600 |"),
        ("network", "of the hand only: 281 of 400", "| VQ, J=4 (80 bits) | 2 | 281/400 |"),
        ("network", "396 of 600 with tokens", "| VQ of all joints, J=4 (80 bits) | 3 | 396/600 |"),
        ("network", "175 without memory", "| none | 3 | 175/600 |"),
        ("reading", "opens 192 of 200, and 241 of 270", "| 192/200 | 96 % (93..98) | 241/270 |"),
    ],
)
def test_its_figures_are_those_of_the_results(page, said, results):
    assert said in " ".join(README.split())
    assert results in " ".join((ROOT / f"docs/results/{page}.md").read_text("utf-8").split())
