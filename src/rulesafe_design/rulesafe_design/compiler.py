"""Compile a program to the smallest automaton with the same behaviour.

A program with finitely many states is compiled exactly. A program with unbounded counters is
explored up to a maximum number of events, the bound. Its automaton agrees with the program on every
sequence up to this length and extrapolates the regularity to longer sequences. By the W-method of
conformance testing (Vasilevskii 1973, Chow 1978), the extrapolation is exact if the program needs
at most `Bound.states` states.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from rulesafe_design.exploring import StateGraph, explore
from rulesafe_design.sandbox import Refused
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.automata import MOVED, Automaton, AutomatonState, depths, refinements, smallest
from rulesafe_locks.lock_files import Bound
from rulesafe_locks.locks import Phases

MARGIN = 4
"""An automaton is accepted only if every other automaton that agrees within the bound has more than
this number of additional states."""


@dataclass(frozen=True)
class CompiledLock:
    """The automaton of a program."""

    automaton: Automaton
    """The smallest automaton; every move has a successor."""
    bound: Bound | None
    """The bound of the agreement with the program; None: exact for all sequences."""
    explored: int
    """Number of explored states of the program."""


def compile_program(source: str, limits: ProgramLimits = ProgramLimits()) -> CompiledLock:
    """Return the automaton of a program, which runs in the sandbox.

    Raises:
        Refused: The sandbox refuses the program; kind "states" if it has more states than `limits`
            allow, without regularity.
    """
    return compile_graph(explore(source, limits))


def compile_graph(graph: StateGraph) -> CompiledLock:
    """Return the smallest automaton of an explored program."""
    outputs = [
        AutomatonState(Phases(*phases), free, frozenset(_held(knob, handle)), (None, None))
        for phases, (free, knob, handle) in zip(graph.phases, graph.states, strict=True)
    ]
    seen = len(outputs)
    if graph.complete:
        states = [
            AutomatonState(
                output.phases, output.door_unlocked, output.locked_parts, after or (None, None)
            )
            for output, after in zip(outputs, graph.next, strict=True)
        ]
        return CompiledLock(smallest(Automaton(tuple(states))), None, seen)
    for candidate in _candidates(graph, outputs):
        if _agrees(graph, outputs, candidate):
            found = smallest(candidate)
            bound = Bound(graph.events, _exact_up_to(found, graph.events))
            if bound.states >= len(found.states) + MARGIN:
                return CompiledLock(found, bound, seen)
            break
    raise Refused(
        "states",
        f"the program has at least {seen} states within {graph.events} events, without regularity; "
        "limit the values of its counters and lists",
    )


def _exact_up_to(found: Automaton, events: int) -> int:
    """Return the number of states up to which no other automaton agrees for `events`.

    If r moves reach every state and h moves distinguish any two states, all sequences of
    r + h + 1 + k moves distinguish all automata with up to k more states (the W-method).
    """
    reach = max(depths(found))
    apart = sum(1 for _ in refinements(found.states)) - 1
    return len(found.states) + events - reach - apart - 1


def _held(knob: bool, handle: bool) -> Iterator[str]:
    yield from (part for part, locked in zip(MOVED, (knob, handle), strict=True) if locked)


def _candidates(graph: StateGraph, outputs: list[AutomatonState]) -> Iterator[Automaton]:
    """Yield candidate automata, the smallest first.

    For h = 0, 1, 2, ..., states of the program that no sequence of h events distinguishes are
    merged. Automata in which a move has no successor are skipped.
    """
    kinds = _numbers({q: output.output for q, output in enumerate(outputs)})
    for horizon in range(graph.events):
        candidate = _quotient(graph, outputs, kinds, graph.events - horizon)
        if candidate is not None:
            yield candidate
        within = graph.events - horizon - 1
        kinds = _numbers(
            {
                q: (kinds[q], kinds[after[0]], kinds[after[1]])
                for q, after in enumerate(graph.next)
                if after is not None and graph.depth[q] <= within
            }
        )


def _numbers(keys: dict[int, Hashable]) -> dict[int, int]:
    seen: dict[Hashable, int] = {}
    return {q: seen.setdefault(key, len(seen)) for q, key in keys.items()}


def _quotient(
    graph: StateGraph, outputs: list[AutomatonState], kinds: dict[int, int], depth: int
) -> Automaton | None:
    """Return an automaton with one state for each kind, which behaves like the first of its kind.

    `kinds` contains the states up to `depth`. Returns None if a successor is deeper.
    """
    first: dict[int, int] = {}
    for q, kind in kinds.items():  # breadth first, so the first has the smallest depth
        first.setdefault(kind, q)
    states = []
    for q in first.values():
        after = graph.next[q]
        if after is None or graph.depth[q] >= depth:
            return None
        knob, handle = kinds[after[0]], kinds[after[1]]
        states.append(
            AutomatonState(
                outputs[q].phases, outputs[q].door_unlocked, outputs[q].locked_parts, (knob, handle)
            )
        )
    return Automaton(tuple(states))


def _agrees(graph: StateGraph, outputs: list[AutomatonState], candidate: Automaton) -> bool:
    """Return whether the program and the automaton agree after every explored sequence."""
    pairs = [(0, 0)]
    seen = set(pairs)
    for q, number in pairs:
        state = candidate.states[number]
        if outputs[q].output != state.output:
            return False
        after = graph.next[q]
        if after is None:
            continue
        for new, expected in zip(after, state.next, strict=True):
            if expected is not None and (new, expected) not in seen:
                seen.add((new, expected))
                pairs.append((new, expected))
    return True
