"""Locks as files: JSON with a description, the automaton that runs, and where both came from.

A set is a folder of such files, named after their ids. Sets are those of this package, those of
installed packages (entry points of the group "rulesafe.locks", each the path of a folder) and the
folders in the environment variable RULESAFE_LOCKS. Example::

    lock = read_lock("locks/my_lock.json")
    lock.rule.description
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import load, names
from rulesafe_locks.automata import Automaton, as_rule, from_json, to_json
from rulesafe_locks.locks import Rule

FORMAT = "rulesafe-lock-1"
ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
KEYS = ("format", "id", "description", "split", "origin", "bound", "facts", "program", "automaton")
LOCKS = Path(__file__).parent / "data" / "locks"
"""The sets that are shipped, each a folder."""

GROUP = "rulesafe.locks"
"""Entry points of installed packages: the paths of further sets."""

VARIABLE = "RULESAFE_LOCKS"
"""Further folders of locks, separated as in PATH."""

MAX_BYTES = 4_000_000
"""Larger files are refused unread. The largest automata that are of use take some ten thousand."""


@dataclass(frozen=True)
class Bound:
    """How far an automaton is known to agree with a program whose states have no end."""

    events: int
    """On every sequence of so many events: they were all tried."""
    states: int
    """For good, if an automaton of at most so many states does all that the program does."""


@dataclass(frozen=True)
class LockFile:
    """A generated lock."""

    id: str
    """Lower-case letters, digits and underscores; the file's name without suffix."""
    description: str
    """The instruction in plain English."""
    automaton: Automaton
    """What the lock does, smallest; every move has a successor."""
    program: str = ""
    """Source of `check_lock`, for people; nothing runs it but the sandbox."""
    bound: Bound | None = None
    """How far program and automaton agree; None: for good."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Who wrote it: "by" ("sampled", or "model" with its name), seed, tries, ..."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was proved when it was written (`proofs.Proof.facts`), so that lists need not prove."""
    split: str = ""
    """The part of the set that it belongs to, such as "train"."""

    @cached_property
    def rule(self) -> Rule:
        """The rule that simulation, nodes and scores run."""
        return as_rule(self.automaton, self.id, self.description)


def lock_folders() -> dict[Path, str]:
    """Return the folder of each set, with the name of the set.

    Those of RULESAFE_LOCKS come first, named after the folder, or after its parent where the folder
    is called "locks"; then those of installed packages, named after the entry point; then those of
    this package.

    Raises:
        RuleSafeError: there is no such folder.
    """
    own = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    folders = {folder: set_name(folder.resolve()) for folder in own}
    folders |= {set_folder(name): name for name in names(GROUP, {})}
    for folder in own:
        if not folder.is_dir():
            raise RuleSafeError(f"{VARIABLE}: there is no folder {folder}")
    return folders | {path: path.name for path in sorted(LOCKS.glob("*")) if path.is_dir()}


def set_name(folder: Path) -> str:
    return folder.parent.name if folder.name == "locks" else folder.name


def set_folder(name: str) -> Path:
    """Return the folder of a set by entry point or as `module:attribute`. Errors: RuleSafeError."""
    found: object = load(GROUP, name, {})
    if not isinstance(found, str | Path) or not Path(found).is_dir():
        raise RuleSafeError(f"rule set {name!r} is {found!r}; valid: the path of a folder of locks")
    return Path(found)


def locks_in(folder: Path) -> list[LockFile]:
    """The locks of a set, by id. RuleSafeError for a file whose name is not its id."""
    return [_read_named(path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.json"))]


def find_lock(name: str) -> LockFile | None:
    """The lock of an id or of a path that ends in .json; None for an id that no set has.

    RuleSafeError where two sets have locks of that id: which one is meant would depend on the
    machine.
    """
    if not isinstance(name, str):
        return None
    if name.endswith(".json"):
        path = Path(name)
        return _read(path, path.stat().st_mtime_ns if path.exists() else 0)
    if not ID.fullmatch(name):
        return None
    paths = [folder / f"{name}.json" for folder in lock_folders()]
    found = [path for path in paths if path.is_file()]
    if len(found) > 1:
        raise RuleSafeError(f"two sets have a lock {name}: {found[0]} and {found[1]}; rename one")
    return _read_named(found[0], found[0].stat().st_mtime_ns) if found else None


@lru_cache(maxsize=4096)
def _read(path: Path, changed: int) -> LockFile:
    """The lock, one object as long as the file stays as it is, so that what was found out about
    its rule need not be found out again."""
    return read_lock(path)


def _read_named(path: Path, changed: int) -> LockFile:
    lock = _read(path, changed)
    if lock.id != path.stem:
        raise RuleSafeError(f"{path}: the file's name and its id, {lock.id!r}, must be the same")
    return lock


def dump_lock(lock: LockFile) -> str:
    """The file's text: indented JSON, a line for each state."""
    head = {
        "format": FORMAT,
        "id": lock.id,
        "description": lock.description,
        "split": lock.split,
        "origin": dict(lock.origin),
        "bound": asdict(lock.bound) if lock.bound else None,
        "facts": dict(lock.facts),
        "program": lock.program.splitlines(),
    }
    rows = ",\n".join(f"    {json.dumps(row)}" for row in to_json(lock.automaton))
    text = json.dumps(head, indent=2, ensure_ascii=False)
    return f'{text[:-2]},\n  "automaton": [\n{rows}\n  ]\n}}\n'


def read_lock(path: str | Path) -> LockFile:
    """The lock of a file; RuleSafeError, naming file and fault, for one that is none."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RuleSafeError(f"{path}: larger than {MAX_BYTES} bytes")
        return parse_lock(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RuleSafeError(f"there is no lock file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RuleSafeError(f"cannot read the lock file {path}: {error}") from error
    except RuleSafeError as error:
        raise RuleSafeError(f"{path}: {error}") from error


def parse_lock(text: str) -> LockFile:
    """The lock of a file's text; RuleSafeError, saying what is valid, for one that is none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuleSafeError(f"no JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RuleSafeError(f'no lock: a JSON object with "format": "{FORMAT}" is needed')
    if set(data) != set(KEYS):
        wrong = sorted(set(data) ^ set(KEYS))
        raise RuleSafeError(f"keys {', '.join(wrong)} missing or unknown; valid: {', '.join(KEYS)}")
    _check(
        data["id"],
        "id",
        isinstance(data["id"], str) and bool(ID.fullmatch(data["id"])),
        "lower-case letters, digits and underscores, a letter first",
    )
    for key in ("description", "split"):
        _check(data[key], key, isinstance(data[key], str), "a line of text")
    for key in ("origin", "facts"):
        _check(data[key], key, isinstance(data[key], dict), "an object")
    for key in KEYS:
        _check(data[key], key, _can_be_shown(data[key]), "text without control characters")
    bound = data["bound"]
    _check(bound, "bound", bound is None or _is_bound(bound), "null, or events and states")
    lines = data["program"]
    listed = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    _check(lines, "program", listed, "a list of lines")
    program = "".join(f"{line}\n" for line in lines)
    return LockFile(
        **{key: data[key] for key in ("id", "description", "split", "origin", "facts")},
        bound=Bound(**bound) if bound else None,
        program=program,
        automaton=from_json(data["automaton"]),
    )


def _can_be_shown(value: Any) -> bool:
    """Is all text in a value fit for a terminal, on one line?"""
    if isinstance(value, dict):
        return all(map(_can_be_shown, (*value, *value.values())))
    if isinstance(value, list):
        return all(map(_can_be_shown, value))
    return not isinstance(value, str) or value.replace("\t", " ").isprintable()


def _is_bound(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"events", "states"}
        and all(type(number) is int and number > 0 for number in value.values())
    )


def _check(value: Any, key: str, right: bool, valid: str) -> None:
    if not right:
        raise RuleSafeError(f"{key} is {value!r:.60}; valid: {valid}")
