"""Terms of the grammar: sequences of moves, and combinations of phases.

A term is a condition on the past moves, for which the lock stores some state. Every term, here and
in the other modules, has these attributes:

- `label`: its name in the description, unique among the terms of a lock;
- `sentences`: the instruction, then the effect of other moves;
- `clause`: when the term is satisfied, as a clause after "while";
- `short`: the complete term in few words, for the short instruction;
- `setup`: the keys of `state` with the expressions of their initial values;
- `update`: the program lines that update `state`, with finitely many values; they can use `knob`,
  `handle`, `knob_moved`, `handle_moved` and `state`;
- `tests`: expressions that are all true if the term is satisfied;
- `events`: the events that change the state; empty if it depends only on the phases.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rulesafe_design.grammar_events import (
    NUMBERS,
    Event,
    Wording,
    join_items,
    resets,
    sentence,
)

Combination = Literal["both closed", "only the knob open", "only the handle open", "both open"]
Wrong = Literal["starts again", "ignored"]

COMBINATIONS: dict[Combination, str] = {
    "both closed": "not knob and not handle",
    "only the knob open": "knob and not handle",
    "only the handle open": "handle and not knob",
    "both open": "knob and handle",
}


@dataclass(frozen=True)
class Order:
    """Moves that must be made in order; a complete sequence stays complete until a reset."""

    steps: tuple[Event, ...]
    """The moves of the sequence, each of a single part."""
    wrong: Wrong
    """The effect of a move that is not the next one of the sequence."""
    reset: Event | None = None
    """Event that resets the sequence at any time; only if wrong moves are ignored."""

    label = "sequence"

    @property
    def events(self) -> tuple[Event, ...]:
        return (*self.steps, *([self.reset] if self.reset else []))

    def sentences(self, wording: Wording) -> list[str]:
        first = wording.pick("make these moves in this order", "do the following in this order")
        steps = [step.imperative() for step in self.steps]
        result = [sentence(f"{first}: {join_items(steps, ', then ')}")]
        if self.wrong == "starts again":
            result.append(
                "Until the sequence is complete, any move that is not the next one starts it "
                "again, and counts as the first move if it is that one."
            )
        else:
            result.append(
                wording.pick("Other moves in between", "Other moves") + " change nothing."
            )
        if self.reset:
            result.append(
                sentence(
                    f"but {self.reset.gerund} undoes the sequence, complete or not, and it must "
                    "be made from the first move again"
                )
            )
        else:
            result.append("Once complete, the sequence stays complete.")
        return result

    @property
    def clause(self) -> str:
        return "the sequence is complete"

    @property
    def short(self) -> str:
        runs = [(part, list(steps)) for part, steps in groupby(self.steps, lambda step: step.part)]
        moves = [f"{join_items([step.move for step in steps])} {part}" for part, steps in runs]
        how = "in a row" if self.wrong == "starts again" else "in order"
        return f"{how} {', '.join(moves)}{resets(self.reset.short if self.reset else '')}"

    @property
    def setup(self) -> dict[str, str]:
        return {"progress": "0"}

    @property
    def update(self) -> list[str]:
        lines = ["# How many moves of the sequence are done"]
        if self.reset:
            lines += [f"if {self.reset.test}:", "    state['progress'] = 0"]
        for number, step in enumerate(self.steps):
            word = "elif" if number or self.reset else "if"
            lines += [
                f"{word} state['progress'] == {number} and {step.test}:",
                f"    state['progress'] = {number + 1}",
            ]
        if self.wrong == "starts again":
            lines += [
                f"elif state['progress'] < {len(self.steps)} and (knob_moved or handle_moved):",
                f"    state['progress'] = 1 if {self.steps[0].test} else 0",
            ]
        return lines

    @property
    def tests(self) -> list[str]:
        return [f"state['progress'] == {len(self.steps)}"]


@dataclass(frozen=True)
class Seen:
    """Combinations of phases that must all have occurred, in any order."""

    combinations: tuple[Combination, ...]

    label = "combinations"
    events: tuple[Event, ...] = ()

    def sentences(self, wording: Wording) -> list[str]:
        bring = wording.pick("bring the knob and the handle", "take the knob and the handle")
        if len(self.combinations) == len(COMBINATIONS):
            which = "all four combinations of open and closed"
        else:
            which = f"these positions, in any order: {join_items(self.combinations)}"
        result = [sentence(f"{bring} through {which}")]
        if "both closed" in self.combinations:
            result.append("Both closed, as they start, counts as seen from the beginning.")
        return result

    @property
    def clause(self) -> str:
        return f"all {NUMBERS[len(self.combinations)]} have been seen"

    @property
    def short(self) -> str:
        # Both closed is omitted: it is always seen at the start.
        names = {"only the knob open": "knob alone", "only the handle open": "handle alone"}
        seen = [names.get(each, "both") for each in self.combinations if each != "both closed"]
        return f"have had {join_items(seen)} open"

    @property
    def setup(self) -> dict[str, str]:
        return {self._key(each): "False" for each in self.combinations}

    @property
    def update(self) -> list[str]:
        lines = ["# Which combinations have been seen"]
        for each in self.combinations:
            lines += [f"if {COMBINATIONS[each]}:", f"    state['{self._key(each)}'] = True"]
        return lines

    @property
    def tests(self) -> list[str]:
        return [f"state['{self._key(each)}']" for each in self.combinations]

    def _key(self, combination: Combination) -> str:
        return f"seen_{combination.replace(' the ', '_').replace(' ', '_')}"
