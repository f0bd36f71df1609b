"""The files of a directory of demonstrations.

DIR/generate.json                        the request
DIR/recordings/RULE/ATTEMPT.parquet      successful attempts
DIR/failures/RULE/ATTEMPT.parquet        failed attempts
DIR/results.jsonl                        outcome of each attempt, wall and CPU times
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import remove_drafts
from rulesafe_data import attempt_recording
from rulesafe_data.run_folder import RunFolder

KINDS = {True: "recordings", False: "failures"}
"""Folder of the successful (True) and of the failed (False) attempts."""


class DemoFolder(RunFolder):
    """A directory of demonstrations."""

    FILE = "generate.json"
    COMMAND = "rulesafe demos generate"
    CONTENT = "demonstrations"

    def file(self, rule: str, number: int, success: bool) -> Path:
        """Return the path of an attempt's recording."""
        return self.path / KINDS[success] / rule / f"{number:06d}.parquet"

    def decided(self, rule: str) -> dict[int, bool]:
        """Return the finished attempts of a rule in order: number -> success."""
        found = {
            int(file.stem): success
            for success, kind in KINDS.items()
            for file in (self.path / kind / rule).glob("*.parquet")
            if file.stem.isdecimal()
        }
        return dict(sorted(found.items()))

    def remove_damaged(self, rules: Sequence[str]) -> list[str]:
        """Remove the recordings of rules that cannot be read, and return the reasons."""
        reasons = []
        for rule in rules:
            for number, success in self.decided(rule).items():
                path = self.file(rule, number, success)
                try:
                    facts = attempt_recording.read(path).facts
                    number_there = facts.get("number", facts.get("attempt"))
                    found = facts["rule"], number_there, facts.get("success")
                    if found != (rule, number, success):
                        raise RuleSafeError(f"{path} has another attempt: {found}")
                except RuleSafeError as error:
                    reasons.append(str(error))
                    path.unlink()
        return reasons

    def successes(self, rule: str) -> list[int]:
        """Return the successful attempts of a rule before its first unfinished attempt. Their
        positions in the sequence of successes cannot change."""
        decided = self.decided(rule)
        first_open = next((k for k in range(len(decided)) if k not in decided), len(decided))
        return [number for number, success in decided.items() if success and number < first_open]

    def episodes(self, rules: Sequence[str], wanted: int) -> list[tuple[str, int]]:
        """Return the episodes (rule, attempt) of the dataset: the first success of every rule, the
        second of every rule, and so on, up to the number that all rules have, at most `wanted`.

        So the dataset does not depend on the order in which attempts finish, all rules have the
        same number of episodes, and a larger request extends a smaller one.
        """
        columns = [self.successes(rule)[:wanted] for rule in rules]
        return [
            (rule, number)
            for numbers in zip(*columns, strict=False)
            for rule, number in zip(rules, numbers, strict=True)
        ]

    def remove_drafts(self) -> None:
        """Remove temporary files of killed writers."""
        for kind in KINDS.values():
            remove_drafts(self.path / kind, "*/.*")

    def timings(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the timings of attempts and of rendering them by (rule, attempt)."""
        return {key: line["timing"] for key, line in self.lines().items()}
