"""Windows of joint positions to tokens, in numpy alone.

There is one code path, `token` of one window: a stored episode and a live stream agree to the bit.
"""

from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.model_files import MemoryModel, load_model
from vq_memory_node.windows import WINDOW

CLUSTERS = 4
"""Tokens of the published memory (Wang et al., "VQ-Memory", ablation of the clusters)."""


class NumpyEncoder:
    """The encoder of a model: a window to a latent."""

    def __init__(self, model: MemoryModel) -> None:
        arrays, architecture = model.arrays, model.architecture
        self._shape = (model.window, len(model.joints))
        self._mean = arrays["normaliser.mean"]
        self._scale = np.float32(1) / arrays["normaliser.std"]
        self._layers = []
        frames = architecture.frames(model.window)[1:]
        for place, (layer, count) in enumerate(zip(architecture.layers, frames, strict=True)):
            weight = arrays[f"encoder.layers.{place}.weight"]
            # (out, in, kernel) -> (kernel x in, out): rows as they lie in memory, frame by frame.
            matrix = np.ascontiguousarray(weight.transpose(2, 1, 0).reshape(-1, layer.channels))
            step = layer.stride * weight.shape[1] * weight.itemsize
            bias = arrays[f"encoder.layers.{place}.bias"]
            self._layers.append((matrix, bias, (count, len(matrix)), (step, weight.itemsize)))
        out = arrays["encoder.out.weight"].reshape(architecture.dimensions, -1, frames[-1])
        flat = out.transpose(2, 1, 0).reshape(-1, architecture.dimensions)
        self._out = np.ascontiguousarray(flat)
        self._out_bias = arrays["encoder.out.bias"]
        straight = arrays["encoder.straight.weight"].reshape(-1, *self._shape[::-1])
        flat = straight.transpose(2, 1, 0).reshape(-1, architecture.dimensions)
        self._straight = np.ascontiguousarray(flat)

    def latent(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        """The latent (dimensions,) of a window (window, joints), rad.

        Errors: RuleSafeError if the window has another shape.
        """
        if window.shape != self._shape:
            raise RuleSafeError(f"a window of shape {window.shape}; expected {self._shape}")
        # In C order, for the rows below are read off memory, and a window may lie otherwise.
        values = np.subtract(window, self._mean, dtype=np.float32, order="C")
        values *= self._scale
        straight = values.reshape(-1) @ self._straight
        for matrix, bias, shape, strides in self._layers:
            # What a convolution sees at each place, as overlapping rows of the same memory.
            seen: NDArray[np.float32] = np.ndarray(shape, np.float32, values, 0, strides)
            values = seen @ matrix
            values += bias
            np.maximum(values, 0, out=values)
        return values.reshape(-1) @ self._out + self._out_bias + straight


class Tokenizer(ABC):
    """Maps windows of joint positions to the tokens of a model.

    Attributes:
        kind: of the model, a key of TOKENIZERS.
        joints: names of the joints, in the order of a window's columns.
        window: frames in a window.
        vocabulary: how many tokens there are.
        hash: SHA-256 of weights and architecture, hexadecimal.
    """

    def __init__(self, model: MemoryModel, clusters: int = CLUSTERS) -> None:
        """Raises RuleSafeError if the model has no such number of clusters."""
        self.kind, self.hash = model.architecture.kind, model.hash
        self.joints, self.window = model.joints, model.window
        self.vocabulary = clusters
        self.encoder = NumpyEncoder(model)
        self._tokens = [int(token) for token in model.clusters(clusters)]

    @abstractmethod
    def code(self, window: NDArray[np.float32]) -> int:
        """Return the code, 0 .. codes - 1, of a window (window, joints), rad."""

    def token(self, window: NDArray[np.float32]) -> int:
        """Return the token, 0 .. vocabulary - 1, of a window (window, joints), rad."""
        return self._tokens[self.code(window)]


class VqTokenizer(Tokenizer):
    """The nearest code of a codebook, then the cluster of that code."""

    def __init__(self, model: MemoryModel, clusters: int = CLUSTERS) -> None:
        super().__init__(model, clusters)
        codebook = model.arrays["codebook"]
        # |z - e|^2 less |z|^2, which is the same for all codes.
        self._minus_twice = np.ascontiguousarray(-2 * codebook.T)
        self._squares = np.einsum("kd,kd->k", codebook, codebook)

    def code(self, window: NDArray[np.float32]) -> int:
        return int((self.encoder.latent(window) @ self._minus_twice + self._squares).argmin())


class FsqTokenizer(Tokenizer):
    """Finite scalar quantisation: each dimension rounded to one of a few levels, no codebook.

    After Mentzer et al., "Finite Scalar Quantization: VQ-VAE Made Simple" (2023), with a logistic
    function as the bound. The digits, the first dimension's fastest, number the code.
    """

    def __init__(self, model: MemoryModel, clusters: int = CLUSTERS) -> None:
        super().__init__(model, clusters)
        levels = np.array(model.architecture.levels)
        self._top = (levels - 1).astype(np.float32)
        self._places = np.concatenate([[1], np.cumprod(levels[:-1])])

    def code(self, window: NDArray[np.float32]) -> int:
        # 1 / (1 + exp(-z)), written so that no z overflows.
        bounded = np.float32(0.5) * (1 + np.tanh(self.encoder.latent(window) / 2))
        return int(np.rint(bounded * self._top).astype(np.int64) @ self._places)


TOKENIZERS: dict[str, type[Tokenizer]] = {"vq": VqTokenizer, "fsq": FsqTokenizer}


def load_tokenizer(
    name: Path | str,
    clusters: int = CLUSTERS,
    joints: tuple[str, ...] = ACTION_JOINTS,
    window: int = WINDOW,
) -> Tokenizer:
    """The tokenizer of a model: one that comes with the package, by name, or that of a folder.

    Args:
        name: name or folder.
        clusters: tokens; the model's description lists what it offers.
        joints: what a window's columns are.
        window: frames in a window.

    Errors: RuleSafeError if there is none, if it is damaged, or for other joints or windows.
    """
    model = load_model(name, joints, window)
    return TOKENIZERS[model.architecture.kind](model, clusters)
