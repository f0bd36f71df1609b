"""Lock files: JSON with a description, the automaton of the lock, and the origin of both.

A set is a folder of lock files, named after their ids. Sets are the ones in this package, those of
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
from rulesafe_core.plugins import Registry
from rulesafe_core.text_files import parse_json, read_text
from rulesafe_locks.automata import Automaton, as_rule, from_json, to_json
from rulesafe_locks.instructions import MAX_TOKENS, token_bound
from rulesafe_locks.locks import Rule

FORMAT = "rulesafe-lock-1"
ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
KEYS = ("format", "id", "description", "split", "origin", "bound", "facts", "program", "automaton")
SHORT = "short_instruction"
"""The optional key."""
LOCKS = Path(__file__).parent / "data" / "locks"
"""Folder of the sets that come with the package, one folder each."""

SETS: Registry[Path] = Registry("rulesafe.locks", "rule set")
"""The folders of the sets of other packages."""

VARIABLE = "RULESAFE_LOCKS"
"""Environment variable with further folders of locks, separated as in PATH."""


@dataclass(frozen=True)
class Bound:
    """Verified agreement of an automaton with a program that may have infinitely many states."""

    events: int
    """Program and automaton agree on all sequences of this many events (tested exhaustively)."""
    states: int
    """Program and automaton are equivalent if an automaton with at most this many states models the
    program."""


@dataclass(frozen=True)
class LockFile:
    """A generated lock."""

    id: str
    """ID: lower-case letters, digits and underscores; the file's name without suffix."""
    description: str
    """The instruction in plain English."""
    automaton: Automaton
    """The minimal automaton of the lock; every move has a successor."""
    program: str = ""
    """Source of `check_lock`, for readers; only the sandbox executes it."""
    bound: Bound | None = None
    """Limit of the verified agreement of program and automaton; None: they are equivalent."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Origin: "by" ("sampled", or "model" with its name), seed, attempts, ..."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """`proofs.Proof.facts`, stored so that lists need not repeat the proofs."""
    split: str = ""
    """Split to which the lock belongs, such as "train"."""
    short_instruction: str = ""
    """`Rule.short_instruction`."""

    @cached_property
    def rule(self) -> Rule:
        """The rule for simulation, nodes and scores."""
        return as_rule(self.automaton, self.id, self.description, self.short_instruction)


def lock_folders() -> dict[Path, str]:
    """Return the folder of each set, with the name of the set.

    Sets in RULESAFE_LOCKS come first, named after the folder, or after its parent if the folder is
    called "locks"; then those of installed packages, named after the entry point; then those of
    this package.

    Raises:
        RuleSafeError: a folder does not exist.
    """
    own = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    folders = {folder: set_name(folder.resolve()) for folder in own}
    folders |= {set_folder(name): name for name in SETS.names()}
    for folder in own:
        if not folder.is_dir():
            raise RuleSafeError(f"{VARIABLE}: the folder {folder} does not exist")
    return folders | {path: path.name for path in sorted(LOCKS.glob("*")) if path.is_dir()}


def set_name(folder: Path) -> str:
    return folder.parent.name if folder.name == "locks" else folder.name


def set_folder(name: str) -> Path:
    """Return a set's folder by entry point or `module:attribute`; RuleSafeError if unknown."""
    found: object = SETS.load(name)
    if not isinstance(found, str | Path) or not Path(found).is_dir():
        raise RuleSafeError(f"rule set {name!r} is {found!r}; valid: the path of a folder of locks")
    return Path(found)


def locks_in(folder: Path) -> list[LockFile]:
    """Return the locks of a set, sorted by id; RuleSafeError if a file's name is not its id."""
    return [_read_named(path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.json"))]


def find_lock(name: str) -> LockFile | None:
    """Return the lock with an id, or at a path that ends in .json; None for an unknown id.

    Raises:
        RuleSafeError: two sets contain the id, so that it is ambiguous.
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
        raise RuleSafeError(
            f"the lock {name} is in two sets: {found[0]} and {found[1]}; rename one"
        )
    return _read_named(found[0], found[0].stat().st_mtime_ns) if found else None


@lru_cache(maxsize=4096)
def _read(path: Path, changed: int) -> LockFile:
    """Return the same object as long as the file is unchanged, so that results that are cached by
    rule stay valid."""
    return read_lock(path)


def _read_named(path: Path, changed: int) -> LockFile:
    lock = _read(path, changed)
    if lock.id != path.stem:
        raise RuleSafeError(f"{path}: the file name must be the id of the lock, {lock.id}.json")
    return lock


def dump_lock(lock: LockFile) -> str:
    """Return the text of a lock file: indented JSON, with one line for each state."""
    program = lock.program.replace("\r\n", "\n").removesuffix("\n")
    head = {
        "format": FORMAT,
        "id": lock.id,
        "description": lock.description,
        **({SHORT: lock.short_instruction} if lock.short_instruction else {}),
        "split": lock.split,
        "origin": dict(lock.origin),
        "bound": asdict(lock.bound) if lock.bound else None,
        "facts": dict(lock.facts),
        "program": program.split("\n") if program else [],
    }
    rows = ",\n".join(f"    {json.dumps(row)}" for row in to_json(lock.automaton))
    text = json.dumps(head, indent=2, ensure_ascii=False)
    return f'{text[:-2]},\n  "automaton": [\n{rows}\n  ]\n}}\n'


def read_lock(path: str | Path) -> LockFile:
    """Read a lock file; raise RuleSafeError, with the path, if it is not valid."""
    path = Path(path)
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise RuleSafeError(f"the lock file {path} does not exist") from None
    try:
        return parse_lock(text)
    except RuleSafeError as error:
        raise RuleSafeError(f"{path}: {error}") from error


def parse_lock(text: str) -> LockFile:
    """Parse the text of a lock file; raise RuleSafeError if it is not valid."""
    try:
        data = parse_json(text)
    except ValueError as error:
        raise RuleSafeError(f"not valid JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RuleSafeError(f'not a lock file; expected a JSON object with "format": "{FORMAT}"')
    short = data.pop(SHORT, "")
    if set(data) != set(KEYS):
        wrong = ", ".join(sorted(set(data) ^ set(KEYS)))
        raise RuleSafeError(
            f"missing or unknown keys: {wrong}; required: {', '.join(KEYS)}; optional: {SHORT}"
        )
    _check(
        data["id"],
        "id",
        isinstance(data["id"], str) and bool(ID.fullmatch(data["id"])),
        "lower-case letters, digits and underscores; the first is a letter",
    )
    for key in ("description", "split"):
        _check(data[key], key, isinstance(data[key], str), "a line of text")
    for key in ("origin", "facts"):
        _check(data[key], key, isinstance(data[key], dict), "an object")
    for key in KEYS:
        _check(data[key], key, _can_be_shown(data[key]), "text without control characters")
    check_short(short)
    bound = data["bound"]
    _check(
        bound,
        "bound",
        bound is None or _is_bound(bound),
        "null, or an object with events and states above 0",
    )
    lines = data["program"]
    listed = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    _check(lines, "program", listed, "a list of lines")
    program = "".join(f"{line}\n" for line in lines)
    return LockFile(
        **{key: data[key] for key in ("id", "description", "split", "origin", "facts")},
        bound=Bound(**bound) if bound else None,
        program=program,
        automaton=from_json(data["automaton"]),
        short_instruction=short,
    )


def check_short(text: Any) -> None:
    """Raise RuleSafeError unless a value is a short instruction, or empty."""
    _check(text, SHORT, isinstance(text, str) and text.isprintable(), "a line of text")
    if (tokens := token_bound(text)) > MAX_TOKENS:
        raise RuleSafeError(
            f"{SHORT} has an estimated {tokens} tokens: {text!r}; valid: at most {MAX_TOKENS}, "
            "see docs/rules.md"
        )
    _check(text, SHORT, text == text.strip(), "a text without spaces around it")


def _can_be_shown(value: Any) -> bool:
    """Return whether all text in a value is printable on one line, without control characters."""
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


def _check(value: Any, key: str, ok: bool, valid: str) -> None:
    if not ok:
        raise RuleSafeError(f"{key} is {value!r:.60}; valid: {valid}")
