"""The graph of a lock program's states: explored in the sandbox, checked here.

Example::

    graph = explore(Path("my_lock.py").read_text())
    graph.complete, len(graph.states)
"""

from dataclasses import dataclass, field
from typing import Any

from rulesafe_design.processes import Worker
from rulesafe_design.verdicts import ProgramLimits, Refused


@dataclass(frozen=True)
class StateGraph:
    """A program's states, numbered breadth first over knob and handle moves; 0 is the start, all
    closed. Moves of locked parts are included."""

    states: tuple[tuple[bool, bool, bool], ...]
    """Door free, knob held, handle held."""
    phases: tuple[tuple[bool, bool], ...]
    """Knob open, handle open."""
    next: tuple[tuple[int, int] | None, ...]
    """The states after a knob and after a handle move; None: not explored."""
    depth: tuple[int, ...]
    """The fewest moves to each state."""
    complete: bool
    """Whether all states of the program were explored."""
    events: int
    """All sequences of at most so many moves were explored. If the graph is complete, that is one
    more than the greatest depth."""
    walls: dict[str, bool] = field(default_factory=dict, compare=False)
    """The restrictions of the process, by name, and whether each was in force."""


def explore(source: str, limits: ProgramLimits = ProgramLimits()) -> StateGraph:
    """Explore a program's check_lock over every sequence of moves, breadth first, until no state is
    new or another complete layer would exceed `limits`.

    It is called at the start and after each move, and again until it changes nothing. At the start
    the door is locked, knob and handle are not, and self is empty. Errors: Refused.
    """
    with Worker("lock", source, limits) as worker:
        return _graph(worker.receive().get("graph"), limits, worker.walls)


def _graph(data: Any, limits: ProgramLimits, walls: dict[str, bool]) -> StateGraph:
    """Return the graph that the process has sent; Refused "output" if it is impossible."""
    try:
        rows = [[_flag(x) for x in row] for row in data["rows"]]
        after = [None if pair is None else (pair[0], pair[1]) for pair in data["next"]]
        graph = StateGraph(
            tuple((free, knob, handle) for free, knob, handle, _, _ in rows),
            tuple((knob, handle) for _, _, _, knob, handle in rows),
            tuple(after),
            tuple(data["depth"]),
            data["complete"],
            data["events"],
            walls,
        )
        valid = _is_valid(graph, limits)
    except (KeyError, TypeError, ValueError, IndexError):
        valid = False
    if not valid:
        raise Refused("output", "its process told a graph that cannot be")
    return graph


def _flag(value: Any) -> bool:
    if type(value) is not int or value not in (0, 1):
        raise ValueError("no flag")
    return bool(value)


def _is_valid(graph: StateGraph, limits: ProgramLimits) -> bool:
    """Return whether it is breadth first in complete layers, and moves change their part only."""
    count = len(graph.states)
    numbers = [*graph.depth, graph.events, *(n for pair in graph.next if pair for n in pair)]
    if type(graph.complete) is not bool or any(type(n) is not int for n in numbers):
        return False
    if not (0 < count <= limits.states and count == len(graph.next) == len(graph.depth)):
        return False
    if graph.phases[0] != (False, False) or graph.depth[0] != 0:
        return False
    best = [0] + [count] * (count - 1)  # the fewest moves, by the graph's own edges
    for number, pair in enumerate(graph.next):
        if pair is None:
            continue
        knob, handle = graph.phases[number]
        moved = ((not knob, handle), (knob, not handle))
        for target, phases in zip(pair, moved, strict=True):
            if not 0 <= target < count or graph.phases[target] != phases:
                return False
            best[target] = min(best[target], best[number] + 1)
    explored = [pair is not None for pair in graph.next]
    frontier = graph.depth[-1] + 1 if graph.complete else graph.events
    return (
        tuple(best) == graph.depth == tuple(sorted(graph.depth))
        and graph.depth[-1] <= limits.events
        and graph.complete == all(explored)
        and explored == [depth < frontier for depth in graph.depth]
        and graph.events == (graph.depth[-1] + (1 if graph.complete else 0))
    )
