"""Atomic file writes, file locks, and errors for a full disk."""

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
"""Names of the temporary files of `write_atomically` and `draft_file`."""

LOCK = ".lock"
"""Name of the lock file of `exclusive_lock`."""

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def disk_full_errors(
    path: Path,
    advice: str = "Completed files are intact; free disk space and repeat the command to resume",
) -> Iterator[None]:
    """Raise a RuleSafeError that names `path`, with `advice`, if the disk is full or a quota is
    exceeded."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise RuleSafeError(
            f"cannot write {path}: {os.strerror(error.errno or 0)}. {advice}"
        ) from error


def temporary_path(path: Path) -> Path:
    """Return a new name for a temporary file in the folder of `path`."""
    return path.with_name(f".{path.name}-{uuid.uuid4().hex[:12]}")


@contextlib.contextmanager
def draft_file(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` on success and is removed on an
    error. Raises RuleSafeError if the disk is full."""
    draft = temporary_path(path)
    try:
        with disk_full_errors(path):
            yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(folder: Path, pattern: str = "**/.*") -> None:
    """Remove only the temporary files that killed processes left."""
    for path in folder.glob(pattern):
        if DRAFT.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def exclusive_lock(
    folder: Path, command: str, check: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold an exclusive lock on a folder; the lock is released even if the process is killed.

    Args:
        folder: The folder, created if needed; only one process at a time may write to it.
        command: The command that writes there, for the error message.
        check: Raises if the folder may not be used. Called before anything is written, and again
            with the lock held, because the previous owner may have changed the folder.

    Raises:
        RuleSafeError: Another process holds the lock, or the folder cannot be written to.
    """
    try:
        check()
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")  # keep the content of an existing file
    except OSError as error:
        raise RuleSafeError(f"cannot write to folder {folder}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuleSafeError(f"{folder} is in use: another `{command}` writes to it") from None
        check()
        yield


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for a file lock and hold it; the lock is released even if the process is killed."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write a file atomically, so that it is never incomplete, even after a crash.

    Raises:
        RuleSafeError: the disk is full.
    """
    temporary = temporary_path(path)
    with disk_full_errors(path):
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
