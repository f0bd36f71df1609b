"""Data types of a launch: XML elements of a launch file, and the resulting steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError


class LaunchError(RuleSafeError):
    """A launch file or a launch argument is invalid or not supported."""


@dataclass(frozen=True)
class Element:
    """An XML element that has passed the checks of `parse`.

    `text` holds the attributes as written, `values` the converted ones that take no substitutions.
    """

    tag: str
    text: Mapping[str, str]
    values: Mapping[str, Any]
    children: tuple[Element, ...]
    file: Path
    line: int

    def error(self, message: str) -> LaunchError:
        return LaunchError(f"{self.file}:{self.line}: <{self.tag}>: {message}")

    def all(self, tag: str) -> list[Element]:
        """Return the children with this tag, in file order."""
        return [child for child in self.children if child.tag == tag]

    @property
    def conditional(self) -> bool:
        return "if" in self.text or "unless" in self.text


MAX_ELEMENTS = 50_000
"""Maximum number of elements that are processed in a launch, those of each include again."""


@dataclass
class Budget:
    """The number of elements that may still be processed, for all files of a launch together."""

    left: int = MAX_ELEMENTS

    def spend(self, element: Element) -> None:
        """Count an element; raise LaunchError if there were too many."""
        self.left -= 1
        if self.left < 0:
            raise element.error(f"the launch has more than {MAX_ELEMENTS} elements with includes")


@dataclass(frozen=True)
class Process:
    """A process to start, after all substitutions."""

    name: str  # label of its output lines, e.g. sim_node-1
    command: tuple[str, ...]
    environment: Mapping[str, str]
    output: str = "log"
    on_exit: str | None = None  # "shutdown": the launch ends when this process ends
    sigterm_timeout: float = 5.0  # s from SIGINT to SIGTERM
    sigkill_timeout: float = 5.0  # s from SIGTERM to SIGKILL; inf: the process is never killed
    parameters: Mapping[str, Any] = field(default_factory=dict)  # inline parameters, for display

    @property
    def time_limit(self) -> float:
        """Time from SIGINT to SIGKILL, s; inf: the process ends by itself and is never killed."""
        return self.sigterm_timeout + self.sigkill_timeout


@dataclass(frozen=True)
class Shutdown:
    """End the launch."""

    reason: str


Step = Process | Shutdown
