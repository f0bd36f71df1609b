"""The parts of the grammar's terms: events, phase conditions, numbers in words.

Each has two forms: English, and an expression of a program in which `knob`, `handle`, `knob_moved`
and `handle_moved` are defined.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Part = Literal["knob", "handle"]
Phase = Literal["open", "closed"]
Way = Literal["open", "close", "move"]

Move = tuple[Part, bool, bool]
"""A single move: part, is it opened, is the other part open."""

OTHER: dict[Part, Part] = {"knob": "handle", "handle": "knob"}

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDINALS = (
    "",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
)


class Wording:
    """Picks among wordings, the same ones for the same seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def pick(self, *options: str) -> str:
        """Return one of them."""
        return options[int(self._random.random() * len(options))]


def times(number: int) -> str:
    """1 -> "once", 3 -> "three times"."""
    return {1: "once", 2: "twice"}.get(number, f"{NUMBERS[number]} times")


def listed(items: Sequence[str], joint: str = " and ") -> str:
    """("a", "b", "c") -> "a, b and c"."""
    *first, last = items
    return f"{', '.join(first)}{joint}{last}" if first else last


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


@dataclass(frozen=True)
class Event:
    """Moves that a term takes notice of, all alike."""

    part: Literal["knob", "handle", "either"]
    move: Way
    """"move": opening and closing both."""
    gate: Phase | None = None
    """Only while the other part is in this phase; None always for the part "either"."""

    @property
    def where(self) -> str:
        """ " while the handle is open", or nothing."""
        if self.gate is None or self.part == "either":
            return ""
        return f" while the {OTHER[self.part]} is {self.gate}"

    def imperative(self, adverb: str = "") -> str:
        """ "open the knob twice while the handle is open"."""
        thing = "the knob or the handle" if self.part == "either" else f"the {self.part}"
        return f"{self.move} {thing}{adverb and ' '}{adverb}{self.where}"

    @property
    def gerund(self) -> str:
        """ "opening the knob while the handle is open"."""
        verb = {"open": "opening", "close": "closing", "move": "moving"}[self.move]
        thing = "either part" if self.part == "either" else f"the {self.part}"
        way = " either way" if self.move == "move" and self.part != "either" else ""
        return f"{verb} {thing}{way}{self.where}"

    @property
    def test(self) -> str:
        """The expression that is true in the call after such a move."""
        if self.part == "either":
            return " or ".join(self._of(part) for part in OTHER)
        return self._of(self.part)

    def _of(self, part: Part) -> str:
        words = [f"{part}_moved"]
        if self.move != "move":
            words.append(part if self.move == "open" else f"not {part}")
        if self.gate is not None:
            words.append(OTHER[part] if self.gate == "open" else f"not {OTHER[part]}")
        text = " and ".join(words)
        return f"({text})" if self.part == "either" and len(words) > 1 else text

    @property
    def moves(self) -> frozenset[Move]:
        """The single moves that it takes in."""
        return frozenset(
            (part, opening, other_open)
            for part in OTHER
            for opening in (True, False)
            for other_open in (True, False)
            if self.part in (part, "either")
            and self.move in ("move", "open" if opening else "close")
            and self.gate in (None, "open" if other_open else "closed")
        )


EVERY_MOVE = Event("either", "move").moves


def moves_of(events: Iterable[Event]) -> frozenset[Move]:
    """The single moves of all of them."""
    return frozenset(move for event in events for move in event.moves)


def disjoint(events: Sequence[Event]) -> bool:
    """Does no single move belong to two of them?"""
    return sum(len(event.moves) for event in events) == len(moves_of(events))


@dataclass(frozen=True)
class PhaseTest:
    """What must hold of the phases now: of the knob, of the handle, or of one beside the other."""

    knob: Phase | None = None
    handle: Phase | None = None
    relation: Literal["same", "different"] | None = None
    """Alone: both in the same phase, or in different ones."""

    @property
    def clauses(self) -> list[str]:
        """["the knob is open", "the handle is closed"]."""
        if self.relation == "same":
            return ["knob and handle are in the same position"]
        if self.relation == "different":
            return ["exactly one of knob and handle is open"]
        if self.knob and self.knob == self.handle:
            return [f"knob and handle are both {self.knob}"]
        named = (("knob", self.knob), ("handle", self.handle))
        return [f"the {part} is {phase}" for part, phase in named if phase]

    @property
    def tests(self) -> list[str]:
        """The expressions of a program, of which all must be true."""
        if self.relation:
            return ["knob == handle" if self.relation == "same" else "knob != handle"]
        named = (("knob", self.knob), ("handle", self.handle))
        return [part if phase == "open" else f"not {part}" for part, phase in named if phase]
