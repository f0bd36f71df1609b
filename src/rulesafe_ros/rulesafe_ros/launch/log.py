"""Output of a launch: on the screen, and in a log file like that of `ros2 launch`."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rulesafe_core.ros_environment import log_folder

# Streams of a process that are shown on the screen, by its `output` attribute.
_SCREEN = {"screen": ("stdout", "stderr"), "log": ("stderr",)}


class Log:
    """Screen and log file of one launch."""

    def __init__(self) -> None:
        self.directory: Path | None = _directory()
        self.file: TextIO | None = None
        try:
            self.directory.mkdir(parents=True)
            self.file = (self.directory / "launch.log").open("w", encoding="utf-8")
        except OSError as error:
            self.message("launch", f"cannot write a log file: {error}", "WARNING")
        else:
            self.message("launch", f"All log files can be found below {self.directory}")

    def message(self, name: str, text: str, level: str = "INFO") -> None:
        """Write a message of the launcher itself."""
        self._write(f"[{level}] [{name}]: {text}", on_screen=True)

    def line(self, name: str, stream: str, output: str, text: str) -> None:
        """Write a line of a process's stdout or stderr, as its attribute `output` requires."""
        self._write(f"[{name}] {text}", on_screen=stream in _SCREEN[output])

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def _write(self, text: str, on_screen: bool) -> None:
        # A closed terminal or a full disk must not end the robot's processes.
        if on_screen:
            with suppress(OSError, ValueError):
                _print(text)
        if self.file is not None:
            with suppress(OSError, ValueError):
                print(text, file=self.file, flush=True)


def _print(text: str) -> None:
    """Print a complete line; with PYTHONUNBUFFERED a signal can truncate a line of `print`."""
    data = f"{text}\n".encode(errors="replace")
    while data:
        data = data[sys.stdout.buffer.write(data) :]
    sys.stdout.buffer.flush()


def _directory() -> Path:
    """Return this launch's folder."""
    stamp = time.strftime("%Y-%m-%d-%H-%M-%S")
    return log_folder() / f"{stamp}-{socket.gethostname()}-{os.getpid()}"
