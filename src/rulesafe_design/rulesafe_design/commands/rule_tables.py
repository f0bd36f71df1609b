"""Select and sort rules, and format their properties as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from rulesafe_locks.instructions import token_bound
from rulesafe_locks.lock_files import find_lock
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import EVENTS, Rule
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES

Sort = Literal["id", "steps", "states", "bits"]
Columns = Literal["plans", "figures", "short"]


@dataclass(frozen=True)
class Entry:
    """A rule and its proved properties (`proofs.Proof.facts`)."""

    id: str
    description: str
    plan: tuple[str, ...]
    steps: int
    states: int
    dead_ends: int
    alike: int
    memoryless: bool
    memory: int
    bits: float
    bits_blind: float
    short_instruction: str = ""


@dataclass(frozen=True)
class Choice:
    """A selection of rules.

    Attributes:
        rules: Ids, sets such as sampled_test, and .json files, separated by commas; all: the twenty
            rules.
        min_steps: Minimum number of steps of the shortest plan.
        max_steps: Maximum number of steps of the shortest plan.
        min_states: Minimum number of states of the smallest automaton.
        max_states: Maximum number of states of the smallest automaton.
        min_bits: Minimum memory in bits that a shortest plan needs.
        max_bits: Maximum memory in bits that a shortest plan needs.
        phases: visible: the bits are those of a robot that observes the phases of knob and handle.
            hidden: the bits are those of a robot that does not observe them.
        memory: none: a memoryless policy that observes the phases can open the lock. needed: no
            such policy can.
        sort: Sort key; ties are sorted by id.
    """

    rules: str = "all"
    min_steps: int = 0
    max_steps: int = 10_000
    min_states: int = 0
    max_states: int = 1_000_000
    min_bits: float = 0.0
    max_bits: float = 1000.0
    phases: Literal["visible", "hidden"] = "visible"
    memory: Literal["any", "none", "needed"] = "any"
    sort: Sort = "id"


def entry(name: str, rule: Rule) -> Entry:
    """Return the entry of a rule. `name`: its id or the path of its file.

    The properties are read from the lock file if it contains them; `rulesafe rules verify` compares
    them with a new proof.
    """
    lock = None if name in RULES else find_lock(name)
    facts: dict[str, Any] = dict(lock.facts) if lock else {}
    if not _complete(facts):
        facts = prove(rule).facts
    proved = {**facts, "plan": tuple(facts["plan"])}
    return Entry(rule.id, rule.description, **proved, short_instruction=rule.short_instruction)


def _complete(facts: dict[str, Any]) -> bool:
    """Return whether the facts of a lock file have exactly the keys and types of Entry."""
    kinds = {
        **Entry.__annotations__,
        "plan": list,
        "bits": (int, float),
        "bits_blind": (int, float),
    }
    del kinds["id"], kinds["description"], kinds["short_instruction"]
    valid = facts.keys() == kinds.keys() and all(
        isinstance(facts[name], kind) for name, kind in kinds.items()
    )
    return valid and all(event in EVENTS for event in facts["plan"])


def select_rules(choice: Choice) -> list[Entry]:
    """Return the selected rules, sorted; raise RuleSafeError for an unknown rule or set."""

    def bits(found: Entry) -> float:
        return found.bits if choice.phases == "visible" else found.bits_blind

    def selected(found: Entry) -> bool:
        return (
            choice.min_steps <= found.steps <= choice.max_steps
            and choice.min_states <= found.states <= choice.max_states
            and choice.min_bits <= bits(found) <= choice.max_bits
            and choice.memory in ("any", "none" if found.memoryless else "needed")
        )

    keys = {"id": lambda e: 0, "steps": lambda e: e.steps, "states": lambda e: e.states}
    key = (keys | {"bits": bits})[choice.sort]
    found = filter(selected, starmap(entry, expand_rules(choice.rules).items()))
    return sorted(found, key=lambda e: (key(e), e.id))


def compact_plan(plan: Iterable[str]) -> str:
    """Return a plan in one line, such as "K+ H+ D"."""
    letters = (event[0].upper() + event[-1] for event in plan)
    return " ".join("D" if letter == "D+" else letter for letter in letters)


def cells(found: Entry) -> dict[str, str]:
    """Return the table cells of a rule, by column heading."""
    return {
        "rule": found.id,
        "steps": str(found.steps),
        "states": str(found.states),
        "dead ends": str(found.dead_ends),
        "alike": str(found.alike),
        "memory": "none" if found.memoryless else "needed",
        "bits": f"{found.bits:.4g}",
        "blind": f"{found.bits_blind:.4g}",
        "shortest plan": compact_plan(found.plan),
        "instruction": found.description,
        "short instruction": found.short_instruction or "none",
        "tokens": str(token_bound(found.short_instruction or found.description)),
    }


def headings(columns: Columns, choice: Choice) -> list[str]:
    """Return the column headings of a table; tables of plans also contain the sort key."""
    if columns == "figures":
        return ["rule", "steps", "states", "dead ends", "alike", "memory", "bits", "blind"]
    if columns == "short":
        return ["rule", "tokens", "short instruction"]
    by = "blind" if (choice.sort, choice.phases) == ("bits", "hidden") else choice.sort
    extra = [by] if by not in ("id", "steps") else []
    return ["rule", "steps", *extra, "shortest plan", "instruction"]


def markdown(entries: Sequence[Entry], columns: Sequence[str]) -> str:
    """Return the given columns of the rules as a Markdown table."""
    rows = [[cells(found)[heading] for heading in columns] for found in entries]
    lines = [" | ".join(row).join(("| ", " |")) for row in (columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(columns), *lines[1:]])


def table(entries: Sequence[Entry], columns: Sequence[str]) -> Table:
    """Return the given columns of the rules as a table for the terminal."""
    title = f"{len(entries)} rule{'s' * (len(entries) != 1)}"
    if "shortest plan" in columns:
        title += " (K knob, H handle, D door; + opens, - closes)"
    result = Table(title=title)
    for heading in columns:
        text = heading in ("rule", "memory", "shortest plan") or "instruction" in heading
        side: Literal["left", "right"] = "left" if text else "right"
        result.add_column(heading, justify=side, no_wrap="instruction" not in heading)
    for found in entries:
        result.add_row(*(cells(found)[heading] for heading in columns))
    return result


def topic_table(topics: Mapping[str, str]) -> Table:
    """Return a table with one line per topic: its name and its text."""
    result = Table.grid(padding=(0, 1))
    for topic, text in topics.items():
        result.add_row(Text(topic, style="bold"), Text(text))
    return result
