"""Computational cost of a memory: time per frame, with and without a token, and memory usage."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_studies.measuring import Wave, run_on_one_core
from vq_memory_node.grids import FromStart, Grid, Sliding
from vq_memory_node.memory import Memory, RawMemory, TokenMemory
from vq_memory_node.model_files import load_model
from vq_memory_node.rolling import RollingMemory
from vq_memory_node.windows import LENGTH, RATE, STRIDE

WARM_UP = 3
"""Number of initial tokens that are not timed."""


@dataclass(frozen=True)
class Cost:
    """Computational cost of a memory model.

    Attributes:
        times: processing time of each frame (ms), by type of frame.
        memory_kb: RAM usage (kB), by object.
    """

    times: dict[str, NDArray[np.float64]]
    memory_kb: dict[str, float]


def measure_apart(model: Path | str, tokens: int) -> Cost:
    """Measure the memory of a model in a separate process with one core and one thread."""
    return run_on_one_core(_measure, model, tokens)


def _measure(model: Path | str, tokens: int) -> Cost:
    return Cost(samples(model, tokens), footprints(model))


def samples(model: Path | str, tokens: int) -> dict[str, NDArray[np.float64]]:
    """Return the times in ms of single frames, by the kind of frame.

    `tokens` frames yield a token, and STRIDE - 1 times as many do not. Also times eager torch, if
    it is installed.

    Raises:
        RuleSafeError: there is no such model.
    """
    found = _timed(TokenMemory(str(model)), tokens, "numpy")
    try:
        timed = _timed(EagerMemory(str(model)), tokens, "eager torch")
    except (ModuleNotFoundError, RuleSafeError):
        return found
    return found | {name: values for name, values in timed.items() if "no token" not in name}


def _timed(memory: Memory, tokens: int, title: str) -> dict[str, NDArray[np.float64]]:
    wave, rolling = Wave(), RollingMemory(memory, FromStart())
    with_token: list[float] = []
    without: list[float] = []
    for frame in range((tokens + WARM_UP) * STRIDE):
        position = wave(frame / RATE).astype(np.float32)
        begin = time.perf_counter()
        new = rolling.push(position)
        elapsed = 1000 * (time.perf_counter() - begin)
        if frame >= WARM_UP * STRIDE:
            (with_token if new else without).append(elapsed)
    return {
        f"frame with a token, {title}": np.array(with_token),
        "frame with no token": np.array(without),
    }


def footprints(model: Path | str) -> dict[str, float]:
    """Return the memory usage in kB of full memories, and of the tokenizer that they share."""
    tokens, raw = TokenMemory(str(model)), RawMemory()
    makers: dict[str, Callable[[], object]] = {
        "tokenizer": lambda: tokens.tokenizer,
        "token memory, from the start": lambda: _filled(tokens, FromStart()),
        "token memory, sliding": lambda: _filled(tokens, Sliding()),
        "raw memory, from the start": lambda: _filled(raw, FromStart()),
        "raw memory, sliding": lambda: _filled(raw, Sliding()),
    }
    return {name: _footprint(make) for name, make in makers.items()}


def _filled(memory: Memory, grid: Grid) -> RollingMemory:
    rolling = RollingMemory(memory, grid)
    for _ in range(STRIDE * LENGTH):
        rolling.push(np.zeros(13, np.float32))
    return rolling


def _footprint(make: Callable[[], object]) -> float:
    """Return the memory usage in kB of the object that `make` returns."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = make()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return (after - before) / 1000


class EagerMemory(TokenMemory):
    """A token memory with an eager torch encoder, as a baseline for the numpy encoder."""

    @cached_property
    def _parts(self) -> tuple[Any, Any, list[Any]]:
        """Torch, encoder and arrays; RuleSafeError for a model without a codebook."""
        import torch

        from vq_memory_node.networks import encoder_of

        model = load_model(self.model)
        if model.architecture.kind != "vq":
            raise RuleSafeError(f"a model of kind {model.architecture.kind}; only vq can be timed")
        torch.set_num_threads(1)
        needed = ("normaliser.mean", "normaliser.std", "codebook", f"clusters.{self.clusters}")
        arrays = [torch.from_numpy(np.array(model.arrays[name])) for name in needed]
        return torch, encoder_of(model), arrays

    def value(self, window: NDArray[np.float32]) -> int:
        torch, encoder, (mean, std, codebook, tokens) = self._parts
        with torch.inference_mode():
            normalised = (torch.from_numpy(window) - mean) / std
            latent = encoder(normalised.T[None])  # (1, joints, window)
            code = torch.cdist(latent, codebook).argmin()
            return int(tokens[code])
