"""The files of a directory of demonstrations.

DIR/generate.json                        the request
DIR/recordings/RULE/ATTEMPT.parquet      successful attempts
DIR/failures/RULE/ATTEMPT.parquet        failed attempts
DIR/timings.jsonl                        wall time of each attempt and of rendering its images
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_lock, sweep
from rulesafe_data.files import append_line, read_json, read_lines

KINDS = {True: "recordings", False: "failures"}
"""Folder of the successful (True) and of the failed (False) attempts."""


class DemoFolder:
    """A directory of demonstrations."""

    def __init__(self, path: Path):
        self.path = path

    def request(self) -> dict[str, Any]:
        """Read generate.json; raise RuleSafeError if it does not exist."""
        path = self.path / "generate.json"
        try:
            return dict(read_json(path, "a request for demonstrations"))
        except FileNotFoundError:
            raise RuleSafeError(
                f"{self.path} contains no demonstrations ({path.name} is missing); create some "
                "with rulesafe demos generate --out DIR"
            ) from None

    def file(self, rule: str, number: int, success: bool) -> Path:
        """Return the path of an attempt's recording."""
        return self.path / KINDS[success] / rule / f"{number:06d}.parquet"

    def decided(self, rule: str) -> dict[int, bool]:
        """Return the finished attempts of a rule in order: number -> success."""
        found = {
            int(file.stem): success
            for success, kind in KINDS.items()
            for file in (self.path / kind / rule).glob("[0-9]*.parquet")
        }
        return dict(sorted(found.items()))

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

    def sweep(self) -> None:
        """Remove temporary files of killed writers."""
        for kind in KINDS.values():
            sweep(self.path / kind, "*/.*")

    def exclusive_lock(self) -> AbstractContextManager[None]:
        """See `rulesafe_core.files.exclusive_lock`."""
        return exclusive_lock(self.path, "rulesafe demos")

    def note_timing(self, timing: Mapping[str, Any]) -> None:
        """Append a line to timings.jsonl; raise RuleSafeError if the disk is full."""
        append_line(self.path / "timings.jsonl", timing)

    def timings(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Read timings.jsonl: (rule, attempt) -> timings; incomplete lines are skipped."""
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for entry in read_lines(self.path / "timings.jsonl"):
            found.setdefault((entry["rule"], entry["attempt"]), {}).update(entry)
        return found
