"""Sampling of actions as a TorchScript graph.

For a single observation, half of the time that an eager network needs is spent in Python. A trace
of the complete sampling, all steps included, executes the same operations without it, and gives
bit-identical actions.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from policy_node.batches import Batch
from policy_node.schedules import DenoisingNetwork

GRAPHS = 16
"""Number of graphs, one for each length of instruction; further lengths use the eager network.
TorchScript does not free the graph of a function."""


class TracedSampler:
    """Executes what `DenoisingNetwork.sample` does by a graph for each shape of batches, traced
    when the shape occurs for the first time; for use on the CPU, in inference mode.

    Args:
        network: in evaluation mode and without gradients; its weights must not change afterwards.
    """

    def __init__(self, network: DenoisingNetwork) -> None:
        self._network = network
        self._graphs: dict[Any, Callable[..., Tensor]] = {}

    def __call__(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """Return (B, 50, 13) normalised actions, as `DenoisingNetwork.sample` does."""
        noise, tensors = self._network.noise(batch, generator), batch.tensors()
        inputs = [noise, *tensors.values()]
        key = tuple(tensors), tuple((tensor.shape, tensor.dtype) for tensor in inputs)
        if key not in self._graphs:
            if len(self._graphs) == GRAPHS:
                return self._network.denoise(batch, noise)
            self._graphs[key] = self._trace(tuple(tensors), inputs)
        # The optimisations of TorchScript take seconds and do not accelerate these networks.
        with torch.jit.optimized_execution(False):
            return self._graphs[key](*inputs)

    def _trace(self, names: tuple[str, ...], inputs: list[Tensor]) -> Callable[..., Tensor]:
        def denoise(noise: Tensor, *values: Tensor) -> Tensor:
            return self._network.denoise(Batch(**dict(zip(names, values, strict=True))), noise)

        with warnings.catch_warnings():
            # Shapes are constants of the graph, as intended. torch.compile, which is to replace
            # TorchScript, needs a C++ compiler and minutes.
            warnings.simplefilter("ignore", torch.jit.TracerWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            graph: Callable[..., Tensor] = torch.jit.trace(
                denoise, tuple(inputs), check_trace=False
            )
        return graph
