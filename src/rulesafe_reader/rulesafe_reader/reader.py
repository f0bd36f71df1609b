"""The reader: chooses the next move from an instruction and the moves so far.

The parser proposes designs of the lock. Each is compiled to its automaton, and each move that
contradicts one (a locked part that moved, an unlocked one that did not) makes it less probable. The
next move is the first one of the shortest plan of the most probable automaton. Example::

    reader = Reader(load_parser())
    reader.next_event("The door can be pulled while the knob is open.", [])  # "knob+"
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import Automaton, as_rule
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import plan_distance, shortest_plan
from rulesafe_reader.designs import automaton_of_tokens
from rulesafe_reader.parser import Parser

CANDIDATES = 8
"""Number of designs that the parser proposes."""

SLIP, FORCED = 0.1, 0.001
"""Probability that an unlocked part does not move because the hand slips, and that a locked part
moves."""


class Observed(NamedTuple):
    """A move that was tried: the event, such as "knob+", and whether it happened."""

    event: str
    happened: bool = True


class PossibleLock(NamedTuple):
    """A lock that an instruction may describe, and the logarithm of its probability."""

    lock: Rule
    score: float


class Reader:
    """Reads instructions and chooses moves. Instructions that were read before are remembered.

    Args:
        parser: translates instructions into designs.
        candidates: number of designs that it proposes.
        slip, forced: see SLIP.
    """

    def __init__(
        self,
        parser: Parser,
        candidates: int = CANDIDATES,
        slip: float = SLIP,
        forced: float = FORCED,
    ) -> None:
        self.read = lru_cache(1024)(self._read)
        self._parser, self._candidates = parser, candidates
        self._slip, self._forced = math.log(slip), math.log(forced)

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
        for lock, score in self.read(instruction):
            state = lock.start()
            for tried, happened in history:
                locked = tried[:-1] in lock.locked(state)
                if happened:
                    state = lock.step(state, tried)
                    score += self._forced if locked else 0.0
                else:
                    score += 0.0 if locked else self._slip
            if score > best and plan_distance(lock, state):  # neither open nor shut for ever
                best, event = score, shortest_plan(lock, state)[0]
        return event
