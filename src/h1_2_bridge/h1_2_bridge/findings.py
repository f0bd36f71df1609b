"""What an item of the list before a robot is switched on says, and the list as text."""

from dataclasses import dataclass

PASS, FAIL, SKIP = "pass", "FAIL", "skip"

GOOD = (
    "Nothing failed. Before you engage: emergency stop in hand, nobody in reach of the arm, the "
    "robot stands or hangs safely."
)


@dataclass(frozen=True)
class Finding:
    """One item of the list.

    Attributes:
        name: what was looked at.
        verdict: PASS, FAIL or SKIP, which is for what is not there and may be missing, or
            cannot be judged.
        found: what was found.
        remedy: what to do about it; empty if it passed.
    """

    name: str
    verdict: str
    found: str
    remedy: str = ""


def judged(name: str, good: bool, found: str, remedy: str) -> Finding:
    """A finding that passed, or failed with a remedy."""
    return Finding(name, PASS, found) if good else Finding(name, FAIL, found, remedy)


def as_text(found: list[Finding]) -> str:
    """The list for a person: a line each, and what to do below those that did not pass."""
    width = max(len(finding.name) for finding in found)
    lines = []
    for finding in found:
        lines.append(f"[{finding.verdict}] {finding.name:<{width}}  {finding.found}")
        if finding.remedy:
            lines.append(f"       {'':<{width}}  -> {finding.remedy}")
    failed = sum(finding.verdict == FAIL for finding in found)
    skipped = sum(finding.verdict == SKIP for finding in found)
    without = f", {skipped} skipped" if skipped else ""
    lines.append(f"{failed} of {len(found)} failed{without}: do not engage" if failed else GOOD)
    return "\n".join(lines)
