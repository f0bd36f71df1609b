"""What a launch says: on the screen, and in a log file as ros2 launch keeps one."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

# Where the two streams of a process go, by its `output`.
_SCREEN = {
    "screen": ("stdout", "stderr"),
    "both": ("stdout", "stderr"),
    "full": ("stdout", "stderr"),
    "log": ("stderr",),
    "own_log": (),
}


class Log:
    """Screen and log file of one launch."""

    def __init__(self) -> None:
        self.directory: Path | None = _directory()
        self.file: TextIO | None = None
        try:
            self.directory.mkdir(parents=True)
            self.file = (self.directory / "launch.log").open("w", encoding="utf-8")
        except OSError as error:
            self.say("launch", f"no log file: {error}", "WARNING")
        else:
            self.say("launch", f"All log files can be found below {self.directory}")

    def say(self, name: str, message: str, level: str = "INFO") -> None:
        """A message of the launcher itself."""
        self._write(f"[{level}] [{name}]: {message}", on_screen=True)

    def line(self, name: str, stream: str, output: str, text: str) -> None:
        """A line that a process wrote on `stream` (stdout or stderr), with its `output` setting."""
        self._write(f"[{name}] {text}", on_screen=stream in _SCREEN[output])

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def _write(self, text: str, on_screen: bool) -> None:
        # A closed screen or a full disk must not end the robot's processes.
        if on_screen:
            with suppress(OSError, ValueError):
                _print(text)
        if self.file is not None:
            with suppress(OSError, ValueError):
                print(text, file=self.file, flush=True)


def _print(text: str) -> None:
    """Like print, but whole: with PYTHONUNBUFFERED a signal could cut a long line short."""
    data = f"{text}\n".encode(errors="replace")
    while data:
        data = data[sys.stdout.buffer.write(data) :]
    sys.stdout.buffer.flush()


def _directory() -> Path:
    """ROS_LOG_DIR, else ROS_HOME/log, else ~/.ros/log; in it one directory per launch."""
    home = os.environ.get("ROS_HOME") or "~/.ros"
    base = Path(os.environ.get("ROS_LOG_DIR") or f"{home}/log").expanduser()
    stamp = time.strftime("%Y-%m-%d-%H-%M-%S")
    return base / f"{stamp}-{socket.gethostname()}-{os.getpid()}"
