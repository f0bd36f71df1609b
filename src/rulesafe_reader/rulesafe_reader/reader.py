"""The reader: chooses the next move from an instruction and the moves so far.

The parser proposes designs of the lock. Each is compiled to its automaton. The states in which it
may be are tracked with their probabilities, as by the Viterbi algorithm: a hand can slip, an
observation can be wrong, and a part can be turned back unseen. If the door stays closed, the reader
repeats the pull first. Then it repeats the move that may have been undone, or follows a less
probable design. The next move is the first one of the shortest plan from the most probable state.
Example::

    reader = Reader(load_parser())
    reader.next_event("The door can be pulled while the knob is open.", [])  # "knob+"
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import Automaton, as_rule
from rulesafe_locks.locks import LockState, Rule
from rulesafe_locks.plans import plan_distance, shortest_plan
from rulesafe_reader.designs import automaton_of_tokens
from rulesafe_reader.parser import Parser

CANDIDATES = 8
"""Number of designs that the parser proposes."""

SLIP, FORCED = 0.1, 0.001
"""Probability that an unlocked part does not move because the hand slips, and that a locked part
moves."""

TURNED_BACK = 0.015
"""Probability that a part is turned back between two moves. It exceeds the square of SLIP: after
two failures at the door, the reader turns the part again."""

NEGLIGIBLE = -14.0
"""Logarithm of the probability, relative to the most probable state, below which states are
dropped."""

States = Mapping[LockState, float]
"""States in which a lock may be, and the logarithm of their probability."""


class Observed(NamedTuple):
    """A move that was tried: the event, such as "knob+", whether it happened, and the probability
    that this is wrong."""

    event: str
    happened: bool = True
    misread: float = 0.0


class PossibleLock(NamedTuple):
    """A lock that an instruction may describe, and the logarithm of its probability."""

    lock: Rule
    score: float


class Reader:
    """Reads instructions and chooses moves. Instructions that were read before are remembered.

    Args:
        parser: translates instructions into designs.
        candidates: number of designs that it proposes.
        slip, forced, turned_back: see SLIP and TURNED_BACK.
    """

    def __init__(
        self,
        parser: Parser,
        candidates: int = CANDIDATES,
        slip: float = SLIP,
        forced: float = FORCED,
        turned_back: float = TURNED_BACK,
    ) -> None:
        self.read = lru_cache(1024)(self._read)
        self._parser, self._candidates = parser, candidates
        self._slip, self._forced, self._turned_back = map(_log, (slip, forced, turned_back))

    def _read(self, instruction: str | tuple[int, ...]) -> tuple[PossibleLock, ...]:
        """Return the possible locks, of which equal ones are one, the most probable first."""
        scores: dict[Automaton, float] = {}
        for candidate in self._parser.candidates(instruction, self._candidates):
            try:
                automaton = automaton_of_tokens(candidate.tokens)
            except RuleSafeError:
                continue
            scores.setdefault(automaton, -math.inf)
            scores[automaton] = math.log(math.exp(scores[automaton]) + math.exp(candidate.score))
        locks = ((as_rule(automaton, "", ""), s) for automaton, s in scores.items())
        opened = [PossibleLock(lock, s) for lock, s in locks if plan_distance(lock, lock.start())]
        return tuple(sorted(opened, key=lambda each: -each.score))

    def next_event(self, instruction: str | tuple[int, ...], history: Sequence[Observed]) -> str:
        """Return the next event of a shortest plan; "" if no lock is probable."""
        best, event = -math.inf, ""
        for lock, prior in self.read(instruction):
            states: States = {lock.start(): prior}
            for observed in history:
                states = self._after(lock, states, observed)
            for state, score in states.items():
                if score > best and plan_distance(lock, state):  # neither open nor shut for ever
                    best, event = score, shortest_plan(lock, state)[0]
        return event

    def _after(self, lock: Rule, states: States, observed: Observed) -> States:
        """Return the states after a move."""
        found: dict[LockState, float] = {}
        part, opens = observed.event[:-1], observed.event.endswith("+")
        for state, score in (*states.items(), *self._turned(lock, states)):
            there = getattr(state.phases, part) == opens
            movable = part not in lock.locked(state) and not there
            for moved in (True, False):
                after = lock.step(state, observed.event) if moved and not there else state
                chance = 0.0 if moved == movable else self._slip if movable else self._forced
                right = moved == observed.happened
                chance += _log(1 - observed.misread if right else observed.misread)
                found[after] = max(found.get(after, -math.inf), score + chance)
        least = max(found.values()) + NEGLIGIBLE
        return {state: score for state, score in found.items() if score >= least}

    def _turned(self, lock: Rule, states: States) -> Iterator[tuple[LockState, float]]:
        """Yield the states after an unobserved turn of each unlocked part."""
        for state, score in states.items():
            for part in ("knob", "handle"):  # in this order, so that ties are resolved equally
                if part not in lock.locked(state):
                    event = part + ("-" if getattr(state.phases, part) else "+")
                    yield lock.step(state, event), score + self._turned_back


def _log(probability: float) -> float:
    return math.log(probability) if probability else -math.inf
