"""Files that are there whole or not at all, in a folder that one process writes at a time."""

import contextlib
import errno
import fcntl
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from rulesafe_sim.errors import RuleSafeError

DRAFT = re.compile(r"\..+-[0-9a-f]{12}")
"""Names of files that were never put in place."""

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomically(path: Path, text: str) -> None:
    """Write a file that is never seen incomplete, whenever the process dies; a file that says the
    same is left alone. RuleSafeError on a full disk."""
    content = text.encode()
    draft = path.with_name(f".{path.name}-{uuid.uuid4().hex[:12]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.read_bytes() == content:
            return
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise RuleSafeError(
            f"no room for {path}: {os.strerror(error.errno or 0)}. What was complete is unharmed: "
            "make room and start again, it goes on where it stopped"
        ) from error
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Holds a folder for this process, makes it if need be, and removes the drafts of a killed one.

    Errors: RuleSafeError where another process holds it, and where it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise RuleSafeError(f"cannot write to {folder}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuleSafeError(f"{folder} is in use by another process") from None
        for path in folder.rglob(".*"):
            if DRAFT.fullmatch(path.name) and path.is_file():
                path.unlink(missing_ok=True)
        yield
