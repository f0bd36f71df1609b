"""Training runs with checkpoints: a resumed run yields the weights of an uninterrupted one."""

import io
import json
import pickle
import signal
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.signals import collected_signals
from rulesafe_core.text_files import read_json
from vq_memory_node.scalar_log import ScalarLog

CHECKPOINT = "checkpoint.pt"

VALUE_ERRORS = (AttributeError, EOFError, LookupError, OSError, TypeError, ValueError, zlib.error)
"""Exceptions of damaged values."""


@dataclass(frozen=True)
class TrainingProgress:
    """Progress of a training run: number of completed steps, and metrics of the last one."""

    step: int
    metrics: Mapping[str, float]


class TrainingRun(ABC):
    """A training run that logs to TensorBoard, saves checkpoints, and is resumed from them.

    Attributes:
        saved: names of the attributes that a checkpoint contains besides `step`.
        step: number of completed steps.
    """

    saved: tuple[str, ...] = ()

    def __init__(self, out: Path, facts: dict[str, Any], steps: int, checkpoint_every: int) -> None:
        self.out, self.facts, self.steps, self.every = out, facts, steps, checkpoint_every
        self.step = 0

    @abstractmethod
    def advance(self) -> dict[str, float]:
        """Run one step, increment `step`, and return metrics."""

    def end_step(self, log: ScalarLog) -> None:  # noqa: B027
        """Do what is due after a step, before its checkpoint; by default nothing."""

    @abstractmethod
    def save_result(self) -> None:
        """Save the trained model to `out`."""

    def due(self) -> bool:
        """Return whether a checkpoint is due after this step."""
        return self.step % self.every == 0 or self.step == self.steps

    def run(self, progress: Callable[[TrainingProgress], None]) -> None:
        """Run the remaining steps. On Ctrl-C or SIGTERM, save a checkpoint of the completed steps
        and raise KeyboardInterrupt."""
        log = ScalarLog(self.out / "tensorboard", self.step + 1)
        numbers = (signal.SIGINT, signal.SIGTERM)
        with log, collected_signals(numbers, once=True) as signals:
            while self.step < self.steps:
                metrics = self.advance()
                if self.step % 20 == 0:
                    log.add({f"train/{name}": v for name, v in metrics.items()}, self.step)
                self.end_step(log)
                if self.due():
                    self.save()
                progress(TrainingProgress(self.step, metrics))
                if signals:
                    self.save()
                    raise KeyboardInterrupt(f"the checkpoint of step {self.step}")

    def save(self) -> None:
        """Save a checkpoint, of tensors and plain values, of the current state."""
        state = {"step": self.step}
        for name in self.saved:
            value = getattr(self, name)
            if isinstance(value, torch.Generator):
                value = value.get_state()
            state[name] = value.state_dict() if hasattr(value, "state_dict") else value
        buffer = io.BytesIO()
        torch.save({"facts": json.dumps(self.facts), "state": state}, buffer)
        write_atomically(self.out / CHECKPOINT, buffer.getbuffer())

    def resume(self) -> None:
        """Restore the checkpoint in `out`, if there is one.

        Raises:
            RuleSafeError: the checkpoint is damaged, or has other settings or data.
        """
        path = self.out / CHECKPOINT
        if not path.is_file():
            return
        try:
            with zipfile.ZipFile(path) as archive:  # PyTorch does not verify the checksums
                if (part := archive.testzip()) is not None:
                    raise ValueError(f"the checksum of {part} is wrong")
            found = torch.load(path, map_location="cpu", weights_only=True)
            saved, state = json.loads(found["facts"]), dict(found["state"])
        except (RuntimeError, pickle.UnpicklingError, zipfile.BadZipFile, *VALUE_ERRORS) as error:
            raise RuleSafeError(
                f"{path} is damaged ({error!r}); delete it to restart the training"
            ) from error
        check_same_run(self.out, saved, self.facts)
        for name, value in state.items():
            current = getattr(self, name)
            if isinstance(current, torch.Generator):
                current.set_state(value)
            elif hasattr(current, "load_state_dict"):
                current.load_state_dict(value)
            else:
                setattr(self, name, value)


def run_training(
    make: Callable[[], TrainingRun],
    result: Path,
    facts: Mapping[str, Any],
    settings: Any,
    progress: Callable[[TrainingProgress], None],
    deterministic: bool = True,
) -> Path:
    """Run a training and save its model, or resume it, unless it is complete.

    Args:
        make: creates the run, with torch's random numbers seeded.
        result: description of the trained model, in the folder of the run.
        facts: settings and data that determine the weights.
        settings: object with the `seed` and the number of torch `threads`.
        progress: called after every step.
        deterministic: raise an error for operations without a deterministic implementation.

    Returns:
        The folder of the run.

    Raises:
        RuleSafeError: the folder contains a run with other settings or data.
    """
    out = result.parent
    if result.is_file():
        training = read_json(result, "the description of a trained model").get("training", {})
        saved = training.get("facts", training)
        check_same_run(out, {name: saved.get(name) for name in facts}, facts)
    else:
        out.mkdir(parents=True, exist_ok=True)
        with repeatable(settings.threads, deterministic):
            torch.manual_seed(settings.seed)
            run = make()
            run.run(progress)
            run.save_result()
    (out / CHECKPOINT).unlink(missing_ok=True)
    return out


@contextmanager
def repeatable(threads: int, deterministic: bool = True) -> Iterator[None]:
    """Make torch reproducible, and restore its settings and random state afterwards.

    Args:
        threads: number of torch threads; it affects rounding.
        deterministic: raise an error for operations without a deterministic implementation.
    """
    before, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    filling: Any = torch.utils.deterministic  # its property is unknown to type checkers
    fills = filling.fill_uninitialized_memory
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic or strict)
    # By default, deterministic algorithms also fill new tensors with NaN, which takes time and only
    # reveals programs that read them before they are written.
    filling.fill_uninitialized_memory = False
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.set_num_threads(before)
        torch.use_deterministic_algorithms(strict)
        filling.fill_uninitialized_memory = fills


def check_same_run(folder: Path, saved: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Raise RuleSafeError, listing the differences, if the facts saved in `folder` differ."""
    now = json.loads(json.dumps(facts))
    if saved != now:
        differences = [
            f"{part} {name} {before.get(name)!r}, now {values.get(name)!r}"
            for part, values in now.items()
            for before in (saved.get(part) or {},)
            for name in {**values, **before}
            if before.get(name) != values.get(name)
        ]
        raise RuleSafeError(
            f"{folder} contains a training run with other settings or data: "
            f"{'; '.join(differences)}; "
            "choose another folder"
        )
