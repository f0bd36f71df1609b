"""The result of a check, and its text output."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "FAIL"


@dataclass(frozen=True)
class Item:
    """The result of a check.

    Attributes:
        verdict: OK; WARN for a limitation; FAIL if a part does not work.
        found: the finding, as text.
        remedy: what to do; empty if it is OK.
    """

    verdict: str
    found: str
    remedy: str = ""


def ok_if(good: bool, found: str, remedy: str, bad: str = FAIL) -> Item:
    """Return an OK item if `good`, else an item with the verdict `bad` and the remedy."""
    return Item(OK, found) if good else Item(bad, found, remedy)


def as_line(name: str, item: Item) -> str:
    """Return the item as a line, with the remedy below it."""
    head = f"[{item.verdict:<4}] {name:<14} {item.found}"
    return f"{head}\n{'':<22}-> {item.remedy}" if item.remedy else head


def summary(items: dict[str, Item]) -> str:
    """Return the last line of the output: the number of failures and the next step."""
    failed = [name for name, item in items.items() if item.verdict == FAIL]
    if not failed:
        return "No check failed. Next: make demo"
    return (
        f"{len(failed)} of {len(items)} checks failed: apply the remedies (->) in order, then run: "
        f"rulesafe doctor --only {','.join(failed)}"
    )
