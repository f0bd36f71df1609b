"""Where a training run stands, on disk: it goes on with the weights it would have had."""

import io
import json
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_data.files import read_json

CHECKPOINT = "checkpoint.pt"


def save_checkpoint(folder: Path, facts: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Write tensors and plain values; `load_checkpoint` compares `facts` (settings, data)."""
    buffer = io.BytesIO()
    torch.save({"facts": json.dumps(facts), "state": dict(state)}, buffer)
    write_atomically(folder / CHECKPOINT, buffer.getbuffer())


def load_checkpoint(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The state that was saved, or None if nothing was.

    Errors: RuleSafeError if it is damaged or of other settings or data.
    """
    path = folder / CHECKPOINT
    if not path.is_file():
        return None
    try:
        found = torch.load(path, weights_only=True)
        began, state = json.loads(found["facts"]), dict(found["state"])
    except (RuntimeError, pickle.UnpicklingError, KeyError, TypeError, ValueError) as error:
        raise RuleSafeError(f"{path} is damaged ({error}); delete it to start anew") from error
    check_same_run(folder, began, facts)
    return state


def finished(path: Path, facts: Mapping[str, Any]) -> bool:
    """Return whether a file describes the result of this very run.

    Errors: RuleSafeError if it describes one of other settings or data.
    """
    if not path.is_file():
        return False
    training = read_json(path, "the description of a trained model").get("training", {})
    began = training.get("facts", training)
    check_same_run(path.parent, {name: began.get(name) for name in facts}, facts)
    return True


@contextmanager
def repeatable(threads: int, deterministic: bool = True) -> Iterator[None]:
    """Make torch repeat its results, and restore its settings and random state afterwards.

    Args:
        threads: of torch; results depend on their number in rounding.
        deterministic: whether operations without a deterministic implementation are errors.
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


def check_same_run(folder: Path, began: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Errors: RuleSafeError, naming what differs, if the run that began in a folder is another."""
    now = json.loads(json.dumps(facts))
    if began != now:
        told = [
            f"{part} {name} {(began.get(part) or {}).get(name)!r}, now {value!r}"
            for part, values in now.items()
            for name, value in values.items()
            if (began.get(part) or {}).get(name) != value
        ]
        raise RuleSafeError(
            f"{folder} holds a training run of other settings or data: {'; '.join(told)}; "
            "choose another folder"
        )
