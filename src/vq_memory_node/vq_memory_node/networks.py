"""Encoder and decoder in torch, for training; `tokenizers.NumpyEncoder` is the same encoder.

Windows are normalised and have the shape (B, joints, window), as torch's convolutions require.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vq_memory_node.model_files import Architecture, MemoryModel
from vq_memory_node.windows import WINDOW


class Encoder(nn.Module):
    """(B, joints, window) -> (B, dimensions): a linear map of the window, plus strided convolutions
    over time that are followed by another linear map."""

    def __init__(self, architecture: Architecture, joints: int, window: int = WINDOW) -> None:
        super().__init__()
        channels, convolutions = joints, []
        for layer in architecture.layers:
            convolutions.append(nn.Conv1d(channels, layer.channels, layer.kernel, layer.stride))
            channels = layer.channels
        self.layers = nn.ModuleList(convolutions)
        self.out = nn.Linear(channels * architecture.frames(window)[-1], architecture.dimensions)
        self.straight = nn.Linear(joints * window, architecture.dimensions, bias=False)

    def forward(self, windows: Tensor) -> Tensor:
        """(B, joints, window) normalised -> (B, dimensions)."""
        features = windows
        for layer in self.layers:
            features = torch.relu(layer(features))
        latent: Tensor = self.out(features.flatten(1)) + self.straight(windows.flatten(1))
        return latent


class Decoder(nn.Module):
    """The mirrored encoder: (B, dimensions) -> (B, joints, window)."""

    def __init__(self, architecture: Architecture, joints: int, window: int = WINDOW) -> None:
        super().__init__()
        frames = architecture.frames(window)
        outputs = [joints, *(layer.channels for layer in architecture.layers)]
        self._shape, self._window = (outputs[-1], frames[-1]), (joints, window)
        self.out = nn.Linear(architecture.dimensions, outputs[-1] * frames[-1])
        transposed = []
        for place, layer in reversed(list(enumerate(architecture.layers))):
            reached = (frames[place + 1] - 1) * layer.stride + layer.kernel
            transposed.append(
                nn.ConvTranspose1d(
                    layer.channels,
                    outputs[place],
                    layer.kernel,
                    layer.stride,
                    output_padding=frames[place] - reached,  # frames that the stride leaves over
                )
            )
        self.layers = nn.ModuleList(transposed)
        self.straight = nn.Linear(architecture.dimensions, joints * window, bias=False)

    def forward(self, latent: Tensor) -> Tensor:
        """(B, dimensions) -> (B, joints, window) normalised."""
        values = self.out(latent).unflatten(1, self._shape)
        for layer in self.layers:
            values = layer(torch.relu(values))
        return values + self.straight(latent).unflatten(1, self._window)


@torch.no_grad()
def start_from_components(encoder: Encoder, decoder: Decoder, windows: Tensor) -> None:
    """Initialise an autoencoder with the principal components of windows (B, joints, window).

    They are the optimal linear autoencoder; the convolutions start at zero and learn the residual.
    All dimensions have the same scale, so that similar windows have similar latents. The mean
    squared norm of a latent is the number of dimensions.
    """
    flat = windows.flatten(1).double()
    components = torch.linalg.eigh(flat.T @ flat).eigenvectors[:, -len(encoder.straight.weight) :]
    # The sign of a component is arbitrary: fix it, so that it does not depend on the library.
    largest = components.abs().argmax(0)
    components = components * components.gather(0, largest.unsqueeze(0)).sign()
    latent = flat @ components
    scale = (components.shape[1] / latent.square().sum(1).mean()).sqrt()
    encoder.straight.weight.copy_((components * scale).T)
    decoder.straight.weight.copy_(components / scale)
    for parameter in (*encoder.out.parameters(), *decoder.layers[-1].parameters()):
        parameter.zero_()


def arrays_of(name: str, module: nn.Module) -> dict[str, NDArray[Any]]:
    """Return a module's parameters and buffers as arrays, by their names in a model file."""
    return {f"{name}.{key}": value.numpy().copy() for key, value in module.state_dict().items()}


def encoder_of(model: MemoryModel) -> Encoder:
    """Return the torch encoder of a model, with its weights."""
    encoder = Encoder(model.architecture, len(model.joints), model.window)
    prefix = "encoder."
    state = {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in model.arrays.items()
        if name.startswith(prefix)
    }
    encoder.load_state_dict(state)
    return encoder.eval()
