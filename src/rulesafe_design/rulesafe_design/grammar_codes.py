"""Terms of the grammar: codes whose digits are entered by moves; the last digits must match."""

from dataclasses import dataclass
from typing import Literal

from rulesafe_design.grammar_events import (
    EVERY_MOVE,
    NUMBERS,
    Event,
    Wording,
    join_items,
    moves_of,
    resets,
    sentence,
)

After = Literal["stays", "returns"]


@dataclass(frozen=True)
class Code:
    """A code: each key is an event that enters a digit; the last digits must be `digits`."""

    keys: tuple[tuple[Event, int], ...]
    """Disjoint events, each with the digit that it enters."""
    digits: tuple[int, ...]
    clear: Event | None = None
    """Event that deletes all digits entered so far."""

    label = "code"

    @property
    def events(self) -> tuple[Event, ...]:
        return (*(event for event, _ in self.keys), *([self.clear] if self.clear else []))

    @property
    def shown(self) -> str:
        """The code as text, such as "0-1-1"."""
        return "-".join(map(str, self.digits))

    def sentences(self, wording: Wording) -> list[str]:
        (first, digit), *rest = self.keys
        enters = wording.pick("enters a", "is a")
        keys = [f"{first.gerund} {enters} {digit}", *(f"{key.gerund} a {n}" for key, n in rest)]
        nothing = "" if moves_of(self.events) == EVERY_MOVE else ", and other moves enter nothing"
        text = f"enter the code {self.shown}: {', '.join(keys) if nothing else join_items(keys)}"
        count = NUMBERS[len(self.digits)]
        result = [sentence(text + nothing), f"The last {count} digits count."]
        if self.clear:
            result.append(sentence(f"{self.clear.gerund} wipes out all digits entered so far"))
        return result

    @property
    def clause(self) -> str:
        return f"the last {NUMBERS[len(self.digits)]} digits are {self.shown}"

    @property
    def short(self) -> str:
        gates = {event.only_if for event, _ in self.keys}
        common = gates.pop() if len(gates) == 1 else ""
        keys, left = [], list(self.keys)
        while left:
            event, digit = left.pop(0)
            gate = "" if common else event.only_if
            # The same move with the other gate: "close knob=1 if handle open else 3".
            other = next((key for key in left if key[0].verb == event.verb), None)
            if other:
                left.remove(other)
                gate += f" else {other[1]}"
            keys.append(f"{event.verb}={digit}{gate}")
        clear = resets(self.clear.short if self.clear else "")
        return f"code {''.join(map(str, self.digits))}{common}: {', '.join(keys)}{clear}"

    @property
    def setup(self) -> dict[str, str]:
        return {"entered": "''"}

    @property
    def update(self) -> list[str]:
        lines = [f"# The last {len(self.digits)} digits entered"]
        for number, (event, digit) in enumerate(self.keys):
            lines += [
                f"{'elif' if number else 'if'} {event.test}:",
                f"    state['entered'] = (state['entered'] + '{digit}')[-{len(self.digits)}:]",
            ]
        if self.clear:
            lines += [f"elif {self.clear.test}:", "    state['entered'] = ''"]
        return lines

    @property
    def tests(self) -> list[str]:
        return [f"state['entered'] == '{''.join(map(str, self.digits))}'"]


@dataclass(frozen=True)
class Dial:
    """A dial that one event advances and another reads; the last numbers read must be `numbers`."""

    turn: Event
    read: Event
    top: int
    """The greatest number of the dial, after which it returns to 1."""
    numbers: tuple[int, ...]
    after: After
    """Whether the dial stays at its number or returns to 1 after it has been read."""

    label = "code"

    @property
    def events(self) -> tuple[Event, ...]:
        return self.turn, self.read

    @property
    def shown(self) -> str:
        """The numbers as text, such as "3-1"."""
        return "-".join(map(str, self.numbers))

    def sentences(self, wording: Wording) -> list[str]:
        then = "leaves it there" if self.after == "stays" else "sets the dial back to 1"
        what = "code" if len(self.numbers) > 1 else "number"
        return [
            f"Enter the {what} {self.shown} with a hidden dial that starts at 1.",
            sentence(f"{self.turn.gerund} turns it on by one, and from {self.top} back to 1"),
            sentence(f"{self.read.gerund} enters the number it stands at and {then}"),
            f"Only the {self._last} counts."
            if len(self.numbers) == 1
            else f"The {self._last} count.",
        ]

    @property
    def _last(self) -> str:
        count = len(self.numbers)
        return f"last {NUMBERS[count]} numbers" if count > 1 else "last number"

    @property
    def clause(self) -> str:
        return f"the {self._last} {'are' if len(self.numbers) > 1 else 'is'} {self.shown}"

    @property
    def short(self) -> str:
        same = self.turn.verb == self.read.verb
        read = self.read.only_if.lstrip() if same else self.read.short
        code, back = "".join(map(str, self.numbers)), "" if self.after == "stays" else " and resets"
        dial = f"dial one to {NUMBERS[self.top]}"
        return f"code {code} of {dial}: {self.turn.short} turns, {read} enters{back}"

    @property
    def setup(self) -> dict[str, str]:
        return {"dial": "1", "entered": "''"}

    @property
    def update(self) -> list[str]:
        return [
            f"# The dial, from 1 to {self.top}, and the {self._last} entered",
            f"if {self.turn.test}:",
            f"    state['dial'] = state['dial'] % {self.top} + 1",
            f"elif {self.read.test}:",
            "    digit = str(state['dial'])",
            f"    state['entered'] = (state['entered'] + digit)[-{len(self.numbers)}:]",
            *(["    state['dial'] = 1"] if self.after == "returns" else []),
        ]

    @property
    def tests(self) -> list[str]:
        return [f"state['entered'] == '{''.join(map(str, self.numbers))}'"]
