"""Tokenizers: from a window of joint positions to a token, in numpy only.

`token` processes one window at a time for live streams and stored episodes, so that both give
bit-identical tokens.
"""

from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.plugins import Registry
from vq_memory_node.model_files import MemoryModel, load_model
from vq_memory_node.windows import WINDOW

CLUSTERS = 4
"""Number of tokens in the paper (Wang et al., "VQ-Memory", ablation of the clusters)."""


class NumpyEncoder:
    """The encoder of a model, which maps a window to a latent."""

    def __init__(self, model: MemoryModel) -> None:
        arrays, architecture = model.arrays, model.architecture
        self._shape = (model.window, len(model.joints))
        self._mean = arrays["normaliser.mean"]
        self._scale = np.float32(1) / arrays["normaliser.std"]
        self._layers = []
        frames = architecture.frames(model.window)[1:]
        for place, (layer, count) in enumerate(zip(architecture.layers, frames, strict=True)):
            weight = arrays[f"encoder.layers.{place}.weight"]
            # (out, in, kernel) -> (kernel x in, out), the memory order of `values`, frame by frame.
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
        """Return the latent (dimensions,) of a window (window, joints), rad.

        Raises:
            RuleSafeError: the window has another shape.
        """
        if window.shape != self._shape:
            raise RuleSafeError(f"the window has shape {window.shape}; expected {self._shape}")
        # The views below require C order, which the window itself may not have.
        values = np.subtract(window, self._mean, dtype=np.float32, order="C")
        values *= self._scale
        straight = values.reshape(-1) @ self._straight
        for matrix, bias, shape, strides in self._layers:
            # The inputs of the convolution at each position, as overlapping rows (no copy).
            patches: NDArray[np.float32] = np.ndarray(shape, np.float32, values, 0, strides)
            values = patches @ matrix
            values += bias
            np.maximum(values, 0, out=values)
        return values.reshape(-1) @ self._out + self._out_bias + straight


class Tokenizer(ABC):
    """Maps windows of joint positions to the tokens of a model.

    Attributes:
        joints: names of the joints, in the order of a window's columns.
        window: number of frames in a window.
        vocabulary: number of tokens.
        hash: SHA-256 of weights and architecture, hexadecimal.
    """

    def __init__(self, model: MemoryModel, clusters: int = CLUSTERS) -> None:
        """Raise RuleSafeError if the model does not offer this number of clusters."""
        self.hash = model.hash
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
    """Maps a latent to the nearest code of a codebook, and the code to its cluster."""

    def __init__(self, model: MemoryModel, clusters: int = CLUSTERS) -> None:
        super().__init__(model, clusters)
        codebook = model.arrays["codebook"]
        # |z - e|^2 without |z|^2, which is the same for all codes.
        self._minus_twice = np.ascontiguousarray(-2 * codebook.T)
        self._squares = np.einsum("kd,kd->k", codebook, codebook)

    def code(self, window: NDArray[np.float32]) -> int:
        return int((self.encoder.latent(window) @ self._minus_twice + self._squares).argmin())


TOKENIZERS: Registry[type[Tokenizer]] = Registry(
    "rulesafe.tokenizers", "kind of memory model", {"vq": VqTokenizer}
)
"""Tokenizers by the kind of their models."""


def make_tokenizer(model: MemoryModel, clusters: int = CLUSTERS) -> Tokenizer:
    """Return the tokenizer of a model, of the kind that its architecture names.

    Raises:
        RuleSafeError: the kind is unknown, or the model does not offer this number of clusters.
    """
    name = model.architecture.kind
    TOKENIZERS.check_consent(name)
    kind: object = TOKENIZERS.load(name)
    if not (isinstance(kind, type) and issubclass(kind, Tokenizer)):
        raise RuleSafeError(
            f"the kind {name!r} of a memory model is {kind!r}; valid: a subclass of "
            "vq_memory_node.tokenizers.Tokenizer"
        )
    return kind(model, clusters)


def load_tokenizer(
    name: Path | str,
    clusters: int = CLUSTERS,
    joints: tuple[str, ...] = ACTION_JOINTS,
    window: int = WINDOW,
) -> Tokenizer:
    """Return the tokenizer of a model.

    Args:
        name: name of a model that comes with the package, or a model folder.
        clusters: number of tokens, one of `MemoryModel.clusterings`.
        joints: names of the joints, in the order of a window's columns.
        window: number of frames in a window.

    Raises:
        RuleSafeError: the model is missing, damaged, of an unknown kind, or for other joints or
            windows.
    """
    return make_tokenizer(load_model(name, joints, window), clusters)
