"""Terms of the grammar: counts of events, comparisons of two counts, tallies."""

from dataclasses import dataclass, replace
from typing import Literal

from rulesafe_design.grammar_events import (
    NUMBERS,
    ORDINALS,
    Event,
    Phase,
    Wording,
    resets,
    sentence,
    times,
)

Goal = Literal["exactly", "at least", "multiple", "odd"]
Beyond = Literal["counts on", "starts again"]


@dataclass(frozen=True)
class Count:
    """The number of times that an event has occurred."""

    event: Event
    goal: Goal
    """The condition on the count; "multiple": a positive multiple of `number`."""
    number: int
    """The number with which the count is compared, at least 1; not used for the goal "odd"."""
    beyond: Beyond = "counts on"
    """Whether the count continues after `number` or returns to zero; only for "exactly"."""
    reset: Event | None = None
    """Event that resets the count to zero."""

    @property
    def label(self) -> str:
        return "count of all moves" if self.event.part == "either" else f"{self.event.part} count"

    @property
    def events(self) -> tuple[Event, ...]:
        return (self.event, *([self.reset] if self.reset else []))

    @property
    def _key(self) -> str:
        return f"{'move' if self.event.part == 'either' else self.event.part}_count"

    def sentences(self, wording: Wording) -> list[str]:
        first = self._instruction()
        if self.event.move == "move":
            first += wording.pick(
                "; every opening or closing is one move",
                "; opening is one move and closing another",
            )
        result = [sentence(first)]
        if self.goal == "exactly":
            result.append(self._effect_beyond())
        if self.event.where:
            result.append(sentence(f"{self._opposite_gate()} is not counted"))
        if self.reset:
            verb = wording.pick("sets", "puts")
            result.append(sentence(f"{self.reset.gerund} {verb} this count back to zero"))
        return result

    def _instruction(self) -> str:
        if self.goal == "odd":
            return self.event.imperative("an odd number of times")
        if self.goal == "multiple" and self.number == 2:
            return self.event.imperative("an even number of times, at least twice,").rstrip(",")
        if self.goal == "multiple":
            often = f"{times(self.number)}, or {NUMBERS[2 * self.number]}, or any further multiple "
            often += f"of {NUMBERS[self.number]}"
            return self.event.imperative(often + ("," if self.event.where else ""))
        often = "at least" if self.goal == "at least" else "exactly"
        return self.event.imperative(f"{often} {times(self.number)}")

    def _opposite_gate(self) -> str:
        gate: Phase = "closed" if self.event.gate == "open" else "open"
        return replace(self.event, gate=gate).gerund

    def _effect_beyond(self) -> str:
        if self.beyond == "starts again":
            return f"The {ORDINALS[self.number + 1]} time sets this count back to zero."
        if self.reset:
            return "Once more is once too often, until this count is back at zero."
        return "Once more is once too often, and nothing undoes that."

    @property
    def clause(self) -> str:
        number = NUMBERS[self.number]
        multiple = "even and not zero" if self.number == 2 else f"such a multiple of {number}"
        values = {"exactly": number, "at least": f"{number} or more", "multiple": multiple}
        return f"the {self.label} is {values.get(self.goal, 'odd')}"

    @property
    def short(self) -> str:
        restarts = self.goal == "exactly" and self.beyond == "starts again"
        if self.goal == "multiple":
            often = f"{NUMBERS[self.number]}, {NUMBERS[2 * self.number]} etc. times"
        elif self.goal == "odd":
            often = "an odd number of times"
        else:
            how = "at least " if self.goal == "at least" else "" if restarts else "just "
            often = how + times(self.number)
        if self.event.part == "either":
            text = f"make {often.replace('twice', 'two times').replace('times', 'moves')}"
        else:
            text = f"{self.event.move} {self.event.part} {often}{self.event.only_if}"
        over = ORDINALS[self.number + 1] if restarts else ""
        return text + resets(over, self.reset.short if self.reset else "")

    @property
    def setup(self) -> dict[str, str]:
        return {self._key: "0"}

    @property
    def update(self) -> list[str]:
        count, number = f"state['{self._key}']", self.number
        comment, lines = {
            "exactly": (
                (f"{number + 1} counts as 0", [f"{count} = ({count} + 1) % {number + 1}"])
                if self.beyond == "starts again"
                else (f"{number + 1} stands for more", self._capped(number + 1))
            ),
            "at least": (f"{number} stands for more", self._capped(number)),
            "multiple": (
                f"0, then 1 to {number} over and over",
                [f"{count} = {count} % {number} + 1"],
            ),
            "odd": ("1 for an odd number", [f"{count} = 1 - {count}"]),
        }[self.goal]
        reset = [f"elif {self.reset.test}:", f"    {count} = 0"] if self.reset else []
        return [
            f"# Count {self.event.gerund}: {comment}",
            f"if {self.event.test}:",
            *(f"    {line}" for line in lines),
            *reset,
        ]

    def _capped(self, top: int) -> list[str]:
        count = f"state['{self._key}']"
        return [f"{count} = min({count} + 1, {top})"]

    @property
    def tests(self) -> list[str]:
        return [f"state['{self._key}'] == {1 if self.goal == 'odd' else self.number}"]


@dataclass(frozen=True)
class Equal:
    """Equal counts of a knob event and a handle event, or one more of the knob."""

    knob: Event
    handle: Event
    """Event of the handle. Like `knob`, it has no gate."""
    least: int
    """Minimum value of both counts, or of the handle's count if `ahead` is 1."""
    ahead: int
    """Required difference of the counts, knob minus handle: 0 or 1."""
    limit: int
    """When a count reaches this number, both are reset to zero."""

    label = "two counts"

    @property
    def events(self) -> tuple[Event, ...]:
        return self.knob, self.handle

    def sentences(self, wording: Wording) -> list[str]:
        if self.ahead:
            first = (
                f"{self.knob.imperative()} exactly once more often than you "
                f"{self.handle.imperative()}, the latter at least {times(self.least)}"
            )
        else:
            how = wording.pick("equally often", "the same number of times")
            first = f"{self.knob.imperative()} and {self.handle.imperative()} {how}, "
            first += f"at least {times(self.least)} each"
        if "move" in (self.knob.move, self.handle.move):
            first += "; every opening or closing is one move"
        return [
            sentence(first),
            f"As soon as either count reaches {NUMBERS[self.limit]}, both start again from zero.",
        ]

    @property
    def clause(self) -> str:
        least = NUMBERS[self.least]
        if self.ahead:
            return f"the knob's count is one more than the handle's ({least} or more)"
        return f"the two counts are equal ({least} or more)"

    @property
    def short(self) -> str:
        knob, handle = f"{self.knob.move} knob", f"{self.handle.move} handle"
        often = f"once more than {handle}, that" if self.ahead else f"as often as {handle},"
        end = f"{ORDINALS[self.limit]} of either resets both"
        return f"{knob} {often} at least {times(self.least)}, {end}"

    @property
    def setup(self) -> dict[str, str]:
        return {"knob_count": "0", "handle_count": "0"}

    @property
    def update(self) -> list[str]:
        knob, handle = "state['knob_count']", "state['handle_count']"
        return [
            f"# Count {self.knob.gerund} and {self.handle.gerund}",
            f"if {self.knob.test}:",
            f"    {knob} = {knob} + 1",
            f"if {self.handle.test}:",
            f"    {handle} = {handle} + 1",
            f"if {knob} == {self.limit} or {handle} == {self.limit}:",
            f"    {knob} = 0",
            f"    {handle} = 0",
        ]

    @property
    def tests(self) -> list[str]:
        more = f" + {self.ahead}" if self.ahead else ""
        knob, handle = "state['knob_count']", "state['handle_count']"
        return [f"{knob} == {handle}{more}", f"{handle} >= {self.least}"]


@dataclass(frozen=True)
class Balance:
    """A tally that one event increments and another decrements."""

    up: Event
    down: Event
    target: int
    top: int
    """The maximum of the tally; its minimum is zero."""

    label = "tally"

    @property
    def events(self) -> tuple[Event, ...]:
        return self.up, self.down

    def sentences(self, wording: Wording) -> list[str]:
        return [
            sentence(
                f"{wording.pick('bring', 'raise')} a tally from zero to {NUMBERS[self.target]}: "
                f"{self.up.gerund} adds one to it, and {self.down.gerund} takes one away"
            ),
            f"The tally never goes below zero or above {NUMBERS[self.top]}.",
        ]

    @property
    def clause(self) -> str:
        return f"the tally is {NUMBERS[self.target]}"

    @property
    def short(self) -> str:
        moves = f"{self.up.short} adds, {self.down.short} takes"
        return f"tally {NUMBERS[self.target]} of {NUMBERS[self.top]}: {moves}"

    @property
    def setup(self) -> dict[str, str]:
        return {"tally": "0"}

    @property
    def update(self) -> list[str]:
        return [
            f"# A tally between 0 and {self.top}",
            f"if {self.up.test}:",
            f"    state['tally'] = min(state['tally'] + 1, {self.top})",
            f"elif {self.down.test}:",
            "    state['tally'] = max(state['tally'] - 1, 0)",
        ]

    @property
    def tests(self) -> list[str]:
        return [f"state['tally'] == {self.target}"]
