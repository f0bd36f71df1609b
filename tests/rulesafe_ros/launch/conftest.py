"""Launch files in a temporary directory, resolved in process or run by a real launcher."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_for

from rulesafe_ros.launch.model import Step
from rulesafe_ros.launch.parse import parse_file
from rulesafe_ros.launch.resolve import resolve
from rulesafe_ros.launch.substitutions import Context


class Bench:
    """A directory with launch files, which can be resolved and run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "tmp").mkdir()
        self.launchers: list[subprocess.Popen[str]] = []
        self.environment = {
            **os.environ,
            "ROS_LOG_DIR": str(directory / "log"),
            "TMPDIR": str(directory / "tmp"),
        }

    def write(self, body: str, name: str = "main.launch.xml") -> Path:
        """Write a launch file; `body` starts on line 2."""
        path = self.directory / name
        path.write_text(f"<launch>\n{body}\n</launch>\n")
        return path

    def script(self, source: str, name: str = "script.py", arguments: str = "") -> str:
        """Write a Python script, and return the attributes of a <node> that runs it."""
        (self.directory / name).write_text(source)
        return f'exec="{sys.executable}" args="{self.directory / name} {arguments}"'

    def resolve(self, body: str, **variables: str) -> list[Step]:
        root = parse_file(self.write(body))
        environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
        context = Context(dict(variables), environment, self.directory)
        return resolve(root, context, self.directory)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `rulesafe launch ARGUMENTS` in another process."""
        launcher = subprocess.Popen(
            [sys.executable, "-m", "rulesafe_cli.cli", "launch", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.launchers.append(launcher)
        return launcher

    def run(self, body: str, *arguments: str) -> tuple[int, str]:
        """Run a launch to its end, and return its exit status and output."""
        launcher = self.start(str(self.write(body)), *arguments)
        output, _ = launcher.communicate(timeout=60)
        return launcher.returncode, output

    def marks(self, pattern: str, count: int) -> list[int]:
        """Wait for `count` files PATTERN written by scripts, and return the process IDs in them."""
        wait_for(lambda: len(list(self.directory.glob(pattern))) >= count)
        return [int(path.read_text()) for path in sorted(self.directory.glob(pattern))]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    for launcher in bench.launchers:
        if launcher.poll() is None:
            launcher.terminate()
            launcher.wait()
        assert launcher.stdout is not None
        launcher.stdout.close()
