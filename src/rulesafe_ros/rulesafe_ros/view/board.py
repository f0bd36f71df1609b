"""Store the newest value of each section of the page: the node writes it, open pages read it.

A slow page skips intermediate values and does not block the node.
"""

import json
import threading
from typing import Any


class Board:
    """Sections by name, with a version number that increases at each write. Thread-safe.

    Attributes:
        viewers: number of open pages; without one, images are not decoded.
    """

    def __init__(self) -> None:
        self.viewers = 0
        self._lock = threading.Lock()
        self._sections: dict[str, tuple[int, str | bytes]] = {}
        self._values: dict[str, Any] = {}
        self._version = 0

    def put(self, name: str, value: Any) -> None:
        """Write a JSON-compatible value if it differs from the present one."""
        with self._lock:
            if name in self._values and self._values[name] == value:
                return
            self._values[name] = value
            self._write(name, json.dumps({"name": name, "value": value}, allow_nan=False))

    def put_bytes(self, name: str, data: bytes) -> None:
        """Write a binary section; its message starts with the length of its name, and its name."""
        with self._lock:
            self._write(name, bytes([len(name)]) + name.encode() + data)

    def get(self, name: str) -> Any:
        """Return the current value of a section, or None if it has none."""
        with self._lock:
            return self._values.get(name)

    def _write(self, name: str, message: str | bytes) -> None:
        self._version += 1
        self._sections[name] = self._version, message

    def changes(self, since: int) -> tuple[int, list[str | bytes]]:
        """Return the present version and the messages of sections written after version `since`.

        The messages are in the order of writing; `since` = 0 returns all sections.
        """
        with self._lock:
            found = sorted(entry for entry in self._sections.values() if entry[0] > since)
            return self._version, [message for _, message in found]
