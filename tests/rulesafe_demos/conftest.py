"""A few real demonstrations, generated once: rule_002 on two safes, states only."""

import os
import subprocess
import sys

import pytest

from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.lock_files import LockFile, dump_lock
from rulesafe_locks.rules import load_rule

PYTHON_PATH = os.pathsep.join(path for path in sys.path if path)
WORDS = ("--rules", "rule_002", "--episodes", "3", "--safes", "safe_02,safe_04")


class Command:
    """`rulesafe demos` in a separate process."""

    def __init__(self, *words, **options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rulesafe_cli.cli", "demos", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": PYTHON_PATH},
            **options,
        )

    def end(self):
        """Exit code, stdout, stderr."""
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err


@pytest.fixture(scope="session")
def generate():
    """Starts `rulesafe demos generate` of three small demonstrations into a directory."""

    def start(directory, *words, **options):
        return Command(
            "generate", *WORDS, "--passes", "states", "--out", directory, *words, **options
        )

    return start


@pytest.fixture(scope="session")
def demonstrations(generate, made_once):
    """A directory of an uninterrupted run. Do not write to it."""

    def make(directory):
        code, out, err = generate(directory, "--workers", "2").end()
        assert code == 0, err
        assert "3 episodes of each rule" in out

    return made_once("demonstrations", make)


@pytest.fixture(scope="session")
def attempts():
    """Reads every attempt's file of a directory: path -> bytes."""

    def read(directory):
        return {
            str(path.relative_to(directory)): path.read_bytes()
            for kind in ("recordings", "failures")
            for path in sorted((directory / kind).rglob("[!.]*"))  # no drafts of a killed worker
            if path.is_file()
        }

    return read


@pytest.fixture
def small_film(monkeypatch):
    """Render the images of films with 160 x 160 pixels. A processor draws them slowly."""
    monkeypatch.setattr("rulesafe_data.films.subscriber.SIDE", 160)


@pytest.fixture
def own_lock(tmp_path):
    """A custom lock file, my_lock.json: rule_002 under another name."""
    automaton = smallest(automaton_of(load_rule("rule_002")))
    path = tmp_path / "own" / "my_lock.json"
    path.parent.mkdir()
    path.write_text(dump_lock(LockFile("my_lock", "Open the knob.", automaton)), encoding="utf-8")
    return path
