"""Explore the states of a lock program in the sandbox and validate the resulting graph.

Example::

    graph = explore(Path("my_lock.py").read_text())
    graph.complete, len(graph.states)
"""

from dataclasses import dataclass, field
from typing import Any

from rulesafe_design.lock_worker import Explorer
from rulesafe_design.processes import Worker
from rulesafe_design.verdicts import ProgramLimits, Refused


@dataclass(frozen=True)
class StateGraph:
    """The states of a lock program, numbered breadth first over knob and handle moves.

    State 0 is the start, with all parts closed. Moves of locked parts are included.
    """

    states: tuple[tuple[bool, bool, bool], ...]
    """Outputs of each state: door free, knob locked, handle locked."""
    phases: tuple[tuple[bool, bool], ...]
    """Phases in each state: knob open, handle open."""
    next: tuple[tuple[int, int] | None, ...]
    """Successors of each state: after a knob move, after a handle move; None: not explored."""
    depth: tuple[int, ...]
    """The minimum number of moves to each state."""
    complete: bool
    """Whether all states of the program were explored."""
    events: int
    """The maximum length of the explored move sequences. In a complete graph it is the maximum
    depth plus one."""
    restrictions: dict[str, bool] = field(default_factory=dict, compare=False)
    """Whether each restriction of the process, by name, was active."""


def explore(source: str, limits: ProgramLimits = ProgramLimits()) -> StateGraph:
    """Explore a lock program over every sequence of moves, breadth first, within `limits`.

    The exploration ends when there are no new states, or when another complete layer would exceed
    the limits. check_lock is called at the start and after each move, repeatedly until the state no
    longer changes. At the start the door is locked, knob and handle are not, and self is empty.
    Raises Refused.
    """
    with Worker("lock", source, limits) as worker:
        return _graph(worker.receive().get("graph"), limits, worker.restrictions)


def explore_trusted(source: str, limits: ProgramLimits = ProgramLimits()) -> StateGraph:
    """As `explore`, in this process and therefore faster, for programs written by `grammar`."""
    explorer = Explorer(source, lambda call: call(), limits.states, limits.events)
    return _graph(explorer.explore(), limits, {})


def _graph(data: Any, limits: ProgramLimits, restrictions: dict[str, bool]) -> StateGraph:
    """Return the graph in the data of the process; raise Refused "output" if it is inconsistent."""
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
            restrictions,
        )
        valid = _is_valid(graph, limits)
    except (KeyError, TypeError, ValueError, IndexError):
        valid = False
    if not valid:
        raise Refused("output", "the process sent an inconsistent state graph")
    return graph


def _flag(value: Any) -> bool:
    if type(value) is not int or value not in (0, 1):
        raise ValueError("not 0 or 1")
    return bool(value)


def _is_valid(graph: StateGraph, limits: ProgramLimits) -> bool:
    """Return whether the graph is breadth first in complete layers and its moves are consistent."""
    count = len(graph.states)
    numbers = [*graph.depth, graph.events, *(n for pair in graph.next if pair for n in pair)]
    if type(graph.complete) is not bool or any(type(n) is not int for n in numbers):
        return False
    if not (0 < count <= limits.states and count == len(graph.next) == len(graph.depth)):
        return False
    if graph.phases[0] != (False, False) or graph.depth[0] != 0:
        return False
    best = [0] + [count] * (count - 1)  # minimum number of moves, from the edges
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
