"""Atomic file writes, file locks, and errors for a full disk or for what is no regular file."""

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from rulesafe_core.errors import RuleSafeError

DRAFT = re.compile(r"\..+-[0-9a-f]{12}")
"""Names of the temporary files of `write_atomically` and `draft_file`."""

LOCK = ".lock"
"""Name of the lock file of `exclusive_lock`."""

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
"""Kinds of paths that are neither read nor replaced, by the format bits of their mode."""


def _check_kind(path: Path, mode: int) -> None:
    kind = stat.S_IFMT(mode)
    if kind != stat.S_IFREG:
        raise RuleSafeError(f"{path} is {KINDS.get(kind, 'special')}; valid: a regular file")


def check_regular(path: Path) -> None:
    """Check a path before a library opens it, which would wait for a pipe or a device.

    Raises:
        RuleSafeError: the path is not a regular file.
        OSError: the file does not exist or cannot be accessed.
    """
    _check_kind(path, path.stat().st_mode)


def open_descriptor(path: Path, flags: int) -> int:
    """Open a regular file and return its descriptor; never wait for a pipe or a device.

    Raises:
        RuleSafeError: the path is not a regular file.
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        _check_kind(path, os.fstat(descriptor).st_mode)
    except RuleSafeError:
        os.close(descriptor)
        raise
    return descriptor


def _check_replaceable(path: Path) -> None:
    """Raise RuleSafeError if a file of this name would replace a device or pipe, such as
    /dev/null."""
    with contextlib.suppress(OSError):
        if not path.is_dir():  # its error is that of the system
            check_regular(path)


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
    _check_replaceable(path)
    draft = temporary_path(path)
    try:
        with disk_full_errors(path):
            yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def draft_folder(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary folder, which becomes `path` on success and is removed on an
    error. `path` does not exist or is an empty folder. Raises RuleSafeError if the disk is full."""
    draft = temporary_path(path)
    try:
        with disk_full_errors(path):
            draft.mkdir(parents=True)
            yield draft
            draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


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
        lock = _open_lock(folder / LOCK)
    except OSError as error:
        raise RuleSafeError(f"cannot write to folder {folder}: {error.strerror}") from error
    with lock:
        _lock_or_raise(lock, folder, command)
        check()
        yield


@contextlib.contextmanager
def exclusive_output(path: Path, command: str) -> Iterator[None]:
    """Hold an exclusive lock on the path that a command writes, a file or a folder.

    The lock is a hidden file beside the path, which is removed at the end, as are folders that were
    created for it and are empty. There is no lock if the folder of the path cannot be written to.

    Args:
        path: the path.
        command: the command, for the error message.

    Raises:
        RuleSafeError: another process holds the lock.
    """
    target = Path(os.path.realpath(path))
    lock = target.parent / f".{target.name}{LOCK}"
    created = [folder for folder in lock.parents if not folder.exists()]
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock.parent.mkdir(parents=True, exist_ok=True)
            held = False
            while not held:  # a process that ends may remove the file before it is locked here
                file = stack.enter_context(_open_lock(lock))
                _lock_or_raise(file, path, command)
                with contextlib.suppress(FileNotFoundError):
                    held = os.path.samestat(os.fstat(file.fileno()), lock.stat())
            stack.callback(lock.unlink, missing_ok=True)
        try:
            yield
        finally:
            stack.close()
            with contextlib.suppress(OSError):
                for folder in created:
                    folder.rmdir()


def _lock_or_raise(file: IO[str], path: Path, command: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RuleSafeError(f"{path} is in use: another `{command}` writes to it") from None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for a file lock and hold it; the lock is released even if the process is killed."""
    with _open_lock(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _open_lock(path: Path) -> IO[str]:
    """Open a lock file; the content of an existing file is kept."""
    return os.fdopen(open_descriptor(path, os.O_RDWR | os.O_CREAT), "r+")


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write a file atomically, so that it is never incomplete, even after a crash.

    Raises:
        RuleSafeError: the disk is full, or the path is a device or pipe.
    """
    _check_replaceable(path)
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
