"""Results of the pre-flight checks, and their text output."""

from dataclasses import dataclass

PASS, FAIL, SKIP = "pass", "FAIL", "skip"

GOOD = (
    "No check failed. Before you engage: keep the emergency stop in hand, keep people out of reach "
    "of the arm, and make sure that the robot stands or hangs safely."
)


@dataclass(frozen=True)
class Finding:
    """Result of one check.

    Attributes:
        name: name of the check.
        verdict: PASS, FAIL, or SKIP if the checked item is optional and absent or its data is
            missing.
        found: measured values.
        remedy: what to do; empty if the check passed.
    """

    name: str
    verdict: str
    found: str
    remedy: str = ""


def pass_or_fail(name: str, good: bool, found: str, remedy: str) -> Finding:
    """Return a PASS finding, or a FAIL finding with its remedy."""
    return Finding(name, PASS, found) if good else Finding(name, FAIL, found, remedy)


def as_text(found: list[Finding]) -> str:
    """Format findings, one per line, each remedy on the line below, and a summary."""
    width = max(len(finding.name) for finding in found)
    lines = []
    for finding in found:
        lines.append(f"[{finding.verdict}] {finding.name:<{width}}  {finding.found}")
        if finding.remedy:
            lines.append(f"       {'':<{width}}  -> {finding.remedy}")
    failed = sum(finding.verdict == FAIL for finding in found)
    skipped = sum(finding.verdict == SKIP for finding in found)
    suffix = f", {skipped} skipped" if skipped else ""
    lines.append(f"{failed} of {len(found)} failed{suffix}: do not engage" if failed else GOOD)
    return "\n".join(lines)
