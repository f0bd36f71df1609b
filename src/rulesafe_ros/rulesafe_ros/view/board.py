"""The board between the ROS graph, which writes, and pages, which read: the newest of everything.

A reader that is slow misses what was overwritten and holds nobody up. No ROS here.
"""

import json
import threading
from typing import Any

BINARY = ("head", "front", "points")
"""Sections of bytes; a page knows each by its place here, the first byte of its message."""


class Board:
    """Sections by name, each with a version that grows when it is written. Safe among threads.

    Attributes:
        readers: how many there are; where there is none, pictures need not be made.
    """

    def __init__(self) -> None:
        self.readers = 0
        self._lock = threading.Lock()
        self._sections: dict[str, tuple[int, str | bytes]] = {}
        self._values: dict[str, Any] = {}
        self._version = 0

    def put(self, name: str, value: Any) -> None:
        """Writes a value that JSON can carry, if it differs from what stands there."""
        with self._lock:
            if name in self._values and self._values[name] == value:
                return
            self._values[name] = value
            self._write(name, json.dumps({"name": name, "value": value}, allow_nan=False))

    def put_bytes(self, name: str, data: bytes) -> None:
        """Writes one of the sections of BINARY."""
        with self._lock:
            self._write(name, bytes([BINARY.index(name)]) + data)

    def get(self, name: str) -> Any:
        """The value that was put there last; None where there is none."""
        with self._lock:
            return self._values.get(name)

    def _write(self, name: str, message: str | bytes) -> None:
        self._version += 1
        self._sections[name] = self._version, message

    def news(self, since: int) -> tuple[int, list[str | bytes]]:
        """The version now, and the messages of what was written after version `since`, in that
        order; 0: of everything."""
        with self._lock:
            found = sorted(entry for entry in self._sections.values() if entry[0] > since)
            return self._version, [message for _, message in found]
