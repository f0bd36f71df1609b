"""Checkpoints of a training run: a resumed run yields the same weights as an uninterrupted one."""

import io
import json
import pickle
import signal
import threading
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.text_files import read_json

CHECKPOINT = "checkpoint.pt"

VALUE_ERRORS = (AttributeError, EOFError, LookupError, OSError, TypeError, ValueError, zlib.error)
"""Exceptions of damaged values."""


def save_checkpoint(folder: Path, facts: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Save tensors and plain values. `load_checkpoint` compares `facts` (settings, data)."""
    buffer = io.BytesIO()
    torch.save({"facts": json.dumps(facts), "state": dict(state)}, buffer)
    write_atomically(folder / CHECKPOINT, buffer.getbuffer())


def load_checkpoint(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the saved state, or None if there is no checkpoint.

    Raises:
        RuleSafeError: the checkpoint is damaged, or has other settings or data.
    """
    path = folder / CHECKPOINT
    if not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as archive:  # PyTorch does not verify the checksums
            if (part := archive.testzip()) is not None:
                raise ValueError(f"the checksum of {part} is wrong")
        found = torch.load(path, weights_only=True)
        saved, state = json.loads(found["facts"]), dict(found["state"])
    except (RuntimeError, pickle.UnpicklingError, zipfile.BadZipFile, *VALUE_ERRORS) as error:
        raise RuleSafeError(
            f"{path} is damaged ({error!r}); delete it to restart the training"
        ) from error
    check_same_run(folder, saved, facts)
    return state


def finished(path: Path, facts: Mapping[str, Any]) -> bool:
    """Return whether the model description at `path` is the result of this run.

    Raises:
        RuleSafeError: the checkpoint is the result of a run with other settings or data.
    """
    if not path.is_file():
        return False
    training = read_json(path, "the description of a trained model").get("training", {})
    saved = training.get("facts", training)
    check_same_run(path.parent, {name: saved.get(name) for name in facts}, facts)
    return True


@contextmanager
def deferred_signals() -> Iterator[list[int]]:
    """Collect SIGINT (Ctrl-C) or SIGTERM in a list, so that a step is completed and saved first.

    A second signal has its usual effect. Ignored signals remain ignored, and threads other than the
    main thread, which Python does not interrupt, collect none.
    """
    received: list[int] = []
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def receive(number: int, frame: FrameType | None) -> None:
        received.append(number)
        restore()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, receive)
    try:
        yield received
    finally:
        restore()


@contextmanager
def repeatable(threads: int, deterministic: bool = True) -> Iterator[None]:
    """Make torch reproducible, and restore its settings and random state afterwards.

    Args:
        threads: number of torch threads; it affects rounding.
        deterministic: raise an error for operations without a deterministic implementation.
    """
    before, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic or strict)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(before)
        torch.use_deterministic_algorithms(strict)


def check_same_run(folder: Path, saved: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Raise RuleSafeError, listing the differences, if the facts saved in `folder` differ."""
    now = json.loads(json.dumps(facts))
    if saved != now:
        differences = [
            f"{part} {name} {(saved.get(part) or {}).get(name)!r}, now {value!r}"
            for part, values in now.items()
            for name, value in values.items()
            if (saved.get(part) or {}).get(name) != value
        ]
        raise RuleSafeError(
            f"{folder} contains a training run with other settings or data: "
            f"{'; '.join(differences)}; "
            "choose another folder"
        )
