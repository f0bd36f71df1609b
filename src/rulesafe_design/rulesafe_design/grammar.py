"""Sample locks from a grammar, as a replacement for a language model.

The grammar answers the same requests with JSON in the same format, so that the complete pipeline
can be run and tested without a model. The same seed, conversation number and attempt give the same
lock. Example::

    lock, description = Grammar(seed=0).draw(number=1)
"""

import json
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from rulesafe_design.answers import DESCRIPTION
from rulesafe_design.grammar_codes import After, Code, Dial
from rulesafe_design.grammar_counts import Balance, Beyond, Count, Equal, Goal
from rulesafe_design.grammar_events import (
    EVERY_MOVE,
    OTHER,
    Event,
    Part,
    Phase,
    PhaseTest,
    Way,
    Wording,
    disjoint,
    moves_of,
)
from rulesafe_design.grammar_locks import (
    Hold,
    LockDesign,
    Term,
    description,
    program,
    short_instruction,
)
from rulesafe_design.grammar_terms import COMBINATIONS, Order, Seen, Wrong
from rulesafe_design.models import ModelRequest, Reply
from rulesafe_locks.instructions import MAX_TOKENS, token_bound

T = TypeVar("T")

PARTS: tuple[Part, ...] = ("knob", "handle")
PHASES: tuple[Phase, ...] = ("open", "closed")
WAYS: tuple[Way, ...] = ("open", "close", "move")
BEYOND: tuple[Beyond, ...] = ("counts on", "starts again")
WRONG: tuple[Wrong, ...] = ("starts again", "ignored")
AFTER: tuple[After, ...] = ("stays", "returns")

SIZES = 5
"""Number of sizes; the size of a lock depends on its number."""


class Grammar:
    """A model that answers with samples of the grammar."""

    name = "grammar"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.origin = {"by": "sampled", "seed": seed}

    def complete(self, request: ModelRequest) -> Reply:
        """Return the lock for the number and attempt of the request, as JSON. The messages are
        ignored; a repair is a new lock."""
        lock, text = self.draw(request.number, request.attempt)
        answer = {"description": text, "program": program(lock), "plan": None}
        short = short_instruction(lock)
        if token_bound(short) <= MAX_TOKENS:
            answer["short_instruction"] = short
        return Reply(json.dumps(answer), "stop", 0, 0)

    def draw(self, number: int, attempt: int = 0) -> tuple[LockDesign, str]:
        """Return a lock and its description, which is within the length limit of an answer."""
        seed = f"{self.seed}/{number}/{attempt}"
        sampler, wording = LockSampler(seed, 1 + number % SIZES), Wording(f"{seed}/words")
        while True:
            lock = sampler.lock()
            text = description(lock, wording)
            if len(text) <= DESCRIPTION[1]:
                return lock, text


class LockSampler:
    """Sample one lock. `size`, 1 to SIZES, sets the length of codes, counts and sequences."""

    def __init__(self, seed: str, size: int) -> None:
        self._random = random.Random(seed)
        self.size = size

    def lock(self) -> LockDesign:
        """Return a lock, which may be impossible to open; the verifier checks this."""
        while True:
            terms = tuple(self._terms())
            phases = self._phases(terms)
            hold = self._hold(terms) if self._chance(0.3) else None
            lock = LockDesign(terms, phases, hold)
            if lock.conditions and _consistent(lock):
                return lock

    # Draws -------------------------------------------------------------------------------------

    def _pick(self, options: Sequence[T]) -> T:
        return options[int(self._random.random() * len(options))]

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _between(self, first: int, last: int) -> int:
        return first + int(self._random.random() * (last - first + 1))

    def _weighted(self, options: dict[T, float]) -> T:
        return self._random.choices(list(options), list(options.values()))[0]

    # Parts of a lock ---------------------------------------------------------------------------

    def _terms(self) -> list[Term]:
        count = self._weighted({0: 0.1, 1: 0.9} if self.size == 1 else {1: 0.65, 2: 0.35})
        return [self._term() for _ in range(count)]

    def _term(self) -> Term:
        kinds: dict[Callable[[], Term], float] = {
            self._count: 4,
            self._code: 5,
            self._order: 3,
            self._dial: 1.5,
            self._balance: 1.5,
            self._equal: 1,
            self._seen: 1.5 if self.size == 1 else 0.7,
        }
        return self._weighted(kinds)()

    def _phases(self, terms: tuple[Term, ...]) -> PhaseTest | None:
        if terms and self._chance(0.3):
            return None
        one, other = self._pick(PHASES), self._pick(PHASES)
        return self._weighted(
            {
                PhaseTest(knob=one): 3,
                PhaseTest(handle=one): 3,
                PhaseTest(knob=one, handle=other): 2,
                PhaseTest(relation="same"): 1,
                PhaseTest(relation="different"): 1,
            }
        )

    def _hold(self, terms: tuple[Term, ...]) -> Hold:
        part, phase = self._pick(PARTS), self._pick(PHASES)
        if len(terms) < 2 and self._chance(0.6):
            return Hold(part, phase, self._term())
        other = self._pick(PHASES)
        return Hold(part, phase, PhaseTest(handle=other) if part == "knob" else PhaseTest(other))

    def _event(self, moves: Sequence[Way] = WAYS, gate: float = 0.35) -> Event:
        gated = self._pick(PHASES) if self._chance(gate) else None
        return Event(self._pick(PARTS), self._pick(moves), gated)

    def _disjoint_event(self, *taken: Event, gate: float = 0.2) -> Event:
        """Return an event that shares no move with `taken`, which must not contain every move."""
        while not disjoint((*taken, event := self._event(gate=gate))):
            gate = 1.0  # possibly only gated events are left
        return event

    # Terms -------------------------------------------------------------------------------------

    def _count(self) -> Count:
        event = Event("either", "move") if self._chance(0.1) else self._event(gate=0.5)
        goals: dict[Goal, float] = {"exactly": 4, "at least": 2, "multiple": 2, "odd": 0.5}
        goal = self._weighted(goals)
        top = 3 + self.size if event.move == "move" else 2 + (self.size + 1) // 2
        number = self._between(2, min(top, 5) if goal == "multiple" else top)
        reset = None
        if goal != "odd" and event.part != "either" and self._chance(0.35):
            reset = self._disjoint_event(event)
        beyond = self._pick(BEYOND) if goal == "exactly" else "counts on"
        return Count(event, goal, 1 if goal == "odd" else number, beyond, reset)

    def _equal(self) -> Equal:
        ways = self._pick([WAYS[:2], WAYS])
        least = self._between(1, 1 + (self.size > 1))
        ahead = self._between(0, 1)
        knob, handle = (Event(part, self._pick(ways)) for part in PARTS)
        return Equal(knob, handle, least, ahead, least + ahead + self._between(1, 2))

    def _balance(self) -> Balance:
        up = self._event(gate=0.5)
        target = self._between(2, 2 + self.size // 2)
        return Balance(up, self._disjoint_event(up, gate=0.4), target, target + self._between(0, 2))

    def _order(self) -> Order:
        """Return a sequence of moves that can be made without any other moves in between."""
        open_parts = {part: self._chance(0.3) for part in OTHER}
        steps: list[Event] = []
        for _ in range(self._between(2, 3 + self.size)):
            part = self._pick(list(OTHER))
            open_parts[part] = not open_parts[part]
            steps.append(Event(part, "open" if open_parts[part] else "close"))
        wrong = self._pick(WRONG)
        reset = None
        if wrong == "ignored" and moves_of(steps) != EVERY_MOVE and self._chance(0.6):
            reset = self._disjoint_event(*dict.fromkeys(steps))
        return Order(tuple(steps), wrong, reset)

    def _seen(self) -> Seen:
        names = list(COMBINATIONS)
        left_out = self._pick([None, *names])
        return Seen(tuple(name for name in names if name != left_out))

    def _code(self) -> Code:
        keys = self._weighted(
            {
                self._keys_by_part: 2.0,
                self._keys_by_way: 2.5,
                self._keys_by_phase: 2.0,
                self._keys_mixed: 3.0,
            }
        )()
        length = self._between(2, 3 + self.size // 2)
        digits = tuple(self._pick(keys)[1] for _ in range(length))
        clear = None
        if self._chance(0.25) and moves_of(event for event, _ in keys) != EVERY_MOVE:
            clear = self._disjoint_event(*(event for event, _ in keys))
        return Code(keys, digits, clear)

    def _keys_by_part(self) -> tuple[tuple[Event, int], ...]:
        one = self._pick([0, 1])
        return (Event("knob", "move"), one), (Event("handle", "move"), 1 - one)

    def _keys_by_way(self) -> tuple[tuple[Event, int], ...]:
        event, one = self._event(("open",), gate=0.7), self._pick([0, 1])
        return (event, one), (Event(event.part, "close", event.gate), 1 - one)

    def _keys_by_phase(self) -> tuple[tuple[Event, int], ...]:
        event, one = self._event(gate=0), self._pick([0, 1])
        return (
            (Event(event.part, event.move, "open"), one),
            (Event(event.part, event.move, "closed"), 1 - one),
        )

    def _keys_mixed(self) -> tuple[tuple[Event, int], ...]:
        events: list[Event] = []
        for _ in range(self._between(2, 3)):
            if moves_of(events) != EVERY_MOVE:
                events.append(self._disjoint_event(*events, gate=0.3))
        return tuple((event, number + 1) for number, event in enumerate(events))

    def _dial(self) -> Dial:
        turn = self._event(gate=0.15)
        top = self._between(2, 3 + (self.size > 2))
        numbers = tuple(self._between(1, top) for _ in range(self._between(1, 2 + self.size // 3)))
        after = self._pick(AFTER)
        return Dial(turn, self._disjoint_event(turn), top, numbers, after)


def _consistent(lock: LockDesign) -> bool:
    """Return whether the labels are unique and the term of a hold can be satisfied.

    The latter requires that each of its events is possible by moving only the other part while the
    locked part stays in its phase.
    """
    labels = [term.label for term in lock.all_terms]
    if len(set(labels)) < len(labels) or {Count, Equal} <= {type(t) for t in lock.all_terms}:
        return False
    if lock.hold is None or isinstance(lock.hold.unless, PhaseTest):
        return True
    possible = {(OTHER[lock.hold.part], way, lock.hold.phase == "open") for way in (True, False)}
    events = lock.hold.unless.events
    return bool(events) and all(event.moves & possible for event in events)
