"""Events and phase conditions, from which the terms of the grammar are built.

Each can be written as English text, in few words for the short instruction, and as a Python
expression for a program that defines `knob`, `handle`, `knob_moved` and `handle_moved`.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Part = Literal["knob", "handle"]
Phase = Literal["open", "closed"]
Way = Literal["open", "close", "move"]

Move = tuple[Part, bool, bool]
"""A single move: the part, whether it opens, whether the other part is open."""

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
    """Select random wordings, reproducibly for a seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def pick(self, *options: str) -> str:
        """Return one of the options."""
        return options[int(self._random.random() * len(options))]


def times(number: int) -> str:
    """Return a number of times in words: 1 -> "once", 3 -> "three times"."""
    return {1: "once", 2: "twice"}.get(number, f"{NUMBERS[number]} times")


def join_items(items: Sequence[str], conjunction: str = " and ") -> str:
    """Return a list in words: ("a", "b", "c") -> "a, b and c"."""
    *first, last = items
    return f"{', '.join(first)}{conjunction}{last}" if first else last


def resets(*causes: str) -> str:
    """Return what resets a term, for its short text: ("", "open knob") -> ", open knob resets"."""
    named = [cause for cause in causes if cause]
    return f", {join_items(named, ' or ')} resets" if named else ""


def sentence(text: str) -> str:
    """Return the text with a capital first letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


@dataclass(frozen=True)
class Event:
    """A set of moves that a term treats alike."""

    part: Literal["knob", "handle", "either"]
    move: Way
    """Direction; "move": both opening and closing."""
    gate: Phase | None = None
    """Required phase of the other part; None: any. Always None for the part "either"."""

    @property
    def where(self) -> str:
        """The gate as a clause, such as " while the handle is open"; empty without one."""
        if self.gate is None or self.part == "either":
            return ""
        return f" while the {OTHER[self.part]} is {self.gate}"

    @property
    def only_if(self) -> str:
        """The gate in few words, such as " if handle open"; empty without one."""
        return f" if {OTHER[self.part]} {self.gate}" if self.gate and self.part != "either" else ""

    @property
    def verb(self) -> str:
        """The move without its gate in few words: "open knob"; "knob" for any move of the knob."""
        return self.part if self.move == "move" else f"{self.move} {self.part}"

    @property
    def short(self) -> str:
        """The event in few words, such as "open knob if handle open"."""
        return self.verb + self.only_if

    def imperative(self, adverb: str = "") -> str:
        """Return an instruction, such as "open the knob twice while the handle is open"."""
        thing = "the knob or the handle" if self.part == "either" else f"the {self.part}"
        return f"{self.move} {thing}{adverb and ' '}{adverb}{self.where}"

    @property
    def gerund(self) -> str:
        """The event as a noun phrase, such as "opening the knob while the handle is open"."""
        verb = {"open": "opening", "close": "closing", "move": "moving"}[self.move]
        thing = "either part" if self.part == "either" else f"the {self.part}"
        way = " either way" if self.move == "move" and self.part != "either" else ""
        return f"{verb} {thing}{way}{self.where}"

    @property
    def test(self) -> str:
        """The expression that is true in the first call after such a move."""
        if self.part == "either":
            return " or ".join(self._test_of(part) for part in OTHER)
        return self._test_of(self.part)

    def _test_of(self, part: Part) -> str:
        tests = [f"{part}_moved"]
        if self.move != "move":
            tests.append(part if self.move == "open" else f"not {part}")
        if self.gate is not None:
            tests.append(OTHER[part] if self.gate == "open" else f"not {OTHER[part]}")
        text = " and ".join(tests)
        return f"({text})" if self.part == "either" and len(tests) > 1 else text

    @property
    def moves(self) -> frozenset[Move]:
        """The single moves of the event."""
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
    """Return the single moves of all events."""
    return frozenset(move for event in events for move in event.moves)


def disjoint(events: Sequence[Event]) -> bool:
    """Return whether no single move belongs to two of the events."""
    return sum(len(event.moves) for event in events) == len(moves_of(events))


@dataclass(frozen=True)
class PhaseTest:
    """A condition on the current phases: of the knob, of the handle, or on their relation."""

    knob: Phase | None = None
    handle: Phase | None = None
    relation: Literal["same", "different"] | None = None
    """Whether both parts must be in the same phase or not. Excludes `knob` and `handle`."""

    @property
    def clauses(self) -> list[str]:
        """The condition as clauses, such as ["the knob is open", "the handle is closed"]."""
        if self.relation == "same":
            return ["knob and handle are in the same position"]
        if self.relation == "different":
            return ["exactly one of knob and handle is open"]
        if self.knob and self.knob == self.handle:
            return [f"knob and handle are both {self.knob}"]
        named = (("knob", self.knob), ("handle", self.handle))
        return [f"the {part} is {phase}" for part, phase in named if phase]

    @property
    def short(self) -> str:
        """The condition in few words: "only knob open" if the handle must be closed."""
        if self.relation == "same":
            return "both alike"
        if self.relation == "different":
            return "only one open"
        if self.knob and self.handle:
            only = f"only {'knob' if self.knob == 'open' else 'handle'} open"
            return f"both {self.knob}" if self.knob == self.handle else only
        return f"knob {self.knob}" if self.knob else f"handle {self.handle}"

    @property
    def tests(self) -> list[str]:
        """Expressions that are all true if the condition is satisfied."""
        if self.relation:
            return ["knob == handle" if self.relation == "same" else "knob != handle"]
        named = (("knob", self.knob), ("handle", self.handle))
        return [part if phase == "open" else f"not {part}" for part, phase in named if phase]
