"""Fixtures: commands in a separate ROS domain, and a browser."""

import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

# For the modules in this folder and the helpers in tests/ros.
sys.path[1:1] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "ros")]

PATIENCE = 90.0
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",  # tests may run as root
    "--use-gl=angle",
    "--use-angle=swiftshader",  # WebGL without a GPU
    "--enable-unsafe-swiftshader",
)


class Running:
    """A command in another process; `output` collects its output."""

    def __init__(self, *command: str):
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.output = ""
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._changed:
                self.output += line
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def says(self, pattern: str) -> re.Match:
        """Wait until the output matches the pattern, and return the match."""

        def found():
            return re.search(pattern, self.output) or self.process.poll() is not None

        with self._changed:
            self._changed.wait_for(found, PATIENCE)
        match = re.search(pattern, self.output)
        assert match, self.output
        return match

    def stop(self, number: int) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code


@pytest.fixture
def run():
    """run(module, *arguments) -> Running; all are killed after the test."""
    running: list[Running] = []

    def begin(*command: str) -> Running:
        running.append(Running(*command))
        return running[-1]

    yield begin
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


@pytest.fixture(scope="module")
def browser():
    """Chromium, in the scope of a module: Playwright's event loop occupies the thread, and other
    tests cannot run one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip(f"none of {', '.join(CHROMIUM)} is installed: apt-get install chromium")
    with playwright.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()
