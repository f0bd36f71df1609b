"""The README's Python runs as it stands, and its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
TASKS = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs/programs.md").read_text("utf-8"), re.DOTALL
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("program", TASKS)
def test_programs_of_the_documents_run(program):
    run(program)


@pytest.mark.render
@pytest.mark.parametrize("program", PROGRAMS)
def test_readme_programs_run(program):
    run(program)


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_first_program_has_twelve_lines():
    assert len([line for line in PROGRAMS[0].splitlines() if line]) == 12


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8"))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


def test_the_table_is_that_of_the_results():
    table = README.split("<!-- expert:begin -->")[1].split("<!-- expert:end -->")[0].strip()
    results = (ROOT / "docs/results/expert.md").read_text("utf-8").splitlines()
    assert len(table.splitlines()) == 3
    assert set(table.splitlines()) <= set(results)
