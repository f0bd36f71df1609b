"""Classify locks by difficulty: a cell of the steps and memory states of the shortest plan.

A plan of n steps passes n states of the lock. One of the four pairs of visible phases occurs at
least n/4 times and, because every move changes a phase, at most n/2 times, both rounded up. That is
the number of memory states that an agent needs if it observes knob and handle. Therefore not every
pair of steps and memory exists, and a long plan always needs memory. Example::

    cell_of({"steps": 6, "memory": 3})  # Cell(steps=5, memory=3): five to six steps, memory 3
"""

from collections.abc import Mapping
from math import ceil
from typing import Any, NamedTuple

STEPS = ((2, 4), (5, 6), (7, 8), (9, 10), (11, 12))
"""The bands of steps (first, last); opening the door is a step."""

TOP_MEMORY = 5
"""The last band of memory: this number of memory states or more."""


class Cell(NamedTuple):
    """A band of steps, given by its first number, and a number of memory states."""

    steps: int
    memory: int

    @property
    def bands(self) -> tuple[str, str]:
        """The text for tables, such as ("9-10", "5+")."""
        more = "+" if self.memory == TOP_MEMORY else ""
        return f"{self.steps}-{dict(STEPS)[self.steps]}", f"{self.memory}{more}"

    @property
    def name(self) -> str:
        """The text for messages, such as "5-6 steps, memory 3"."""
        steps, memory = self.bands
        return f"{steps} steps, memory {memory}"


def _cells() -> tuple[Cell, ...]:
    exist = {
        Cell(first, min(memory, TOP_MEMORY))
        for first, last in STEPS
        for steps in range(first, last + 1)
        for memory in range(ceil(steps / 4), ceil(steps / 2) + 1)
    }
    return tuple(sorted(exist))


CELLS = _cells()
"""All possible cells, sorted."""


def cell_of(facts: Mapping[str, Any]) -> Cell | None:
    """Return the cell for the facts "steps" and "memory"; None for a plan outside of all bands."""
    steps, memory = facts["steps"], facts["memory"]
    for first, last in STEPS:
        if first <= steps <= last:
            return Cell(first, min(memory, TOP_MEMORY))
    return None
