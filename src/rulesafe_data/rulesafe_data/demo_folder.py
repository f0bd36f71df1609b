"""The files of a directory of demonstrations.

DIR/generate.json                        the request
DIR/recordings/RULE/ATTEMPT.parquet      what the expert opened
DIR/failures/RULE/ATTEMPT.parquet        what it did not
DIR/timings.jsonl                        how long each attempt and its pictures took; no fact of it
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_lock, sweep
from rulesafe_data.files import append_line, read_json, read_lines

KINDS = {True: "recordings", False: "failures"}
"""Folder of the attempts that succeeded, and of those that did not."""


class DemoFolder:
    """A directory of demonstrations."""

    def __init__(self, path: Path):
        self.path = path

    def request(self) -> dict[str, Any]:
        """The content of generate.json. Errors: RuleSafeError where there is none."""
        path = self.path / "generate.json"
        try:
            return dict(read_json(path, "a request for demonstrations"))
        except FileNotFoundError:
            raise RuleSafeError(
                f"{self.path} holds no demonstrations: no {path.name}. Make some: "
                "rulesafe demos generate --out DIR"
            ) from None

    def file(self, rule: str, number: int, success: bool) -> Path:
        """Where an attempt's recording is or belongs."""
        return self.path / KINDS[success] / rule / f"{number:06d}.parquet"

    def decided(self, rule: str) -> dict[int, bool]:
        """The attempts of a rule that were made: number -> success, in order."""
        found = {
            int(file.stem): success
            for success, kind in KINDS.items()
            for file in (self.path / kind / rule).glob("[0-9]*.parquet")
        }
        return dict(sorted(found.items()))

    def successes(self, rule: str) -> list[int]:
        """The attempts of a rule whose place among the successes is certain: those before the
        first attempt that was not made yet."""
        decided = self.decided(rule)
        certain = next((k for k in range(len(decided)) if k not in decided), len(decided))
        return [number for number, success in decided.items() if success and number < certain]

    def episodes(self, rules: Sequence[str], wanted: int) -> list[tuple[str, int]]:
        """The dataset's episodes (rule, attempt): every rule's first success, every rule's
        second, and so on, up to the number that all rules have, at most `wanted`.

        So the dataset is the same in whatever order attempts ended, each rule has an equal share,
        and a larger request extends a smaller one.
        """
        columns = [self.successes(rule)[:wanted] for rule in rules]
        return [
            (rule, number)
            for numbers in zip(*columns, strict=False)
            for rule, number in zip(rules, numbers, strict=True)
        ]

    def sweep(self) -> None:
        """Removes drafts of writers that were killed."""
        for kind in KINDS.values():
            sweep(self.path / kind, "*/.*")

    def exclusive_lock(self) -> AbstractContextManager[None]:
        """See `rulesafe_core.files.exclusive_lock`."""
        return exclusive_lock(self.path, "rulesafe demos")

    def note_timing(self, timing: Mapping[str, Any]) -> None:
        """Appends a line to timings.jsonl. Errors: RuleSafeError on a full disk."""
        append_line(self.path / "timings.jsonl", timing)

    def timings(self) -> dict[tuple[str, int], dict[str, Any]]:
        """(rule, attempt) -> all that note_timing noted; lines that a kill tore are left out."""
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for entry in read_lines(self.path / "timings.jsonl"):
            found.setdefault((entry["rule"], entry["attempt"]), {}).update(entry)
        return found
