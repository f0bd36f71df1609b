"""The folder of a run: written by one process at a time, and never a folder with other files."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import DRAFT, LOCK, exclusive_lock, sweep, write_atomically


def write_text(path: Path, text: str) -> None:
    """Write a file atomically, unless it has this content already."""
    content = text.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)


@contextlib.contextmanager
def run_folder(
    folder: Path, patterns: Sequence[str], check: Callable[[Path], None], command: str
) -> Iterator[None]:
    """Hold the exclusive lock of a run's folder and remove the drafts of killed processes.

    A folder that is refused is not changed.

    Args:
        folder: The folder, which is created if needed.
        patterns: Patterns of all files of the run. The first is the name of the file that marks
            the folder: other folders must be empty.
        check: Raises if the marking file, whose path it gets, is of another run.
        command: The command that writes there, for the error message.

    Raises:
        RuleSafeError: The folder holds other files, is locked, or cannot be written to.
    """
    with exclusive_lock(folder, command, lambda: _admit(folder, patterns[0], check)):
        for pattern in map(PurePath, patterns):
            sweep(folder, str(pattern.with_name(f".{pattern.name}-*")))
        yield


def _admit(folder: Path, mark: str, check: Callable[[Path], None]) -> None:
    """Raise RuleSafeError if a folder may not be written to."""
    if not folder.exists():
        return
    if (folder / mark).exists():
        check(folder / mark)
        return
    for path in sorted(folder.iterdir()):
        draft = path.name.startswith(f".{mark}-") and DRAFT.fullmatch(path.name)
        if path.name != LOCK and not draft:  # left by a process killed at once
            raise RuleSafeError(
                f"{folder} is not empty ({path.name!r:.60}) and holds no {mark}; give another --out"
            )
