"""A TensorBoard log of scalars."""

import time
from collections.abc import Mapping
from pathlib import Path

from tensorboardX.event_file_writer import EventsWriter
from tensorboardX.proto.event_pb2 import Event, SessionLog
from tensorboardX.summary import scalar

from rulesafe_core.files import disk_full_errors


class ScalarLog:
    """Writes scalars for TensorBoard; a context manager.

    SummaryWriter of tensorboardX writes in a thread. A full disk ends that thread, and the training
    then waits for it without end. This class writes in the calling thread.

    Args:
        folder: folder of the log, created if needed.
        first_step: TensorBoard ignores earlier entries of this step and later ones.

    Raises:
        RuleSafeError: the disk is full; so do all methods.
    """

    def __init__(self, folder: Path, first_step: int) -> None:
        self._folder = folder
        with disk_full_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._writer = EventsWriter(str(folder / "events"))
            self._write(first_step, session_log=SessionLog(status=SessionLog.START))
            self._writer.flush()

    def add(self, values: Mapping[str, float], step: int) -> None:
        """Write scalars by name."""
        with disk_full_errors(self._folder):
            for name, value in values.items():
                self._write(step, summary=scalar(name, value))
            self._writer.flush()

    def _write(self, step: int, **content: object) -> None:
        self._writer.write_event(Event(wall_time=time.time(), step=step, **content))

    def __enter__(self) -> "ScalarLog":
        return self

    def __exit__(self, *exc: object) -> None:
        with disk_full_errors(self._folder):
            self._writer.close()
