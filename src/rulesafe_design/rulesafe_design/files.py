"""The folder of a run: nobody else's, written by one process at a time, each file whole."""

import contextlib
import fcntl
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import DRAFT, sweep, write_atomically

LOCK = ".lock"


def write_text(path: Path, text: str) -> None:
    """Write a file that is never seen incomplete; one that says the same already is left alone.
    RuleSafeError on a full disk."""
    content = text.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)


@contextlib.contextmanager
def alone(folder: Path, ours: Sequence[str], check: Callable[[Path], None]) -> Iterator[None]:
    """Holds a folder for this process, makes it if need be, and removes the drafts of a killed one.

    `ours`: patterns of all files that are written there. The first names the file without which a
    folder that is not empty is somebody else's; `check` gets its path and raises where it says
    something else. A folder that is refused is left exactly as it was.

    Errors: RuleSafeError for somebody else's folder, where another process holds it, and where it
    cannot be written to; those of `check`.
    """
    try:
        _admit(folder, ours[0], check)
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")  # what a file of this name holds stays
    except OSError as error:
        raise RuleSafeError(f"cannot write to {folder}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuleSafeError(f"{folder} is in use by another process") from None
        _admit(folder, ours[0], check)  # who held it until now may have changed it
        for pattern in map(PurePath, ours):
            sweep(folder, str(pattern.with_name(f".{pattern.name}-*")))
        yield


def _admit(folder: Path, mark: str, check: Callable[[Path], None]) -> None:
    """Raises where a folder may not be written to."""
    if not folder.exists():
        return
    if (folder / mark).exists():
        check(folder / mark)
        return
    for path in sorted(folder.iterdir()):
        draft = path.name.startswith(f".{mark}-") and DRAFT.fullmatch(path.name)
        if path.name != LOCK and not draft:  # what a killed process leaves at once
            raise RuleSafeError(
                f"{folder} is not empty ({path.name!r:.60}) and holds no {mark}; give another --out"
            )
