"""The result of a check, and its text."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "FAIL"


@dataclass(frozen=True)
class Item:
    """The result of a check.

    Attributes:
        verdict: OK; WARN for a limitation; FAIL if a part does not work.
        found: what was found.
        remedy: what to do; empty if it is OK.
    """

    verdict: str
    found: str
    remedy: str = ""


def judged(good: bool, found: str, remedy: str, bad: str = FAIL) -> Item:
    """Return an item that is OK, or else `bad` with the remedy."""
    return Item(OK, found) if good else Item(bad, found, remedy)


def as_line(name: str, item: Item) -> str:
    """Return the item as a line, with the remedy below it."""
    head = f"[{item.verdict:<4}] {name:<14} {item.found}"
    return f"{head}\n{'':<22}-> {item.remedy}" if item.remedy else head


def closing(items: dict[str, Item]) -> str:
    """Return the last line, with what to do next."""
    failed = [name for name, item in items.items() if item.verdict == FAIL]
    if not failed:
        return "Nothing failed. Next: make demo"
    return (
        f"{len(failed)} of {len(items)} failed: do what the arrows say, from the top, then call: "
        f"rulesafe doctor --only {' '.join(failed)}"
    )
