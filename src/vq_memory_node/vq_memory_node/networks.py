"""Encoder and decoder in torch, for training; `tokenizers.NumpyEncoder` is the same encoder.

Windows are normalised here and lie (B, joints, window), as torch's convolutions want them.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vq_memory_node.model_files import Architecture, MemoryModel
from vq_memory_node.windows import WINDOW


class Encoder(nn.Module):
    """(B, joints, window) -> (B, dimensions): a linear map, straight from the window, and beside it
    strided convolutions over time with a linear map of their own."""

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
        seen = windows
        for layer in self.layers:
            seen = torch.relu(layer(seen))
        latent: Tensor = self.out(seen.flatten(1)) + self.straight(windows.flatten(1))
        return latent


class Decoder(nn.Module):
    """The encoder mirrored: (B, dimensions) -> (B, joints, window)."""

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
                    output_padding=frames[place] - reached,  # what the stride left over
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
    """Starts an autoencoder as the principal components of windows (B, joints, window), which no
    linear one of as many dimensions beats; the convolutions begin with nothing and learn the rest.

    All dimensions have one scale, so that near windows have near latents; a latent's squared norm
    is in the mean the number of dimensions.
    """
    flat = windows.flatten(1).double()
    components = torch.linalg.eigh(flat.T @ flat).eigenvectors[:, -len(encoder.straight.weight) :]
    # A component and its opposite are as good: which one comes out must not depend on the library.
    largest = components.abs().argmax(0)
    components = components * components.gather(0, largest.unsqueeze(0)).sign()
    latent = flat @ components
    scale = (components.shape[1] / latent.square().sum(1).mean()).sqrt()
    encoder.straight.weight.copy_((components * scale).T)
    decoder.straight.weight.copy_(components / scale)
    for parameter in (*encoder.out.parameters(), *decoder.layers[-1].parameters()):
        parameter.zero_()


def arrays_of(name: str, module: nn.Module) -> dict[str, NDArray[Any]]:
    """A module's parameters and buffers as numpy arrays, by the names of a model's file."""
    return {f"{name}.{key}": value.numpy().copy() for key, value in module.state_dict().items()}


def encoder_of(model: MemoryModel) -> Encoder:
    """Return the torch encoder of a model from its file."""
    encoder = Encoder(model.architecture, len(model.joints), model.window)
    prefix = "encoder."
    state = {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in model.arrays.items()
        if name.startswith(prefix)
    }
    encoder.load_state_dict(state)
    return encoder.eval()
