"""The documents as a site, and the commands that they name."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from rulesafe_cli.arguments import arguments_of
from rulesafe_cli.table import COMMANDS
from rulesafe_ros.launch.commands import known_arguments

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = re.compile(r"```bash[^\n]*\n(.*?)```", re.S)
NAMES = {command.name for command in COMMANDS}
ALWAYS = {"sigterm_timeout", "sigkill_timeout"}


PROGRAM = re.compile(r"```python\n(.*?)```", re.S)
RUN_HERE = dict.fromkeys(("evaluation", "gymnasium", "safes", "submit"), "")
RUN_HERE["programs"] = "## The sandbox"
"""Page -> the heading from which on its programs are run here; empty: all."""

RUN_ELSEWHERE = ("README", "dataset", "lock_design", "memory", "programs", "tutorials")
"""Pages whose programs other tests run, too."""


@lru_cache(maxsize=1)
def functions():
    return {words: f for command in COMMANDS for words, f in command.functions().items()}


def commands(page):
    """The words of each call of `rulesafe` in the page's shell blocks."""
    for block in SHELL.findall(page.read_text("utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            lines = shlex.shlex(line, posix=True, punctuation_chars=True)
            lines.whitespace_split, lines.commenters = True, "#"
            words = []
            for word in [*lines, ";"]:
                if set(word) <= set("();<>|&"):
                    yield from called(words)
                    words = []
                else:
                    words.append(word)


def called(words):
    programs = [i for i, word in enumerate(words) if word in ("rulesafe", ".venv/bin/rulesafe")]
    starts = [i for i in programs if not set(words[:i]) & {"pip", "docker", "-t", "launch"}]
    return [words[starts[0] + 1 :]] if starts and len(words) > starts[0] + 1 else []


CALLS = [(page, words) for page in PAGES for words in commands(page)]


@pytest.mark.parametrize("page", dict.fromkeys(page for page, _ in CALLS), ids=lambda p: p.stem)
def test_the_commands_of_a_page_exist_and_take_these_options(page):
    wrong = [" ".join(words) for at, words in CALLS if at == page and not understood(words, page)]
    assert not wrong


def understood(words, page):
    if words[0] in ("--help", "--version", "COMMAND", "..."):
        return True
    if words[0] not in NAMES:
        return False
    if words[0] == "launch":
        return launchable(words[1:])
    name = " ".join(words[:2]) if " ".join(words[:2]) in functions() else words[0]
    if name not in functions():
        return len(words) > 1 and "|" in words[1]  # a list of subcommands, for people
    options = {option for a in arguments_of(functions()[name]) for option in a.options}
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return given <= {*options, "--help"}


def launchable(words):
    files = [word for word in words if word.endswith(".launch.xml")]
    if not files:
        return words[0] in ("...", "FILE")
    file = ROOT / "launch" / Path(files[0]).name
    if not file.is_file() or files[0] not in (file.name, f"launch/{file.name}"):
        return False
    names = {word.partition(":=")[0] for word in words if ":=" in word}
    return names <= set(known_arguments(file)) | ALWAYS


@pytest.mark.parametrize("name", RUN_HERE)
def test_programs_run(name, tmp_path):
    shutil.copy(ROOT / "src/rulesafe_sim/rulesafe_sim/data/safes/safe_03.yaml", tmp_path)
    (tmp_path / "safe_03.yaml").rename(tmp_path / "my_safe.yaml")
    shutil.copy(ROOT / "examples/locks/rule_005.py", tmp_path / "my_lock.py")
    text = (ROOT / f"docs/{name}.md").read_text("utf-8")
    programs = PROGRAM.findall(text[text.index(RUN_HERE[name]) :])
    assert programs
    for program in programs:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_every_program_is_run_somewhere():
    having = {page.stem for page in PAGES if PROGRAM.search(page.read_text("utf-8"))}
    assert having == {*RUN_HERE, *RUN_ELSEWHERE}


def test_the_documents_are_few_and_short():
    """Without the reference, which is generated, and the results, which are pages of studies."""
    lines = {
        page.name: len(page.read_text("utf-8").splitlines())
        for page in sorted((ROOT / "docs").glob("*.md"), key=lambda page: -page.stat().st_size)
    }
    assert len(lines) <= 24
    largest = dict(list(lines.items())[:5])
    assert sum(lines.values()) <= 6500, f"shorten a page of docs/; the largest: {largest}"


def test_there_are_commands_to_look_at():
    assert len(CALLS) > 80
    assert not understood(["rules", "list", "--loud"], None)
    assert not understood(["launch", "launch/memory.launch.xml", "colour:=red"], None)


def test_the_site_is_built_without_a_warning(tmp_path):
    """Links, anchors and the table of contents are mkdocs's to check; the hook brings the rest."""
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    home = (tmp_path / "index.html").read_text("utf-8")
    assert 'href="rules.html"' in home and 'src="images/demo.webp"' in home
    assert not re.search(r"googleapis|unpkg|jsdelivr", home)  # nothing is fetched from elsewhere
    assert (tmp_path / "repository/examples/policies/hold_still.py").is_file()
    assert (tmp_path / "search/search_index.js").is_file()  # search in pages opened from disk


def test_every_path_of_the_paper_s_page_exists():
    """Modules and files that docs/paper.md names."""
    text = (ROOT / "docs/paper.md").read_text("utf-8")
    packages = {path.parent.name: path for path in ROOT.glob("src/*/*/__init__.py")}
    missing = []
    for name in re.findall(r"`([a-z0-9_]+(?:\.[a-z0-9_]+)+)`", text):
        package, module, *_ = name.split(".")
        if package in packages:
            path = packages[package].with_name(module)
            missing += [] if path.is_dir() or path.with_suffix(".py").is_file() else [name]
    files = re.findall(r"`((?:examples|scripts|planner_node)/[^`\s]+?)`", text)
    missing += [f for f in files if not (ROOT / f).exists() and not list(ROOT.glob(f"src/*/{f}"))]
    assert not missing
    assert {"windows", "quantisers", "inverse_kinematics", "language"} <= {
        name.split(".")[1] for name in re.findall(r"`([a-z_]+\.[a-z_]+)", text)
    }
