"""Tab completes what there is: commands, options, names, launch arguments."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rulesafe_cli.cli import main
from rulesafe_cli.parsers import parsers
from rulesafe_cli.table import COMMANDS
from rulesafe_locks.rules import RULES

ROOT = Path(__file__).parents[2]


def completed(line, tmp_path):
    """The words that a shell would offer after a line."""
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command = [sys.executable, "-m", "rulesafe_cli.cli"]
    subprocess.run(command, env={**os.environ, **asked}, cwd=ROOT, check=True)
    return [word.strip() for word in answer.read_text().splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rulesafe ", {command.name for command in COMMANDS}),
        ("rulesafe rules show rule_01", {f"rule_01{digit}" for digit in range(10)}),
        ("rulesafe eval --rules rule_001,", {f"rule_001,{name}" for name in RULES}),
        ("rulesafe eval --exec", {"--execute", "--execution"}),
        ("rulesafe eval --execution ", {"newest", "blended"}),
        ("rulesafe launch launch/memory.launch.xml gr", {"grid:="}),
    ],
)
def test_words(line, expected, tmp_path):
    found = completed(line, tmp_path)
    words = {word for word in found if not word.startswith("-")} or set(found)
    assert expected == (set(found) if line.endswith("--exec") else words)


def test_subcommands_stand_beside_options(tmp_path):
    assert {"compare", "report", "table", "--policy"} <= set(completed("rulesafe eval ", tmp_path))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_that_shell(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "rulesafe" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_every_command_has_parsers_with_an_example():
    """What reference and completion know is what there is."""
    found = parsers()
    assert {words.split()[0] for words in found} == {command.name for command in COMMANDS}
    without = [
        words
        for words, parser in found.items()
        if f"Example: rulesafe {words}" not in f"{parser.description} {parser.epilog}"
    ]
    assert not without
