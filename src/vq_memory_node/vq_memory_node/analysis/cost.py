"""The memory's share of the benchmark: one frame taken in, with and without a token, and bytes."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.measuring import Wave, run_on_one_core
from vq_memory_node.grids import FromStart, Sliding
from vq_memory_node.memory import Memory, RawMemory, VqMemory
from vq_memory_node.model_files import Model, load_model
from vq_memory_node.tokenizers import Tokenizer, load_tokenizer
from vq_memory_node.windows import LENGTH, RATE, STRIDE

WARM_UP = 3
"""Tokens that are not counted."""


@dataclass(frozen=True)
class Cost:
    """Of a memory.

    Attributes:
        times: ms of single frames, by what the frame does.
        held: kB, by what holds them.
    """

    times: dict[str, NDArray[np.float64]]
    held: dict[str, float]


def measure_apart(model: Path | str, tokens: int) -> Cost:
    """The cost of a model's memory, in a process of its own that has one core and one thread."""
    return run_on_one_core(_measure, model, tokens)


def _measure(model: Path | str, tokens: int) -> Cost:
    return Cost(samples(model, tokens), footprints(model))


def samples(model: Path | str, tokens: int) -> dict[str, NDArray[np.float64]]:
    """ms of each frame that a memory takes in, by what the frame does: `tokens` that yield a token
    and STRIDE - 1 times as many that do not. Eager torch only where torch is installed.

    Errors: RuleSafeError if there is no such model.
    """
    numpy_path = load_tokenizer(model)
    found = _timed(VqMemory(numpy_path, FromStart()), tokens, "numpy")
    try:
        eager = EagerTokenizer(load_model(model), numpy_path)
    except RuleSafeError:
        return found
    timed = _timed(VqMemory(eager, FromStart()), tokens, "eager torch")
    return found | {name: values for name, values in timed.items() if "no token" not in name}


def _timed(memory: Memory, tokens: int, title: str) -> dict[str, NDArray[np.float64]]:
    wave = Wave()
    with_token: list[float] = []
    without: list[float] = []
    for frame in range((tokens + WARM_UP) * STRIDE):
        position = wave(frame / RATE).astype(np.float32)
        begin = time.perf_counter()
        new = memory.push(position)
        passed = 1000 * (time.perf_counter() - begin)
        if frame >= WARM_UP * STRIDE:
            (with_token if new else without).append(passed)
    return {
        f"frame with a token, {title}": np.array(with_token),
        "frame with no token": np.array(without),
    }


def footprints(model: Path | str) -> dict[str, float]:
    """kB that full memories hold, and that their tokenizer does, which any number of memories
    share."""
    tokenizer = load_tokenizer(model)
    makers: dict[str, Callable[[], object]] = {
        "tokenizer": lambda: load_tokenizer(model),
        "token memory, from the start": lambda: _filled(VqMemory(tokenizer, FromStart())),
        "token memory, sliding": lambda: _filled(VqMemory(tokenizer, Sliding())),
        "raw memory, from the start": lambda: _filled(RawMemory(FromStart())),
        "raw memory, sliding": lambda: _filled(RawMemory(Sliding())),
    }
    return {name: _held(make) for name, make in makers.items()}


def _filled(memory: Memory) -> Memory:
    for _ in range(STRIDE * LENGTH):
        memory.push(np.zeros(13, np.float32))
    return memory


def _held(make: Callable[[], object]) -> float:
    """kB that what is made goes on holding."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = make()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return (after - before) / 1000


class EagerTokenizer:
    """The same model by its torch encoder, eagerly: what the numpy path is compared with."""

    def __init__(self, model: Model, like: Tokenizer) -> None:
        """Errors: RuleSafeError for a model that has no codebook."""
        import torch

        from vq_memory_node.networks import encoder_of

        if model.architecture.kind != "vq":
            raise RuleSafeError(f"a model of kind {model.architecture.kind}; timed: vq")
        torch.set_num_threads(1)
        self.joints, self.window = like.joints, like.window
        self.vocabulary, self.hash = like.vocabulary, like.hash
        self._torch = torch
        self._encoder = encoder_of(model)
        needed = ("normaliser.mean", "normaliser.std", "codebook", f"clusters.{like.vocabulary}")
        arrays = (torch.from_numpy(np.array(model.arrays[name])) for name in needed)
        self._mean, self._std, self._codebook, self._tokens = arrays

    def token(self, window: NDArray[np.float32]) -> int:
        """The token of a window (window, joints), rad."""
        with self._torch.inference_mode():
            normalised = (self._torch.from_numpy(window) - self._mean) / self._std
            latent = self._encoder(normalised.T[None])  # (1, joints, window)
            code = self._torch.cdist(latent, self._codebook).argmin()
            return int(self._tokens[code])


def p99(values: NDArray[np.float64]) -> float:
    """The 99th percentile."""
    return float(np.percentile(values, 99))
