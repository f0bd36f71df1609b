"""The folder of a run of episodes: demonstrations or an evaluation.

DIR/generate.json, eval.json    the request
DIR/results.jsonl               a line for each episode, in the order of completion
DIR/results.json                all episodes and statistics, of an evaluation
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_lock
from rulesafe_core.text_files import read_json
from rulesafe_core.versions import EARLIER
from rulesafe_data.files import append_line, read_lines, write_json
from rulesafe_sim.episodes import EpisodePlan

SHA256 = re.compile(r"\b[0-9a-f]{64}\b")

Line = Mapping[str, Any]
"""The result of an episode: `Episode.to_dict`, its outcome, and `timing`, which differs between
runs."""

AnyRequest = TypeVar("AnyRequest", bound="RunRequest")


@dataclass(frozen=True, kw_only=True)
class RunRequest(EpisodePlan):
    """Arguments of a run, stored in its folder. The fields in GROWING may be increased later;
    everything else must stay the same."""

    GROWING: ClassVar[tuple[str, ...]] = ("episodes",)
    NESTED: ClassVar[Mapping[str, str]] = {"versions": "version of {}"}
    """Mappings -> names of their entries in messages."""

    versions: Mapping[str, str]

    @classmethod
    def from_dict(cls: type[AnyRequest], content: Mapping[str, Any]) -> AnyRequest:
        """Convert from JSON; raise TypeError or KeyError if an entry is not valid."""
        tuples = {key: tuple(content[key]) for key in ("rules", "safes")}
        known = {"files": {}, "locks": {}, **content, **tuples}
        return cls(**known | {"versions": {**EARLIER, **content["versions"]}})

    def settings(self) -> dict[str, str]:
        """Return the settings as text, one entry for each setting that may differ."""
        settings = asdict(self)
        del settings["locks"]  # covered by the rules and the SHA-256 of their files
        found: dict[str, str] = {}
        for name, text in self.NESTED.items():
            found |= {text.format(key): str(value) for key, value in settings.pop(name).items()}
        for key, value in settings.items():
            found[key] = ",".join(value) if isinstance(value, tuple) else str(value)
        return found


def results_folder(out: str | Path | None) -> Path:
    """Return the folder of the results: `out`, or by default runs/(date and time)."""
    return Path(out or Path("runs", datetime.now().strftime("%Y-%m-%d_%H-%M-%S"))).absolute()


class RunFolder:
    """A folder with the request and the results of a run; its subclasses name the files."""

    FILE: ClassVar[str]
    """Name of the request's file."""

    COMMAND: ClassVar[str]
    """The command that writes to the folder."""

    CONTENT: ClassVar[str]
    """What the folder contains, for messages."""

    def __init__(self, path: Path):
        self.path = path

    def exists(self) -> bool:
        """Return whether the folder has a request."""
        return (self.path / self.FILE).is_file()

    def content(self) -> dict[str, Any]:
        """Return the JSON of the request. Raises RuleSafeError if there is none."""
        path = self.path / self.FILE
        try:
            return read_json(path, f"a request for {self.CONTENT}")
        except FileNotFoundError:
            raise RuleSafeError(
                f"{self.path} contains no {self.CONTENT} ({path.name} is missing); create some "
                f"with {self.COMMAND} --out DIR"
            ) from None

    def request(self, kind: type[AnyRequest]) -> AnyRequest:
        """Return the request. Raises RuleSafeError if there is none or it is not valid."""
        content = self.content()
        try:
            return kind.from_dict(content)
        except (AttributeError, TypeError, KeyError) as error:
            path = self.path / self.FILE
            raise RuleSafeError(f"{path} is not a request for {self.CONTENT}: {error}") from error

    def settle(self, wanted: RunRequest) -> None:
        """Store a request in the folder, which may have an earlier request that it extends, or one
        without a finished episode, which it replaces.

        Raises:
            RuleSafeError: with the differences, if fields outside of GROWING differ, or if one of
                those in GROWING is smaller than before.
        """
        path = self.path / self.FILE
        if path.exists():
            present = self.request(type(wanted))
            same = replace(present, **{name: getattr(wanted, name) for name in wanted.GROWING})
            there, here = same.settings(), wanted.settings()
            differences = [
                f"{key}: {there.get(key, 'none')} in the directory, "
                f"{here.get(key, 'none')} requested"
                for key in there | here
                if there.get(key) != here.get(key)
            ]
            for name in wanted.GROWING:
                before, now = getattr(present, name), getattr(wanted, name)
                if now < before:
                    differences.append(
                        f"{name}: {before} in the directory, {now} requested, but it may only grow"
                    )
            if differences and (finished := len(self.lines())):
                text = "; ".join(differences)
                raise RuleSafeError(
                    f"{self.path} has {finished} finished episodes of another request; take "
                    f"another --out. {SHA256.sub(lambda found: found[0][:8], text)}"
                )
            if present == wanted:
                return
        elif any(not file.name.startswith(".") for file in self.path.glob("*")):
            raise RuleSafeError(
                f"{self.path} is not empty and has no {path.name}; use an empty directory"
            )
        write_json(path, asdict(wanted))

    def exclusive_lock(self) -> AbstractContextManager[None]:
        """See `rulesafe_core.files.exclusive_lock`."""
        return exclusive_lock(self.path, self.COMMAND)

    def add(self, line: Line) -> None:
        """Append a line to results.jsonl; an incomplete line is ignored when read. Raises
        RuleSafeError if the disk is full."""
        append_line(self.path / "results.jsonl", line)

    def lines(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the results by (rule, number). A later line of an episode adds to an earlier one,
        as that of rendering."""
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for line in read_lines(path := self.path / "results.jsonl"):
            try:
                there = found.setdefault((line["rule"], line["number"]), {"timing": {}})
                there |= line | {"timing": there["timing"] | (line.get("timing") or {})}
            except (KeyError, TypeError) as error:
                raise RuleSafeError(f"{path} is damaged: a line has no {error}") from error
        return found
