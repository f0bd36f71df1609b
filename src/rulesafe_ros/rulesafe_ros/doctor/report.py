"""What an item of the doctor's list says, and the list as text."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "FAIL"


@dataclass(frozen=True)
class Item:
    """One thing that was looked at.

    Attributes:
        verdict: OK; WARN, for what limits or may trouble; FAIL, for what stops a part from working.
        found: what was found.
        remedy: what to do about it; empty if it is OK.
    """

    verdict: str
    found: str
    remedy: str = ""


def judged(good: bool, found: str, remedy: str, bad: str = FAIL) -> Item:
    """OK, or else `bad` with the remedy."""
    return Item(OK, found) if good else Item(bad, found, remedy)


def as_line(name: str, item: Item) -> str:
    """The item for a person: a line, and below it what to do where it is not OK."""
    head = f"[{item.verdict:<4}] {name:<14} {item.found}"
    return f"{head}\n{'':<22}-> {item.remedy}" if item.remedy else head


def closing(items: dict[str, Item]) -> str:
    """The last line, which says what to do."""
    failed = [name for name, item in items.items() if item.verdict == FAIL]
    if not failed:
        return "Nothing failed. Next: make demo"
    return (
        f"{len(failed)} of {len(items)} failed: do what the arrows say, from the top, then call: "
        f"rulesafe doctor --only {' '.join(failed)}"
    )
