"""Lock the folder of a run, so that one process writes at a time and no other files are touched."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import DRAFT, LOCK, exclusive_lock, remove_drafts, write_atomically


def write_text(path: Path, text: str) -> None:
    """Write a file atomically, unless it already has this content."""
    content = text.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)


@contextlib.contextmanager
def run_folder(
    folder: Path, patterns: Sequence[str], check: Callable[[Path], None], command: str
) -> Iterator[None]:
    """Hold an exclusive lock on the folder of a run and remove the drafts of killed processes.

    If an error is raised, the folder is not changed.

    Args:
        folder: The folder, which is created if needed.
        patterns: Patterns of all files of the run. The first is the name of the marker file; a
            folder without it must be empty.
        check: Called with the path of the marker file; raises if it belongs to another run.
        command: The command that writes to the folder, for the error message.

    Raises:
        RuleSafeError: The folder contains other files, is locked, or is not writable.
    """
    with exclusive_lock(folder, command, lambda: _check_folder(folder, patterns[0], check)):
        for pattern in map(PurePath, patterns):
            remove_drafts(folder, str(pattern.with_name(f".{pattern.name}-*")))
        yield


def _check_folder(folder: Path, marker: str, check: Callable[[Path], None]) -> None:
    """Raise RuleSafeError if a folder belongs to another run or contains other files."""
    if not folder.exists():
        return
    if (folder / marker).exists():
        check(folder / marker)
        return
    for path in sorted(folder.iterdir()):
        draft = path.name.startswith(f".{marker}-") and DRAFT.fullmatch(path.name)
        if path.name != LOCK and not draft:  # a draft is left by a killed process
            raise RuleSafeError(
                f"{folder} is not empty ({path.name!r:.60}) and has no {marker}; use another --out"
            )
