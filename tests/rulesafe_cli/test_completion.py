"""The Tab key completes commands, options, names and launch arguments."""

import os
import shutil
import subprocess
import sys
from inspect import getdoc
from pathlib import Path

import pytest

from rulesafe_cli.cli import main
from rulesafe_cli.completion import candidates
from rulesafe_cli.table import COMMANDS
from rulesafe_locks.rules import RULES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rulesafe ", {command.name for command in COMMANDS}),
        ("rulesafe rules show rule_01", {f"rule_01{digit}" for digit in range(10)}),
        ("rulesafe eval --rules rule_001,", {f"rule_001,{name}" for name in RULES}),
        ("rulesafe eval --rules=rule_02", {"--rules=rule_020"}),
        ("rulesafe eval --exec", {"--execute", "--execution"}),
        ("rulesafe eval --execution ", {"newest", "blended"}),
        ("rulesafe launch launch/memory.launch.xml --print gr", {"grid:="}),
        ("rulesafe policy describe --si", {"--size"}),
        ("rulesafe demos render ", set()),
        ("rulesafe demos render --en", {"--engine"}),
        ("rulesafe demos render --workers ", set()),
        ("rulesafe tune ", set()),
    ],
)
def test_words(line, expected, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = set(candidates(line))
    assert expected == ({word for word in found if not word.startswith("-")} or found)


def test_subcommands_are_offered_beside_options():
    assert {"compare", "report", "table", "--policy"} <= set(candidates("rulesafe eval "))
    assert {"list", "solve"} <= set(candidates("rulesafe rules "))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_that_shell(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "rulesafe" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "end", "expected"),
    [
        ("rulesafe rules show rule_02", "rule_02", ["rule_020"]),
        ("rulesafe eval --rules=rule_02", "rule_02", ["rule_020"]),
        ("rulesafe launch launch/memory.launch.xml gr", "gr", ["grid:="]),
    ],
)
def test_bash_replaces_the_end_of_the_word(line, end, expected, capsys):
    """bash takes = and : for the end of a word, and hands over what follows."""
    assert main(["completion", "bash"]) == 0
    program = (
        f"{capsys.readouterr().out}\ncompopt() {{ :; }}\n"
        f'rulesafe() {{ "{sys.executable}" -m rulesafe_cli.cli "$@"; }}\n'
        f"COMP_LINE={line!r} COMP_POINT={len(line)}\n_rulesafe rulesafe {end!r}\n"
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        ["bash", "-c", program], cwd=ROOT, env={**os.environ}, capture_output=True, text=True
    )
    assert done.stdout.split() == expected


def test_every_function_has_an_example():
    functions = {words: f for command in COMMANDS for words, f in command.functions().items()}
    assert {words.split()[0] for words in functions} == {command.name for command in COMMANDS}
    without = [w for w, f in functions.items() if f"Example: rulesafe {w}" not in getdoc(f)]
    assert not without
