"""Files that are there whole or not at all, and what to say when there is no room for them."""

import contextlib
import errno
import fcntl
import os
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from rulesafe_core.errors import RuleSafeError

DRAFT = re.compile(r"\..+-[0-9a-f]{12}")
"""Names of the files that `write_atomically` has not put in place yet."""

LOCK = ".lock"
"""Name of the file whose lock `exclusive_lock` holds."""

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def says_when_full(path: Path) -> Iterator[None]:
    """Turns "no space left", an exceeded quota or size limit into a RuleSafeError about `path`."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise RuleSafeError(
            f"no room for {path}: {os.strerror(error.errno or 0)}. What was complete before is "
            "unharmed: make room and start again, it goes on where it stopped"
        ) from error


def draft_of(path: Path) -> Path:
    """A new name beside `path` for its content until it is complete."""
    return path.with_name(f".{path.name}-{uuid.uuid4().hex[:12]}")


@contextlib.contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A new file beside `path` to write to, which takes its place at the end, and is gone if that
    is not reached. Errors: RuleSafeError on a full disk."""
    draft = draft_of(path)
    try:
        with says_when_full(path):
            yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def sweep(folder: Path, pattern: str = "**/.*") -> None:
    """Remove the drafts that killed writers left, and nothing else."""
    for path in folder.glob(pattern):
        if DRAFT.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def exclusive_lock(
    folder: Path, command: str, check: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold the exclusive lock of a folder, which is created if needed; a killed process frees it.

    Args:
        folder: The folder that one process at a time may write to.
        command: The command that writes there, for the error message.
        check: Raises if the folder may not be used. Called before anything is written, and again
            with the lock held, because the process that held it before may have changed the folder.

    Raises:
        RuleSafeError: Another process holds the lock, or the folder cannot be written to.
    """
    try:
        check()
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")  # keep the content of an existing file
    except OSError as error:
        raise RuleSafeError(f"cannot write to {folder}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuleSafeError(f"{folder} is in use: another `{command}` writes to it") from None
        check()
        yield


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a file among processes, and waits for it; a killed process lets go."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write a file that is never seen incomplete, whenever the process or machine dies.

    Errors: RuleSafeError on a full disk.
    """
    temporary = draft_of(path)
    with says_when_full(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
